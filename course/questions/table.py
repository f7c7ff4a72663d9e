"""Execute an answer and its changed copies on all calls: the table of outcomes that questions are made of."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from .changes import Change, Text, all_changes
from .executing import Ran, Run, Runner
from .outcomes import Value, is_tensor, same
from .question import Claim, Moment
from .rewrites import IDLE, NEAR_MISS, rewrites
from .subject import Subject, Unaskable
from .watching import MOST_EVENTS, Event

EXECUTIONS = 300
"""Executions of changed copies for one answer. Counting them instead of seconds keeps questions the same everywhere."""

_DETAILS = {
    "TypeError", "AttributeError", "NameError", "UnboundLocalError", "SyntaxError", "ImportError", "AssertionError",
    "NotImplementedError", "RecursionError", "EinopsError", "MemoryError", "SystemExit",
}  # fmt: skip
"""Errors that ask for details of Python rather than for the idea of an answer."""

OTHER = Value("other")


@dataclass(frozen=True)
class Table:
    """An answer's outcomes and events by call, and each changed copy's results by call.

    `events` has None for an event that happens by chance, and is empty where watching alters the answer.
    """

    subject: Subject
    calls: tuple[str, ...]
    right: tuple[Value, ...]
    events: tuple[tuple[Event | None, ...], ...]
    changes: tuple[Change, ...]
    results: tuple[tuple[Ran, ...], ...]

    def outcome(self, change: int, call: int) -> Value:
        """Return what a changed copy gives for a call."""
        return self.results[change][call].outcome

    def claim(self, call: int, value: Value, change: Change | None = None, moment: Moment | None = None) -> Claim:
        """Return the claim that the answer, or a changed copy of it, gives a value."""
        source = change.source if change else self.subject.source
        return Claim(Run(self.subject.setup, source, self.calls[call], 0, moment is not None), value, moment)


def make_table(subject: Subject, run: Runner, rng: random.Random) -> Table:
    """Execute everything and return the table.

    Raises:
        Unaskable: the answer is too slow, depends on chance, remembers what it was asked, or fails on every call.
    """
    calls = list(subject.calls)
    if not calls:
        raise Unaskable("no small input shows what it does")
    plain = [Run(subject.setup, subject.source, call) for call in calls]
    others, third = ([replace(one, seed=seed) for one in plain] for seed in (1, 2))
    watched = [replace(one, is_watched=True) for one in (*plain, *others)]
    ran = run([*plain, *others, *third, *watched, *plain])
    first, second, other, seen, seen_again, last = (ran[k * len(calls) : (k + 1) * len(calls)] for k in range(6))
    can_raise = "raise " in subject.source
    kept = [k for k in range(len(calls)) if _is_usable([first[k], second[k], other[k]], can_raise)]
    if not kept:
        raise Unaskable(_why_none([*first, *second, *other]))
    pairs = ((one.outcome, again.outcome) for one, again in zip(first, last, strict=True) if one.outcome.is_asked)
    if any(same(one, again) is not True for one, again in pairs):
        raise Unaskable("it answers differently the second time, so a key would be a guess")
    is_watched = all(same(first[k].outcome, seen[k].outcome) is True for k in kept)
    events = [_settled(seen[k].events, seen_again[k].events) if is_watched else () for k in kept]
    usable = [calls[k] for k in kept]
    changes = _chosen(Text(subject.source), EXECUTIONS // len(usable), rng)
    results = _changed(subject, changes, usable, is_watched, run)
    right = [first[k].outcome for k in kept]
    live = [k for k, row in enumerate(results) if _says_something(row, right)]
    return Table(
        subject, tuple(usable), tuple(right), tuple(events),
        tuple(changes[k] for k in live), tuple(tuple(results[k]) for k in live),
    )  # fmt: skip


def _is_usable(ran: Sequence[Ran], can_raise: bool) -> bool:
    first, *others = (one.outcome for one in ran)
    is_wanted = first.kind != "error" or (can_raise and first.parts[1])
    return bool(is_wanted) and all(same(first, other) is True for other in others)


def _why_none(ran: Sequence[Ran]) -> str:
    outcomes = [one.outcome for one in ran]
    if any(outcome.parts == ("acts",) for outcome in outcomes):
        return "it does more than compute, such as writing a file or starting a program"
    if any(outcome.kind == "endless" for outcome in outcomes):
        return "it takes longer than a question can wait"
    if all(outcome.is_asked and outcome.kind != "error" for outcome in outcomes):
        return "it answers differently each time, so a key would be a guess"
    return "it does not run on its own with small inputs"


def _settled(first: Sequence[Event], second: Sequence[Event]) -> tuple[Event | None, ...]:
    """Return the events as two runs agree on them: of a tensor perhaps the shape only, `other`, or None."""
    if len(first) >= MOST_EVENTS:
        return ()
    return tuple(_agreed(one, other) if one and other else None for one, other in zip_longest(first, second))


def _agreed(one: Event, other: Event) -> Event | None:
    if (one.line, one.name) != (other.line, other.name):
        return None
    if one.value is None or other.value is None or same(one.value, other.value) is True:
        return one
    if is_tensor(one.value) and (one.value.kind, one.value.shape) == (other.value.kind, other.value.shape):
        return replace(one, value=replace(one.value, parts=()))
    return replace(one, value=OTHER)  # it still counts as a run of its line


def _chosen(text: Text, most: int, rng: random.Random) -> list[Change]:
    """Return at most so many changes, of as many lines and kinds as possible, in random order."""
    idle, others = rewrites(text), all_changes(text)
    rng.shuffle(others)
    turn, order = Counter[tuple[str, int]](), []
    for change in others:
        turn[change.kind, change.line] += 1
        order.append((turn[change.kind, change.line], change))
    return [*idle, *(change for _, change in sorted(order, key=lambda pair: pair[0]))][:most]


def _changed(
    subject: Subject, changes: list[Change], calls: list[str], is_watched: bool, run: Runner
) -> list[list[Ran]]:
    runs = [Run(subject.setup, change.source, call, 0, is_watched) for change in changes for call in calls]
    ran = [_without_details(one) for one in run(runs)]
    return [ran[k : k + len(calls)] for k in range(0, len(ran), len(calls))]


def _without_details(ran: Ran) -> Ran:
    is_detail = ran.outcome.kind == "error" and ran.outcome.parts[0] in _DETAILS
    return Ran(OTHER, ran.events) if is_detail else ran


def _says_something(row: Sequence[Ran], right: Sequence[Value]) -> bool:
    """Return whether a changed copy gives more than errors that anybody foresees."""
    silly = ("IndexError", "KeyError")
    return any(
        ran.outcome.is_asked and not (ran.outcome.kind == "error" != value.kind and ran.outcome.parts[0] in silly)
        for ran, value in zip(row, right, strict=True)
    )


def is_algebra(change: Change) -> bool:
    """Return whether a change is one of the rewrites, which belong to one kind of question only."""
    return change.kind in (IDLE, NEAR_MISS)
