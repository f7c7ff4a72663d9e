"""Match notebooks that were uploaded without `course submit` to students, by the platform's names and the class list.

A file's name on the platform says who sent it, but not the sender's id in the class. The class list has Canvas's
numbers and all names. Nothing here reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from unicodedata import normalize

from course.grading.intake.ownership import HandIn
from course.grading.intake.platforms import Sender, own_name, senders_of
from course.outline import Group

WEIGHTS = ".safetensors"
"""The ending of checkpoints, which belong in their own folder, although platforms keep no folders."""


@dataclass(frozen=True)
class Listed:
    """A student of the class list: `id` is the id in the class, `number` that in Canvas."""

    id: str
    first_name: str = ""
    last_name: str = ""
    number: str = ""

    @cached_property
    def names(self) -> set[str]:
        """The names that a platform may use for the student, as `_squeezed` writes them."""
        orders = f"{self.first_name}{self.last_name}", f"{self.last_name}{self.first_name}"
        return {_squeezed(name) for name in orders} if self.first_name and self.last_name else set()


def by_sender(files: Iterable[PurePosixPath]) -> dict[Sender, list[PurePosixPath]]:
    """Return the files of each sender with at least one notebook, out of the files with exactly one possible sender.

    Args:
        files: paths below the download, none of them from a zip of `course submit`.
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
    """Return the work that a sender uploaded without `course submit`, or why its student or notebook is unclear.

    A team's work belongs to the first member of the group of the same name in `course.toml`.
    """
    student = find_student(sender, listed, may_be_team=bool(groups)) or _first_of_group(sender, groups)
    if student is None:
        called = sender.name or sender.label
        or_group = ", and course.toml has no such group" if groups or len(sender.ends) > 1 else ""
        return f"the class list has no student, or several, whom {sender.platform} can mean by {called}{or_group}"
    return bare_work(student, sender, files, topic)


def bare_work(student: str, sender: Sender, files: Sequence[PurePosixPath], topic: str) -> HandIn | str:
    """Return the work that a `student` uploaded without `course submit`, or why its notebook is unclear."""
    notebook = _notebook(files, topic)
    if notebook is None:
        return f"nothing says which notebook of {sender.label} is {topic}.ipynb"
    found = {PurePosixPath(f"{topic}.ipynb"): notebook}
    for path in files:
        if path.parent.is_relative_to(notebook.parent) and path != notebook:
            found.setdefault(_place(path, notebook.parent), path)
    return HandIn(notebook, topic, student, "", sender, "", files=found)


def find_student(sender: Sender, listed: Sequence[Listed], *, may_be_team: bool = True) -> str | None:
    """Return the only student who can be the sender: by Canvas's number, or by name for students without a number.

    With `may_be_team`, a student's name may follow the name of a team.
    """
    numbered = [one for one in listed if one.number and sender.platform == "Canvas"]
    found = [one.id for one in numbered if one.number == sender.key]
    for name in map(_squeezed, sender.ends if may_be_team else [sender.name]):
        found = found or [one.id for one in listed if one not in numbered and name in one.names]
    return found[0] if len(found) == 1 else None


def _first_of_group(sender: Sender, groups: Iterable[Group]) -> str | None:
    """Return the first member of the group in `course.toml` whose name is that of the platform's team, or None."""
    called = {_squeezed(group.name): group.members[0] for group in groups}
    return called.get(_squeezed(sender.name))


def other_topic(path: PurePosixPath, topic: str, topics: Iterable[str]) -> str | None:
    """Return the topic other than `topic` that a notebook is named after, or None."""
    name = own_name(path)
    if path.suffix != ".ipynb" or name.startswith(topic):
        return None
    return next((other for other in topics if name.startswith(other)), None)


def _notebook(files: Iterable[PurePosixPath], topic: str) -> PurePosixPath | None:
    """Return the notebook named after the topic, or else the only notebook.

    Of several such notebooks in one folder, it is the one without a number in its name.
    """
    notebooks = [path for path in files if path.suffix == ".ipynb"]
    stems = {path: PurePosixPath(own_name(path)).stem for path in notebooks}
    called = [path for path in notebooks if re.sub(r"(-\d+| ?\(\d+\))$", "", stems[path]) == topic]
    if len({path.parent for path in called}) == 1:
        called = [path for path in called if stems[path] == topic] or called
    found = called or notebooks
    return found[0] if len(found) == 1 else None


def _place(path: PurePosixPath, folder: PurePosixPath) -> PurePosixPath:
    """Return where a file belongs, relative to the notebook that lies in `folder`."""
    below = path.relative_to(folder)
    name = PurePosixPath(own_name(path))
    if len(below.parts) == 1 and name.suffix == WEIGHTS:
        return PurePosixPath("checkpoints", name)
    return below.with_name(name.name)


def _squeezed(name: str) -> str:
    """Return a name without blanks, punctuation and capitals, which is how Canvas writes it, for comparisons."""
    return re.sub(r"[\W_]+", "", normalize("NFC", name).casefold())
