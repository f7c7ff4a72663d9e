"""Messages between a process that wants a kernel and the kernel's supervisor: JSON lines on a Unix socket."""

from __future__ import annotations

import json
import socket
import time
from dataclasses import dataclass, field
from typing import Any

from course.grading.sandbox.spec import Confines

LONGEST = 2**20

BUSY_SINCE = "busy_since"
"""The key, in the metadata of a cell's `execute_input`, of the time at which the kernel began the cell."""


@dataclass(frozen=True)
class Order:
    """The description of a kernel to start.

    `tier` names the sandbox, `environment` has all variables of the process, and `seed` seeds its random numbers. If
    there is a `command`, that program is run. Otherwise the forked process runs the function `main` of the `module`, by
    default IPython's kernel with `arguments`.
    """

    tier: str
    confines: Confines
    folder: str
    environment: dict[str, str]
    seed: int = 0
    arguments: tuple[str, ...] = field(default=())
    command: tuple[str, ...] = field(default=())
    module: str = ""


class Line:
    """One end of a connection that carries JSON messages, one a line."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._read = b""
        self.closed = False

    def say(self, **message: Any) -> None:
        """Send a message. A closed connection raises nothing and sets `closed`."""
        try:
            self.connection.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self.closed = True

    def hear(self, timeout: float = 0.0) -> list[dict[str, Any]]:
        """Return the complete messages that have arrived, after at most `timeout` seconds of waiting for the first."""
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
        """Close the connection."""
        self.closed = True
        self.connection.close()

    @staticmethod
    def _lines(data: bytes) -> tuple[list[dict[str, Any]], bytes]:
        *lines, rest = data.split(b"\n")
        return [json.loads(line) for line in lines if line], rest
