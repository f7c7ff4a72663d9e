"""What an instructor hands out: the student wheel, and a zip of it with the released notebooks."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from course.grading.archive import add
from course.grading.edition import build_wheel
from course.syllabus import OUTLINE, TOPICS

LEFT_BEHIND = frozenset({".course", ".ipynb_checkpoints", "__pycache__", "checkpoints"})
"""What working in a released notebook leaves beside it."""

START = """\
# {title}

Python 3.11, 3.12 or 3.13 is all you need beforehand. In this folder:

    python -m venv .venv
    .venv/bin/pip install './{wheel}[lab]'
    .venv/bin/jupyter lab assignments

(On Windows, `.venv\\Scripts\\pip` and `.venv\\Scripts\\jupyter`.) Open a notebook, fill in the cells that say
`YOUR CODE HERE`, and run the check below each.
"""


def hand_out(root: Path) -> list[Path]:
    """Write `dist/<wheel>` and `dist/<course>.zip` of the course in `root`, in place of earlier ones; returns both."""
    folder = root / "dist"
    for path in [*folder.glob("sequence_course-*.whl"), *folder.glob("*.zip")]:
        path.unlink()
    wheel = build_wheel(root, folder)
    target = folder / f"{root.name}.zip"
    title = OUTLINE.title if OUTLINE is not None else "Sequence models"
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        add(archive, f"{root.name}/START.md", START.format(title=title, wheel=wheel.name).encode())
        add(archive, f"{root.name}/{wheel.name}", wheel.read_bytes())
        for path in released(root):
            add(archive, f"{root.name}/{path.relative_to(root).as_posix()}", path.read_bytes())
    return [wheel, target]


def released(root: Path) -> Iterator[Path]:
    """The files of `assignments/` that belong to the course's topics or to none, without what working there left."""
    folders = {topic.folder for topic in TOPICS}
    for path in sorted((root / "assignments").rglob("*")):
        parts = path.relative_to(root / "assignments").parts
        if path.is_file() and not LEFT_BEHIND & set(parts) and (len(parts) == 1 or parts[0] in folders):
            yield path
