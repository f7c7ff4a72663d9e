"""The edition that students' code runs on while it is graded, whatever is installed around it, and its answer keys.

What it holds of the package is said in `course/edition.py`. It has the keys of the topics that a notebook is graded
for, which a `check` or a `hint` outside graded cells reads. The wheel that students install has the keys of all topics.
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
from course.data.cache import cache_folder
from course.edition import KERNELS, KEYS, is_held
from course.grading.fingerprints import key_fingerprint
from course.outline import CARRIED
from course.syllabus import OUTLINE, TOPICS, Topic

ANSWER_KEYS = "answer-keys"
"""Where in the course's cache answer keys are kept, a file a topic and state of its tests."""

EARLIER_KEYS = 3
"""Keys of a topic that are kept beside a new one: another version of the course may be in use, too."""


def assemble(topics: Iterable[Topic] = TOPICS, editions: Path | None = None) -> Path:
    """The folder that holds the kernel edition's `course` with the keys of `topics`, to be put first on an import path.

    It is made once for every state of the package and of these topics' tests (see `name_of`) below `editions` (by
    default in the course's cache) and appears there in one step.
    """
    package, topics = Path(course.__file__).parent, list(topics)
    folder = editions or cache_folder() / "editions"
    edition = folder / name_of(topics, package)
    if edition.is_dir():
        return edition
    folder.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=folder))
    try:
        _fill(package, making / "course", topics)
        making.chmod(0o755)
        making.rename(edition)
    except OSError:
        if not edition.is_dir():  # nobody else was faster: a real fault
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return edition


def _fill(package: Path, edition: Path, topics: Iterable[Topic]) -> None:
    """Copy the package, with a key for each of `topics`, and compile it, as kernels may not write there."""
    copy_package(package, edition)
    copy_keys(package, edition / KEYS, topics)
    compileall.compile_dir(edition, quiet=2)


def copy_keys(package: Path, folder: Path, topics: Iterable[Topic]) -> None:
    """Make `folder`, with the answer key of each of `topics`."""
    folder.mkdir()
    for topic in topics:
        shutil.copyfile(answer_key(topic, package), folder / f"{topic.name}.key")


def answer_key(topic: Topic, package: Path) -> Path:
    """The answer key of a topic, made when it is first asked for and kept until what it is made from changes.

    Raises:
        OSError: it cannot be kept.
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
    """When a file was written; long ago, if another process has removed it meanwhile."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def copy_package(package: Path, edition: Path) -> None:
    """Copy what a graded notebook's kernel may have of the package, and the outline of the instructor's course."""
    for name in held_files(package):
        (edition / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(package / name, edition / name)
    if OUTLINE is not None:
        (edition / CARRIED.name).write_bytes(OUTLINE.for_students())


def held_files(package: Path) -> list[Path]:
    """The files that a graded notebook's kernel may have, as seen from the package, in order."""
    found = (path.relative_to(package) for path in package.rglob("*") if path.is_file())
    return sorted(path for path in found if is_held(path, KERNELS))


def name_of(topics: Iterable[Topic], package: Path) -> str:
    """A name for all that goes into the edition of `package` with the keys of `topics`."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} torch {version('torch')}".encode())
    for name in held_files(package):
        digest.update(f"\0{name.as_posix()}\0".encode() + hashlib.sha256((package / name).read_bytes()).digest())
    if OUTLINE is not None:
        digest.update(OUTLINE.for_students())
    for topic in sorted(topics, key=lambda topic: topic.name):
        digest.update(f"\0{topic.name} {key_fingerprint(topic, package)}".encode())
    return digest.hexdigest()[:32]


if __name__ == "__main__":
    for topic in TOPICS:  # each as it is graded
        assemble([topic])
