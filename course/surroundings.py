"""Store the environment variables and the working folder of this process before a notebook's cells run.

A cell may clear `os.environ` or change the folder. A kernel in which a notebook is graded needs both later, to find the
judge and the submitted weights. So they are read once and kept. The environment also shows whether this is Colab.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

KAGGLE_INPUTS = Path("/kaggle/input")
"""The folder of files that were added to a notebook on Kaggle."""

_kept: Mapping[str, str] = {}
_folder = Path()


def keep_surroundings() -> None:
    """Store the current variables and folder. Only the first call has an effect."""
    global _kept, _folder
    if not _kept:
        _kept, _folder = dict(os.environ), Path.cwd()


def variable(name: str) -> str:
    """Return the value of an environment variable, or an empty string if it is not set."""
    return (_kept or os.environ).get(name, "")


def on_colab() -> bool:
    """Return whether this runs on Colab, in a notebook's kernel or in its child process, such as `!course submit`."""
    return "google.colab" in sys.modules or "COLAB_RELEASE_TAG" in os.environ


def beside_notebook(path: Path) -> Path:
    """Return the path of a file beside the notebook: in the stored folder or else in the working folder."""
    return _folder / path
