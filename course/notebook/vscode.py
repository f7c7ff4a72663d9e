"""Support VS Code, which may start a kernel in the open folder instead of the notebook's own."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..surroundings import variable
from .display import in_notebook, say
from .folder import working_folder

NOTEBOOK = "__vsc_ipynb_file__"
"""The variable in which VS Code stores the path of the notebook."""


def work_beside_notebook() -> None:
    """Change to the folder of a notebook that VS Code has opened, and say so, because its checkpoints belong there.

    Do nothing outside VS Code, under nbgrader, or if the student has changed the folder.
    """
    if not in_notebook() or variable("NBGRADER_EXECUTION"):
        return
    here = working_folder()
    folder = notebook_folder(sys.modules["IPython"].get_ipython().user_ns)
    if folder is None or folder == here or not folder.is_relative_to(here):
        return
    os.chdir(folder)
    say(f"VS Code started this notebook in {here}. It now works in its own folder, {folder}, so checkpoints go there.")


def notebook_folder(names: Mapping[str, Any]) -> Path | None:
    """Return the notebook's folder from its variables `names`, if VS Code sets it and it exists on this machine."""
    told = names.get(NOTEBOOK)
    folder = Path(told).parent if isinstance(told, str) else None
    return folder.resolve() if folder is not None and folder.is_dir() else None
