"""May this line change or move? One of four changes alters no result, by a rule, and the others do."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..changes import Text
from ..drafting import drafted
from ..outcomes import same
from ..question import Draft, Option
from ..rewrites import IDLE, NEAR_MISS, free_exchanges
from ..table import Table
from ..wording import as_choice, returns
from ..wrong_choices import stands_out

EXCHANGED = "lines exchanged"
SHOWN = 0.5
"""Share of the questions with a key that stands out. All of them, and the text alone would give keys away."""


def drafts(table: Table, rng: random.Random) -> Iterator[Draft | None]:
    """Yield a question for each change that alters nothing, if one of the wrong ones looks like it."""
    free, idle, live = free_exchanges(Text(table.subject.source)), [], []
    for copy, change in enumerate(table.changes):
        results = [same(right, table.outcome(copy, call)) for call, right in enumerate(table.right)]
        if change.kind == IDLE or (change.kind == EXCHANGED and (change.line, change.last) in free):
            if all(result is True for result in results):
                idle.append(copy)
        elif False in results:
            shown = [call for call, result in enumerate(results) if result is False]
            values = [call for call in shown if table.outcome(copy, call).kind != "error"]
            if values or change.kind == EXCHANGED:
                live.append((copy, (values or shown)[0]))
    for copy in idle:
        rng.shuffle(live)
        others = _others(table, copy, live)
        texts = [as_choice(table.changes[other]) for other, _ in others]
        if others and (rng.random() < SHOWN or not stands_out(as_choice(table.changes[copy]), texts)):
            yield _draft(table, copy, others, rng)


def _others(table: Table, copy: int, live: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return three changes that alter a result, the first of them of the same look, or nothing."""
    look = EXCHANGED if table.changes[copy].kind == EXCHANGED else NEAR_MISS
    picked: list[tuple[int, int]] = []
    for other, call in sorted(live, key=lambda pair: table.changes[pair[0]].kind != look):
        change = table.changes[other]
        used = {table.changes[k].place for k in (copy, *(k for k, _ in picked))}
        misses = sum(table.changes[k].kind == NEAR_MISS for k, _ in picked)
        if (change.place not in used or change.kind == NEAR_MISS) and misses + (change.kind == NEAR_MISS) <= 2:
            picked.append((other, call))
    is_like = bool(picked) and table.changes[picked[0][0]].kind == look
    return picked[:3] if is_like and len(picked) >= 3 else []


def _draft(table: Table, copy: int, others: list[tuple[int, int]], rng: random.Random) -> Draft | None:
    right = table.changes[copy]
    claims = [table.claim(call, value, right) for call, value in enumerate(table.right)]
    options = [Option(as_choice(right), "It alters nothing.", tuple(claims))]
    for other, call in others:
        change, value, was = table.changes[other], table.outcome(other, call), table.right[call]
        before = returns(was).replace("returns ", "").replace("stops", "it stops")
        reason = f"`{table.calls[call].splitlines()[-1]}` then {returns(value)}, and {before} before."
        options.append(Option(as_choice(change), reason, (table.claim(call, value, change),)))
    text = "Which of these changes alters no result, whatever the input? (Rounding aside.)"
    lines = [right.line, *(table.changes[other].line for other, _ in others)]
    return drafted(table, "alters nothing", text, options, rng, score=4.2, lines=lines)
