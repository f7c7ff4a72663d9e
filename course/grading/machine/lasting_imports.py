"""Imports that last as long as the process, out of the garbage collector's sight."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache


@contextmanager
def exempt_from_gc() -> Iterator[None]:
    """What a program imports meanwhile stays: the garbage collector looks neither while it comes nor ever again.

    To look through it again and again takes a tenth of the time of importing, and a fork copies what it looks at.
    """
    gc.disable()
    try:
        yield
        _keep_for_good()
    finally:
        gc.enable()


@cache
def _keep_for_good() -> None:
    """Once a process: another time, garbage would stay, too."""
    gc.freeze()
