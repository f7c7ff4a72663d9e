"""The messages between a process that wants a kernel and the kernel's supervisor: JSON lines on a unix socket."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass, field
from typing import Any

from course.grading.sandbox.spec import Confines

LONGEST = 2**20

BUSY_SINCE = "busy_since"
"""In the metadata of the message that a cell begins: when the kernel turned to it, which needs no message then."""


@dataclass(frozen=True)
class Order:
    """A kernel to be started.

    `tier` is the sandbox's, `environment` all the variables the process gets, `seed` what its random numbers start
    from. With a `command` that program is run; without, IPython's kernel, given `arguments`, in the forked process.
    """

    tier: str
    confines: Confines
    folder: str
    environment: dict[str, str]
    seed: int = 0
    arguments: tuple[str, ...] = field(default=())
    command: tuple[str, ...] = field(default=())


class Line:
    """One end of a conversation."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._read = b""
        self.closed = False

    def say(self, **message: Any) -> None:
        """Send a message; nobody listening is no error."""
        try:
            self.connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self.closed = True

    def hear(self, timeout: float = 0.0) -> list[dict[str, Any]]:
        """The messages that have arrived, waiting at most `timeout` seconds for the first to be there whole."""
        deadline = time.monotonic() + timeout
        complete: list[dict[str, Any]] = []
        while not complete and not self.closed:
            self.connection.settimeout(max(0.0, deadline - time.monotonic()))
            try:
                data = self.connection.recv(65536)
            except (TimeoutError, BlockingIOError):
                break
            except OSError:
                data = b""
            finally:
                self.connection.settimeout(None)
            self.closed = not data or len(self._read) > LONGEST
            complete, self._read = self._lines(self._read + data)
        return complete

    def close(self) -> None:
        """Hang up."""
        self.closed = True
        self.connection.close()

    @staticmethod
    def _lines(data: bytes) -> tuple[list[dict[str, Any]], bytes]:
        *lines, rest = data.split(b"\n")
        return [json.loads(line) for line in lines if line], rest
