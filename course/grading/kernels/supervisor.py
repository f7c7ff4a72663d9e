"""The supervisor of one kernel makes its sandbox, starts it inside, watches over it, and ends all it started.

The zygote forks a supervisor, or one runs as a program of its own for a kernel that starts cold. It speaks over a
socket with the process that asked for the kernel. When that falls silent, it kills the kernel and all it started.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import msgspec
import psutil

from course.grading.kernels.protocol import Line, Order
from course.grading.kernels.resource_watch import Excess, Watch, descendants
from course.grading.sandbox import bubblewrap
from course.grading.sandbox.apply import confine

TICK = 0.1
"""Seconds between two looks at what is used."""

BRIEF = 0.005
"""The same, while a kernel that was killed comes to its end."""

GRACE = 4.0
"""Seconds a kernel that was interrupted for its processor time gets to come to its senses."""

LOG = "kernel.log"
"""Where, in the private folder, a kernel's own complaints go."""

_FLAGS = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000
_SUBREAPER = 36

Start = Callable[[Order], None]


class Supervisor:
    """Serves one order on `line`: `start` is called in the process that becomes the kernel."""

    def __init__(self, line: Line, start: Start) -> None:
        self.line, self.start = line, start
        self.holder: subprocess.Popen[bytes] | None = None
        self.kernel = 0
        self._interrupted = 0.0
        self._killed = False
        self._told = ""

    def serve(self) -> None:
        """From the order to the end of the kernel."""
        orders = self.line.hear(timeout=30.0)
        if not orders:
            return
        order = msgspec.convert(orders[0], Order)
        try:
            living = self._enter(order)
            self.kernel = self._fork(order)
            self.line.say(pid=self.kernel)
            self._keep(Watch(order.confines.allowance, order.confines.private, living))
        except OSError as error:
            self.line.say(failed=f"the sandbox could not be set up: {error}")
        finally:
            self._end()

    def _enter(self, order: Order) -> Callable[[], Iterable[int]]:
        """Step into the sandbox, which the next child will be wholly in; returns who lives there."""
        if order.tier != "bubblewrap":
            _become_subreaper()
            return lambda: descendants(os.getpid())
        self.holder, init = _hold(order)
        _join(init)
        os.chdir("/")
        present = set(psutil.pids())
        return lambda: set(psutil.pids()) - present

    def _fork(self, order: Order) -> int:
        """The process that becomes the kernel."""
        pid = os.fork()
        if pid:
            return pid
        status = 70
        try:
            os.setsid()
            _close_all(f"{order.confines.private}/{LOG}")
            os.chdir(order.folder)
            self.start(order)
            status = 0
        except SystemExit as ended:
            status = ended.code if isinstance(ended.code, int) else 1
        except BaseException:  # noqa: BLE001
            traceback.print_exc()
        finally:
            os._exit(status)

    def _keep(self, watch: Watch) -> None:
        """Until the kernel or whoever wanted it is gone."""
        watch.measure()
        next_look = time.monotonic() + TICK
        while not self.line.closed:
            ended, status = os.waitpid(self.kernel, os.WNOHANG)
            if ended:
                usage = watch.usage
                self.line.say(exit=os.waitstatus_to_exitcode(status), memory=usage.memory, cpu=usage.cpu)
                return
            patience = max(0.0, next_look - time.monotonic())
            for message in self.line.hear(BRIEF if self._killed else patience):
                self._obey(message, watch)
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + TICK
                excess = watch.look()
                if excess:
                    self._stop(excess)

    def _obey(self, message: dict[str, Any], watch: Watch) -> None:
        if "signal" in message:
            if message["signal"] == signal.SIGKILL:
                watch.measure()
            self._signal(int(message["signal"]))
        if "cell" in message:
            self._told, self._interrupted = "", 0.0
            watch.cell(message["cell"])

    def _stop(self, excess: Excess) -> None:
        """Processor time is up: interrupt, later kill. Anything else harms others while it lasts: kill."""
        if self._told != excess.what:
            self._told = excess.what
            self.line.say(excess=[excess.what, excess.used, excess.allowed])
        if excess.what != "cpu":
            self._kill_all()
        elif not self._interrupted:
            self._interrupted = time.monotonic()
            self._signal(signal.SIGINT)
        elif time.monotonic() - self._interrupted > GRACE:
            self._kill_all()

    def _signal(self, number: int) -> None:
        """To the kernel and the programs it runs, as a terminal would send it."""
        self._killed = number == signal.SIGKILL
        with contextlib.suppress(OSError):
            os.killpg(self.kernel, number)

    def _kill_all(self) -> None:
        """The sandbox's first process takes all others with it; without one, whoever descends from here is killed."""
        if self.holder is not None:
            self.holder.kill()
            self.holder.wait()
            return
        deadline = time.monotonic() + GRACE
        while (rest := descendants(os.getpid())) and time.monotonic() < deadline:
            for pid in rest:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            for pid in rest:
                if pid != self.kernel:
                    _reap(pid)
            if rest == [self.kernel]:
                return

    def _end(self) -> None:
        self._kill_all()
        self.line.close()


def _hold(order: Order) -> tuple[subprocess.Popen[bytes], int]:
    """Have bubblewrap make the sandbox and hold it open: a `cat` lives in it as long as this process does.

    Returns the holder and the process, as seen from here, that is the sandbox's first.
    """
    read, write = os.pipe()
    options = bubblewrap.command(order.confines)
    argv = [options[0], "--info-fd", str(write), *options[1:], "cat"]
    holder = subprocess.Popen(
        argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, pass_fds=[write], env={}
    )
    os.close(write)
    assert holder.stdin and holder.stdout and holder.stderr
    with contextlib.suppress(OSError):
        holder.stdin.write(b"ready\n")
        holder.stdin.flush()
    if holder.stdout.readline() != b"ready\n":
        holder.kill()
        raise OSError(holder.stderr.read().decode(errors="replace").strip() or "bubblewrap ended")
    with os.fdopen(read) as information:
        return holder, int(json.load(information)["child-pid"])


def _join(pid: int) -> None:
    """Enter the namespaces of a process; that of processes is for the children to come."""
    descriptor = os.pidfd_open(pid)
    try:
        _libc("setns", descriptor, _FLAGS)
    finally:
        os.close(descriptor)


def _become_subreaper() -> None:
    """Orphans below this process come to it, so that none gets away."""
    _libc("prctl", _SUBREAPER, 1, 0, 0, 0)


def _libc(name: str, *arguments: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _close_all(log: str) -> None:
    """No descriptor of the parents' stays open; input is empty, output goes into a log."""
    os.closerange(0, os.sysconf("SC_OPEN_MAX"))
    os.open(os.devnull, os.O_RDONLY)
    os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(1, 2)
    for descriptor in range(3):
        os.set_inheritable(descriptor, True)


def _reap(pid: int) -> None:
    """Take leave of an orphan that ended."""
    with contextlib.suppress(OSError):
        os.waitpid(pid, os.WNOHANG)


def run_command(order: Order) -> None:
    """Become the order's program, confined."""
    confine(order.tier, order.confines)
    os.execve(order.command[0], order.command, order.environment)


def main() -> NoReturn:
    """Serve one order on standard input, with a program started anew."""
    with socket.socket(fileno=os.dup(0)) as connection:
        Supervisor(Line(connection), run_command).serve()
    sys.exit(0)


if __name__ == "__main__":
    main()
