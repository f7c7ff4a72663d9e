"""`course upgrade`: what is newer in ours than in a course that was made earlier, and take it without losing edits.

Three versions decide about a file: the course's, ours, and ours when it was copied. Where only ours changed, ours
replaces it. Where both changed, git merges the two, unless both changed the same lines.
"""

from __future__ import annotations

import difflib
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from course.course import Course, is_course
from course.files import write_atomically
from course.grading.course_files.catalogue import topic_called
from course.grading.course_files.course_folder import source_path
from course.grading.release.new_course import COPIED_FILES, ORIGINALS, OURS, PROJECT, copied_hashes, note_as_ours
from course.problem import Problem
from course.syllabus import Topic

REPLACED = Path(".course", "replaced")
"""The folder, within the course's folder, with the files that upgrades replaced, by time."""

WORDS = {
    "newer": "ours is newer, and yours is as it was copied",
    "merges": "both changed, in different lines, so ours can be merged into yours",
    "clash": "both changed the same lines, so it stays as it is. Merge it yourself",
    "no git": "both changed, and git, which merges the two, is missing here, so it stays as it is. Install git",
    "no original": "both changed, and what was copied at first is not kept, so it stays as it is. Merge it yourself",
    "unknown": "differs from ours, and nothing says which of us changed it, so it stays as it is",
}
"""What is said of each state of a file."""

TAKEN = ("newer", "merges")
"""The states in which an upgrade can take ours."""


@dataclass(frozen=True)
class Part:
    """A file of the course that differs from ours: `key` is its name in the record, and `base` ours when copied."""

    key: str
    mine: Path
    ours: Path
    name: str
    state: str
    base: bytes | None

    def diff(self) -> str:
        """Return what an upgrade changes in the file, or else how ours differs, as a unified diff."""
        after = self.result() or self.ours.read_bytes()
        yours = self.mine.read_text("utf-8", "replace").splitlines(keepends=True)
        ours = after.decode("utf-8", "replace").splitlines(keepends=True)
        return "".join(difflib.unified_diff(yours, ours, f"yours/{self.name}", f"after/{self.name}"))

    def result(self) -> bytes | None:
        """Return the file after an upgrade, or None if it cannot be taken."""
        if self.state == "newer":
            return self.ours.read_bytes()
        return merged(self.mine, self.base, self.ours) if self.state == "merges" and self.base is not None else None


def parts_of(root: Path, topics: Sequence[Topic], ours: Path = OURS) -> list[Part]:
    """Return the files of the course in `root` that are not as in `ours`, if ours has changed since they were copied.

    Raises:
        Problem: our repository is not here, or `root` is in it.
    """
    if not is_course(ours) or root.resolve() == ours.resolve():
        raise Problem(
            "there is nothing to compare with. Run this in a course of your own, with our repository installed"
        )
    known = copied_hashes(root)
    found = []
    for key, name in _names(topics, ours):
        mine, theirs = root / name, ours / name
        if not (mine.is_file() and theirs.is_file()):
            continue
        state, base = _state(root, known.get(key), mine, theirs)
        if state:
            found.append(Part(key, mine, theirs, name, state, base))
    return found


def _names(topics: Sequence[Topic], ours: Path) -> Iterator[tuple[str, str]]:
    """Yield the key and the path of each file that `course new` copies."""
    for topic in topics:
        if not topic.own:
            yield topic.folder, source_path(Path(), topic).as_posix()
    yield from ((name, name) for name in COPIED_FILES)
    for path in sorted((ours / "exercises" / PROJECT).glob("*.py")):
        name = path.relative_to(ours).as_posix()
        yield name, name


def _state(root: Path, copied: str | None, mine: Path, ours: Path) -> tuple[str, bytes | None]:
    """Return the state of a file, "" if there is nothing to take, and ours when it was copied, if that was kept."""
    here, there = (hashlib.sha256(path.read_bytes()).hexdigest() for path in (mine, ours))
    if there in (here, copied):
        return "", None
    if copied is None:
        return "unknown", None
    if here == copied:
        return "newer", mine.read_bytes()
    kept = root / ORIGINALS / copied
    if not kept.is_file():
        return "no original", None
    base = kept.read_bytes()
    if shutil.which("git") is None:
        return "no git", base
    return ("clash" if merged(mine, base, ours) is None else "merges"), base


def merged(mine: Path, base: bytes, ours: Path) -> bytes | None:
    """Return both files' changes since `base` in one, or None where they touch the same lines."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(base)
        file.flush()
        line = ["git", "merge-file", "--stdout", str(mine), file.name, str(ours)]
        done = subprocess.run(line, capture_output=True)
    return done.stdout if done.returncode == 0 else None


def choose(course: Course, parts: Sequence[Part], names: Sequence[str]) -> list[Part]:
    """Return the parts called `names`, by topic or by file, or all of them without names.

    Raises:
        Problem: no topic and no file has such a name.
    """
    if not names:
        return list(parts)
    files = {part.name for part in parts}
    wanted = {name if name in files or name in COPIED_FILES else topic_called(course, name).folder for name in names}
    return [part for part in parts if wanted & {part.key, part.name}]


def take(root: Path, parts: Sequence[Part]) -> list[str]:
    """Take ours where it can be taken, keep the files that this replaces, and return the names of the taken ones."""
    place, taken = root / REPLACED / f"{datetime.now():%Y%m%dT%H%M%S}", []
    for part in parts:
        result = part.result()
        if result is None:
            continue
        write_atomically(place / part.name, part.mine.read_bytes())
        write_atomically(part.mine, result)
        note_as_ours(root, part.key, part.ours.read_bytes())
        taken.append(part.name)
    return taken


def upgrade(course: Course, names: Sequence[str], *, diff: bool = False, takes: bool = False) -> int:
    """List what is newer in ours, show the difference, or take it. Return 1 if something that was named stays.

    Raises:
        Problem: a name is unknown, or there is nothing to compare with.
    """
    parts = choose(course, parts_of(course.root, course.topics), names)
    if not parts:
        print("Nothing of ours is newer.")
        return 0
    for part in parts:
        print(f"{part.name}: {WORDS[part.state]}")
        if diff:
            print(part.diff())
    able = [part for part in parts if part.state in TAKEN]
    if not takes:
        if able:
            print("To take ours, run `course upgrade --take`, with topics or files for some. --diff shows it first.")
        return 0
    taken = take(course.root, able)
    topics = [part.key for part in able if part.key in course.known_folders]
    if taken:
        print(f"\nTaken: {', '.join(taken)}. What they replaced is in {REPLACED}.")
    if topics:
        print(f"Next: read the changes, then run `course release {' '.join(topics)}`.")
    return int(bool(names) and len(taken) < len(parts))
