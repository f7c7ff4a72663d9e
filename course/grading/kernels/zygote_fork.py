"""A zygote forked from the server of a class's workers, when that has imported libraries and nothing of the judge.

Server and zygote both need torch, and to import it takes a second of processor time. A class begins sooner where one
of them imports it for both. The server is a program started anew, with the environment of a zygote instead of the
grader's, so a student's kernel finds no more in its memory than in that of a zygote that is a program of its own.

The grader leaves an order in the zygote's folder (`order`), and the server looks for it once (`fork_where_ordered`).
Whoever takes the order's file away first decides: the server forks, or the grader has changed its mind.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from math import inf
from pathlib import Path
from typing import NoReturn

if sys.platform != "win32":
    import fcntl

FORK_IN = "COURSE_ZYGOTE"
"""The variable that tells the server the zygote's folder."""

ALIVE = "alive"
"""A file in a zygote's folder, locked as long as it lives: who shares it did not start it, and must know."""

SOCKET, LIFELINE, LOG = "zygote", "lifeline", "log"
"""Where in that folder it listens, a pipe that falls silent when it is to end, and a file with its last words."""

_ORDER = "order"


class Forked:
    """The zygote that a server forks: what `subprocess.Popen` is for a program, as far as `ZygoteClient` asks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def poll(self) -> int | None:
        """Zero when it has ended, None while it lives or is still to come."""
        return 0 if not (self.folder / _ORDER).exists() and is_free(self.folder / ALIVE) else None

    def wait(self, timeout: float = inf) -> int:
        """Wait for the end.

        Raises:
            subprocess.TimeoutExpired: it lives longer than so many seconds.
        """
        deadline = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("zygote", timeout)
            time.sleep(0.01)
        return status

    def take_back(self) -> bool:
        """Take the order back; says whether it was still there, so that nothing will be forked."""
        try:
            (self.folder / _ORDER).unlink()
        except FileNotFoundError:
            return False
        return True

    def terminate(self) -> None:
        """Ask it to end, or see to it that it never begins."""
        if not self.take_back():
            self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with suppress(OSError, ValueError):  # it has ended, or has not yet said which process it is
            if self.poll() is None:
                os.kill(int((self.folder / ALIVE).read_text()), number)


def is_free(lock: Path) -> bool:
    """Whether nobody holds a file locked; nobody does where there is none."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return not lock.exists()
    return True


def order(folder: Path, environment: Mapping[str, str], begin_server: Callable[[], None]) -> Forked:
    """Have `begin_server` begin the server, which forks a zygote with this environment in `folder`."""
    (folder / ALIVE).touch()
    (folder / _ORDER).write_text(json.dumps(dict(environment)))
    own = dict(os.environ)
    servers = {name: value for name, value in environment.items() if name != "PYTHONPATH"}
    servers.update((name, value) for name, value in own.items() if name in ("PYTHONPATH", "COURSE_SANDBOX"))
    try:
        os.environ.clear()
        os.environ.update(servers)
        os.environ[FORK_IN] = str(folder)
        begin_server()
    finally:
        os.environ.clear()
        os.environ.update(own)
    return Forked(folder)


def fork_where_ordered() -> None:
    """In the server: fork the zygote that was ordered, if one was and still is."""
    if FORK_IN not in os.environ:
        return
    folder = Path(os.environ.pop(FORK_IN))
    with suppress(OSError), (folder / ALIVE).open("r+b", buffering=0) as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # a fork has the open file, too, and holds it from then on
        environment = json.loads((folder / _ORDER).read_text())
        (folder / _ORDER).unlink()
        child = os.fork()
        if child == 0:
            _disappear(folder, lock.fileno(), environment)
        os.waitpid(child, 0)


def _disappear(folder: Path, lock: int, environment: dict[str, str]) -> NoReturn:
    """In the fork: fork once more, so that the server knows nothing of its child, the zygote."""
    status = 1
    try:
        if os.fork() == 0:
            os.setsid()
            os.write(lock, str(os.getpid()).encode())
            _keep_only(lock, folder / LOG)
            _take_over(environment, folder)
            importlib.import_module("course.grading.kernels.zygote").main(folder)
        status = 0
    except BaseException:  # noqa: BLE001
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _keep_only(lock: int, log: Path) -> None:
    """Close all that is open but the lock, and have what is said go into a log."""
    null = os.open(os.devnull, os.O_RDWR)
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for place, descriptor in enumerate((null, null, said)):
        os.dup2(descriptor, place)
    close_others(lock)


def close_others(kept: int) -> None:
    """Close all descriptors but the three standard ones and this one."""
    os.closerange(3, kept)
    os.closerange(kept + 1, os.sysconf("SC_OPEN_MAX"))


def _take_over(environment: dict[str, str], folder: Path) -> None:
    """Import from here on what a program with this environment would, beginning with the course."""
    before = {"", *os.environ.get("PYTHONPATH", "").split(os.pathsep)}
    signal.signal(signal.SIGINT, signal.default_int_handler)  # the server does not hear it
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    first = environment["PYTHONPATH"].split(os.pathsep)
    sys.path[:] = [*first, *(entry for entry in sys.path if entry not in (*before, *first))]
    for name in [name for name in sys.modules if name.partition(".")[0] == "course"]:
        del sys.modules[name]
    importlib.invalidate_caches()
