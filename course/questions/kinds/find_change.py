"""Which change does this?"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ..drafting import drafted
from ..outcomes import Value, form, said, same
from ..question import Draft, Option
from ..table import Table, is_algebra
from ..wording import as_choice, code, returns, shown_call, tokens
from ..wrong_choices import is_choice

MOST_OF_A_CALL = 4


def drafts(table: Table, rng: random.Random) -> Iterator[Draft | None]:
    """Yield questions about a result that one of four changes gives."""
    for call, right in enumerate(table.right):
        asked = [copy for copy in range(len(table.changes)) if not is_algebra(table.changes[copy])]
        asked = [copy for copy in asked if table.outcome(copy, call).is_asked]
        rng.shuffle(asked)
        made = 0
        for copy in asked:
            outcome = table.outcome(copy, call)
            if made < MOST_OF_A_CALL and same(outcome, right) is False and _is_wanted(table, copy, outcome, right):
                others = _others(table, call, copy, asked)
                if len(others) == 3 and not _shows_a_sign(table, call, copy, others):
                    made += 1
                    yield _draft(table, call, [copy, *others], rng)


def _is_wanted(table: Table, copy: int, outcome: Value, right: Value) -> bool:
    """Return whether a wrong result looks like the right one, or is an error, and does not stand in the change."""
    looks = outcome.kind == "error" or (is_choice(outcome) and form(outcome) == form(right))
    return looks and table.changes[copy].now.strip() != f"return {said(outcome)}"


def _others(table: Table, call: int, copy: int, asked: list[int]) -> list[int]:
    """Return three other changes at other places, whose results differ from the one asked for and look like it.

    At most one of them ends in an error, and at least one alters the result. Otherwise the question says too much.
    """
    outcome, right, used = table.outcome(copy, call), table.right[call], {table.changes[copy].place}

    def rank(other: int) -> tuple[bool, bool, bool]:
        value = table.outcome(other, call)
        return same(value, right) is not False, value.kind == "error", form(value) != form(outcome)

    picked: list[int] = []
    for other in sorted(asked, key=rank):
        change, value = table.changes[other], table.outcome(other, call)
        twins = (k for k in picked if table.changes[k].line == change.line)
        is_new = change.place not in used and not any(same(table.outcome(k, call), value) for k in twins)
        if is_new and same(value, outcome) is False and len(picked) < 3:
            used.add(change.place)
            picked.append(other)
    values = [table.outcome(other, call) for other in picked]
    alters = any(same(value, right) is False for value in values)
    return picked if alters and sum(value.kind == "error" for value in values) <= 1 else []


def _shows_a_sign(table: Table, call: int, copy: int, others: list[int]) -> bool:
    """Return whether a number or name of the asked result is new, and stands in the right change alone."""
    new = tokens(said(table.outcome(copy, call))) - tokens(said(table.right[call])) - tokens(table.subject.source)
    own, *theirs = (tokens(table.changes[k].now) for k in (copy, *others))
    return bool(new & own - set().union(*theirs))


def _draft(table: Table, call: int, copies: list[int], rng: random.Random) -> Draft | None:
    outcome, text = table.outcome(copies[0], call), table.calls[call]
    what = "stop with an error" if outcome.kind == "error" else f"return `{said(outcome)}`"
    changes = [table.changes[copy] for copy in copies]
    options = [
        Option(as_choice(change), f"With it, the call {returns(value)}.", (table.claim(call, value, change),))
        for change, value in ((table.changes[copy], table.outcome(copy, call)) for copy in copies)
    ]
    lines = [change.line for change in changes]
    score = 3.4 + 0.4 * (outcome.kind != "error") + 0.15 * len(set(lines)) + 0.4 * ("nan" in said(outcome))
    return drafted(
        table,
        "find the change",
        f"One of these changes makes this call {what}. Which one?\n{code(shown_call(text, table.subject))}",
        options,
        rng,
        score=score - 0.6 * (said(outcome) in text),
        lines=lines,
        call=text,
        telling=0.0,  # the four are changes, and no rule about their texts finds the right one
    )
