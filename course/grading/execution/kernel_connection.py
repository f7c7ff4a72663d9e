"""Connect to a notebook's kernel: channels with size limits that reconnect, and their first messages.

A kernel runs a student's code and can send anything. The limits here bound how much of it the grader reads.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from queue import Empty
from typing import Any

import zmq
from jupyter_client.channels import AsyncZMQSocketChannel
from jupyter_client.session import Session, json_unpacker
from nbclient import NotebookClient
from nbclient.util import ensure_async
from traitlets import Int
from zmq.utils.monitor import parse_monitor_message

from course.grading.kernels.environment import ACCELERATOR
from course.grading.kernels.supervisor import LOG

LARGEST_MESSAGE = 64 * 2**20
"""Bytes: a larger message ends its cell, because it closes the connection, which is then made again. A kernel sends
printed text five times a second. Messages of some megabytes arrive, but their content is not read."""

MOST_WAITING = 32
"""Length of the queue of unread messages: with their size, it bounds how much memory a flood of messages takes."""

SOON = 5
"""Milliseconds until a refused connection is tried again. The default, 100, is twice the time a kernel takes to
start."""

READING = 0.01
"""Seconds between two looks at whether all messages were read."""


class BoundedSession(Session):
    """A session that leaves content above `most` bytes as bytes, because parsing takes thirty times its size."""

    most = Int()

    def deserialize(self, msg_list: Any, content: bool = True, copy: bool = True) -> dict[str, Any]:
        """Return a message from its parts: a signature, three headers, the content, and buffers.

        Raises:
            ValueError: the headers are larger than `most` bytes.
        """
        if sum(map(len, msg_list[1:4])) > self.most:
            raise ValueError("the headers of a message are too large")
        return super().deserialize(msg_list, content and sum(map(len, msg_list[4:5])) <= self.most, copy)


class Listening(AsyncZMQSocketChannel):
    """A channel that waits for a message without polling for one first."""

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:  # type: ignore[override]  # as jupyter's
        """Return the next message.

        Raises:
            Empty: no message came within `timeout` seconds.
        """
        return await (self._recv() if timeout is None else super().get_msg(timeout))


def dated(data: bytes) -> Any:
    """Return a part of a message as JSON, with a header's date parsed six times as fast as jupyter does."""
    said = json_unpacker(data)
    if isinstance(said, dict) and "msg_id" in said and isinstance(said.get("date"), str):
        with contextlib.suppress(ValueError):
            date = datetime.fromisoformat(said["date"])
            said["date"] = date if date.tzinfo else said["date"]
    return said


def open_channels(client: Any, most: int) -> None:
    """Open the channels of jupyter's `client` to a kernel; content above `most` bytes is not parsed."""
    client.session = BoundedSession(key=client.session.key, most=most, unpack=dated)
    client.iopub_channel_class = Listening
    client.context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
    client.context.setsockopt(zmq.RCVHWM, MOST_WAITING)
    client.context.setsockopt(zmq.RECONNECT_IVL, SOON)
    client.start_channels(hb=False)  # no heartbeat, because the kernel's process is watched
    client.allow_stdin = False


async def keep_connected(socket: Any, lost: Callable[[], None]) -> None:
    """Reconnect whenever a message above `LARGEST_MESSAGE` closes the connection, and call `lost` each time."""
    monitor = socket.get_monitor_socket(zmq.EVENT_DISCONNECTED)
    try:
        while True:
            address = parse_monitor_message(await monitor.recv_multipart())["endpoint"].decode()
            await renew(socket, address)
            lost()
    finally:
        socket.disable_monitor()
        monitor.close(linger=0)


async def renew(socket: Any, address: str) -> None:
    """Connect again, once every message of the closed connection was read.

    Unread messages are lost with the old connection. If libzmq has begun to read one of which the rest is lost, it
    ends the whole process.
    """
    while socket.get(zmq.EVENTS) & zmq.POLLIN:
        await asyncio.sleep(READING)
    with contextlib.suppress(zmq.ZMQError):
        socket.disconnect(address)
    socket.connect(address)


async def kernel_info(manager: Any, client: Any, seconds: float) -> dict[str, Any]:
    """Return the kernel's `kernel_info_reply` once both channels have answered, so that no later output is missed.

    The request is repeated, because the first broadcasts are often lost: a subscription takes a moment to begin.

    Raises:
        RuntimeError: the kernel ended, or does not answer within so many seconds.
    """
    deadline = time.monotonic() + seconds
    language = heard = None
    while language is None or heard is None:
        if time.monotonic() > deadline or not await ensure_async(manager.is_alive()):
            raise RuntimeError("it ended" if time.monotonic() < deadline else "it does not answer")
        asked = client.kernel_info()
        language = await _answer(client.shell_channel, asked, "kernel_info_reply", 1.0) or language
        heard = await _answer(client.iopub_channel, asked, "status", 0.05)
    return language


async def _answer(channel: Any, asked: str, kind: str, seconds: float) -> dict[str, Any] | None:
    """Return the message of that kind that replies to `asked`, or None after so many seconds."""
    deadline = time.monotonic() + seconds
    while (left := deadline - time.monotonic()) > 0:
        try:
            message = await ensure_async(channel.get_msg(timeout=left))
        except Empty:
            return None
        if message["msg_type"] == kind and message["parent_header"].get("msg_id") == asked:
            return message
    return None


async def demand_accelerator(run: NotebookClient) -> None:
    """Check that the run's kernel has an accelerator, so that it does not silently use the CPU.

    Raises:
        RuntimeError: the kernel finds no accelerator.
    """
    assert run.kc is not None
    asked = run.kc.execute("", silent=True, user_expressions={"found": ACCELERATOR})
    reply = await run.async_wait_for_reply(asked)
    found = reply["content"].get("user_expressions", {}).get("found", {}) if reply else {}
    if found.get("data", {}).get("text/plain") != "True":
        raise RuntimeError("an accelerator is required, and the notebook sees none")


def complaint(sockets: Path) -> str:
    """Return the last line of the kernel's log in this folder, in brackets, or "" if there is none."""
    with contextlib.suppress(OSError):
        lines = (sockets / LOG).read_text(errors="replace").strip().splitlines()
        return f" ({lines[-1][:200]})" if lines else ""
    return ""
