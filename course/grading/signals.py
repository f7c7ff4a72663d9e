"""What asks a program to end, while it tidies up already."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

ENDING = tuple(
    number for name in ("SIGINT", "SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)) is not None
)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Meanwhile nothing but SIGKILL ends this process: who presses Ctrl-C twice leaves nothing behind either."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, pass_over) for number in ENDING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def pass_over(*_: object) -> None:
    """A handler that does nothing: programs that are started meanwhile do not inherit it, as they would `SIG_IGN`."""
