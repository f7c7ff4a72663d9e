"""Decide what each student gets, and show it as a table before it is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from course.grading.gradebook.students import some
from course.grading.lms.connect import PLATFORMS
from course.grading.lms.journal import Journal, is_equal
from course.grading.lms.platform import Parcel, Standing

Kind = Literal["send", "same", "changed", "excused", "barred"]

WORDS: dict[Kind, str] = {
    "send": "to send",
    "same": "unchanged",
    "changed": "changed there by somebody else, and kept",
    "excused": "excused there, and kept",
    "barred": "not to be sent",
}
"""What is said of each kind in the counts."""


@dataclass(frozen=True)
class Change:
    """What happens to a student: `user` is the platform's number, and `why` says more in the table."""

    student: str
    user: str
    kind: Kind
    parcel: Parcel
    there: Standing
    why: str = ""


def decide(student: str, user: str, parcel: Parcel, there: Standing, journal: Journal, *, replace: bool) -> Change:
    """Return what happens to a student.

    Args:
        replace: whether a grade goes out even if somebody changed it on the platform.
    """
    last, wanted = journal.sent.get(student), float(parcel.points)
    if there.excused:
        return Change(student, user, "excused", parcel, there)
    if there.obstacle:
        return Change(student, user, "barred", parcel, there, there.obstacle)
    is_there = there.score is not None and is_equal(there.score, wanted)
    is_ours = journal.is_ours(student, there)
    arrived = is_there and parcel.version in there.versions and (last is None or student in journal.begun)
    if arrived or (is_ours and last and last.version == parcel.version):
        return Change(student, user, "same", parcel, there)
    if not (is_ours or is_there or replace):
        return Change(student, user, "changed", parcel, there, "removed there" if there.score is None else "")
    return Change(student, user, "send", parcel, there, "only the feedback is new" if is_there else "")


def counts(changes: Iterable[Change]) -> str:
    """Return how many students there are of each kind, in words."""
    number = Counter(change.kind for change in changes)
    return ", ".join(f"{number[kind]} {words}" for kind, words in WORDS.items() if number[kind]) or "nobody"


def table(changes: Sequence[Change]) -> Iterator[str]:
    """Yield the lines of a table of all students but those of whom everything is there already."""
    rows = [("student", "there", "new", "")]
    for change in sorted(changes, key=lambda one: (one.kind != "changed", one.student)):
        if change.kind != "same":
            score = "-" if change.there.score is None else f"{change.there.score:g}"
            there = "excused" if change.there.excused else score
            what = "" if change.kind == "send" else WORDS[change.kind]
            rows.append((change.student, there, change.parcel.points, "; ".join(filter(None, [what, change.why]))))
    if len(rows) > 1:
        wide = [max(len(row[place]) for row in rows) for place in range(3)]
        for row in rows:
            cells = [row[0].ljust(wide[0]), row[1].rjust(wide[1]), row[2].rjust(wide[2]), row[3]]
            yield f"  {'  '.join(cells)}".rstrip()


def left_out(graded: Iterable[str], known: Mapping[str, str], there: Iterable[str], platform: str) -> Iterator[str]:
    """Yield notes on graded students who cannot get anything.

    Args:
        known: the students by the platform's numbers.
        there: the numbers of those who are in the class on the platform.
        platform: its name in commands.
    """
    name, there = PLATFORMS[platform], set(there)
    numbers = {student: number for number, student in known.items()}
    unknown = [student for student in graded if student not in numbers]
    gone = [student for student in graded if student in numbers and numbers[student] not in there]
    if unknown:
        yield f"left out {some(unknown)}, as nothing says who they are on {name}. Run `course roster {platform}`"
    if gone:
        yield f"left out {some(gone)}: not in this class on {name} any more"
