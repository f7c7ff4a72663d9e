"""Handle the signals that ask a program to end, so that it ends once, with one sentence, and tidies up."""

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
"""The signal that says that a terminal is closed: its number, as Windows has none."""

Unraisable = Callable[["sys.UnraisableHookArgs"], object]


class Terminated(KeyboardInterrupt):
    """SIGINT came, as of Ctrl-C, or SIGTERM, or SIGHUP, as the terminal is closed."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def ignore_signals() -> Iterator[None]:
    """Meanwhile nothing but SIGKILL ends this process: who presses Ctrl-C twice leaves nothing behind either."""
    with _met_by(do_nothing):
        yield


@contextmanager
def delay_signals() -> Iterator[None]:
    """Whatever asks this process to end is heard afterwards: for what is soon done and must not be left half done."""
    came: list[int] = []
    try:
        with _met_by(lambda number, _: came.append(number)):
            yield
    finally:
        if came:
            signal.raise_signal(came[0])


@contextmanager
def _met_by(handler: Callable[[int, FrameType | None], object]) -> Iterator[None]:
    """Meanwhile `handler` meets all that asks this process to end; which is the main thread's affair alone."""
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
    """A handler that does nothing: programs that are started meanwhile do not inherit it, as they would `SIG_IGN`."""


def end_politely() -> None:
    """Have all that asks a program to end be met alike, unless whoever began it (nohup) says otherwise."""
    asked.clear()
    terminals[:] = filter(os.isatty, range(3))
    if signal.getsignal(signal.SIGINT) != terminate:
        sys.unraisablehook = partial(_ask_again, sys.unraisablehook)
    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, terminate)


def ended(error: Exception) -> Terminated | None:
    """The end that was asked for, if `error` came of it.

    A library that is interrupted may fail as it tidies up, and C code may drop our exception and fail with another. A
    terminal that is closed may be met before the signal that says so.
    """
    if asked:
        return Terminated(asked[0])
    if isinstance(error, OSError) and error.errno == errno.EIO and not all(map(os.isatty, terminals)):
        _leave_terminals()
        return Terminated(HANGUP)
    return None


def terminate(number: int, _: object) -> None:
    """End the command. Whoever asks again meanwhile is not heard: it ends already, and tidies up.

    Nor is a library heard that was interrupted in the middle of its work and logs what it met (SQLAlchemy does).
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
    """Python drops what is raised where an object is thrown away: the end that was asked for there is yet to come."""
    if not isinstance(lost.exc_value, Terminated):
        otherwise(lost)
        return
    for other in ENDING:
        if signal.getsignal(other) == do_nothing:
            signal.signal(other, terminate)
    main = threading.main_thread().ident
    threading.Timer(0.05, signal.pthread_kill, (main, lost.exc_value.number)).start()


def _leave_terminals() -> None:
    """Write nowhere from now on what was for a terminal: it is gone, and tidying up would fail there."""
    with contextlib.suppress(OSError):
        for descriptor in terminals:
            os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)


asked: list[int] = []
"""The signals that have asked the command to end."""

terminals: list[int] = []
"""The descriptors of the standard streams that were a terminal's when the command began."""
