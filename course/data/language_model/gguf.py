"""Read a GGUF file, which holds a model's settings, its tokeniser and its weights in blocks of few bits.

A file begins with a table of fields and a table of tensors, and the tensors' bytes follow. Three kinds of numbers are
read here. `F32` is a float32. `Q8_0` has blocks of 32 whole numbers q from -128 to 127 and a scale d, so a weight is
d q. `Q4_1` has blocks of 32 whole numbers q from 0 to 15, a scale d and a smallest value m, so a weight is d q + m.
Both d and m are float16.

Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. The library `gguf` reads the same, takes five seconds
to open this file where a tenth of one is enough, and would have to be installed. Tests compare the two.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

STRING, ARRAY = 8, 9
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""The types of a field's numbers, as `struct` names them."""


def _q4_1(blocks: np.ndarray) -> np.ndarray:
    """Return the weights of blocks of 20 bytes: (N, 20) -> (N, 32). The low halves of all bytes come first."""
    scale, least = blocks[:, :2].view(np.float16), blocks[:, 2:4].view(np.float16)  # (N, 1)
    halves = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], axis=1).astype(np.float32)
    halves *= scale
    halves += least
    return halves


def _q8_0(blocks: np.ndarray) -> np.ndarray:
    """Return the weights of blocks of 34 bytes: (N, 34) -> (N, 32)."""
    numbers = blocks[:, 2:].view(np.int8).astype(np.float32)
    numbers *= blocks[:, :2].view(np.float16)
    return numbers


def _f32(blocks: np.ndarray) -> np.ndarray:
    return blocks.view(np.float32)


KINDS: dict[int, tuple[int, int, Callable[[np.ndarray], np.ndarray]]] = {
    0: (1, 4, _f32),
    3: (32, 20, _q4_1),
    8: (32, 34, _q8_0),
}
"""By the number of a kind: how many weights a block has, how many bytes, and what makes weights of blocks."""


AT_ONCE = 2**20
"""Weights that are made at a time, so that reading a large tensor takes little memory beside it."""


@dataclass(frozen=True)
class Stored:
    """A tensor in the file: its shape, its kind, and where its bytes begin."""

    shape: tuple[int, ...]
    kind: int
    begin: int


class GGUF(Mapping[str, Tensor]):
    """The tensors of a file by their names, each made anew as float32 when it is asked for; `fields` are its settings.

    Raises:
        ValueError: the file is no GGUF, or a tensor is of a kind that this module does not read.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        with file.open("rb") as opened:
            magic, _version, tensors, fields = struct.unpack("<4sIQQ", opened.read(24))
            if magic != b"GGUF":
                raise ValueError(f"{file} is no GGUF file")
            self.fields = {_string(opened): _value(opened, *_unpack(opened, "I")) for _ in range(fields)}
            found = [(_string(opened), _described(opened)) for _ in range(tensors)]
            step = self.fields.get("general.alignment", 32)
            first = math.ceil(opened.tell() / step) * step
        self._stored = {name: Stored(shape, kind, first + begin) for name, (shape, kind, begin) in found}

    def renamed(self, new: Callable[[str], str]) -> GGUF:
        """Return the same tensors under the names that `new` makes of theirs."""
        other = copy(self)
        other._stored = {new(name): stored for name, stored in self._stored.items()}
        return other

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the tensors by their names."""
        return {name: stored.shape for name, stored in self._stored.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._stored)

    def __len__(self) -> int:
        return len(self._stored)

    def __getitem__(self, name: str) -> Tensor:
        return self.read_into(name, torch.empty(self._stored[name].shape))

    def read_into(self, name: str, out: Tensor) -> Tensor:
        """Write a tensor into `out`, a contiguous tensor of its shape, a million weights at a time. Return `out`."""
        stored, flat = self._stored[name], out.view(-1)
        if stored.kind not in KINDS:
            raise ValueError(f"{name} in {self.file} is of kind {stored.kind}, which is not read here")
        weights, size, made = KINDS[stored.kind]
        with self.file.open("rb") as opened:
            opened.seek(stored.begin)
            for part in flat.split(AT_ONCE):
                blocks = np.frombuffer(bytearray(opened.read(part.numel() // weights * size)), dtype=np.uint8)
                part.copy_(torch.from_numpy(made(blocks.reshape(-1, size))).view(-1))
        return out


def _unpack(opened: BinaryIO, form: str) -> tuple[Any, ...]:
    form = f"<{form}"
    return struct.unpack(form, opened.read(struct.calcsize(form)))


def _string(opened: BinaryIO) -> str:
    (length,) = _unpack(opened, "Q")
    return opened.read(length).decode()


def _value(opened: BinaryIO, kind: int) -> Any:
    """Return a field's value: a number, a text, or a list of one of them."""
    if kind == STRING:
        return _string(opened)
    if kind == ARRAY:
        inside, length = _unpack(opened, "IQ")
        if inside in (STRING, ARRAY):
            return [_value(opened, inside) for _ in range(length)]
        return list(_unpack(opened, f"{length}{NUMBERS[inside]}"))
    return _unpack(opened, NUMBERS[kind])[0]


def _described(opened: BinaryIO) -> tuple[tuple[int, ...], int, int]:
    """Return a tensor's shape, which the file has from the innermost axis outwards, its kind, and its place."""
    (axes,) = _unpack(opened, "I")
    shape = _unpack(opened, f"{axes}Q")[::-1]
    return shape, *_unpack(opened, "IQ")
