"""Find the copies of one work that members of a group of `course.toml` sent, each under their own name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from course.grading.intake.bare_notebooks import Listed, find_student
from course.grading.intake.ownership import HandIn, listed
from course.grading.intake.platforms import Sender
from course.outline import Group


@dataclass(frozen=True)
class SharedWork:
    """The `copies` of a work of a `group`: `one` counts, and `senders` has the senders of the identified members."""

    group: Group
    one: HandIn
    copies: tuple[HandIn, ...]
    senders: dict[str, Sender]

    @property
    def note(self) -> str:
        """The note for the instructor if the class list does not know all of the senders, else ""."""
        names = list(dict.fromkeys(one.sender.label for one in self.copies if one.sender))
        if len(self.senders) == len(names):
            return ""
        return f"{listed(names)} handed in one work of {self.one.student}. It counts for the group {self.group.name}."


def find_shared(
    hand_ins: Iterable[HandIn], digest: Callable[[HandIn], str], people: Sequence[Listed], groups: Sequence[Group]
) -> Iterator[SharedWork]:
    """Yield each work of which several senders have a copy, if all of them can be members of one group.

    That is so if the zip names a member, or if the class list knows all senders.
    """
    sent = sorted((one for one in hand_ins if one.sender and not one.is_split), key=lambda one: one.student)
    for student, theirs in groupby(sent, lambda one: one.student):
        works = list(theirs)
        digests = {one.folder: digest(one) for one in works} if len({one.sender for one in works}) > 1 else {}
        for wanted in sorted(set(digests.values())):
            same = [one for one in works if digests[one.folder] == wanted]
            whose = {one.sender: find_student(one.sender, people) for one in same if one.sender}
            group = next((group for group in groups if _may_be(group, student, list(whose.values()))), None)
            if group:
                known = {who: sender for sender, who in whose.items() if who}
                yield SharedWork(group, _one_of(same, student, group, known), tuple(same), known)


def _one_of(copies: Sequence[HandIn], student: str, group: Group, known: Mapping[str, Sender]) -> HandIn:
    """Return the copy that counts: that of the member whom the zip names, or else the first copy."""
    if student in known:
        return next(one for one in copies if one.sender == known[student])
    first = copies[0]
    return replace(first, sender=None) if student in group.members else first.given_to(next(iter(known)))


def _may_be(group: Group, student: str, senders: Sequence[str | None]) -> bool:
    """Return whether several senders, as far as they are known, are members of a group that `student` is in."""
    known = [one for one in senders if one]
    are_members = set(known) <= set(group.members) and 1 < len(senders) <= len(group.members)
    return are_members and (student in group.members or known == senders)
