"""Which call shows this change?"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from ..drafting import drafted
from ..outcomes import same
from ..question import Draft, Option
from ..table import Table, is_algebra
from ..wording import as_premise, code, parts_of, returns, shared_call, shown_call, tokens
from ..wrong_choices import balanced

_TELLING = {"condition", "comparison", "slice", "argument left out", "statement removed", "term left out",
            "step left out", "axis or index"}  # fmt: skip

MOST_UNSHARED = 120
"""Length of a call that shares no argument with the others. Four longer ones take more than two minutes to read."""


def drafts(table: Table, rng: random.Random) -> Iterator[Draft | None]:
    """Yield questions about changes that one of four calls of the same form shows."""
    calls = [call for call in range(len(table.calls)) if not table.calls[call].endswith(".shape")]
    for copy, change in enumerate(table.changes):
        if is_algebra(change):
            continue
        results = {call: same(table.right[call], table.outcome(copy, call)) for call in calls}
        shows = [call for call in calls if results[call] is False]
        hides = [call for call in calls if results[call] is True]
        if shows and len(hides) >= 3:
            shown = rng.choice(sorted(shows, key=lambda call: len(table.calls[call]))[:2])
            others = _most_like(table, shown, hides, rng)
            if len(others) == 3 and not _gives_away(table, copy, shown, others):
                yield _draft(table, copy, [shown, *others], len(hides) / (len(hides) + len(shows)), rng)


def _most_like(table: Table, shown: int, hides: list[int], rng: random.Random) -> list[int]:
    """Return three calls of the same form as the one that shows the change."""
    mine = parts_of(table.calls[shown], table.subject)

    def likeness(call: int) -> int:
        parts = parts_of(table.calls[call], table.subject)
        if mine and parts and mine.is_like(parts):
            return sum(a == b for a, b in zip(mine.arguments, parts.arguments, strict=True))
        return 0 if _skeleton(table.calls[call]) == _skeleton(table.calls[shown]) else -1

    alike = sorted((call for call in hides if likeness(call) >= 0), key=likeness, reverse=True)
    return balanced(table.calls[shown], [(table.calls[call], call) for call in alike[:5]], rng)


def _skeleton(call: str) -> str:
    """Return a call without its numbers and tensors."""
    text = re.sub(r"lambda.*", "lambda", call)
    text = re.sub(r"\b(zeros|ones|eye|tensor|numbers|arange)\([^()]*(\([^()]*\)[^()]*)*\)", "T", text)
    return re.sub(r"'[^']*'|-?\b\d[\d.]*", "_", text)


def _gives_away(table: Table, copy: int, shown: int, others: list[int]) -> bool:
    """Return whether a name finds the call: it has the only keyword of the changed line, or the only other value."""
    own, *theirs = (set(re.findall(r"\b(\w+)=", table.calls[call])) for call in (shown, *others))
    change = table.changes[copy]
    if (own - set().union(*theirs)) & tokens(change.was + " " + change.now):
        return True
    parts = [parts_of(table.calls[call], table.subject) for call in (shown, *others)]
    mine, *values = (dict(one.arguments) if one else {} for one in parts)
    source, start, end = table.subject.source, change.start, change.end
    if change.kind == "operator":  # what stands beside it
        start, end = start - len(source[:start].split()[-1]) - 1, end + 1 + len(source[end:].split()[0])
    touched = tokens(source[start:end] + " " + change.new)
    return any(
        len({one.get(name) for one in values}) == 1 and values[0].get(name) != mine.get(name) for name in touched
    )


def _draft(table: Table, copy: int, calls: list[int], hidden: float, rng: random.Random) -> Draft | None:
    change, texts = table.changes[copy], [table.calls[call] for call in calls]
    if any(len(text) > 230 for text in texts):
        return None
    if shared := shared_call(texts, table.subject):
        asked = f"With which of these does the result of this call change?\n{code(shared[0])}"
        said = [f"`{text}`" for text in shared[1]]
    elif max(len(text.splitlines()[-1]) for text in texts) > MOST_UNSHARED:
        return None
    else:
        asked, said = "For which of these calls does the result change?", [_choice(text, table) for text in texts]
    options = []
    for text, call in zip(said, calls, strict=True):
        right, other = table.right[call], table.outcome(copy, call)
        if call == calls[0]:
            reason = f"Yours {returns(right)}, and the changed one {returns(other)}."
        else:
            reason = f"Both {returns(right).replace('returns', 'return').replace('stops', 'stop')}."
        options.append(Option(text, reason, (table.claim(call, right), table.claim(call, other, change))))
    score = 3.0 + 2.0 * hidden + 0.5 * (change.kind in _TELLING) - 0.8 * ("raise " in change.was)
    score -= 0.7 * (table.outcome(copy, calls[0]).kind == "error")
    text = f"{as_premise(change)}\n{asked}"
    return drafted(table, "tell apart", text, options, rng, score=score, lines=[change.line], call=texts[0])


def _choice(call: str, table: Table) -> str:
    shown = shown_call(call, table.subject)
    return f"`{shown}`" if "\n" not in shown else "\n" + code(shown)
