"""The opening of every notebook: badges below its title, and a folded cell that installs the course if it is missing.

All of it is made here, from the one public address in the syllabus, and stand in no source.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from course.syllabus import BRANCH, SOURCE

if TYPE_CHECKING:
    from nbformat import NotebookNode

REPOSITORY = SOURCE.removeprefix("https://github.com/")
"""Owner and name, as Binder and Colab want them."""

ARCHIVE = f"{SOURCE}/archive/refs/heads/{BRANCH}.zip"
"""What pip can install the course from, without git."""

_LITE = (
    "JupyterLite has no official PyTorch, and the course is not tried there. Open this notebook on Colab or Binder, or "
    "install the course on a computer."
)
_OFFLINE = (
    "The course could not be downloaded. Turn the internet on, or put the course's .whl file beside this notebook (on "
    "Kaggle, as an input), and then run this cell again."
)
_CLASS = (
    "This notebook belongs to a class, and the class's package is not here. Put the .whl file that you were given "
    "beside it (on Kaggle, as an input), and then run this cell again."
)


def setup_source(is_ours: bool) -> str:
    """Return the source of the setup cell, which is folded. Messages and an address make it long.

    A wheel that is there installs itself, by `main` of `course/notebook/setting_up.py`. In an instructor's own course
    the cell downloads nothing, and takes no wheel but an instructor's: ours would check by other points, and it comes
    with the solutions.
    """
    by_wheel = """["-c", start, *wheels]"""
    by_pip = f"""["-m", "pip", "install", "--quiet", "--no-deps", "--retries=1", "{ARCHIVE}"]"""
    how = f"{by_wheel} if wheels else {by_pip}" if is_ours else by_wheel
    pips = """("" if "Retrying (" in ran.stderr else ran.stderr.strip()) or """ if is_ours else ""
    return f"""\
# @title Set up: install the course where it is missing
try:
    import course
except ModuleNotFoundError:
    import subprocess, sys
    from glob import glob
    from zipfile import is_zipfile

    ours = "*sequence_course*.whl"
    wheels = [*filter(is_zipfile, glob(ours) + glob(f"/kaggle/input/**/{{ours}}", recursive=True))]
    start = "import sys; sys.path += sys.argv[1:]; from course.notebook.setting_up import main; main({not is_ours})"
    installing = {how}
    why = "{_LITE}"
    if sys.platform != "emscripten":
        ran = subprocess.run([sys.executable, *installing], capture_output=True, text=True)
        why = ran.returncode and (ran.stdout.strip() or {pips}"{_OFFLINE if is_ours else _CLASS}")
    if why:
        stop = RuntimeError(why)
        stop._render_traceback_ = lambda: [why]  # what Jupyter shows
        raise stop
    import course

    course.set_up()
"""


ABOVE = (
    "Press Shift+Enter to run one cell after the other. The folded cell below installs the course where it is missing, "
    "such as on Colab. Elsewhere it does nothing."
)
"""What the text above the cell ends with. A click would unfold the cell in JupyterLab, so it asks for none."""
_TAG = "setup"
_FOLDED = {"cellView": "form", "jupyter": {"source_hidden": True}, "_kg_hide-input": True}
"""What folds a cell on Colab, in JupyterLab and Notebook, and on Kaggle."""
_BADGES = re.compile(r"\n\n\[!\[Open in Binder].*\n\[!\[Open in Colab].*")


def binder_address(path: str) -> str:
    """Return the address that opens the notebook at `path` of the repository on Binder."""
    return f"https://mybinder.org/v2/gh/{REPOSITORY}/{BRANCH}?labpath={quote(path, safe='')}"


def colab_address(path: str) -> str:
    """Return the address that opens the notebook at `path` of the repository on Colab."""
    return f"https://colab.research.google.com/github/{REPOSITORY}/blob/{BRANCH}/{quote(path)}"


def badges(path: str) -> str:
    """Return Markdown with a badge each for Binder and Colab that opens the notebook at `path` of the repository."""
    return (
        f"[![Open in Binder](https://mybinder.org/badge_logo.svg)]({binder_address(path)})\n"
        f"[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({colab_address(path)})"
    )


def put(notebook: NotebookNode, path: str, is_ours: bool) -> None:
    """Add badges to a notebook, and the setup cell with its text before the first code cell.

    In an instructor's own course there are no badges: they would open our notebook, and not theirs.

    Args:
        path: where the released notebook stands in the repository.
        is_ours: whether the notebook belongs to the original course.
    """
    title, line, text = notebook.cells[0].source.partition("\n")
    if title.startswith("# ") and is_ours:
        notebook.cells[0].source = f"{title}\n\n{badges(path)}{line}{text}"
    code = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    at = min(code, default=1)
    for cell in notebook.cells[:at][-1:]:
        cell.source = f"{cell.source}\n\n{ABOVE}"
    notebook.cells.insert(at, _cell(is_ours))


def _cell(is_ours: bool) -> NotebookNode:
    from nbformat.v4 import new_code_cell

    return new_code_cell(setup_source(is_ours).strip(), id=_TAG, metadata={**_FOLDED, "tags": [_TAG]})


def take_away(notebook: NotebookNode) -> None:
    """Remove what `put` added."""
    notebook.cells = [cell for cell in notebook.cells if not is_setup(cell)]
    for cell in notebook.cells[:1]:
        cell.source = _BADGES.sub("", cell.source, count=1)
    for cell in notebook.cells:
        cell.source = cell.source.replace(f"\n\n{ABOVE}", "")


def is_setup(cell: NotebookNode) -> bool:
    """Return whether this is the setup cell."""
    tags = cell.metadata.get("tags")
    return isinstance(tags, list) and _TAG in tags and "nbgrader" not in cell.metadata
