"""Support Google Colab, which deletes its machine with all files after a session and stores notebooks elsewhere."""

from __future__ import annotations

from pathlib import Path

DRIVE = Path("/content/drive/MyDrive/Colab Notebooks")
"""The folder of a notebook once Google Drive is mounted."""

FILES = "the Files pane (the folder icon on the left)"


def keep(file: Path) -> str:
    """Return what to do to keep a file of this machine."""
    return f"Colab deletes {file.name} with this machine. Download it from {FILES} before you leave."
