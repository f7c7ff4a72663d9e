"""Handle the signals that end a program, so that it cleans up and ends once, with one sentence."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import FrameType

ENDING = tuple(
    number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
)
HANGUP = getattr(signal, "SIGHUP", 1)
"""The number of the signal for a closed terminal, also on Windows, which has no `SIGHUP`."""

Unraisable = Callable[["sys.UnraisableHookArgs"], object]


class Terminated(KeyboardInterrupt):
    """The signal SIGINT (Ctrl-C), SIGTERM or SIGHUP (the terminal was closed), as an exception."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def ignore_signals() -> Iterator[None]:
    """Ignore all ending signals but SIGKILL in the block, so that a second Ctrl-C does not stop the cleanup."""
    with _met_by(do_nothing):
        yield


@contextmanager
def delay_signals() -> Iterator[None]:
    """Delay ending signals until the block is done, for short work that must not stay incomplete."""
    came: list[int] = []
    try:
        with _met_by(lambda number, _: came.append(number)):
            yield
    finally:
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _met_by(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Handle ending signals with `handler` in the block; do nothing outside the main thread, which gets the signals."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, handler) for number in ENDING}
    try:
        yield
    finally:
        for number, former in before.items():
            signal.signal(number, former)


def do_nothing(*_: object) -> None:
    """Do nothing with a signal. Unlike `SIG_IGN`, child programs do not inherit this handler."""


def end_politely() -> None:
    """Install `terminate` for all ending signals, except those that the parent process (nohup) has ignored."""
    asked.clear()
    terminals[:] = filter(os.isatty, range(3))
    if signal.getsignal(signal.SIGINT) != terminate:
        sys.unraisablehook = partial(_ask_again, sys.unraisablehook)
    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, terminate)


def ended(error: Exception) -> Terminated | None:
    """Return the `Terminated` that caused `error`, or None.

    An interrupted library may fail in its cleanup, and C code may replace our exception by another. A write to a closed
    terminal may fail before SIGHUP arrives.
    """
    if asked:
        return Terminated(asked[0])
    if isinstance(error, OSError) and error.errno == errno.EIO and not all(map(os.isatty, terminals)):
        _leave_terminals()
        return Terminated(HANGUP)
    return None


def terminate(number: int, _: object) -> None:
    """Raise `Terminated` to end the command, and ignore later ending signals while it cleans up.

    Logging is disabled, because interrupted libraries log their errors (SQLAlchemy does).
    """
    for other in ENDING:
        if signal.getsignal(other) == terminate:
            signal.signal(other, do_nothing)
    logging.disable()
    asked.append(number)
    if number == HANGUP:
        _leave_terminals()
    raise Terminated(number)


def _ask_again(otherwise: Unraisable, lost: sys.UnraisableHookArgs) -> None:
    """Send the signal again if `Terminated` was raised in a destructor, where Python drops exceptions."""
    if not isinstance(lost.exc_value, Terminated):
        otherwise(lost)
        return
    for other in ENDING:
        if signal.getsignal(other) == do_nothing:
            signal.signal(other, terminate)
    main = threading.main_thread().ident
    threading.Timer(0.05, signal.pthread_kill, (main, lost.exc_value.number)).start()


def _leave_terminals() -> None:
    """Redirect the terminal's streams to /dev/null, because writing to a closed terminal would break the cleanup."""
    with contextlib.suppress(OSError):
        for descriptor in terminals:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)


asked: list[int] = []
"""The ending signals that have arrived."""

terminals: list[int] = []
"""The descriptors of the standard streams that were a terminal when the command started."""
