"""Make an autograder for Gradescope: a zip that runs this course's judge on each submission there.

Formats: https://gradescope-autograders.readthedocs.io (specifications, `results.json`). The zip holds the course with
its hidden tests, so it is for instructors only. On Gradescope, student code runs in a sandbox and cannot read it.
"""

from __future__ import annotations

import io
import json
import tempfile
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import course as package
from course.course import Course, course_in
from course.files import write_atomically
from course.grading.problem import Problem
from course.grading.release.handout import LEFT_BEHIND
from course.grading.reproducible_zip import add
from course.outline import FILE
from course.syllabus import Topic

SETUP = """#!/usr/bin/env bash
# Runs once, when Gradescope builds the image: choose Ubuntu 22.04 or later.
set -euo pipefail
cd "${COURSE_AUTOGRADER:-/autograder}/source"
export DEBIAN_FRONTEND=noninteractive
apt-get update
apt-get install -y --no-install-recommends bubblewrap python3 python3-venv
fits() { "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' 2>/dev/null; }
for python in python3.14 python3.13 python3.12 python3.11 python3; do fits "$python" && break; python=; done
if [ -z "$python" ]; then
  apt-get install -y --no-install-recommends python3.11 python3.11-venv
  python=python3.11
fi
"$python" -m venv .venv
.venv/bin/python -m pip install --no-cache-dir -r requirements.txt \\
  --extra-index-url https://download.pytorch.org/whl/cpu
# Answer keys take half a minute: they are made here, and not for each submission.
(cd class && PYTHONPATH=.. COURSE_CACHE=../.cache ../.venv/bin/python -m course.grading.kernel_edition)
chmod -R o= .
"""

RUN = """#!/usr/bin/env bash
# Runs for each submission, and writes results/results.json.
set -eu
root="${COURSE_AUTOGRADER:-/autograder}"
cd "$root/source/class"
export PYTHONPATH="$root/source" COURSE_CACHE="$root/source/.cache"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
exec ../.venv/bin/python -m course.grading.export.autograder "$root"
"""

CLASS = "class"
"""The folder of the zip that is a complete course, with one topic and no students."""

SETTINGS = "settings.json"

VISIBLE = ("visible", "after_due_date", "after_published", "hidden")

_DIST = "sequence-course"


def write_autograder(
    course: Course, topic: Topic, to: Path | None = None, *, visibility: str = "visible", require_sandbox: bool = True
) -> Path:
    """Write the autograder of a topic to `to`, by default `exports/<topic>-gradescope.zip`, and return its path.

    Args:
        visibility: when students see the results on Gradescope, one of `VISIBLE`.
        require_sandbox: whether to grade nothing without a sandbox, because student code could then read the hidden
            tests.

    Raises:
        Problem: the topic has no source, or the file cannot be written.
    """
    from course.grading.course_folder import source_path

    root = course.root
    if not source_path(root, topic).is_file():
        raise Problem(
            f"there is no {source_path(root, topic)}, which an autograder is made from. Run this in the course's folder"
        )
    settings = {"topic": topic.folder, "visibility": visibility, "require_sandbox": require_sandbox}
    path = to or root / "exports" / f"{topic.folder}-gradescope.zip"
    try:
        write_atomically(path, _zipped(course, topic, json.dumps(settings, indent=2).encode()))
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error
    return path


def _zipped(course: Course, topic: Topic, settings: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        add(archive, "setup.sh", SETUP.encode(), 0o755)
        add(archive, "run_autograder", RUN.encode(), 0o755)
        add(archive, "requirements.txt", requirements().encode(), 0o644)
        add(archive, SETTINGS, settings, 0o644)
        for name, content in (*_package(), *_course(course, topic)):
            add(archive, name, content, 0o644)
    return made.getvalue()


def requirements() -> str:
    """Return the requirements for grading this course, in the versions that are installed here."""
    from packaging.requirements import Requirement

    try:
        declared = [Requirement(line) for line in distribution(_DIST).requires or ()]
    except PackageNotFoundError as error:
        raise Problem("the course is not installed here. Run pip install -e '.[grading]' in its folder") from error
    needed = [one for one in declared if one.marker is None or one.marker.evaluate({"extra": "grading"})]
    lines = []
    for one in needed:
        try:
            lines.append(f"{one.name}=={version(one.name).partition('+')[0]}")
        except PackageNotFoundError:
            lines.append(f"{one.name}{one.specifier}")
    return "\n".join(sorted(set(lines), key=str.lower)) + "\n"


def _package() -> Iterator[tuple[str, bytes]]:
    """Yield the files of the course's package and its metadata, because kernels are found by their entry point."""
    home = Path(package.__file__).parent
    for path in sorted(home.rglob("*")):
        relative = path.relative_to(home)
        if path.is_file() and not {"keys", "__pycache__"} & set(relative.parts):
            yield f"course/{relative.as_posix()}", path.read_bytes()
    about = distribution(_DIST)
    folder = f"{_DIST.replace('-', '_')}-{about.version}.dist-info"
    yield f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: {_DIST}\nVersion: {about.version}\n".encode()
    yield f"{folder}/entry_points.txt", (about.read_text("entry_points.txt") or "").encode()


def _course(course: Course, topic: Topic) -> Iterator[tuple[str, bytes]]:
    """Yield the files of a course with only this topic, its gradebook, and nothing of the class here."""
    from course.grading.course_folder import source_path
    from course.grading.gradebook.class_secret import class_secret
    from course.grading.nbgrader_bridge.config_file import load_config
    from course.grading.release.make_release import register

    root, outline = course.root, course.outline
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / CLASS
        (copy / "solutions").mkdir(parents=True)
        for path in (root / "nbgrader_config.py", source_path(root, topic), *_own_exercises(course)):
            place = copy / path.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(path.read_bytes())
        if outline.public:
            (copy / FILE).write_text(outline.public, "utf-8")
        for name, content in _given(root / "solutions" / topic.folder):
            place = copy / "solutions" / topic.folder / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        register(course_in(copy), topic)
        secret = class_secret(load_config(root).CourseDirectory.db_url)
        (copy / ".course-secret").write_text(secret)
        for path in sorted(copy.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                yield f"{CLASS}/{path.relative_to(copy).as_posix()}", path.read_bytes()


def _own_exercises(course: Course) -> Iterator[Path]:
    """Yield an instructor's own exercises."""
    if not course.is_original:
        yield from sorted(path for path in (course.root / "exercises").rglob("*.py") if "__pycache__" not in path.parts)


def _given(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files that an instructor gives out beside the notebook."""
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if path.is_file() and path.suffix != ".ipynb" and not LEFT_BEHIND & set(relative.parts):
            yield relative.as_posix(), path.read_bytes()
