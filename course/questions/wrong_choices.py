"""Wrong choices of questions that ask for a value, such that the right one does not stand out among the four.

Where possible, the four are the corners of a square: the right value, that of one change, that of another one, and
that of both. So no choice is nearer to the others than the rest.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TypeVar

from .changes import Change
from .executing import Ran, Run
from .outcomes import Value, form, is_easy, said, same
from .question import Claim, Moment, Option
from .table import Table
from .wording import as_reason

T = TypeVar("T")

MOST_SIGNS, PAIRS = 72, 3
"""Length of a value that is a choice, and the pairs of changes that are tried for a square."""


@dataclass(frozen=True)
class Wrong:
    """A wrong value, the changes it comes from, and the reason that the reply gives if it comes from none."""

    value: Value
    changes: tuple[Change, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Site:
    """A value that can be asked for: what call number `call` returns, or a variable at a moment of it."""

    call: int
    moment: Moment | None
    right: Value
    wrong: tuple[Wrong, ...]
    line: int = 0
    score: float = 0.0

    def found_in(self, ran: Ran) -> Value | None:
        """Return this site's value in another run."""
        return self.moment.value_in(ran.events) if self.moment else ran.outcome


def is_choice(value: Value) -> bool:
    """Return whether a value is short and easy enough for a choice."""
    return value.is_asked and value.kind != "None" and is_easy(value) and len(said(value)) <= MOST_SIGNS


def distinct(right: Value, wrong: Iterable[Wrong]) -> tuple[Wrong, ...]:
    """Return the wrong values that a person can tell from the right one and from each other, with one error at most."""
    kept: list[Wrong] = []
    for one in wrong:
        others = [right, *(other.value for other in kept)]
        if is_choice(one.value) and all(same(one.value, other) is False for other in others):
            kept.append(one)
    return tuple(kept)


def corners(table: Table, site: Site, rng: random.Random) -> Iterator[tuple[Wrong, Wrong, Run]]:
    """Yield pairs of wrong values of the right one's form, and the run with both of their changes."""
    alike = [one for one in site.wrong if len(one.changes) == 1 and form(one.value) == form(site.right)]
    pairs = list(itertools.combinations(alike, 2))
    rng.shuffle(pairs)
    made = ((one, other, both(table.subject.source, one.changes[0], other.changes[0])) for one, other in pairs)
    found = ((one, other, source) for one, other, source in made if source)
    for one, other, source in itertools.islice(found, PAIRS):
        yield one, other, Run(table.subject.setup, source, table.calls[site.call], 0, site.moment is not None)


def both(source: str, one: Change, other: Change) -> str:
    """Return a source with two changes, or an empty text if they touch each other."""
    first, second = sorted((one, other), key=lambda change: change.place)
    if first.end > second.start or first.kind == second.kind in ("lines exchanged", "statement removed"):
        return ""
    return source[: first.start] + first.new + source[first.end : second.start] + second.new + source[second.end :]


def three_wrong(site: Site, squares: Sequence[tuple[Wrong, Wrong, Run, Ran]], rng: random.Random) -> list[Wrong]:
    """Return three wrong values, as a square if one of `squares` is one, or an empty list."""
    for one, other, run, ran in squares:
        value = site.found_in(ran)
        if value and form(value) == form(site.right):
            whole = Wrong(value, (one.changes[0], replace(other.changes[0], source=run.source)))
            if len(distinct(site.right, (one, other, whole))) == 3:
                return [one, other, whole]
    alike = [one for one in site.wrong if form(one.value) == form(site.right)]
    odd = [one for one in site.wrong if form(one.value) != form(site.right)]
    if len(alike) < 3:
        return [*alike, *odd[: 3 - len(alike)]] if len(alike) + len(odd) >= 3 else []
    return balanced(said(site.right), [(said(one.value), one) for one in alike], rng)


def balanced(right: str, wrong: Sequence[tuple[str, T]], rng: random.Random) -> list[T]:
    """Return three of the wrong choices, such that the right one is in the middle of the four no more than others."""
    target, best = rng.randrange(4), (9, list(wrong[:3]))
    for _ in range(14 if len(wrong) > 3 else 0):
        three = rng.sample(list(wrong), 3)
        best = min(best, (abs(_rank(right, [text for text, _ in three]) - target), three), key=lambda pair: pair[0])
    return [one for _, one in best[1]]


def _rank(right: str, wrong: Sequence[str]) -> int:
    """Return how many of the four choices are more like the others than the right one is."""
    bags = [_bag(text) for text in (right, *wrong)]
    sums = [sum(_apart(a, b) for b in bags) for a in bags]
    return sum(one < sums[0] - 1e-9 for one in sums[1:])


def stands_out(right: str, wrong: Sequence[str]) -> bool:
    """Return whether the right choice is the longest of the four, or the one that is most like the others."""
    return not _rank(right, wrong) or len(right) > max(map(len, wrong))


@cache
def _bag(text: str) -> Counter[str]:
    parts = re.findall(r"-?\w+\.?\w*|[^\w\s]", text)
    return Counter(f"{k}:{part}" for k, part in enumerate(parts)) + Counter(parts)


def _apart(a: Counter[str], b: Counter[str]) -> float:
    return 1 - 2 * (a & b).total() / (a.total() + b.total() or 1)


def options(table: Table, site: Site, wrong: Sequence[Wrong], verb: str, right_reason: str) -> list[Option]:
    """Return the right option and the wrong ones, each with its reason and its claim."""
    call = table.calls[site.call]

    def option(one: Wrong) -> Option:
        if not one.changes:
            return Option(_code(one.value), one.reason)
        changed = _both_said(*one.changes) if len(one.changes) == 2 else as_reason(one.changes[0])
        run = Run(table.subject.setup, one.changes[-1].source, call, 0, site.moment is not None)
        return Option(_code(one.value), f"It would {verb} if {changed}.", (Claim(run, one.value, site.moment),))

    right = Option(_code(site.right), right_reason, (table.claim(site.call, site.right, None, site.moment),))
    return [right, *map(option, wrong)]


def _both_said(one: Change, other: Change) -> str:
    """Return two changes inside a sentence. `other` has the source with both, so lines with both are said once."""
    first, last = min(one.line, other.line), max(one.last, other.last)
    if max(one.line, other.line) <= min(one.last, other.last):
        now = " ".join(" ".join(other.source.splitlines()[first - 1 : last]).split())
        return f"line {first} becomes `{now}`" if first == last else f"lines {first} to {last} become `{now}`"
    return f"{as_reason(one)} and {as_reason(other)}"


def _code(value: Value) -> str:
    return said(value) if value.kind == "error" else f"`{said(value)}`"
