"""A connection to a kernel that ended is made again, and nothing that came over it is lost."""

from __future__ import annotations

import asyncio
from pathlib import Path

import zmq
import zmq.asyncio

from course.grading.execution.kernel_connection import renew

SAID = [b"status", b"header", b"content"]


async def _heard_around_a_new_connection(address: str) -> list[list[bytes]]:
    """What a listener hears that had looked at a message, and not read it, when its connection was made again."""
    with zmq.asyncio.Context() as context, context.socket(zmq.PUB) as kernel, context.socket(zmq.SUB) as listener:
        kernel.bind(address)
        listener.subscribe(b"")
        listener.connect(address)
        while not listener.get(zmq.EVENTS) & zmq.POLLIN:  # which begins to look at the message
            await kernel.send_multipart(SAID)
            await asyncio.sleep(0.01)
        renewed = asyncio.create_task(renew(listener, address))
        await asyncio.sleep(0.05)
        heard = [await listener.recv_multipart()]
        while not renewed.done():
            if await listener.poll(10):
                heard.append(await listener.recv_multipart())
        while not await listener.poll(10):
            await kernel.send_multipart(SAID)
        return [*heard, await listener.recv_multipart()]


def test_what_has_come_is_read_before_a_connection_is_made_again(tmp_path: Path) -> None:
    """libzmq 4.3.5 ends the process otherwise: `Assertion failed: !_more`."""
    heard = asyncio.run(asyncio.wait_for(_heard_around_a_new_connection(f"ipc://{tmp_path}/k"), 20))
    assert len(heard) >= 2 and all(message == SAID for message in heard)
