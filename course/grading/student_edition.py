"""The student edition: this package without the references and the hidden tests, with answer keys in their place.

Code of students runs on it, whatever is installed around it, and the wheel students install is made of it.
"""

from __future__ import annotations

import compileall
import hashlib
import shutil
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from pathlib import Path

import course
from course.data.cache import cache_folder
from course.grading.problem import Problem
from course.outline import CARRIED
from course.syllabus import OUTLINE, TOPICS

LEFT_OUT = frozenset({"reference", "hidden", "keys", "stills", "__pycache__"})
"""Folders of the package that the student edition does not take over; its `keys` are written for it."""


def assemble(editions: Path | None = None) -> Path:
    """The folder that holds the student edition's `course`, to be put first on a kernel's import path.

    It is made once for every state of the package (its name is a hash of all that goes into it) below `editions`
    (by default in the course's cache) and appears there in one step.

    Raises:
        Problem: this is the student edition already, and holds nothing to make answer keys from.
    """
    package = Path(course.__file__).parent
    _demand_hidden(package)
    folder = editions or cache_folder() / "editions"
    edition = folder / _digest(package)
    if edition.is_dir():
        return edition
    folder.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix=".making-", dir=folder))
    try:
        _fill(package, making / "course")
        making.chmod(0o755)
        making.rename(edition)
    except OSError:
        if not edition.is_dir():  # nobody else was faster: a real fault
            raise
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return edition


def _demand_hidden(package: Path) -> None:
    if not (package / "hidden").is_dir():
        raise Problem("this is the student edition: grading needs the instructor's, with course.hidden")


def _fill(package: Path, edition: Path) -> None:
    """Copy the package, its keys made anew, and compile it, as kernels may not write there."""
    from course.hidden import write_keys

    copy_package(package, edition)
    write_keys(edition / "keys")
    compileall.compile_dir(edition, quiet=2)


def copy_package(package: Path, edition: Path) -> None:
    """Copy what students may have of the package, and the outline of the instructor's course."""
    shutil.copytree(package, edition, ignore=lambda _, names: LEFT_OUT.intersection(names))
    if OUTLINE is not None:
        shutil.copy(OUTLINE.path, edition / CARRIED.name)


@cache
def _state() -> str:
    """What besides the package's own files decides what an answer key holds."""
    return f"{sys.version_info[:2]} torch {version('torch')}"


def _digest(package: Path) -> str:
    digest = hashlib.sha256(_state().encode())
    for path in sorted(package.rglob("*")):
        relative = path.relative_to(package)
        if path.is_file() and not {"keys", "stills", "__pycache__"}.intersection(relative.parts):
            digest.update(f"\0{relative.as_posix()}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    for path in _of_the_instructor():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:32]


def _of_the_instructor() -> list[Path]:
    """The files of an instructor's course that the answer keys are made from."""
    if OUTLINE is None:
        return []
    from course.hidden import own_tests

    return [OUTLINE.path, *(own_tests(topic) for topic in TOPICS if topic.own)]
