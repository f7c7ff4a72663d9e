"""Make the files for students: the student wheel, and a zip of the wheel with the released notebooks."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from course.course import Course
from course.grading.course_folder import notebook_path
from course.grading.release.assistants import AGREEMENT, FOR_STUDENTS, HIDDEN_POINTERS, POINTERS, agreement
from course.grading.release.wheel import build_wheel
from course.grading.reproducible_zip import add

LEFT_BEHIND = frozenset({".course", ".ipynb_checkpoints", "__pycache__", "checkpoints"})
"""Folders that working in a released notebook leaves beside it."""

START = """\
# {title}

Python 3.11 to 3.14 is all you need beforehand. In this folder:

    python -m venv .venv
    .venv/bin/pip install './{wheel}[lab]'
    .venv/bin/jupyter lab assignments

(On Windows, `.venv\\Scripts\\pip` and `.venv\\Scripts\\jupyter`.) This takes about 2 GB of disk. On Linux it takes
about 7 GB, because pip brings CUDA, which only a machine with an NVIDIA GPU can use. Without such a GPU, install with
this line:

    .venv/bin/pip install --extra-index-url https://download.pytorch.org/whl/cpu './{wheel}[lab]'

Open a notebook, fill in the cells that say `YOUR CODE HERE`, and run the check below each. Three commands help. The
first lists the notebooks with their points and due dates. The second says what to do if something does not work. The
third packs the zip to hand in, under the name your class knows you by:

    .venv/bin/course list
    .venv/bin/course doctor
    .venv/bin/course submit assignments/{topic}/{topic}.ipynb --student ada

{assistants} Your assistant reads the rule in `AGENTS.md`.
"""


def hand_out(course: Course) -> list[Path]:
    """Write `dist/<wheel>` and `dist/<course>.zip` of a course, replacing earlier ones; return both paths.

    Earlier ones stay until both are made, and other files in `dist/` stay.

    Raises:
        Problem: as `build_wheel` does.
    """
    folder = course.root / "dist"
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".making-", dir=folder) as place:
        wheel = build_wheel(course, Path(place))
        made = [path.replace(folder / path.name) for path in (wheel, _pack(course, wheel))]
    for path in folder.glob("sequence_course-*.whl"):
        if path not in made:
            path.unlink()
    return made


def _pack(course: Course, wheel: Path) -> Path:
    """Write the zip of the wheel and the released notebooks beside the wheel, and return its path."""
    root, outline = course.root, course.outline
    target = wheel.parent / f"{root.name}.zip"
    about = {"title": outline.title, "wheel": wheel.name, "topic": course.topics[0].folder}
    start = START.format(**about, assistants=FOR_STUDENTS[outline.assistants])
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        add(archive, f"{root.name}/START.md", start.encode())
        add(archive, f"{root.name}/{wheel.name}", wheel.read_bytes())
        add(archive, f"{root.name}/{AGREEMENT}", agreement(root / "assignments", outline.assistants))
        for name, text in (POINTERS | HIDDEN_POINTERS).items():
            add(archive, f"{root.name}/{name}", text.encode())
        for path in released(course):
            add(archive, f"{root.name}/{path.relative_to(root).as_posix()}", path.read_bytes())
    return target


def released(course: Course) -> Iterator[Path]:
    """Yield the files of `assignments/` that belong to no topic, or that a release made for one of our topics."""
    root = course.root
    notebooks = {notebook_path(root, topic).relative_to(root / "solutions") for topic in course.topics}
    folders = {topic.folder for topic in course.topics}
    for path in sorted((root / "assignments").rglob("*")):
        place = path.relative_to(root / "assignments")
        if not path.is_file() or LEFT_BEHIND & set(place.parts):
            continue
        copied = place.parts[0] in folders and (root / "solutions" / place).is_file()
        if len(place.parts) == 1 or place in notebooks or copied:
            yield path
