"""Equal weights are found whatever stands beside them, and files that are no checkpoints are passed over."""

from __future__ import annotations

import torch
from safetensors.torch import save_file

from course.grading.report.checkpoints import digest, equal_checkpoints


def hand_in(folder, content=None, name="rnn_task", **record) -> None:
    (folder / "checkpoints").mkdir(parents=True, exist_ok=True)
    path = folder / "checkpoints" / f"{name}.safetensors"
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        save_file({"weight": torch.full((3,), content), "bias": torch.zeros(2)}, path, metadata=record)


def test_equal_weights(tmp_path):
    for student, value in (("ada", 1.0), ("bea", 1.0), ("cy", 2.0)):
        hand_in(tmp_path / student, value, seconds=student)
    (shared,) = equal_checkpoints({student: tmp_path / student for student in ("ada", "bea", "cy")})
    assert (shared.file, shared.students) == ("rnn_task.safetensors", ("ada", "bea"))


def test_the_same_file_under_another_name_is_another_task(tmp_path):
    hand_in(tmp_path / "ada", 1.0)
    hand_in(tmp_path / "bea", 1.0, name="lstm_task")
    assert equal_checkpoints({student: tmp_path / student for student in ("ada", "bea")}) == ()


def test_what_is_no_checkpoint_is_passed_over(tmp_path):
    broken = [b"", b"\xff" * 100, (2).to_bytes(8, "little") + b"[]", (10**12).to_bytes(8, "little"), b"PK\x03\x04"]
    for number, content in enumerate(broken):
        hand_in(tmp_path, content, name=str(number))
        assert digest(tmp_path / "checkpoints" / f"{number}.safetensors") == ""
    hand_in(tmp_path / "ada", b"\xff" * 100)
    hand_in(tmp_path / "bea", b"\xff" * 100)
    (tmp_path / "cy").mkdir()
    assert equal_checkpoints({student: tmp_path / student for student in ("ada", "bea", "cy")}) == ()


def test_a_link_is_not_followed(tmp_path):
    hand_in(tmp_path / "ada", 1.0)
    (tmp_path / "bea" / "checkpoints").mkdir(parents=True)
    (tmp_path / "bea/checkpoints/rnn_task.safetensors").symlink_to(tmp_path / "ada/checkpoints/rnn_task.safetensors")
    assert equal_checkpoints({student: tmp_path / student for student in ("ada", "bea")}) == ()
