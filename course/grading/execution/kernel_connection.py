"""The connection to a notebook's kernel: channels of bounded size that reconnect, and their first messages.

A kernel runs a student's code and can send anything. The bounds here limit what the grader takes in.
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
"""Bytes of a kernel's message: a larger one ends the connection, which is made again, and so its cell. A kernel sends
five times a second what was printed meanwhile; messages of some megabytes arrive, and are not read."""

MOST_WAITING = 32
"""Messages of a kernel that wait to be read: with their size, this bounds what a flood takes of the grader's memory."""

SOON = 5
"""Milliseconds until a channel that finds nobody is tried again: by default it is a tenth of a second, twice what a
kernel takes to be there."""

READING = 0.01
"""Seconds until it is asked again whether all that came is read."""


class BoundedSession(Session):
    """Leaves a message's content of more than `most` bytes as bytes: reading it takes thirty times its size."""

    most = Int()

    def deserialize(self, msg_list: Any, content: bool = True, copy: bool = True) -> dict[str, Any]:
        """A message from its parts: a signature, three headers, the content, and what else there is.

        Raises:
            ValueError: its headers are larger than any content may be.
        """
        if sum(map(len, msg_list[1:4])) > self.most:
            raise ValueError("the headers of a message are too large")
        return super().deserialize(msg_list, content and sum(map(len, msg_list[4:5])) <= self.most, copy)


class Listening(AsyncZMQSocketChannel):
    """A channel that takes a message when it comes, without asking before whether one has come."""

    async def get_msg(self, timeout: float | None = None) -> dict[str, Any]:  # type: ignore[override]  # as theirs
        """The next message.

        Raises:
            Empty: none came within so many seconds.
        """
        return await (self._recv() if timeout is None else super().get_msg(timeout))


def dated(data: bytes) -> Any:
    """What a part of a message says, with the date of a header read: jupyter takes six times as long for one."""
    said = json_unpacker(data)
    if isinstance(said, dict) and "msg_id" in said and isinstance(said.get("date"), str):
        with contextlib.suppress(ValueError):
            date = datetime.fromisoformat(said["date"])
            said["date"] = date if date.tzinfo else said["date"]
    return said


def open_channels(client: Any, most: int) -> None:
    """Begin to talk to a kernel through jupyter's `client`; a content above `most` bytes is not read."""
    client.session = BoundedSession(key=client.session.key, most=most, unpack=dated)
    client.iopub_channel_class = Listening
    client.context.setsockopt(zmq.MAXMSGSIZE, LARGEST_MESSAGE)
    client.context.setsockopt(zmq.RCVHWM, MOST_WAITING)
    client.context.setsockopt(zmq.RECONNECT_IVL, SOON)
    client.start_channels(hb=False)  # its process is watched
    client.allow_stdin = False


async def keep_connected(socket: Any, lost: Callable[[], None]) -> None:
    """Make a connection again whenever a message above `LARGEST_MESSAGE` ends it, and call `lost` each time."""
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
    """Make a connection again, once all that came over the last one is read.

    What is not read is lost with the old connection, and libzmq ends the whole process where it has begun to look at a
    message of which the rest is lost.
    """
    while socket.get(zmq.EVENTS) & zmq.POLLIN:
        await asyncio.sleep(READING)
    with contextlib.suppress(zmq.ZMQError):
        socket.disconnect(address)
    socket.connect(address)


async def kernel_info(manager: Any, client: Any, seconds: float) -> dict[str, Any]:
    """What the kernel says of itself, when both of its channels have answered: nothing it prints later can be missed.

    What it says of its first questions to all listeners is often lost, as listening takes a moment to begin: it is
    asked again soon.

    Raises:
        RuntimeError: it ended, or does not answer within so many seconds.
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
    """The message of that kind that answers `asked`, if it comes within so many seconds."""
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
    """Never a silent run on the processor where an accelerator was asked for.

    Raises:
        RuntimeError: the kernel of this run sees no accelerator.
    """
    assert run.kc is not None
    asked = run.kc.execute("", silent=True, user_expressions={"found": ACCELERATOR})
    reply = await run.async_wait_for_reply(asked)
    found = reply["content"].get("user_expressions", {}).get("found", {}) if reply else {}
    if found.get("data", {}).get("text/plain") != "True":
        raise RuntimeError("an accelerator is required, and the notebook sees none")


def complaint(sockets: Path) -> str:
    """The last thing that a kernel with its connection in this folder wrote down, in brackets, if anything."""
    with contextlib.suppress(OSError):
        lines = (sockets / LOG).read_text(errors="replace").strip().splitlines()
        return f" ({lines[-1][:200]})" if lines else ""
    return ""
