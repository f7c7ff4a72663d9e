"""Limit the processor time of a check, so that an endless loop ends with a message."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..surroundings import variable


class TimeIsUp(KeyboardInterrupt):
    """The time limit is reached. Derived from KeyboardInterrupt, so that `except Exception` does not catch it."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise `TimeIsUp` when the code inside has used so many seconds of processor time.

    Waiting, as for a debugger's prompt, uses none. There is no limit while a notebook is graded, outside the main
    thread, on Windows, which has no such timer, and if other code has already set the timer.
    """
    if not _can_interrupt():
        yield
        return
    signal.signal(signal.SIGPROF, _interrupt)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)


def _can_interrupt() -> bool:
    if variable("NBGRADER_EXECUTION") or threading.current_thread() is not threading.main_thread():
        return False
    return hasattr(signal, "setitimer") and signal.getsignal(signal.SIGPROF) is signal.SIG_DFL


def _interrupt(*_: Any) -> None:
    raise TimeIsUp
