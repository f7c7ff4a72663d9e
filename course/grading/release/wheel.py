"""Build the student wheel of a course with hatchling."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path

import course as package
from course.course import Course
from course.grading.kernel_edition import copy_keys, copy_package, name_of
from course.grading.problem import Problem


def build_wheel(course: Course, folder: Path) -> Path:
    """Write the student wheel of the course into `folder` and return its path.

    The wheel of an instructor's own course holds our package and the instructor's outline. Its version contains the
    build time, so pip and the notebooks' first cell recognise the newest of several.

    Raises:
        Problem: hatchling is not installed, or its build failed.
    """
    if find_spec("hatchling") is None:
        raise Problem("building a wheel needs hatchling. Run pip install hatchling")
    folder = folder.resolve()
    with _buildable(course) as place:
        keys = place / "course" / "keys"
        shutil.rmtree(keys, ignore_errors=True)
        copy_keys(Path(package.__file__).parent, keys, course.topics)  # current keys
        built = subprocess.run(
            [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
            cwd=place,
            env={**os.environ, "COURSE_EDITION": "student"},
            capture_output=True,
            text=True,
            check=False,
        )
    if built.returncode:
        raise Problem((built.stderr or built.stdout).strip().splitlines()[-1])
    return max(folder.glob("*.whl"), key=lambda path: path.stat().st_mtime_ns)


BUILT_FROM = (".gitignore", "pyproject.toml", "hatch_build.py", "README.md", "LICENSE")
"""The files that a build needs beside the package."""


@contextmanager
def _buildable(course: Course) -> Iterator[Path]:
    """Yield a folder in which hatchling can build the course: its own, or a copy of ours with its outline."""
    root = course.root
    if (root / "hatch_build.py").is_file():
        yield root
        return
    ours = Path(package.__file__).parents[1]
    if course.is_original or not (ours / "hatch_build.py").is_file():
        raise Problem(f"{root} holds no hatch_build.py, so no wheel can be built from it")
    with tempfile.TemporaryDirectory(prefix="course-wheel-") as made:
        place = Path(made)
        for name in BUILT_FROM:
            shutil.copy(ours / name, place)
        copy_package(ours / "course", place / "course", course.outline.public)
        project = place / "pyproject.toml"
        local = f"{datetime.now(UTC):%Y%m%d%H%M%S}.{name_of(course.outline.public, course.topics, ours / 'course')[:8]}"
        versioned = re.sub(
            r'(?m)^version = "([^"]+)"$', rf'version = "\1+{local}"', project.read_text("utf-8"), count=1
        )
        project.write_text(versioned, encoding="utf-8")
        yield place
