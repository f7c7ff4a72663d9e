"""What `course doctor` says of a broken torch and of accelerators."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.grading.machine import doctor
from course.grading.machine.doctor import GIB, Finding


def _one(findings) -> Finding:
    (found,) = findings
    return found


def test_a_broken_torch_is_told_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "torch.py").write_text("raise OSError('libtorch.so: cannot open shared object file')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = _one(doctor.torch_works())
    assert found.kind == "wrong" and "libtorch.so" in found.said and "Install torch" in found.advice


@pytest.mark.parametrize(
    ("answer", "kinds", "says"),
    [
        ({"gpus": [["H100", 80 * GIB, True]]}, ["fine", "fine"], "H100, 80 GiB"),
        ({"gpus": [["old", GIB, False]]}, ["fine", "wrong"], "old multiplies wrongly"),
        ({"mps": True}, ["fine", "note"], "COURSE_DEVICE=mps"),
        ({"fault": "driver too old"}, ["fine", "note"], "driver too old"),
        ({"right": False}, ["wrong", "fine"], "multiplies wrongly"),
    ],
)
def test_what_it_says_of_accelerators(answer: dict, kinds: list[str], says: str) -> None:
    found = list(doctor.about_torch({"version": "2", "threads": 1, "right": True, "gpus": [], "mps": False, **answer}))
    assert [finding.kind for finding in found] == kinds
    assert says in "\n".join(map(str, found))
