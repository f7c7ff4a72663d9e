"""Google Colab: it deletes its machine, files included, after a session, and keeps the notebook somewhere else."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DRIVE = Path("/content/drive/MyDrive/Colab Notebooks")
"""Where a notebook is once Google Drive is mounted."""

FILES = "the Files pane (the folder icon on the left)"


def on_colab() -> bool:
    """Whether this runs on Colab, in a notebook's kernel or in what one has started, such as `!course submit`."""
    return "google.colab" in sys.modules or "COLAB_RELEASE_TAG" in os.environ


def keep(file: Path) -> str:
    """What to do with a file of this machine that somebody wants to keep."""
    return f"Colab deletes {file.name} with this machine. Download it from {FILES} before you leave."
