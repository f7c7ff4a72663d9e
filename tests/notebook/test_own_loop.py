"""What a release shows of training gives no training task away."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from course.grading.course_folder import release_path
from tests.original import find_topic

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["cbow", "multi_head_attention", "lora"])
def test_comparisons_train_with_the_students_own_loop(name: str) -> None:
    """Topics 10 and 11 compare with models that need a loop of another kind."""
    cells = nbformat.read(release_path(ROOT, find_topic(name)), as_version=4).cells
    (checked,) = [number for number, cell in enumerate(cells) if cell.id == f"{name}_task"]
    later = [cell.source for cell in cells[checked:] if cell.cell_type == "code"]
    assert any("fit(" in source for source in later)
    assert not [source for source in later if "optim" in source or "loss" in source]


@pytest.mark.parametrize("name", ["cbow", "multi_head_attention", "lora"])
def test_no_task_comes_with_its_learning_rate(name: str) -> None:
    cells = nbformat.read(release_path(ROOT, find_topic(name)), as_version=4).cells
    (given,) = [cell.source for cell in cells if cell.id == f"{name}_task-solution"]
    assert "lr" not in given
