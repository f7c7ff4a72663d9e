"""Messages between judge and kernel: a length, a JSON header, and the tensors as safetensors bytes.

Layout: 8 bytes total length, 4 bytes header length (both big endian), the header, the tensors. Neither side unpickles
anything, and the judge checks every size before it allocates: what is parsed is counted before, in bytes as they are.
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
"""Brackets and commas of a header, each at most one object of Python's: `values.MAX_NODES` needs four a value."""
MAX_TENSORS = 20_000
MAX_TENSOR_FACTS = 512
"""Bytes of safetensors' own header for each tensor: name, type, sizes, place. 64 sizes of four digits fit."""
_FRAME = struct.Struct(">QI")
_LENGTH = struct.Struct("<Q")


def pack(value: Any, *, whole: bool = False) -> bytes:
    """`value` as one message, its frame included.

    Raises:
        TooLarge: it is to be `whole`, and something had to be cut off.
    """
    tree, tensors = encode(value, whole=whole)
    header = json.dumps({"tree": tree, "count": len(tensors)}, allow_nan=False).encode()
    body = _saved({str(position): tensor for position, tensor in enumerate(tensors)})
    return _FRAME.pack(len(header) + len(body), len(header)) + header + body


def _saved(tensors: dict[str, torch.Tensor]) -> bytes:
    """A safetensors file. By way of numpy, which lacks bfloat16, it takes a quarter of the time for small tensors."""
    if any(tensor.dtype == torch.bfloat16 for tensor in tensors.values()):
        return safetensors.torch.save(tensors)
    return safetensors.numpy.save({position: tensor.numpy() for position, tensor in tensors.items()})


def unpack(message: bytes) -> Any:
    """The value in `message`.

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
    """Writes `value` to the connection as one message."""
    connection.sendall(pack(value))


def receive(connection: socket.socket, deadline: float | None = None, limit: int = MAX_MESSAGE) -> Any:
    """The next value from the connection, of at most `limit` bytes, complete before `deadline` (`time.monotonic`).

    Raises:
        Malformed: what arrived is no message.
        TimeoutError: the deadline passed first.
        ConnectionError: the other side went away.
    """
    return receive_sized(connection, deadline, limit)[0]


def receive_sized(connection: socket.socket, deadline: float | None, limit: int) -> tuple[Any, int]:
    """What `receive` gives, and how many bytes it took: for who counts them over several messages."""
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
    """The tree in a header, and how many tensors it announces."""
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
    """The `count` tensors in a safetensors file, by position; what describes them is measured before it is read."""
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
