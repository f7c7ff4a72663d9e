"""A Jupyter kernel without a network socket and without terminals.

Besides the sockets its client connects to, ipykernel opens one on TCP to itself: processes that a cell forks send their
output through it. Where sockets of the internet's families are refused, libzmq does not report the refusal but ends the
process. Here that pipe gets an abstract Unix address instead, which leaves no file behind; the rest stays ipykernel's.
"""

from __future__ import annotations

import os
import subprocess
from importlib.metadata import version
from typing import Any

from ..sandbox.syscalls import Unsupported


def without_tcp() -> None:
    """Make ipykernel's output thread use a Unix socket for its pipe. Call before the kernel starts; Linux only.

    Raises:
        Unsupported: this version of ipykernel has no such pipe to move.
    """
    from ipykernel import iostream

    thread: Any = iostream.IOPubThread
    if not (hasattr(thread, "_setup_pipe_in") and hasattr(thread, "_setup_pipe_out")):
        raise Unsupported(f"ipykernel {version('ipykernel')} sets up its output in an unknown way")
    thread._setup_pipe_in = _listen
    thread._setup_pipe_out = _connect


def without_terminals() -> None:
    """Make `!command` read from a pipe. ipykernel gives it a terminal, and a sandbox may have none to give."""
    from ipykernel import zmqshell

    shell: Any = zmqshell
    shell.system = _system


def _system(command: str) -> int:
    """Run `command` in a shell, its output printed as it comes; returns its exit status."""
    running = subprocess.Popen(  # noqa: S602, which is what was asked for
        command,
        shell=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    with running:
        for line in running.stdout or ():
            print(line, end="")
    return running.returncode


def _listen(self: Any) -> None:
    """Bind the pipe on which forked processes bring their output; a random word keeps others from bringing theirs."""
    import zmq
    from zmq.eventloop.zmqstream import ZMQStream

    self._pipe_uuid = os.urandom(16)
    self._pipe_address = f"ipc://@course-iopub-{os.urandom(16).hex()}"
    pipe = self.socket.context.socket(zmq.PULL)
    pipe.linger = 0
    pipe.bind(self._pipe_address)
    self._pipe_in = ZMQStream(pipe, self.io_loop)
    self._pipe_in.on_recv(self._handle_pipe_msg)


def _connect(self: Any) -> tuple[Any, Any]:
    """The forked process's end: a context of its own and a socket, as ipykernel expects them."""
    import zmq

    context = zmq.Context()
    pipe = context.socket(zmq.PUSH)
    pipe.linger = 3000  # milliseconds, as in ipykernel: what was printed just before the end still arrives
    pipe.connect(self._pipe_address)
    return context, pipe
