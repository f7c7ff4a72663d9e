"""The environment variables and the working folder of this process, as they were before a notebook's cells ran.

A cell may clear `os.environ` or change to another folder. A kernel in which a notebook is graded needs both later on,
to find the judge and the weights that were handed in. So they are read once, and kept from then on. They also say
whether this process runs on Colab.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_kept: Mapping[str, str] = {}
_folder = Path()


def keep_surroundings() -> None:
    """Keep the variables and the folder of this moment; the first call counts."""
    global _kept, _folder
    if not _kept:
        _kept, _folder = dict(os.environ), Path.cwd()


def variable(name: str) -> str:
    """The value of an environment variable; empty where it is not set."""
    return (_kept or os.environ).get(name, "")


def on_colab() -> bool:
    """Whether this runs on Colab, in a notebook's kernel or in what one has started, such as `!course submit`."""
    return "google.colab" in sys.modules or "COLAB_RELEASE_TAG" in os.environ


def beside_notebook(path: Path) -> Path:
    """Where to look for a file that lies beside the notebook: in the folder that was kept, else in the working one."""
    return _folder / path
