"""Send messages between judge and kernel: a length, a JSON header, and tensors as safetensors bytes.

Layout: 8 bytes total length, 4 bytes header length (both big endian), the header, the tensors. Neither side unpickles
anything. The judge checks every size before it allocates memory, and counts a header's parts before it parses them.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from typing import Any

import safetensors
import safetensors.numpy
import safetensors.torch
import torch

from .values import DTYPES, Malformed, decode, encode

MAX_MESSAGE = 256 * 2**20
MAX_HEADER = 16 * 2**20
MAX_PARTS = 1_000_000
"""Largest number of brackets and commas in a header. Each makes at most one Python object, and a value needs four."""
MAX_TENSORS = 20_000
MAX_TENSOR_FACTS = 512
"""Bytes of safetensors' own header per tensor: name, type, sizes, offsets. 64 sizes of four digits fit."""
_FRAME = struct.Struct(">QI")
_LENGTH = struct.Struct("<Q")


def pack(value: Any, *, whole: bool = False) -> bytes:
    """Return `value` as one message, including its length.

    Raises:
        TooLarge: with `whole`, a part had to be cut off.
    """
    tree, tensors = encode(value, whole=whole)
    header = json.dumps({"tree": tree, "count": len(tensors)}, allow_nan=False).encode()
    body = _saved({str(position): tensor for position, tensor in enumerate(tensors)})
    return _FRAME.pack(len(header) + len(body), len(header)) + header + body


def _saved(tensors: dict[str, torch.Tensor]) -> bytes:
    """Return a safetensors file. Through numpy, which lacks bfloat16, small tensors take a quarter of the time."""
    if any(tensor.dtype == torch.bfloat16 for tensor in tensors.values()):
        return safetensors.torch.save(tensors)
    return safetensors.numpy.save({position: tensor.numpy() for position, tensor in tensors.items()})


def unpack(message: bytes) -> Any:
    """Return the value in `message`.

    Raises:
        Malformed: sizes, header or tensors do not fit together.
    """
    if len(message) < _FRAME.size:
        raise Malformed("the message is shorter than its frame")
    total, header_length = _FRAME.unpack_from(message)
    _check_sizes(total, header_length)
    if total != len(message) - _FRAME.size:
        raise Malformed(f"the message says {total} bytes and holds {len(message) - _FRAME.size}")
    return _value(message[_FRAME.size :], header_length)


def send(connection: socket.socket, value: Any) -> None:
    """Send `value` over the connection as one message."""
    connection.sendall(pack(value))


def receive(connection: socket.socket, deadline: float | None = None, limit: int = MAX_MESSAGE) -> Any:
    """Receive the next value from the connection, at most `limit` bytes, before `deadline` (`time.monotonic`).

    Raises:
        Malformed: the message is invalid.
        TimeoutError: the deadline passed first.
        ConnectionError: the other side closed the connection.
    """
    return receive_sized(connection, deadline, limit)[0]


def receive_sized(connection: socket.socket, deadline: float | None, limit: int) -> tuple[Any, int]:
    """Receive the next value with the size of its message in bytes, for a limit over several messages."""
    total, header_length = _FRAME.unpack(_exactly(connection, _FRAME.size, deadline))
    _check_sizes(total, header_length, limit)
    return _value(_exactly(connection, total, deadline), header_length, limit), total


def _check_sizes(total: int, header_length: int, limit: int = MAX_MESSAGE) -> None:
    if total > limit or header_length > min(MAX_HEADER, total):
        raise Malformed(f"a message of {total} bytes with a header of {header_length} is beyond the limit of {limit}")


def _value(content: bytes, header_length: int, limit: int = MAX_MESSAGE) -> Any:
    tree, count = _header(content[:header_length])
    tensors = _tensors(memoryview(content)[header_length:], count)
    try:
        return decode(tree, tensors, most=limit)
    except RecursionError:
        raise Malformed("the header is nested too deeply") from None


def _header(text: bytes) -> tuple[Any, int]:
    """Return the tree in a header, and how many tensors follow."""
    parts = sum(text.count(mark) for mark in (b"[", b"{", b","))
    if parts > MAX_PARTS:
        raise Malformed(f"the header has {parts} parts, and may have {MAX_PARTS}")
    try:
        header = json.loads(text)
        count, tree = header["count"], header["tree"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Malformed(f"the header is no JSON of ours: {str(error)[:80]}") from None
    if type(count) is not int or not 0 <= count <= MAX_TENSORS:
        raise Malformed(f"a message may hold at most {MAX_TENSORS} tensors")
    return tree, count


def _tensors(body: memoryview, count: int) -> list[torch.Tensor]:
    """Return the `count` tensors of a safetensors file by position. Check the file's header before parsing it."""
    if len(body) < _LENGTH.size or _LENGTH.unpack_from(body)[0] > MAX_TENSOR_FACTS * (count + 1):
        raise Malformed(f"the tensors come with a header too long for {count}")
    try:
        named = safetensors.torch.load(bytes(body))
    except (
        safetensors.SafetensorError,
        ValueError,
        KeyError,
        RuntimeError,
        MemoryError,
        AttributeError,
    ) as error:
        raise Malformed(f"the tensors are no safetensors: {str(error)[:80]}") from None
    if set(named) != {str(position) for position in range(count)}:
        raise Malformed(f"{count} tensors were announced, {len(named)} came")
    if any(str(tensor.dtype) not in DTYPES for tensor in named.values()):
        raise Malformed("a tensor has a type that is not exchanged")
    return [named[str(position)] for position in range(count)]


def _exactly(connection: socket.socket, size: int, deadline: float | None) -> bytes:
    received = bytearray()
    while len(received) < size:
        if deadline is not None:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError("no complete answer came in time")
            connection.settimeout(left)
        piece = connection.recv(min(size - len(received), 2**20))
        if not piece:
            raise ConnectionError("the other side closed the connection")
        received += piece
    return bytes(received)
