"""Who hands in what and when, twelve situations in turn, and what the course's rules make of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from tests.mixed_class.roster import ATTENTION, MARKOV, HandIn

from .people import Student

DUE = datetime(2027, 1, 31, 22, 59, tzinfo=UTC)
PERCENT_PER_DAY, GRACE_HOURS, MOST_PERCENT = 10, 2, 50
SITUATIONS = 12
FEW = 3
"""So many students of a situation have an earlier attempt graded: each is a command of its own."""

BY_CANVAS, BY_MOODLE = MARKOV, ATTENTION
"""The topic whose work is collected from Canvas, and that from Moodle."""

VARIANTS: dict[str, tuple[HandIn, ...]] = {
    MARKOV: (
        HandIn(trained=False),
        HandIn({"perplexity": "def perplexity(log_probs):\n    return float(torch.exp(-log_probs.sum()))\n"}),
        HandIn(done=3),
        HandIn({"sample_text": "def sample_text(P, start, length, generator):\n    return torch.zeros(length)\n"}),
        HandIn(blank=True),
    ),
    ATTENTION: (
        HandIn(done=7),
        HandIn({"softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)\n"}, done=7),
        HandIn(done=4),
        HandIn({"crossover_length": "def crossover_length(d):\n    return d\n"}, done=7),
        HandIn(blank=True),
    ),
}
"""What students hand in, edited as in `tests.mixed_class`: a few notebooks in all, so that results are used again.

Of topic 06 nobody answers the training task, which would take a minute of each.
"""

UNREADABLE = '{"cells": ['


@dataclass(frozen=True)
class Attempt:
    """One hand-in: `variant` by its place in `VARIANTS`, None for what is no notebook; a bare notebook has no time."""

    variant: int | None
    came: datetime
    is_bare: bool = False


@dataclass(frozen=True)
class Plan:
    """What a student does for a topic: attempts, the number of the one that is graded on request, hours of extension.

    `group` is the number of a group that hands in together.
    """

    attempts: tuple[Attempt, ...] = ()
    on_request: int | None = None
    extension: int = 0
    group: int | None = None

    @property
    def counts(self) -> Attempt | None:
        """The student's own attempt that counts."""
        return self.attempts[self.on_request - 1 if self.on_request else -1] if self.attempts else None


def plan(student: Student, topic: str) -> Plan:  # noqa: C901 - a line for each situation
    """What a student does for a topic."""
    block, situation = divmod(student.number, SITUATIONS)
    variant = (student.number + block + (topic == ATTENTION)) % len(VARIANTS[topic])

    def came(hours: float, other: int = 0) -> Attempt:
        return Attempt((variant + other) % len(VARIANTS[topic]), DUE + timedelta(hours=hours, seconds=student.number))

    in_groups = topic == ATTENTION
    match situation:
        case 0:
            return Plan((came(-20),))
        case 1:
            return Plan((came(1),))
        case 2:
            return Plan((came(30),))
        case 3:
            return Plan((came(240),))
        case 4:
            return Plan((came(48),), extension=72)
        case 5:
            return Plan((came(80),), extension=36)
        case 6:
            return Plan((came(-30), came(30, 1)))
        case 7:
            return Plan((came(-30), came(30, 1)), on_request=1 if block < FEW else None)
        case 8:
            return Plan((came(30 if block % 2 == 0 else -5),), group=block if in_groups else None)
        case 9 if in_groups:
            return Plan((came(-40),), group=block)
        case 9:
            return Plan((Attempt(variant, DUE, is_bare=True),))
        case 10 if in_groups:
            return Plan(extension=48, group=block)
        case 10:
            return Plan((came(5),))
        case _ if block % 2:
            return Plan()  # nothing at all
        case _ if topic == ATTENTION:
            return Plan((came(-3),))
    return Plan((Attempt(None, DUE - timedelta(hours=2)),) if block == 0 else ())


@dataclass(frozen=True)
class Due:
    """What must be graded: the variant, and the percent that it loses for being late."""

    variant: int
    percent: int


def due(student: Student, topic: str, everybody: list[Student]) -> Due | None:
    """What counts for a student, or for the whole group, and what it loses; None where there is nothing to grade."""
    own = plan(student, topic)
    members = [own]
    if own.group is not None:
        members = [one for one in (plan(other, topic) for other in everybody) if one.group == own.group]
    attempts = [one.counts for one in members if one.counts]
    attempt = max(attempts, key=lambda one: one.came, default=None)
    if attempt is None or attempt.variant is None:
        return None
    late = attempt.came - DUE - timedelta(hours=own.extension + GRACE_HOURS)
    days = -(-late // timedelta(days=1)) if late > timedelta() and not attempt.is_bare else 0
    return Due(attempt.variant, min(days * PERCENT_PER_DAY, MOST_PERCENT))


def by_hand(student: Student) -> float | None:
    """The points that a person gives a student for the question, in quarters; to one member of a group alone."""
    is_other_member = student.number % SITUATIONS in (9, 10)
    return None if student.number % 5 == 4 or is_other_member else (0.25, 0.75, 1.25, 1.5)[student.number % 4]


def points_by_hand(student: Student, topic: str) -> float:
    """The points that a student has for the question in the end."""
    first = student.number - student.number % SITUATIONS + 8
    if plan(student, topic).group is not None:
        student = Student(first, "", "", "", "")
    return by_hand(student) or 0.0


def outline(everybody: list[Student]) -> str:
    """The tables of `course.toml` for extensions and groups."""
    lines = ["", "[extensions]"]
    for one in everybody:
        hours = {topic: plan(one, topic).extension for topic in VARIANTS}
        if any(hours.values()):
            told = ", ".join(f'"{topic}" = "{many} hours"' for topic, many in hours.items() if many)
            lines.append(f'"{one.id}" = {{ {told} }}')
    lines += ["", "[groups]"]
    for block in sorted({group for one in everybody if (group := plan(one, ATTENTION).group) is not None}):
        members = [f'"{one.id}"' for one in everybody if plan(one, ATTENTION).group == block]
        if len(members) > 1:
            lines.append(f'owls{block} = {{ members = [{", ".join(members)}], topics = ["{ATTENTION}"] }}')
    return "\n".join([*lines, ""])
