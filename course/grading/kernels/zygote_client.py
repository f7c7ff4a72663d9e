"""Start a zygote, the fork server for kernels, when this process needs its first kernel, and get kernels from it."""

from __future__ import annotations

import atexit
import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import course
from course.grading.kernels.environment import matplotlib_folder
from course.grading.kernels.protocol import Line, Order
from course.grading.kernels.resource_watch import Excess
from course.grading.kernels.zygote import LIFELINE, LOG, SOCKET

if sys.platform != "win32":
    import fcntl

PATIENCE = 60.0
"""Timeout in seconds for a zygote's imports, and for a supervisor's answer."""

ALIVE = "alive"
"""A file in a zygote's folder, locked while the zygote lives, for processes that share the zygote without having
started it."""


class NoKernel(Exception):
    """A kernel that could not be started."""


class Handle:
    """A running kernel, with those methods of `subprocess.Popen` that Jupyter's client calls."""

    stdin = stdout = stderr = None

    def __init__(self, line: Line, pid: int) -> None:
        self._line, self.pid = line, pid
        self.returncode: int | None = None
        self.excess: Excess | None = None
        self.memory, self.cpu = 0, 0.0
        self.lost = False
        """Whether the supervisor ended without reporting the kernel's end, which no notebook can cause."""

    def poll(self) -> int | None:
        """Return the exit status, or None while the kernel lives."""
        while self.returncode is None:
            messages = self._line.hear(0.0)
            for message in messages:
                self._note(message)
            if self._line.closed and self.returncode is None:
                self.returncode, self.lost = -signal.SIGKILL, True
            if not messages:
                break
        return self.returncode

    def wait(self, timeout: float | None = None) -> int | None:
        """Wait at most `timeout` seconds for the kernel's end, and return its exit status, or None if it lives."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None and (deadline is None or time.monotonic() < deadline):
            for message in self._line.hear(0.05):
                self._note(message)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the kernel and the programs it runs."""
        if self.poll() is None:
            self._line.say(signal=int(number))

    def terminate(self) -> None:
        """Ask the kernel to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the kernel and all processes that it started, and wait up to ten seconds until they have ended."""
        if self.poll() is None:
            self._line.say(signal=int(signal.SIGKILL))
            self.wait(5.0)
        deadline = time.monotonic() + 5.0
        while not self._line.closed and time.monotonic() < deadline:  # the supervisor closes it when it has killed all
            self._line.hear(0.05)
        self._line.close()

    def cell(self, seconds: float | None) -> None:
        """Tell the supervisor that a cell begins, which may use that many seconds of processor time."""
        self.poll()
        self.excess = None
        self._line.say(cell=seconds)

    def _note(self, message: Mapping[str, Any]) -> None:
        if "excess" in message:
            self.excess = Excess(*message["excess"])
        if "exit" in message:
            self.returncode = int(message["exit"])
            self.memory, self.cpu = int(message["memory"]), float(message["cpu"])


class ZygoteClient:
    """A client of the zygote at the socket `address`, which several processes may share; `begin` starts a zygote."""

    def __init__(self, address: str, environment: Mapping[str, str]) -> None:
        self.address, self.environment = address, environment
        self.key = key_of(environment)
        self.process: subprocess.Popen[bytes] | None = None
        self._lifeline: BinaryIO | None = None

    @classmethod
    def begin(cls, environment: Mapping[str, str]) -> ZygoteClient:
        """Start a zygote for kernels with such an environment, and return its client. It ends with this process."""
        client = cls(str(Path(tempfile.mkdtemp(prefix="zygote-"), SOCKET)), environment)
        client._begin()
        return client

    def mend(self) -> None:
        """Restart the zygote at the same address if this client started it and it ended after it had listened."""
        if self.gone and Path(self.address).exists():
            Path(self.address).unlink()
            self._begin()

    def _begin(self) -> None:
        folder = Path(self.address).parent
        (folder / LIFELINE).unlink(missing_ok=True)
        os.mkfifo(folder / LIFELINE, 0o600)
        self._lifeline = os.fdopen(os.open(folder / LIFELINE, os.O_RDWR | os.O_NONBLOCK), "r+b", buffering=0)
        with (folder / LOG).open("wb") as log, (folder / ALIVE).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # the zygote inherits the lock with the open file, and keeps it
            self.process = subprocess.Popen(
                [sys.executable, "-m", "course.grading.kernels.zygote", str(folder)],
                env=_at_home(self.environment, folder),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                pass_fds=[lock.fileno()],
                start_new_session=True,
            )

    @property
    def gone(self) -> bool:
        """Whether the zygote was started by this client and has ended."""
        return self.process is not None and self.process.poll() is not None

    @property
    def failed_to_start(self) -> bool:
        """Whether the zygote ended before it listened, as another would; False if its folder was removed."""
        if Path(self.address).exists() or not Path(self.address).parent.is_dir():
            return False
        return self.gone if self.process is not None else is_free(Path(self.address).with_name(ALIVE))

    def kernel(self, order: Order) -> Handle:
        """Return a kernel forked from the zygote, once the zygote has imported everything.

        Raises:
            NoKernel: the zygote or the kernel's supervisor failed; the message says how.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            connection = socket.socket(socket.AF_UNIX)
            try:
                connection.connect(self.address)
                return _ask(connection, order)
            except OSError as error:
                connection.close()
                if self.failed_to_start:
                    raise NoKernel(
                        f"the zygote ended while it imported libraries ({self._last_words() or error})"
                    ) from error
                ended = self.gone or isinstance(error, ConnectionRefusedError)
                if ended or not Path(self.address).parent.is_dir() or time.monotonic() > deadline:
                    raise NoKernel(f"the zygote does not answer ({self._last_words() or error})") from error
            time.sleep(0.02)

    def close(self) -> None:
        """End the zygote, if this client started it, and remove its folder."""
        if self.process is None or self._lifeline is None:
            return
        self._lifeline.close()
        self.process.terminate()  # while it imports, it does not watch its lifeline
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(2.0)
        self.process.kill()
        self.process.wait()
        shutil.rmtree(Path(self.address).parent, ignore_errors=True)

    def _last_words(self) -> str:
        with contextlib.suppress(OSError):
            lines = Path(self.address).with_name(LOG).read_text(errors="replace").strip().splitlines()
            return lines[-1] if lines else ""
        return ""


def is_free(lock: Path) -> bool:
    """Whether no process holds a lock on the file `lock`; True if there is no such file."""
    try:
        with lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return not lock.exists()
    return True


VARYING = ("HOME", "TMPDIR", "IPYTHONDIR", "MPLCONFIGDIR", "HF_HOME", "COURSE_JUDGE", "COURSE_NUMBER")
"""Variables that differ from kernel to kernel."""


def key_of(environment: Mapping[str, str]) -> frozenset[tuple[str, str]]:
    """Return the variables that kernels of one zygote share; not `PATH`, which Jupyter's libraries extend on import."""
    return frozenset((name, value) for name, value in environment.items() if name not in (*VARYING, "PATH"))


def _at_home(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the kernels' environment with the zygote's own home folder, and without a judge."""
    common = {name: value for name, value in environment.items() if name not in VARYING}
    home = dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "HF_HOME"), str(folder))
    return {**common, **home, "MPLCONFIGDIR": str(matplotlib_folder(folder))}


def cold_kernel(order: Order) -> Handle:
    """Return a kernel started as a new program, with the same sandbox and the same supervisor.

    Raises:
        NoKernel: the kernel's supervisor failed.
    """
    connection, theirs = socket.socketpair()
    with theirs:
        subprocess.Popen(
            [sys.executable, "-P", "-m", "course.grading.kernels.supervisor"],
            env={**os.environ, "PYTHONPATH": _import_path()},
            cwd="/",
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    return _ask(connection, order)


def _import_path() -> str:
    """Return a `PYTHONPATH` with the course, and without relative paths, which would name a notebook's folder."""
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    places = [*(place for place in given if Path(place).is_absolute()), str(Path(course.__file__).parents[1])]
    return os.pathsep.join(dict.fromkeys(places))


def _ask(connection: socket.socket, order: Order) -> Handle:
    line = Line(connection)
    line.say(**asdict(order))
    answers = line.hear(PATIENCE)
    if not answers or "pid" not in answers[0]:
        line.close()
        raise NoKernel(answers[0].get("failed", "no answer") if answers else "the kernel's supervisor does not answer")
    handle = Handle(line, int(answers[0]["pid"]))
    for message in answers[1:]:
        handle._note(message)
    return handle


known_zygotes: list[ZygoteClient] = []
_lock = threading.Lock()


def zygote_for(environment: Mapping[str, str]) -> ZygoteClient:
    """Return this process's client of a zygote for kernels with such an environment, and close an earlier one."""
    with _lock:
        lost = bool(known_zygotes) and known_zygotes[-1].gone and not known_zygotes[-1].failed_to_start
        if not known_zygotes or lost or known_zygotes[-1].key != key_of(environment):
            close_all()
            known_zygotes.append(ZygoteClient.begin(environment))
        return known_zygotes[-1]


def share(held: ZygoteClient) -> None:
    """Have this process get its kernels from a zygote that another process started."""
    with _lock:
        close_all()
        known_zygotes.append(held)


def close_all() -> None:
    """End every zygote that this process started."""
    while known_zygotes:
        known_zygotes.pop().close()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=known_zygotes.clear)
