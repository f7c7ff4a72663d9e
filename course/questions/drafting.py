"""Put a question together: draw the place of the right choice, show the code, and refuse what is not sound."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from .question import Choice, Draft, Option, Question
from .subject import escaped, excerpt
from .table import Table
from .wording import MOST_CALL


def drafted(
    table: Table,
    kind: str,
    text: str,
    options: Sequence[Option],
    rng: random.Random,
    *,
    score: float,
    lines: Iterable[int],
    call: str = "",
    in_order: bool = False,
) -> Draft | None:
    """Return a draft with four options, the right one first among them, or None if it is not sound.

    `lines` are those of the answer that the question is about. `in_order` sorts the choices as numbers.
    """
    about = sorted(set(lines))
    code = excerpt(table.subject, about)
    if code is None or len(options) != 4 or len({option.text for option in options}) != 4 or len(call) > MOST_CALL:
        return None
    shuffled = list(options)
    rng.shuffle(shuffled)
    if in_order:
        shuffled.sort(key=lambda option: int(option.text))
    choices = tuple(Choice(escaped(option.text), escaped(option.reason)) for option in shuffled)
    question = Question(kind, table.subject.name, code, escaped(text), choices, shuffled.index(options[0]))
    claims = tuple(claim for option in options for claim in option.claims)
    return Draft(question, claims, score, about[0] if about else 0, call)
