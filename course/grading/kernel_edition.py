"""Build the kernel edition, the part of the package that students' code imports during grading, and its answer keys.

`course/edition.py` defines its contents. It has the answer keys only of the topics that a notebook is graded for, for
each `check` or `hint` outside graded cells. The wheel that students install has the keys of all topics.
"""

from __future__ import annotations

import compileall
import hashlib
import logging
import shutil
import sys
import tempfile
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

import course
from course.course import find_course
from course.data.cache import cache_folder
from course.edition import KERNELS, KEYS, is_held
from course.grading.fingerprints import key_fingerprint
from course.outline import CARRIED
from course.syllabus import Topic

ANSWER_KEYS = "answer-keys"
"""The cache folder of answer keys, with a file for each topic and state of its tests."""

EARLIER_KEYS = 3
"""The number of old keys of a topic that are kept, because another version of the course may be in use, too."""


def assemble(outline: str, topics: Iterable[Topic], editions: Path | None = None) -> Path:
    """Return the folder with the kernel edition's `course` and the keys of `topics`, for the front of an import path.

    The edition holds `outline`, the public part of an instructor's `course.toml`, or an empty text.

    The folder is built once for each state of the package and of these topics' tests (see `name_of`) below `editions`
    (by default in the course's cache), and is renamed into place atomically.
    """
    package, topics = Path(course.__file__).parent, list(topics)
    folder = editions or cache_folder() / "editions"
    edition = folder / name_of(outline, topics, package)
    if edition.is_dir():
        return edition
    folder.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=folder))
    try:
        _fill(package, making / "course", outline, topics)
        making.chmod(0o755)
        making.rename(edition)
    except OSError:
        if not edition.is_dir():  # no other process built the folder meanwhile
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return edition


def _fill(package: Path, edition: Path, outline: str, topics: Iterable[Topic]) -> None:
    """Copy the package with a key for each of `topics`, and compile it, because kernels may not write there."""
    copy_package(package, edition, outline)
    copy_keys(package, edition / KEYS, topics)
    compileall.compile_dir(edition, quiet=2)


def copy_keys(package: Path, folder: Path, topics: Iterable[Topic]) -> None:
    """Create `folder` with the answer key of each of `topics`."""
    folder.mkdir()
    for topic in topics:
        shutil.copyfile(answer_key(topic, package), folder / f"{topic.name}.key")


def answer_key(topic: Topic, package: Path) -> Path:
    """Return the path of a topic's cached answer key, which is made again only if its tests change.

    Raises:
        OSError: the key cannot be written to the cache.
    """
    from course.hidden import write_key

    folder = cache_folder() / ANSWER_KEYS
    place = folder / f"{topic.folder}-{key_fingerprint(topic, package)}.key"
    if place.is_file():
        return place
    folder.mkdir(parents=True, exist_ok=True)
    told = "Making the answer key of %s. This takes up to a minute, and is kept until its tests change."
    logging.getLogger(__name__).info(told, topic.folder)
    earlier = list(folder.glob(f"{topic.folder}-*.key"))
    with tempfile.TemporaryDirectory(prefix=".making-", dir=folder) as making:
        write_key(Path(making), topic)
        Path(making, f"{topic.name}.key").replace(place)
    for path in sorted(earlier, key=_written)[:-EARLIER_KEYS]:
        path.unlink(missing_ok=True)
    return place


def _written(path: Path) -> float:
    """Return a file's modification time, or 0 if another process has removed the file meanwhile."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def copy_package(package: Path, edition: Path, outline: str) -> None:
    """Copy the package's files that a graded notebook's kernel may have, and write an instructor's `outline`."""
    for name in held_files(package):
        (edition / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(package / name, edition / name)
    if outline:
        (edition / CARRIED.name).write_bytes(outline.encode())


def held_files(package: Path) -> list[Path]:
    """Return the files that a graded notebook's kernel may have, relative to the package, in order."""
    found = (path.relative_to(package) for path in package.rglob("*") if path.is_file())
    return sorted(path for path in found if is_held(path, KERNELS))


def name_of(outline: str, topics: Iterable[Topic], package: Path) -> str:
    """Return a digest of all contents of the edition of `package` with `outline` and the keys of `topics`."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} torch {version('torch')}".encode())
    for name in held_files(package):
        digest.update(f"\0{name.as_posix()}\0".encode() + hashlib.sha256((package / name).read_bytes()).digest())
    digest.update(outline.encode())
    for topic in sorted(topics, key=lambda topic: topic.name):
        digest.update(f"\0{topic.name} {key_fingerprint(topic, package)}".encode())
    return digest.hexdigest()[:32]


if __name__ == "__main__":
    here = find_course()
    for topic in here.topics:  # one edition each, as in grading
        assemble(here.outline.public, [topic])
