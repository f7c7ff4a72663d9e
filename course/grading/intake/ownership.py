"""Find the student of each unpacked zip, by its path, its name and its manifest, before anything is copied.

Nothing here reads a file. It is a conflict if the path, name and manifest of a hand-in contradict each other, or if
two senders use one name. Work in a conflict is assigned to nobody.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any
from unicodedata import normalize

from course.files import write_atomically
from course.grading.intake.platforms import Sender, sender_of
from course.grading.intake.submit import MACHINE_LOGINS, MANIFEST, STAMP, STUDENT, archive_head
from course.grading.intake.untrusted import parse_notebook
from course.outline import TOPIC_FOLDER, Group
from course.problem import Problem


@dataclass(frozen=True)
class Manifest:
    """The contents of a manifest: `time` is written as in a zip's name."""

    topic: str
    student: str
    time: str

    @property
    def is_valid(self) -> bool:
        """Whether topic and student have the form that `course submit` writes."""
        return bool(TOPIC_FOLDER.fullmatch(self.topic) and re.fullmatch(STUDENT, self.student))


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest at `path`, or None if it is unreadable or has no time."""
    try:
        about = parse_notebook(path.read_bytes(), MANIFEST)
        time = datetime.fromisoformat(str(about.get("time"))).astimezone(UTC)
    except (Problem, OSError, ValueError, OverflowError):
        return None
    return Manifest(str(about.get("topic")), normalize("NFC", str(about.get("student"))), f"{time:{STAMP}}")


FOLDER = Path(".course", "owners")
"""The folder, within the course's folder, with a file for each topic."""


def read_senders(root: Path, topic: str) -> dict[str, Sender]:
    """Return the senders by student, or an empty dict if the file is missing or unreadable."""
    try:
        plain = json.loads(_path(root, topic).read_text(encoding="utf-8"))
        return {student: Sender(str(of), str(key), str(label)) for student, (of, key, label) in plain.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def write_senders(root: Path, topic: str, senders: Mapping[str, Sender]) -> None:
    """Save these senders, replacing the saved ones."""
    plain = {student: [sender.platform, sender.key, sender.label] for student, sender in sorted(senders.items())}
    if senders or _path(root, topic).exists():
        write_atomically(_path(root, topic), json.dumps(plain, indent=1, ensure_ascii=False).encode())


def _path(root: Path, topic: str) -> Path:
    return root / FOLDER / f"{topic}.json"


MACHINE = "a machine's login"
"""The platform of a `Sender` known only by a machine's login, which another student's machine may share."""


@dataclass
class HandIn:
    """One unpacked zip.

    Args:
        folder: where the zip was unpacked, below the download.
        topic: the topic of the work.
        student: the student, by the manifest or else by the zip's name.
        time: when the zip was packed, as in its name.
        sender: the sender by the platform.
        named: the student in the zip's name, or "".
        manifests: the students in its manifests.
        files: its files by their path in the zip, with their paths below the download.
    """

    folder: PurePosixPath
    topic: str
    student: str
    time: str
    sender: Sender | None
    named: str
    manifests: set[str] = field(default_factory=set)
    files: dict[PurePosixPath, PurePosixPath] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that `course submit` gives to a zip of this topic, student and time."""
        return f"{self.topic}-{self.student}-{self.time}"

    @property
    def is_split(self) -> bool:
        """Whether its name and its manifests name different students."""
        return len({self.student, self.named or self.student, *self.manifests}) > 1

    def given_to(self, student: str) -> HandIn:
        """Return the hand-in with the student that the instructor decided on."""
        return replace(self, student=student, named=student, manifests={student})


@dataclass(frozen=True)
class Conflict:
    """Work that is assigned to nobody, and why; `collected` are students whose work in `submitted/` is involved."""

    reason: str
    hand_ins: tuple[HandIn, ...]
    collected: tuple[str, ...] = ()

    def is_within(self, group: Group) -> bool:
        """Return whether all of the work belongs to members of a group."""
        return {*self.collected, *(one.student for one in self.hand_ins)} <= set(group.members)


def find_hand_ins(
    files: Iterable[PurePosixPath], manifests: Mapping[PurePosixPath, Manifest], topics: Iterable[str]
) -> list[HandIn]:
    """Return the unpacked zips that hold `files`, paths below the download; files outside zips are ignored.

    Args:
        manifests: the readable manifests, by folder.
        topics: the folders of all topics.
    """
    head = re.compile(archive_head(topics))
    found: dict[PurePosixPath, HandIn] = {}
    roots: dict[PurePosixPath, PurePosixPath | None] = {}
    for path in files:
        if path.parent not in roots:
            roots[path.parent] = _root(path.parent, manifests, head)
        folder = roots[path.parent]
        if folder is None:
            continue
        if folder not in found:
            found[folder] = _hand_in(folder, manifests, head)
        one = found[folder]
        one.files[path.relative_to(folder)] = path
        if path.parent in manifests:
            one.manifests.add(manifests[path.parent].student)
    return list(found.values())


def find_conflicts(
    hand_ins: Sequence[HandIn], collected: Mapping[str, Sender], groups: Sequence[Group] = ()
) -> list[Conflict]:
    """Return the conflicts: work that may belong to another student, and so is not collected.

    Args:
        hand_ins: all of one topic.
        collected: the senders of the work in `submitted/`, by student, where a platform named them.
        groups: students who hand in together, under the name of any member.
    """
    agreed = [one for one in hand_ins if not one.is_split]
    told = [Conflict(_split(one), (one,)) for one in hand_ins if one.is_split]
    apart = [one for one in _of_one_sender(agreed, collected) if not any(map(one.is_within, groups))]
    return [*told, *_of_one_name(agreed, collected), *apart]


def newest(hand_ins: Iterable[HandIn]) -> HandIn:
    """Return the latest of a student's hand-ins."""
    return max(hand_ins, key=lambda one: (one.time, str(one.folder)))


def _split(one: HandIn) -> str:
    says = f"manifest in it says {listed(sorted(one.manifests))}"
    return f"A zip is named for {one.named}, but a {says}." if one.named else f"A zip was renamed, and a {says}."


def _of_one_name(hand_ins: Sequence[HandIn], collected: Mapping[str, Sender]) -> Iterator[Conflict]:
    """Yield hand-ins of several senders under one name; case is ignored, as some systems ignore it in paths."""
    for name, group in _grouped(hand_ins, lambda one: one.student.casefold()).items():
        before = {student: sender for student, sender in collected.items() if student.casefold() == name}
        senders = dict.fromkeys([*before.values(), *(one.sender for one in group if one.sender)])
        if not _differ(senders):
            continue
        student = group[0].student
        if any(sender.platform == MACHINE for sender in senders):
            reason = f"{student} is a login that machines give, so each of these may be from a different student."
        else:
            reason = f"{listed([sender.label for sender in senders])} handed in as {student}."
        yield Conflict(reason, tuple(group), tuple(before))


def _differ(senders: Iterable[Sender]) -> bool:
    """Return whether these are more than one sender; senders on different platforms cannot be compared."""
    senders = set(senders)
    if any(sender.platform == MACHINE for sender in senders):
        return len(senders) > 1
    return len(senders) > len({sender.platform for sender in senders})


def _of_one_sender(hand_ins: Sequence[HandIn], collected: Mapping[str, Sender]) -> Iterator[Conflict]:
    """Yield hand-ins of one sender under several names."""
    sent = [one for one in hand_ins if one.sender and not one.sender.is_many]
    for (sender, label), group in _grouped(sent, lambda one: (one.sender, one.sender and one.sender.label)).items():
        before = [student for student, earlier in collected.items() if (earlier, earlier.label) == (sender, label)]
        names = dict.fromkeys([*before, *(one.student for one in group)])
        if len({name.casefold() for name in names}) > 1:
            yield Conflict(f"{label} handed in as {listed(list(names))}.", tuple(group), tuple(before))


def _grouped(hand_ins: Iterable[HandIn], key: Callable[[HandIn], Any]) -> dict[Any, list[HandIn]]:
    groups: dict[Any, list[HandIn]] = {}
    for one in hand_ins:
        groups.setdefault(key(one), []).append(one)
    return groups


def _root(
    folder: PurePosixPath, manifests: Mapping[PurePosixPath, Manifest], head: re.Pattern[str]
) -> PurePosixPath | None:
    """Return the folder of the zip that `folder` came from: the innermost with such a name, else with a manifest."""
    above = [place for place in (folder, *folder.parents) if place.name]
    named = next((place for place in above if _said_by(place.name, head)), None)
    return named or next((place for place in above if place in manifests), None)


def _hand_in(folder: PurePosixPath, manifests: Mapping[PurePosixPath, Manifest], head: re.Pattern[str]) -> HandIn:
    manifest = manifests.get(folder)
    if named := _said_by(folder.name, head):
        student = normalize("NFC", named["student_id"])
        about = Manifest(named["topic"], manifest.student if manifest else student, named["timestamp"])
        sender = sender_of(folder, folder.name[: named.start("topic")])
        one = HandIn(folder, about.topic, about.student, about.time, sender, student)
    else:
        about = manifests[folder]
        one = HandIn(folder, about.topic, about.student, about.time, sender_of(folder, folder.name), "")
    if one.sender is None and one.student.casefold() in MACHINE_LOGINS:
        one.sender = Sender(MACHINE, one.name, "")
    return one


def _said_by(name: str, head: re.Pattern[str]) -> re.Match[str] | None:
    """Return the match of a zip's name, if `course submit` wrote it with a valid time, else None."""
    said = head.fullmatch(name)
    if said is None:
        return None
    try:
        datetime.strptime(said["timestamp"], STAMP)
    except ValueError:
        return None
    return said


def listed(names: Sequence[str]) -> str:
    """Return `ada, bob and cy`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
