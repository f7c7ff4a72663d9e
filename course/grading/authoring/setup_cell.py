"""The opening of every notebook: badges below its title, and a folded cell that installs the course if it is missing.

Both are made here, from the one public address in the syllabus, and stand in no source.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from course.syllabus import BRANCH, OUTLINE, SOURCE

if TYPE_CHECKING:
    from nbformat import NotebookNode

REPOSITORY = SOURCE.removeprefix("https://github.com/")
"""Owner and name, as Binder and Colab want them."""

ARCHIVE = f"{SOURCE}/archive/refs/heads/{BRANCH}.zip"
"""What pip can install the course from, without git."""

JUPYTERLITE = """\
    if sys.platform == "emscripten":
        stop = RuntimeError(
            "JupyterLite has no PyTorch, so the course does not run there. Open this notebook on "
            "Colab or Binder, or install the course on a computer."
        )
        stop._render_traceback_ = lambda: [str(stop)]  # what Jupyter shows
        raise stop
"""
"""What the cell says where Python runs in the browser and nothing can be installed for it."""

_BEGIN = f"""\
# @title Set up
# Where the course is not installed (on Colab, say) this installs it. Elsewhere it does nothing.
try:
    import course
except ModuleNotFoundError:
    import subprocess
    import sys
    import zipfile
    from pathlib import Path

{JUPYTERLITE}
    ours = "*sequence_course*.whl"
    wheel_files = [*Path().glob(ours), *Path("/kaggle/input").rglob(ours)]
"""

_OURS = f"""\
    wheels = sorted(str(path) for path in wheel_files if zipfile.is_zipfile(path))
    otherwise = (
        "The course could not be downloaded. Turn the internet on, or put the course's .whl file "
        "beside this notebook (on Kaggle, as an input), and then run this cell again."
    )
    arguments = ["-m", "pip", "install", "--quiet", "--no-deps", "--retries", "1"]
    arguments += ["{ARCHIVE}"]
"""

_THEIRS = """\
    wheel_files = [path for path in wheel_files if zipfile.is_zipfile(path)]
    of_classes = [path for path in wheel_files if "+" in str(zipfile.ZipFile(path).namelist())]
    wheels = sorted(str(path) for path in of_classes)
    otherwise = (
        "This notebook belongs to a class, and the class's package is not here. Put the .whl file "
        "that you were given beside it (on Kaggle, as an input), and then run this cell again."
    )
    arguments = ["-c", "exit(1)"]  # there is nothing to download
"""

_END = """\
    if wheels:
        installing = "import sys; sys.path.insert(0, sys.argv[-1])\\n"
        installing += "from course.notebook.setting_up import main; main(sys.argv[1:])"
        arguments = ["-c", installing, *wheels]
    pip = subprocess.run([sys.executable, *arguments], capture_output=True, text=True)
    if pip.returncode:
        pips = "" if "Retrying (" in pip.stderr else pip.stderr
        stop = RuntimeError(pip.stdout.strip() or pips or otherwise)
        stop._render_traceback_ = lambda: [str(stop)]  # what Jupyter shows
        raise stop
    import course

    course.set_up()
"""


def setup_source(is_ours: bool) -> str:
    """The text of the cell that sets up.

    A wheel that is there installs itself, by `main` of `course/notebook/setting_up.py`. In an instructor's own course
    the cell downloads nothing, and takes no wheel but an instructor's, which has a `+` in its version: ours would check
    by other points, and it comes with the solutions.
    """
    return _BEGIN + (_OURS if is_ours else _THEIRS) + _END


SETUP = setup_source(OUTLINE is None)

_TAG = "setup"
_BADGES = re.compile(r"\n\n\[!\[Open in Binder].*\n\[!\[Open in Colab].*")


def binder_address(path: str) -> str:
    """Return the address that opens the notebook at `path` of the repository on Binder."""
    return f"https://mybinder.org/v2/gh/{REPOSITORY}/{BRANCH}?labpath={quote(path, safe='')}"


def colab_address(path: str) -> str:
    """Return the address that opens the notebook at `path` of the repository on Colab."""
    return f"https://colab.research.google.com/github/{REPOSITORY}/blob/{BRANCH}/{quote(path)}"


def badges(path: str) -> str:
    """Markdown with a badge each for Binder and Colab that opens the notebook at `path` of the repository."""
    return (
        f"[![Open in Binder](https://mybinder.org/badge_logo.svg)]({binder_address(path)})\n"
        f"[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({colab_address(path)})"
    )


def put(notebook: NotebookNode, path: str) -> None:
    """Give a notebook its badges and, before its first code cell, the cell that sets up.

    In an instructor's own course there are no badges: they would open our notebook, and not theirs.

    Args:
        path: where the released notebook stands in the repository.
    """
    from nbformat.v4 import new_code_cell

    title, line, text = notebook.cells[0].source.partition("\n")
    if title.startswith("# ") and OUTLINE is None:
        notebook.cells[0].source = f"{title}\n\n{badges(path)}{line}{text}"
    code = [index for index, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    metadata = {"cellView": "form", "jupyter": {"source_hidden": True}, "tags": [_TAG]}
    notebook.cells.insert(min(code, default=1), new_code_cell(SETUP.strip(), id=_TAG, metadata=metadata))


def take_away(notebook: NotebookNode) -> None:
    """The inverse of `put`."""
    notebook.cells = [cell for cell in notebook.cells if not is_setup(cell)]
    for cell in notebook.cells[:1]:
        cell.source = _BADGES.sub("", cell.source, count=1)


def is_setup(cell: NotebookNode) -> bool:
    """Whether this is the cell that sets up."""
    return _TAG in cell.metadata.get("tags", ())
