"""`course start` copies the released notebooks into a folder and opens JupyterLab on their map."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import course
from course.course import Course
from course.edition import NOTEBOOKS
from course.grading.machine.show_progress import has_notebooks
from course.problem import Problem

MAP = "index.ipynb"


def usual_folder(here: Course) -> Path:
    """Return this folder or the one above if it has the notebooks and their map, or else the one to begin in."""
    places = (place for place in (Path(), Path("..")) if (place / MAP).is_file() and has_notebooks(here, place))
    return next(places, Path("sequence-models"))


def copy_notebooks(here: Course, folder: Path) -> tuple[int, int]:
    """Copy the released notebooks into `folder`, and return how many were copied and how many were there already.

    Existing files are not overwritten, because they may be somebody's work. `here` is the course of the package, or
    around the working folder.

    Raises:
        Problem: this package holds no notebooks, or `folder` is a file.
    """
    source = _released(here)
    if folder.exists() and not folder.is_dir():
        raise Problem(f"{folder} is a file. Name a folder, which is made if it is missing")
    copied = kept = 0
    for path in _files(source):
        target = folder / path.relative_to(source)
        is_notebook = path.suffix == ".ipynb" and path.name != MAP
        if target.exists():
            kept += is_notebook
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
        copied += is_notebook
    return copied, kept


def _released(here: Course) -> Path:
    """Return the folder of the released notebooks, in the package or in the repository around it."""
    package = Path(course.__file__).parent
    places = [package / NOTEBOOKS, package.parent / "assignments"]
    found = next((place for place in places if (place / MAP).is_file()), None)
    if found is None or not here.is_original:
        raise Problem("this course belongs to a class. Open the notebooks that you were given with `jupyter lab`")
    return found


def _files(source: Path) -> list[Path]:
    """Return the map, its picture, the rule for assistants, and one notebook for each topic, and no other files."""
    beside = (path for path in source.glob("*") if path.is_file())
    return sorted([*beside, *(path for path in source.glob("*/*.ipynb") if path.stem == path.parent.name)])


def open_map(folder: Path, options: list[str]) -> int:
    """Run JupyterLab on the map in `folder` until it is closed, and return its exit status.

    Args:
        folder: holds the notebooks.
        options: further command-line options for JupyterLab.

    Raises:
        Problem: JupyterLab is not installed, or it refuses to run as root.
    """
    if find_spec("jupyterlab") is None:
        raise Problem(
            f'JupyterLab is not installed. Run pip install "sequence-course[lab]", or open {folder / MAP} in an editor'
        )
    address = f"--LabApp.default_url=/lab/tree/{MAP}"
    command = [sys.executable, "-m", "jupyterlab", address, *options]
    before = signal.signal(signal.SIGINT, lambda *_: None)  # JupyterLab handles Ctrl-C: it asks whether to end
    try:
        status = subprocess.run(command, cwd=folder, check=False).returncode
    finally:
        signal.signal(signal.SIGINT, before)
    if status == 1 and getattr(os, "geteuid", lambda: 1)() == 0:
        raise Problem(
            "JupyterLab did not start. If that is because you are root, run `course start` as another user, "
            f"or `jupyter lab --allow-root` in {folder}"
        )
    return status
