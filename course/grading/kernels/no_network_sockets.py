"""Patch ipykernel so that a kernel needs no TCP socket and no terminal.

Besides the sockets for its client, ipykernel opens a TCP socket to itself, on which processes that a cell forks send
their output. In a sandbox that refuses internet sockets, libzmq aborts the process instead of reporting an error. Here
that pipe gets an abstract Unix address instead, which leaves no file behind. The rest of ipykernel is unchanged.
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
        Unsupported: this version of ipykernel has no such pipe.
    """
    from ipykernel import iostream

    thread: Any = iostream.IOPubThread
    if not (hasattr(thread, "_setup_pipe_in") and hasattr(thread, "_setup_pipe_out")):
        raise Unsupported(f"ipykernel {version('ipykernel')} sets up its output in an unknown way")
    thread._setup_pipe_in = _listen
    thread._setup_pipe_out = _connect


def without_terminals() -> None:
    """Make `!command` use pipes instead of a terminal, because a sandbox may have no terminals."""
    from ipykernel import zmqshell

    shell: Any = zmqshell
    shell.system = _system


def _system(command: str) -> int:
    """Run `command` in a shell, print its output as it comes, and return its exit status."""
    running = subprocess.Popen(  # noqa: S602, because `!command` asks for a shell
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
    """Bind the pipe on which forked processes send their output; a random id keeps other processes out."""
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
    """Return a context and a socket connected to the pipe, for a forked process, as ipykernel expects them."""
    import zmq

    context = zmq.Context()
    pipe = context.socket(zmq.PUSH)
    pipe.linger = 3000  # milliseconds, as in ipykernel: the last output of a process still arrives
    pipe.connect(self._pipe_address)
    return context, pipe
