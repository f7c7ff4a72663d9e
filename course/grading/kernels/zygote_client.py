"""Start a zygote for this process when the first kernel is wanted, and ask it for kernels."""

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
"""Seconds a zygote may take to import everything, and a supervisor to answer."""

ALIVE = "alive"
"""A file in a zygote's folder, locked as long as it lives: who shares it did not start it, and must know."""


class NoKernel(Exception):
    """A kernel could not be started."""


class Handle:
    """A running kernel: what `subprocess.Popen` is for a program, as far as Jupyter's client asks."""

    stdin = stdout = stderr = None

    def __init__(self, line: Line, pid: int) -> None:
        self._line, self.pid = line, pid
        self.returncode: int | None = None
        self.excess: Excess | None = None
        self.memory, self.cpu = 0, 0.0
        self.lost = False
        """Whether its supervisor ended without a word of the kernel's end: nothing the notebook can do."""

    def poll(self) -> int | None:
        """The exit status, or None while the kernel lives."""
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
        """Wait for the end, at most `timeout` seconds."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None and (deadline is None or time.monotonic() < deadline):
            for message in self._line.hear(0.05):
                self._note(message)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Pass a signal to the kernel and the programs it runs."""
        if self.poll() is None:
            self._line.say(signal=int(number))

    def terminate(self) -> None:
        """Ask the kernel to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Take the kernel down with everything it started, and wait until all of that is gone."""
        if self.poll() is None:
            self._line.say(signal=int(signal.SIGKILL))
            self.wait(5.0)
        deadline = time.monotonic() + 5.0
        while not self._line.closed and time.monotonic() < deadline:  # its supervisor hangs up when it has killed all
            self._line.hear(0.05)
        self._line.close()

    def cell(self, seconds: float | None) -> None:
        """A cell begins, which may use that many seconds of processor time."""
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
    """The way to a zygote at `address`; `begin` starts one, several processes may know the way to the same."""

    def __init__(self, address: str, environment: Mapping[str, str]) -> None:
        self.address, self.environment = address, environment
        self.key = key_of(environment)
        self.process: subprocess.Popen[bytes] | None = None
        self._lifeline: BinaryIO | None = None

    @classmethod
    def begin(cls, environment: Mapping[str, str]) -> ZygoteClient:
        """Start a zygote for kernels with such an environment; it ends with this process."""
        client = cls(str(Path(tempfile.mkdtemp(prefix="zygote-"), SOCKET)), environment)
        client._begin()
        return client

    def mend(self) -> None:
        """Start another zygote at the same address, should the one that was begun here and listened have ended."""
        if self.gone and Path(self.address).exists():
            Path(self.address).unlink()
            self._begin()

    def _begin(self) -> None:
        folder = Path(self.address).parent
        (folder / LIFELINE).unlink(missing_ok=True)
        os.mkfifo(folder / LIFELINE, 0o600)
        self._lifeline = os.fdopen(os.open(folder / LIFELINE, os.O_RDWR | os.O_NONBLOCK), "r+b", buffering=0)
        with (folder / LOG).open("wb") as log, (folder / ALIVE).open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # held by the zygote, once it has the open file and this process has not
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
        """Whether its zygote is known to have ended."""
        return self.process is not None and self.process.poll() is not None

    @property
    def failed_to_start(self) -> bool:
        """Whether its zygote ended before it listened: another would, too. Of one that was closed nothing is left."""
        if Path(self.address).exists() or not Path(self.address).parent.is_dir():
            return False
        return self.gone if self.process is not None else is_free(Path(self.address).with_name(ALIVE))

    def kernel(self, order: Order) -> Handle:
        """A kernel forked from the zygote, which may still have to import everything.

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
        """End the zygote and every kernel of its, if it was begun here."""
        if self.process is None or self._lifeline is None:
            return
        self._lifeline.close()
        self.process.terminate()  # it may still be importing, and not see its lifeline
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
    """Whether no process holds the file `lock` locked; so it is where there is no such file."""
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
    """What kernels of one zygote have in common; of the path Jupyter's libraries make longer as they are imported."""
    return frozenset((name, value) for name, value in environment.items() if name not in (*VARYING, "PATH"))


def _at_home(environment: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The kernels' environment with a home of the zygote's own, and without a judge."""
    common = {name: value for name, value in environment.items() if name not in VARYING}
    home = dict.fromkeys(("HOME", "TMPDIR", "IPYTHONDIR", "HF_HOME"), str(folder))
    return {**common, **home, "MPLCONFIGDIR": str(matplotlib_folder(folder))}


def cold_kernel(order: Order) -> Handle:
    """A kernel started as a program of its own, with the same sandbox and the same supervisor.

    Raises:
        NoKernel: its supervisor failed.
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
    """Where a program of ours finds the course; never the folder it is started in, which a notebook would see, too."""
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
    """This process's client of a zygote for kernels with such an environment; only the last one is kept."""
    with _lock:
        lost = bool(known_zygotes) and known_zygotes[-1].gone and not known_zygotes[-1].failed_to_start
        if not known_zygotes or lost or known_zygotes[-1].key != key_of(environment):
            close_all()
            known_zygotes.append(ZygoteClient.begin(environment))
        return known_zygotes[-1]


def share(held: ZygoteClient) -> None:
    """Have this process ask for its kernels where another began a zygote."""
    with _lock:
        close_all()
        known_zygotes.append(held)


def close_all() -> None:
    """End every zygote that was begun here."""
    while known_zygotes:
        known_zygotes.pop().close()


atexit.register(close_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=known_zygotes.clear)
