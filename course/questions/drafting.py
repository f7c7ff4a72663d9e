"""Put a question together: draw the place of the right choice, show the code, and refuse what is not sound."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence

from .question import Choice, Draft, Option, Question
from .subject import escaped, excerpt
from .table import Table
from .wording import MOST_CALL, helpers
from .wrong_choices import stands_out

TELLING = 0.6
"""What a question loses in the choice of questions if its right choice can be guessed from the four texts."""


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
    telling: float = TELLING,
) -> Draft | None:
    """Return a draft with four options, the right one first among them, or None if it is not sound.

    `lines` are those of the answer that the question is about. `telling` is what it loses if its key stands out.
    """
    about = sorted(set(lines))
    code = excerpt(table.subject, about)
    if code is None or len(options) != 4 or len({option.text for option in options}) != 4 or len(call) > MOST_CALL:
        return None
    shuffled = list(options)
    rng.shuffle(shuffled)
    choices = tuple(Choice(escaped(option.text), escaped(option.reason)) for option in shuffled)
    text += helpers("\n".join([text, *(option.text for option in options)]), table.subject)
    question = Question(kind, table.subject.name, code, escaped(text), choices, shuffled.index(options[0]))
    claims = tuple(claim for option in options for claim in option.claims)
    score -= telling * stands_out(options[0].text, [option.text for option in options[1:]])
    changed = frozenset(claim.run.source for claim in claims) - {table.subject.source}
    return Draft(question, claims, score, about[0] if about else 0, call, options[0].claims[-1], changed)
