"""`[grading] without_points` in course.toml: what has 0 points leaves the notebook, or is marked as optional."""

from __future__ import annotations

from pathlib import Path

import nbformat

from course.grading.authoring.without_points import OPTIONAL
from course.grading.cells import grade_id
from tests.commands import output_of, run

from .lesson import NAME, hand_in, make_course, solved

QUESTION = "self_attention_question"
RELEASE = (
    "from course.course import find_course\nfrom course.grading.release.make_release import release\n"
    "release(find_course(), find_course().topics)"
)


def course_of(root: Path, rule: str, points: str) -> Path:
    """A course whose gradebook does not know the lesson yet."""
    make_course(root)
    (root / "gradebook.db").unlink()
    grading = f"[grading]\nwithout_points = {rule}\n"
    (root / "course.toml").write_text(f"{grading}[topics.{NAME}]\n[topics.{NAME}.points]\n{points}\n", "utf-8")
    return root


def said_by(root: Path, program: str) -> str:
    (root / "program.py").write_text(program, "utf-8")
    return output_of(root, "program")


def released(root: Path) -> nbformat.NotebookNode:
    said_by(root, RELEASE)
    return nbformat.read(root / "assignments" / NAME / f"{NAME}.ipynb", as_version=4)


def test_a_dropped_exercise_is_nowhere_and_quarters_count(tmp_path):
    root = course_of(tmp_path / "course", '"drop"', f"{QUESTION} = 0\nattention_cost = 1.25")
    nb = released(root)
    assert QUESTION not in map(grade_id, nb.cells)
    assert not any("In your own words" in cell.source or "divide by the root" in cell.source for cell in nb.cells)
    hand_in(root, "ada", solved(root))
    output_of(root, "nbgrader", "autograde", NAME, "--create")
    output_of(root, "nbgrader", "generate_feedback", NAME)
    output_of(root, "course", "report", NAME)
    page = (root / "feedback" / "ada" / NAME / f"{NAME}.html").read_text("utf-8")
    report = (root / "reports" / f"{NAME}.html").read_text("utf-8")
    assert QUESTION not in page and QUESTION not in report.replace("<wbr>", "")
    assert "1.25 of 1.25 points, all 6 checks pass" in page and "Score: 1.25 / 1.25" in page
    said = output_of(root, "course", "list", NAME)
    assert QUESTION not in said and "1.25 points" in said
    shown = said_by(root, f"from course import progress\nprogress({NAME!r})")
    assert "attention_cost" in shown and QUESTION not in shown and "1.25 points" in shown


def test_an_optional_exercise_says_so(tmp_path):
    root = course_of(tmp_path / "course", '"optional"', f"{QUESTION} = 0\nsoftmax = 0")
    nb = released(root)
    assert {QUESTION, "softmax"} <= set(map(grade_id, nb.cells))
    assert sum(OPTIONAL in cell.source for cell in nb.cells) == 2
    shown = said_by(root, f"from course import progress\nprogress({NAME!r})")
    assert shown.count("optional") == 2


def test_what_others_use_cannot_be_dropped(tmp_path):
    root = course_of(tmp_path / "course", '"drop"', "softmax = 0")
    done = run(root, "course", "release", status=2)
    assert (
        "softmax cannot be dropped, because other cells use it (attention_for_one). Give it points, or" in done.stderr
    )
    assert done.stderr.count("\n") < 3 and not (root / "assignments").exists()
    assert f"or let without_points in course.toml name only what can be dropped (`course list {NAME}`)" in done.stderr


def test_all_that_cannot_be_dropped_is_said_at_once(tmp_path):
    root = course_of(tmp_path / "course", f'["{NAME}"]', "softmax = 0\ncrossover_length = 0\nattention_for_one = 1")
    (root / "solutions" / f"{NAME}.py").open("a", encoding="utf-8").write("\n\n# %%\nprint(crossover_length(2))\n")
    done = run(root, "course", "release", status=2)
    assert "softmax cannot be dropped, because other cells use it (attention_for_one); crossover_length" in done.stderr
    assert "other cells use it (print(crossover_length(2))). Give these points" in done.stderr


def test_one_is_dropped_and_another_optional(tmp_path):
    """With the rule for all, an exercise that others use kept every question from being dropped."""
    root = course_of(tmp_path / "course", f'["{QUESTION}"]', f"{QUESTION} = 0\nsoftmax = 0")
    nb = released(root)
    assert QUESTION not in map(grade_id, nb.cells) and "softmax" in map(grade_id, nb.cells)
    assert sum(OPTIONAL in cell.source for cell in nb.cells) == 1
    assert "softmax" in output_of(root, "course", "list", NAME)


def test_the_list_says_what_can_be_dropped_and_what_uses_the_others(tmp_path):
    root = course_of(tmp_path / "course", '"optional"', "softmax = 0")
    with (root / "solutions" / f"{NAME}.py").open("a", encoding="utf-8") as source:
        source.write("\n\n# %% [markdown]\n# As `crossover_length` told you.\n\n# %%\nprint(softmax(rows, 0))\n")
    lines = {line.split()[0]: line for line in output_of(root, "course", "list", NAME).splitlines()}
    ends = {
        "softmax": "optional   about 10 minutes  used by attention_for_one, 1 other cell",
        "attention_for_one": "about 10 minutes  can be dropped",
        "crossover_length": "can be dropped, but a text mentions it",
        QUESTION: "about 10 minutes  can be dropped",
    }
    assert {name: lines[name].endswith(end) for name, end in ends.items()} == dict.fromkeys(ends, True), lines
    for name in ("attention_for_one", "crossover_length", QUESTION):  # and so it is
        outline = root / "course.toml"
        outline.write_text(f'[grading]\nwithout_points = ["{name}"]\n[topics.{NAME}.points]\n{name} = 0\n', "utf-8")
        assert name not in map(grade_id, released(root).cells)
