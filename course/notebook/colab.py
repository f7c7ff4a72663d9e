"""Google Colab: it deletes its machine, files included, after a session, and keeps the notebook somewhere else."""

from __future__ import annotations

from pathlib import Path

DRIVE = Path("/content/drive/MyDrive/Colab Notebooks")
"""Where a notebook is once Google Drive is mounted."""

FILES = "the Files pane (the folder icon on the left)"


def keep(file: Path) -> str:
    """What to do with a file of this machine that somebody wants to keep."""
    return f"Colab deletes {file.name} with this machine. Download it from {FILES} before you leave."
