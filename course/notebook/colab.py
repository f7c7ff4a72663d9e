"""Support Google Colab, which deletes its machine with all files after a session and stores notebooks elsewhere."""

from __future__ import annotations

import os
import sys
from pathlib import Path

DRIVE = Path("/content/drive/MyDrive/Colab Notebooks")
"""The folder of a notebook once Google Drive is mounted."""

FILES = "the Files pane (the folder icon on the left)"


def on_colab() -> bool:
    """Return whether this runs on Colab, in a notebook's kernel or in its child process, such as `!course submit`."""
    return "google.colab" in sys.modules or "COLAB_RELEASE_TAG" in os.environ


def keep(file: Path) -> str:
    """Return what to do to keep a file of this machine."""
    return f"Colab deletes {file.name} with this machine. Download it from {FILES} before you leave."
