"""A checkpoint is read as what it is: a student's file, of which nothing is believed that does not fit."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from course.grading.report.checkpoint_files import MOST_TENSORS, Checkpoint, checkpoints_in, read_checkpoint


def written(path: Path, table: object, data: bytes = b"", length: int | None = None) -> Path:
    text = table if isinstance(table, bytes) else json.dumps(table).encode()
    path.write_bytes((len(text) if length is None else length).to_bytes(8, "little") + text + data)
    return path


def entry(dtype: str = "F32", shape: object = (2,), offsets: object = (0, 8)) -> dict[str, object]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


def read(path: Path) -> Checkpoint:
    found = read_checkpoint(path)
    assert found is not None
    return found


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.float16, torch.bfloat16])
def test_numbers_are_read_as_safetensors_wrote_them(tmp_path, dtype):
    weight = torch.randn(5, 3, 2).to(dtype)
    save_file({"weight": weight, "seen": torch.arange(3)}, tmp_path / "a.safetensors", {"record": '{"seconds": 3}'})
    found = read(tmp_path / "a.safetensors")
    assert found.record == {"seconds": 3}
    (tensor,) = (one for one in found.tensors if one.name == "weight")
    blocks = np.concatenate(list(found.blocks(tensor)))
    assert blocks.shape == (5, 6) and np.array_equal(blocks, weight.float().reshape(5, 6).numpy())


def test_a_large_tensor_comes_in_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("course.grading.report.checkpoint_files.BLOCK", 8)
    weight = torch.arange(33.0).reshape(11, 3)
    save_file({"weight": weight}, tmp_path / "a.safetensors")
    found = read(tmp_path / "a.safetensors")
    blocks = list(found.blocks(found.tensors[0]))
    assert [len(block) for block in blocks] == [2, 2, 2, 2, 2, 1]
    assert np.array_equal(np.concatenate(blocks), weight.numpy())


def test_the_digest_is_of_the_weights_alone(tmp_path):
    for name, seconds, value in (("a", 1, 1.0), ("b", 2, 1.0), ("c", 1, 2.0)):
        record = {"record": json.dumps({"seconds": seconds})}
        save_file({"weight": torch.full((3,), value)}, tmp_path / f"{name}.safetensors", metadata=record)
    one, same, other = (read(tmp_path / f"{name}.safetensors").digest() for name in "abc")
    assert one == same != other


@pytest.mark.parametrize("content", [b"", b"\xff" * 100, b"PK\x03\x04", b"PK\x03\x04" * 10])
def test_other_files(tmp_path, content):
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    assert read_checkpoint(path) is None


@pytest.mark.parametrize(
    "table",
    [
        [],
        {"w": 3},
        {"w": entry(shape="ab")},
        {"w": entry(shape=(2.0,))},
        {"w": entry(shape=(-1, -2))},
        {"w": entry(shape=(True, 2))},
        {"w": entry(shape=(1,) * 65, offsets=(0, 4))},
        {"w": entry(shape=(10**30,))},
        {"w": entry(offsets=(0, 7))},
        {"w": entry(offsets=(8, 16))},
        {"w": entry(offsets=(8, 0))},
        {"w": entry(offsets=(0,))},
        {str(number): entry() for number in range(MOST_TENSORS + 1)},
        b"[" * 100_000,
        b'{"w": ',
    ],
)
def test_tables_that_do_not_fit(tmp_path, table):
    assert read_checkpoint(written(tmp_path / "a.safetensors", table, bytes(8))) is None


def test_what_cannot_be_read(tmp_path):
    assert read_checkpoint(tmp_path) is None
    assert read_checkpoint(tmp_path / "gone.safetensors") is None


def test_a_table_longer_than_the_file_is_not_read(tmp_path):
    assert read_checkpoint(written(tmp_path / "a.safetensors", {"w": entry()}, bytes(8), length=10**6)) is None


@pytest.mark.parametrize("record", ["[", "[]", "7", "[" * 100_000])
def test_a_spoiled_record_is_none(tmp_path, record):
    save_file({"weight": torch.zeros(3)}, tmp_path / "a.safetensors", metadata={"record": record})
    assert read(tmp_path / "a.safetensors").record == {}


def test_links_and_other_files_are_passed_over(tmp_path):
    folder = tmp_path / "ada" / "checkpoints"
    folder.mkdir(parents=True)
    save_file({"weight": torch.zeros(3)}, tmp_path / "elsewhere.safetensors")
    (folder / "link.safetensors").symlink_to(tmp_path / "elsewhere.safetensors")
    (folder / "folder.safetensors").mkdir()
    save_file({"weight": torch.zeros(3)}, folder / "rnn_task.safetensors")
    assert list(checkpoints_in(tmp_path / "ada")) == ["rnn_task.safetensors"]
    assert checkpoints_in(tmp_path / "bea") == {}
