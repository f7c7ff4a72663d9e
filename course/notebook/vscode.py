"""VS Code may start a notebook's kernel in the folder that is open there, and not in the notebook's own."""

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
"""The name under which VS Code tells a kernel the path of its notebook."""


def work_beside_notebook() -> None:
    """Change to the folder of a notebook that VS Code has opened, and say so: its checkpoints belong there.

    Nothing changes elsewhere, under nbgrader, or where somebody has changed to a folder of their own.
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
    """The folder of the notebook with these `names`, where VS Code tells it and this machine has it."""
    told = names.get(NOTEBOOK)
    folder = Path(told).parent if isinstance(told, str) else None
    return folder.resolve() if folder is not None and folder.is_dir() else None
