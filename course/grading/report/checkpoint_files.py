"""Read checkpoints that students handed in: the table of tensors, the training record, and a digest of the weights.

The files are untrusted: sizes in the table are compared with the file, and numbers are read one block at a time.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course.grading.intake.untrusted import LARGEST, plain_files

LARGEST_HEADER = 16 * 2**20
"""The most bytes of a table of tensors; a file with a longer one is no checkpoint of the course."""

MOST_TENSORS = 500
"""The most tensors of a file; the largest model of the course has 120."""

BLOCK = 2**20
"""The number of values that are read at a time."""

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}
"""The dtypes of weights: safetensors' names to numpy's."""

SIZES = {"F64": 8, "I64": 8, "U64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2, "I16": 2, "U16": 2}
"""The bytes of a number by dtype; dtypes that are not listed have one byte."""


@dataclass(frozen=True)
class Stored:
    """A tensor in a file; `begin` is the offset of its bytes from the start of the file."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    begin: int

    @property
    def size(self) -> int:
        """Return the tensor's number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Checkpoint:
    """A safetensors file whose table matches its size, with the training record of `fit`, if there is one."""

    path: Path
    data: int
    tensors: tuple[Stored, ...]
    record: Mapping[str, Any] = field(default_factory=dict)

    def digest(self) -> str:
        """Return a digest of the weights that does not depend on the training record."""
        table = [(one.name, one.dtype, one.shape, one.begin - self.data) for one in self.tensors]
        named = hashlib.sha256(repr(table).encode())
        with self.path.open("rb") as file:
            file.seek(self.data)
            named.update(hashlib.file_digest(file, "sha256").digest())
        return named.hexdigest()

    def blocks(self, tensor: Stored) -> Iterator[NDArray[np.float32]]:
        """Yield a tensor of weights in blocks of about `BLOCK` numbers: (rows, columns), split along the first axis."""
        columns = max(1, tensor.size // tensor.shape[0]) if tensor.shape and tensor.shape[0] else 1
        rows = max(1, BLOCK // columns)
        with self.path.open("rb") as file:
            file.seek(tensor.begin)
            for start in range(0, tensor.size, rows * columns):
                count = min(rows * columns, tensor.size - start)
                read = np.frombuffer(file.read(count * SIZES[tensor.dtype]), DTYPES[tensor.dtype])
                if tensor.dtype == "BF16":
                    read = (read.astype("<u4") << 16).view("<f4")
                with np.errstate(over="ignore"):
                    yield read.astype(np.float32).reshape(-1, columns)


def checkpoints_in(folder: Path) -> dict[str, Checkpoint]:
    """Return the checkpoints in a submission by file name; other files are skipped."""
    files = [path for name, path in plain_files(folder / "checkpoints") if "/" not in name]
    read = {path.name: read_checkpoint(path) for path in files if path.suffix == ".safetensors"}
    return {name: checkpoint for name, checkpoint in read.items() if checkpoint is not None}


def read_checkpoint(path: Path) -> Checkpoint | None:
    """Return the checkpoint at `path`; None if the file is no checkpoint or cannot be read."""
    try:
        whole = path.stat().st_size
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if not 0 < length <= min(LARGEST_HEADER, whole - 8) or whole > LARGEST:
                return None
            table = json.loads(file.read(length))
        about = table.pop("__metadata__", None)
        tensors = tuple(_stored(name, told, 8 + length, whole) for name, told in sorted(table.items()))
    except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
        return None
    return Checkpoint(path, 8 + length, tensors, _record(about)) if len(tensors) <= MOST_TENSORS else None


def _stored(name: str, told: Mapping[str, Any], data: int, whole: int) -> Stored:
    """Return a tensor from its table entry.

    Raises:
        ValueError, KeyError, TypeError: the entry does not fit the file.
    """
    dtype, shape, (begin, end) = str(told["dtype"]), tuple(told["shape"]), told["data_offsets"]
    numbers = (begin, end, *shape)
    if any(type(number) is not int or number < 0 for number in numbers) or len(shape) > 64:
        raise ValueError("a size is no size")
    if not begin <= end <= whole - data or end - begin != math.prod(shape) * SIZES.get(dtype, 1):
        raise ValueError("the sizes do not fit")
    return Stored(name, dtype, shape, data + begin)


def _record(about: Any) -> dict[str, Any]:
    """Return the training record that `fit` wrote; empty if it is malformed."""
    try:
        record = json.loads(about["record"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}
