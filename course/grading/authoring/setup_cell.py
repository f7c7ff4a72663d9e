"""How every notebook of the course opens: badges below its title, and a folded cell that sets up where nothing is.

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
        error = RuntimeError(
            "JupyterLite has no PyTorch, so the course does not run there. Open this notebook on "
            "Colab or Binder, or install the course on a computer."
        )
        error._render_traceback_ = lambda: [str(error)]  # what Jupyter shows
        raise error
"""
"""What the cell says where Python runs in the browser and nothing can be installed for it."""

SETUP = f"""\
# @title Set up
# Where the course is not installed (on Colab, say) this installs it. Elsewhere it does nothing.
try:
    import course
except ModuleNotFoundError:
    import subprocess
    import sys
    from pathlib import Path

{JUPYTERLITE}
    archive = "{ARCHIVE}"
    wheels = sorted(Path().glob("sequence_course-*.whl"))
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*pip, str(wheels[-1]) if wheels else archive], check=True)
    import course

    course.set_up()
"""

_TAG = "setup"
_BADGES = re.compile(r"\n\n\[!\[Open in Binder].*\n\[!\[Open in Colab].*")


def badges(path: str) -> str:
    """Markdown with a badge each for Binder and Colab that opens the notebook at `path` of the repository."""
    binder = f"https://mybinder.org/v2/gh/{REPOSITORY}/{BRANCH}?labpath={quote(path, safe='')}"
    colab = f"https://colab.research.google.com/github/{REPOSITORY}/blob/{BRANCH}/{quote(path)}"
    return (
        f"[![Open in Binder](https://mybinder.org/badge_logo.svg)]({binder})\n"
        f"[![Open in Colab](https://colab.research.google.com/assets/colab-badge.svg)]({colab})"
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
