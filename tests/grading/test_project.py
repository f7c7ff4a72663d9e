"""The capstone: begun by `course new --project`, handed in with its weights, and graded by a person."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat
import pytest
import torch
from nbformat.v4 import new_code_cell

from course.grading.release.new_course import PROJECT
from course.notebook.checkpoint import save
from course.outline import read_outline
from tests.commands import output_of
from tests.grading.lesson import find

ROOT = Path(__file__).parents[2]
PARTS = {"project_plan": 4.5, "project_experiment": 7.0, "project_report": 3.0}
"""What a person gives."""

LEVELS = 3
"""All, half or none of a criterion's points."""

EXPERIMENT = """
narrow = fit("self_attention_task", lambda: nn.Linear(2, 3), print, variant="narrow_seed1")
print("weights from:", narrow.source)
check("softmax", torch.softmax)
"""


@pytest.fixture(scope="module")
def mine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course of topic 06 and the project, released."""
    folder = tmp_path_factory.mktemp("project") / "mine"
    output_of(ROOT, "course", "new", str(folder), "06_self_attention", "--project")
    said = output_of(folder, "course", "release", PROJECT)
    assert "no complaints" in said
    return folder


def released(mine: Path) -> nbformat.NotebookNode:
    return nbformat.read(mine / "assignments" / PROJECT / f"{PROJECT}.ipynb", as_version=4)


def criteria(text: str) -> list[tuple[str, str]]:
    """The rows of a text's tables: what earns points, and how many."""
    return re.findall(r"^\| (.+?) \| (\d+) \|", text, re.M)


def test_students_get_the_rubric_and_the_suggestions_that_fit_their_class(mine: Path) -> None:
    text = "\n".join(cell.source for cell in released(mine).cells if cell.cell_type == "markdown")
    assert "How narrow can a lookup be?" in text and "Short sequences first?" not in text and "needs:" not in text
    assert "Full points go to" not in text
    rubrics = read_outline(mine / "course.toml").rubrics[PROJECT]
    best = [(name, one.group, one.points) for name, rubric in rubrics.items() for one in rubric[::LEVELS]]
    assert criteria(text) == [(group, f"{points:g}") for _, group, points in best]
    for name in PARTS:
        points = sum(one.points for one in rubrics[name][::LEVELS])
        assert points == find(released(mine), name).metadata.nbgrader.points


def test_each_criterion_has_all_half_and_none(mine: Path) -> None:
    for rubric in read_outline(mine / "course.toml").rubrics[PROJECT].values():
        for full, half, none in zip(*(rubric[level::LEVELS] for level in range(LEVELS)), strict=True):
            assert full.group == half.group == none.group
            assert (half.points, none.points) == (full.points / 2, 0)


def test_a_project_is_handed_in_with_its_weights_and_graded_by_a_person(mine: Path, tmp_path: Path) -> None:
    work = tmp_path / "work" / PROJECT
    work.mkdir(parents=True)
    nb = released(mine)
    for name in PARTS:
        find(nb, name).source = f"My {name}."
    nb.cells.insert(nb.cells.index(find(nb, "project_experiment")), new_code_cell(EXPERIMENT))
    nbformat.write(nb, work / f"{PROJECT}.ipynb")
    save(work / "checkpoints" / "self_attention_task.narrow_seed1.safetensors", torch.nn.Linear(2, 3), {"losses": []})
    output_of(mine, "course", "submit", str(work / f"{PROJECT}.ipynb"), "--student", "ada")
    (packed,) = work.parent.glob("*.zip")
    archive = mine / "downloaded" / PROJECT / "archive"
    archive.mkdir(parents=True)
    shutil.move(packed, archive)
    output_of(mine, "nbgrader", "zip_collect", PROJECT)
    assert "1 of 1 submissions graded" in output_of(mine, "course", "grade", PROJECT)
    graded = (mine / "autograded" / "ada" / PROJECT / f"{PROJECT}.ipynb").read_text("utf-8")
    assert "weights from: checkpoint" in graded, "the weights went along, and nothing was trained again"
    assert "This belongs to 06_self_attention" in graded and "Traceback" not in graded

    give_by_hand(mine)
    output_of(mine, "nbgrader", "generate_feedback", PROJECT)
    feedback = (mine / "feedback" / "ada" / PROJECT / f"{PROJECT}.html").read_text("utf-8")
    assert "14.5" in feedback and "A baseline, please." in feedback and "not graded yet" not in feedback


def give_by_hand(mine: Path) -> None:
    """Give points and a comment as formgrader does."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{mine / 'gradebook.db'}") as book:
        for name, points in PARTS.items():
            grade = book.find_grade(name, PROJECT, PROJECT, "ada")
            assert grade.needs_manual_grade and grade.auto_score is None
            grade.manual_score, grade.needs_manual_grade = points, False
        book.find_comment("project_plan", PROJECT, PROJECT, "ada").manual_comment = "A baseline, please."
        book.db.commit()
