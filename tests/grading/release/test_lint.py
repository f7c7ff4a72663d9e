"""The lints: silent on a good notebook, one sentence for each fault."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest

from course.course import Course, course_in
from course.exercise.prediction import Prediction, right, wrong
from course.grading.authoring.source import build
from course.grading.course_folder import source_path
from course.grading.demo import run_demo
from course.grading.release.lint import lint_release, lint_source, lint_topic
from course.grading.release.make_release import render
from course.grading.release.stated_time import stated_minutes
from course.hidden.written import Question
from course.syllabus import OURS, Budget, Topic
from tests.grading.sample import SAMPLE, make_course, sample_source
from tests.original import ORIGINAL, find_topic

ROOT = Path(__file__).parents[3]
CHECK = '# %% check="double"\ncheck("double", double)\n'


def _complaints(tmp_path: Path, text: str) -> list[str]:
    root = make_course(tmp_path / "course", text)
    (root / "README.md").touch()
    (root / "assignments" / SAMPLE.folder).mkdir(parents=True)
    return [str(complaint) for complaint in lint_topic(course_in(root), SAMPLE)]


def test_a_release_with_another_question_is_clean(tmp_path: Path) -> None:
    asked = replace(find_topic("06"), question=2)
    course = run_demo.make_course(Course(ROOT, topics=(asked,)), asked, tmp_path / "course")
    render(course, asked, course.root / "assignments")
    assert [str(complaint) for complaint in lint_topic(course, asked) if "assignments" in complaint.where] == []


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_the_courses_notebooks_are_clean(topic: Topic) -> None:
    assert [str(complaint) for complaint in lint_topic(course_in(ROOT), topic)] == []


def test_the_sample_is_clean(tmp_path: Path) -> None:
    assert _complaints(tmp_path, sample_source()) == []


OWN = """
# %% nbgrader={"grade_id": "mine", "grade": true, "points": 1}
assert double(2) == 4
assert double(3) == 6

# %% [markdown] nbgrader={"grade_id": "why", "grade": true, "points": 1, "solution": true}
# ![which](map.png)
#
# ### BEGIN SOLUTION
# This one.
# ### END SOLUTION
"""


def test_an_instructors_own_cells_are_nbgraders_and_a_picture_lies_beside_the_notebook(tmp_path: Path) -> None:
    beside = tmp_path / "course" / "solutions" / SAMPLE.folder
    assert ["map.png" in complaint for complaint in _complaints(tmp_path, sample_source() + OWN)] == [True]
    beside.mkdir(parents=True)
    (beside / "map.png").touch()
    root = tmp_path / "course"
    assert lint_topic(course_in(root), SAMPLE) == []
    solved = build(ORIGINAL, source_path(root, SAMPLE), SAMPLE)
    released = nbformat.from_dict(solved)
    released.cells[-1].source = "![which](map.png)\n\nYOUR ANSWER HERE"
    strange = [complaint.where for complaint in lint_release(released, solved, "a")]
    assert f"a, cell {len(solved.cells)}" not in strange


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("# # 99 Doubling", "# Doubling", "does not open with a title"),
        ("# # 99 Doubling", "# # 99 Trebling", "but the syllabus says '99 Doubling'"),
        ("# ## Counting", "# # Counting", "a second title"),
        ("# ## Counting", "# #### Counting", "skips a level"),
        ("import torch\n", "import torch\n\nx = 1\n", "something besides imports"),
        ("double(torch.arange(3))", "import math\n\ndouble(torch.arange(3))", "imports belong in the first"),
        ("import check, fit", "import check, fit, reference", "must not import course.reference"),
        ("import torch\n", "import torch\nfrom course.hidden import find\n", "must not import course.hidden"),
        (CHECK, "", "'double' has no check cell"),
        (CHECK, CHECK + "\n" + CHECK, "'double' has 2 check cells"),
        ('solution="double"', "", "'double' has no solution cell"),
        ('check("double", double)', 'check("double", double)\nprint(1)', "a check cell must be one line"),
        ('check("double", double)', 'check("Counter", double)', "a check cell must be one line"),
        (CHECK, "# %% [markdown]\n# Ready?\n\n" + CHECK, "does not stand right below"),
        ("### BEGIN SOLUTION", "# begin", "needs lines"),
        ("### BEGIN SOLUTION", "### BEGIN  SOLUTION", "needs lines"),
        ("double(torch.arange(3))", "### BEGIN SOLUTION\n1\n### END SOLUTION", "stand outside a solution cell"),
        ("double(torch.arange(3))", "# BEGIN SOLUTION", "would read this as a marker"),
        ("double(torch.arange(3))", "\n".join(f"double({i})" for i in range(31)), "31 lines of code"),
        ("double(torch.arange(3))", f"double({'1' * 93})", "a line has 101 characters"),
        ("double(torch.arange(3))", "double(", "this is not Python"),
        ("![a number and its double on a line]", "![]", "has no alt text"),
        ("# Triple.", '# <img src="data:x">', "has no alt text"),
        ("../../README.md", "../README.md", "leads nowhere"),
        ("#Counting", "#Countess", "no heading is called 'Countess'"),
        ("# %% [markdown]\n# ## In your own words\n#\n# Why is twice twice not three?\n\n", "", "no prompt"),
    ],
)
def test_each_fault_gets_its_sentence(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    assert old in sample_source()
    found = _complaints(tmp_path, sample_source().replace(old, new, 1))
    assert any(complaint in line for line in found), found
    assert all(line.startswith(("99_sample.py", "solutions/99_sample.py")) for line in found)


def test_docstrings_and_blank_lines_do_not_make_a_cell_long(tmp_path: Path) -> None:
    docstring = "\n".join(f"    line {i}" for i in range(40))
    text = sample_source().replace('    """Twice `x`, any shape."""', f'    """Twice.\n\n{docstring}\n    """')
    assert _complaints(tmp_path, text) == []


def test_links_inside_code_are_left_alone(tmp_path: Path) -> None:
    text = sample_source().replace("# Triple.", "# ```\n# [a](nowhere)\n# ```")
    assert _complaints(tmp_path, text) == []


def test_a_missing_source_is_a_complaint(tmp_path: Path) -> None:
    root = make_course(tmp_path / "course")
    source_path(root, SAMPLE).unlink()
    (complaint,) = lint_topic(course_in(root), SAMPLE)
    assert "no source" in str(complaint)


@pytest.mark.parametrize(
    ("left", "complaint"),
    [
        ("    twice_the_value = torch.add(x, x)", "does not give students this line"),
        ("    ### BEGIN SOLUTION", "marker"),
    ],
)
def test_a_leftover_solution_is_found(tmp_path: Path, left: str, complaint: str) -> None:
    root = make_course(tmp_path / "course")
    solved = build(ORIGINAL, source_path(root, SAMPLE), SAMPLE)
    released = nbformat.from_dict(solved)
    for cell in released.cells:
        cell.source = "# YOUR CODE HERE"
    assert lint_release(released, solved, "release") == []
    released.cells[3].source += "\n" + left
    assert complaint in str(lint_release(released, solved, "release")[0])


def test_outputs_in_a_release_are_found(tmp_path: Path) -> None:
    solved = build(ORIGINAL, source_path(make_course(tmp_path / "course"), SAMPLE), SAMPLE)
    released = nbformat.from_dict(solved)
    released.cells = [nbformat.v4.new_code_cell("", outputs=[nbformat.v4.new_output("stream", text="hi")])]
    assert [complaint.what for complaint in lint_release(released, solved, "release")] == ["it has outputs"]


def test_lint_source_counts_cells_from_one(tmp_path: Path) -> None:
    root = make_course(tmp_path / "course", "# %%\nx = 1\n")
    notebook = build(ORIGINAL, source_path(root, SAMPLE), SAMPLE)
    assert lint_source(ORIGINAL, notebook, SAMPLE, (root,), "a.py")[0].where == "a.py, cell 1"


def test_a_task_without_batches_and_exercises_without_tests_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    budget = Budget(cpu=10, gpu=20)
    items = tuple(replace(item, budget=budget) if item.kind == "task" else item for item in SAMPLE.items)
    topic = replace(SAMPLE, items=items)
    course = Course(make_course(tmp_path / "course"), topics=(topic,))
    said = [str(complaint) for complaint in lint_topic(course, topic) if complaint.where == topic.folder]
    assert "course/data/streams.py has no batches for sample_task" in said[0]
    assert said[1:-1] == [
        f"99_sample: course/hidden/sample/{item.name}.py is missing. Write it first" for item in topic.judged
    ]
    assert said[-1].startswith("99_sample: there is no course/hidden/sample/question.py. Write it, with HINTS")
    for item in topic.judged:
        monkeypatch.setitem(sys.modules, f"course.hidden.sample.{item.name}", ModuleType(item.name))
        (tmp_path / "sample").mkdir(exist_ok=True)
        (tmp_path / "sample" / f"{item.name}.py").touch()
    monkeypatch.setattr("course.hidden.__file__", str(tmp_path / "__init__.py"))
    said = [str(complaint) for complaint in lint_topic(course, topic) if complaint.where == topic.folder]
    assert (
        "99_sample: the syllabus names the exercise double, but course/hidden/sample/double.py does not declare it"
        in said
    )
    assert len(said) == 5


QUESTION = "course/hidden/sample/question.py"
HINTS, CRITERIA = ("Draw it.", "Begin with …"), ("Draws it.", "Names a size.", "Says why.")
OTHER = (Question("Why?", "Because.", HINTS, CRITERIA),) * 2


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"HINTS": HINTS[:1]}, f"question 1 in {QUESTION} must have a tuple of two or three hints"),
        ({"HINTS": "Draw it."}, f"question 1 in {QUESTION} must have a tuple of two or three hints"),
        ({"HINTS": ("Draw it.", " ")}, f"one of the hints in {QUESTION} is empty"),
        ({"CRITERIA": CRITERIA[:2]}, f"question 1 in {QUESTION} must have a tuple of three or four criteria"),
        ({"CRITERIA": ("Draws it.", "", "Says why.")}, f"one of the criteria in {QUESTION} is empty"),
        ({"OTHERS": OTHER[:1]}, f"OTHERS in {QUESTION} must be a tuple of two more"),
        ({"CRITERIA": None}, f"{QUESTION} has no CRITERIA. Write it"),
        ({}, ""),
    ],
)
def test_three_written_questions_have_hints_and_criteria(
    changed: dict[str, Any], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("question")
    for name, value in {"HINTS": HINTS, "CRITERIA": CRITERIA, "OTHERS": OTHER, **changed}.items():
        if value is not None:
            setattr(module, name, value)
    monkeypatch.setitem(sys.modules, "course.hidden.sample.question", module)
    course = Course(make_course(tmp_path / "course"), topics=(SAMPLE,))
    said = [str(complaint) for complaint in lint_topic(course, SAMPLE)]
    found = [one for one in said if "question.py" in one]
    assert [fault in one for one in found] == ([True] if fault else [])


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("It takes about two hours, and trains in ten seconds.", (120, 120)),
        ("One question; two to three hours. Stuck?", (120, 180)),
        ("It takes about two and a half hours.", (150, 150)),
        ("About an hour and a half.", (90, 90)),
        ("**Time:** about 1 hour 50 minutes for five exercises.", (110, 110)),
        ("about 2 h 05", (125, 125)),
        ("They take about\n200 minutes. Training takes about 60 minutes less.", (200, 200)),
        ("The first exercise takes 30 minutes, all of them 90 to 110 minutes.", (90, 110)),
        ("Training takes half an hour, or two minutes on a GPU.", None),
    ],
)
def test_how_long_a_notebook_says_that_it_takes(text: str, minutes: tuple[int, int] | None) -> None:
    assert stated_minutes(text) == minutes


@pytest.mark.parametrize(("time", "is_near"), [("two hours", False), ("an hour", False), ("65 minutes", True)])
def test_a_notebook_agrees_with_the_minutes_of_the_syllabus(time: str, is_near: bool, tmp_path: Path) -> None:
    items = (replace(SAMPLE.items[0], minutes=85 - sum(item.minutes for item in SAMPLE.items[1:])), *SAMPLE.items[1:])
    source = f"# %% [markdown]\n# # 99 {SAMPLE.title}\n#\n# It takes about {time}.\n\n{sample_source()}"
    said = [
        str(complaint)
        for complaint in lint_topic(course_in(make_course(tmp_path / "c", source)), replace(SAMPLE, items=items))
    ]
    assert ["the syllabus says 85" in one for one in said if "the notebook says" in one] == ([] if is_near else [True])


def test_boxes_depend_on_topics_there_are_and_stand_outside_answers(tmp_path: Path) -> None:
    box = "\n# %% [markdown]\n# > <!-- needs: 06_self -->\n# > As in topic 06.\n"
    question = '# %% [markdown] question="sample_question"\n'
    source = sample_source().replace(question, f"{question}# <!-- needs: 06_self_attention -->\n# In topic 06.\n#\n")
    said = [
        str(complaint) for complaint in lint_topic(course_in(make_course(tmp_path / "course", source + box)), SAMPLE)
    ]
    assert [one for one in said if "a box depends on '06_self', which is no topic" in one]
    assert [one for one in said if "a graded cell holds a box that depends on topics" in one]


def test_predictions_are_declared_and_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three = right("8", "Yes."), wrong("1", "No."), wrong("64", "No.")
    module = ModuleType("predictions")
    module.PREDICTIONS = (Prediction("asked", "How large?", *three), Prediction("unasked", "How large?", *three[:2]))  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "course.hidden.sample.predictions", module)
    topic = replace(SAMPLE, predictions=("asked", "unasked"))
    course = Course(make_course(tmp_path / "course", sample_source() + PREDICTED), topics=(topic,))
    said = [str(complaint) for complaint in lint_topic(course, topic) if "predict" in str(complaint)]
    assert said == [
        "99_sample: the prediction 'unasked' has 2 choices. Give it 3 or 4",
        "99_sample: the prediction 'unasked' needs one cell in the notebook, predict(\"unasked\")",
        '99_sample: a cell asks for a prediction that the syllabus does not name: predict("forgotten")',
    ]
    module.PREDICTIONS = ()  # type: ignore[attr-defined]
    said = [str(complaint) for complaint in lint_topic(course, topic) if "declares ()" in str(complaint)]
    assert said == ["99_sample: its predictions.py declares (), and the syllabus names ('asked', 'unasked')"]


PREDICTED = """
# %%
predict("asked")

# %%
predict("forgotten")
"""
