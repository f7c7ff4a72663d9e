"""Match notebooks that were uploaded without `course submit` to students, by the platform's names and the class list.

What a platform calls a file says who sent it, but not by which id the class knows them. The class list has Canvas's own
numbers and everybody's names. Nothing here reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from unicodedata import normalize

from course.grading.intake.ownership import HandIn
from course.grading.intake.platforms import Sender, own_name, senders_of
from course.outline import Group

WEIGHTS = ".safetensors"
"""The ending of checkpoints, which lie in a folder of their own: a platform keeps no folders."""


@dataclass(frozen=True)
class Listed:
    """A student of the class list: `id` is what the class knows them by, `number` what Canvas does."""

    id: str
    first_name: str = ""
    last_name: str = ""
    number: str = ""

    @property
    def names(self) -> set[str]:
        """What a platform may call them, as `_squeezed` writes it."""
        orders = f"{self.first_name}{self.last_name}", f"{self.last_name}{self.first_name}"
        return {_squeezed(name) for name in orders} if self.first_name and self.last_name else set()


def by_sender(files: Iterable[PurePosixPath]) -> dict[Sender, list[PurePosixPath]]:
    """The files of each sender who has a notebook among them, of those files that one sender alone can have sent.

    Args:
        files: paths below what was downloaded, of no zip that `course submit` made.
    """
    sent: dict[Sender, list[PurePosixPath]] = {}
    for path in files:
        senders = senders_of(path)
        if len(senders) == 1:
            sent.setdefault(senders.pop(), []).append(path)
    return {sender: paths for sender, paths in sent.items() if any(path.suffix == ".ipynb" for path in paths)}


def match_bare(
    sender: Sender, files: Sequence[PurePosixPath], listed: Sequence[Listed], topic: str, groups: Sequence[Group]
) -> HandIn | str:
    """The work that a sender uploaded without `course submit`, or why it cannot be told whose or which it is.

    The work of a team that a group of `course.toml` is called like is that of the group's first member.
    """
    student = find_student(sender, listed, may_be_team=bool(groups)) or _first_of_group(sender, groups)
    if student is None:
        called = sender.name or sender.label
        or_group = ", and course.toml has no such group" if groups or len(sender.ends) > 1 else ""
        return f"the class list has no student, or several, whom {sender.platform} can mean by {called}{or_group}"
    notebook = _notebook(files, topic)
    if notebook is None:
        return f"nothing says which notebook of {sender.label} is {topic}.ipynb"
    found = {PurePosixPath(f"{topic}.ipynb"): notebook}
    for path in files:
        if path.parent.is_relative_to(notebook.parent) and path != notebook:
            found.setdefault(_place(path, notebook.parent), path)
    return HandIn(notebook, topic, student, "", sender, "", files=found)


def find_student(sender: Sender, listed: Sequence[Listed], *, may_be_team: bool = True) -> str | None:
    """The one student whom a sender can be: by Canvas's number, or by name where the class list has no number.

    With `may_be_team`, a student's name may stand behind that of a team.
    """
    numbered = [one for one in listed if one.number and sender.platform == "Canvas"]
    found = [one.id for one in numbered if one.number == sender.key]
    for name in map(_squeezed, sender.ends if may_be_team else [sender.name]):
        found = found or [one.id for one in listed if one not in numbered and name in one.names]
    return found[0] if len(found) == 1 else None


def _first_of_group(sender: Sender, groups: Iterable[Group]) -> str | None:
    """The first member of the group of `course.toml` that a platform's team is called like."""
    called = {_squeezed(group.name): group.members[0] for group in groups}
    return called.get(_squeezed(sender.name))


def other_topic(path: PurePosixPath, topic: str, topics: Iterable[str]) -> str | None:
    """The topic other than `topic` that a notebook is called like, if there is one."""
    name = own_name(path)
    if path.suffix != ".ipynb" or name.startswith(topic):
        return None
    return next((other for other in topics if name.startswith(other)), None)


def _notebook(files: Iterable[PurePosixPath], topic: str) -> PurePosixPath | None:
    """The notebook that is called like the topic, or the only one there is.

    Of several in one folder, the one without a number behind its name.
    """
    notebooks = [path for path in files if path.suffix == ".ipynb"]
    stems = {path: PurePosixPath(own_name(path)).stem for path in notebooks}
    called = [path for path in notebooks if re.sub(r"(-\d+| ?\(\d+\))$", "", stems[path]) == topic]
    if len({path.parent for path in called}) == 1:
        called = [path for path in called if stems[path] == topic] or called
    found = called or notebooks
    return found[0] if len(found) == 1 else None


def _place(path: PurePosixPath, folder: PurePosixPath) -> PurePosixPath:
    """Where a file belongs beside the notebook that lies in `folder`."""
    below = path.relative_to(folder)
    name = PurePosixPath(own_name(path))
    if len(below.parts) == 1 and name.suffix == WEIGHTS:
        return PurePosixPath("checkpoints", name)
    return below.with_name(name.name)


def _squeezed(name: str) -> str:
    """A name without blanks, signs and capitals: what Canvas makes of it, and what others can be compared by."""
    return re.sub(r"[\W_]+", "", normalize("NFC", name).casefold())
