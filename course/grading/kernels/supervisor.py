"""Supervise one kernel: make its sandbox, start it inside, watch it, and kill all processes that it started.

The zygote forks a supervisor for each kernel. For a kernel that is not forked, the supervisor is a program of its own.
It talks over a socket to the process that asked for the kernel. When that socket closes, it kills the kernel and all
processes that the kernel started.
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
"""Seconds between two measurements of what the kernel uses."""

BRIEF = 0.005
"""Seconds between two looks at whether a kernel that was killed has ended."""

GRACE = 4.0
"""Seconds until a kernel that was interrupted for its processor time is killed, if it goes on."""

LOG = "kernel.log"
"""The file in the private folder for a kernel's standard output and error."""

_FLAGS = 0x10000000 | 0x00020000 | 0x20000000 | 0x40000000 | 0x08000000 | 0x04000000
_SUBREAPER = 36

Start = Callable[[Order], None]


class Supervisor:
    """The supervisor that serves one order from `line`; the process that becomes the kernel calls `start`."""

    def __init__(self, line: Line, start: Start) -> None:
        self.line, self.start = line, start
        self.holder: subprocess.Popen[bytes] | None = None
        self.kernel = 0
        self._interrupted = 0.0
        self._killed = False
        self._told = ""

    def serve(self) -> None:
        """Receive the order, start the kernel, and watch it until it ends."""
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
        """Enter the sandbox, for the next child process, and return a function that lists the process ids in it."""
        if order.tier != "bubblewrap":
            _become_subreaper()
            return lambda: descendants(os.getpid())
        self.holder, init = _hold(order)
        _join(init)
        os.chdir("/")
        present = set(psutil.pids())
        return lambda: set(psutil.pids()) - present

    def _fork(self, order: Order) -> int:
        """Fork the process that becomes the kernel, and return its id."""
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
        """Watch the kernel and handle messages until the kernel ends or the connection closes."""
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
                self._handle_message(message, watch)
            if time.monotonic() >= next_look:
                next_look = time.monotonic() + TICK
                excess = watch.look()
                if excess:
                    self._stop(excess)

    def _handle_message(self, message: dict[str, Any], watch: Watch) -> None:
        if "signal" in message:
            if message["signal"] == signal.SIGKILL:
                watch.measure()
            self._signal(int(message["signal"]))
        if "cell" in message:
            self._told, self._interrupted = "", 0.0
            watch.cell(message["cell"])

    def _stop(self, excess: Excess) -> None:
        """Report an excess and stop the kernel: interrupt for processor time, kill after `GRACE`; else kill at once."""
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
        """Send a signal to the kernel's process group, as a terminal does."""
        self._killed = number == signal.SIGKILL
        with contextlib.suppress(OSError):
            os.killpg(self.kernel, number)

    def _kill_all(self) -> None:
        """Kill the sandbox's first process, which ends all others, or without a sandbox all descendants."""
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
    """Have bubblewrap make the sandbox and keep it open: a `cat` runs in it as long as this process lives.

    Return bubblewrap's process, and the id of the sandbox's first process as seen from outside.
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
    """Enter the namespaces of a process; the PID namespace applies only to children forked afterwards."""
    descriptor = os.pidfd_open(pid)
    try:
        _libc("setns", descriptor, _FLAGS)
    finally:
        os.close(descriptor)


def _become_subreaper() -> None:
    """Become the parent of orphaned descendants, so that each of them can be found and killed."""
    _libc("prctl", _SUBREAPER, 1, 0, 0, 0)


def _libc(name: str, *arguments: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _close_all(log: str) -> None:
    """Close all inherited descriptors, make standard input empty, and send standard output and error into a log."""
    os.closerange(0, os.sysconf("SC_OPEN_MAX"))
    os.open(os.devnull, os.O_RDONLY)
    os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(1, 2)
    for descriptor in range(3):
        os.set_inheritable(descriptor, True)


def _reap(pid: int) -> None:
    """Reap a child process that has ended, so that it does not stay as a zombie."""
    with contextlib.suppress(OSError):
        os.waitpid(pid, os.WNOHANG)


def run_command(order: Order) -> None:
    """Enter the sandbox and replace this process by the order's program."""
    confine(order.tier, order.confines)
    os.execve(order.command[0], order.command, order.environment)


def main() -> NoReturn:
    """Serve one order from the socket on standard input, and start its program."""
    with socket.socket(fileno=os.dup(0)) as connection:
        Supervisor(Line(connection), run_command).serve()
    sys.exit(0)


if __name__ == "__main__":
    main()
