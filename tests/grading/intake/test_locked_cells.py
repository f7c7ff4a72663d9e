"""What students write into cells that grading restores: their code runs beside them, or waits for a person."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.graded import Graded
from course.grading.classroom.make_task import make_task
from course.grading.classroom.summary import notes, table
from course.grading.classroom.write_feedback import Feedback
from course.grading.execution.same_written_answer import same_answer
from course.grading.gradebook.released_notebook import read_released
from course.grading.intake.grader_notes import BEGINNING, is_note, note_cell
from course.grading.intake.locked_cells import written_in
from course.grading.intake.submit import gaps
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.nbgrader_bridge.sanitise import Repair
from course.grading.release.make_release import register, render

from ..lesson import NAME, TOPIC, answers, find, hand_in, make_course

CHECK = 'check("softmax", softmax)'
SOFTMAX = (
    "def softmax(x, dim):\n    powers = (x - x.amax(dim, keepdim=True)).exp()\n"
    "    return powers / powers.sum(dim, keepdim=True)"
)
WRONG = "def softmax(x, dim):\n    return x * 0"
USING_A_HELPER = SOFTMAX.replace("(x - x.amax(dim, keepdim=True)).exp()", "shifted_powers(x, dim)")
HELPER = "def shifted_powers(x, dim):\n    return (x - x.amax(dim, keepdim=True)).exp()"
FORBIDDEN = "def softmax(x, dim):\n    return x.softmax(dim)"
OTHERS = {
    "attention_cost": 'def attention_cost(n, d):\n    return {"self_attention": n * n * d, "recurrent": n * d * d}',
    "crossover_length": "def crossover_length(d):\n    return 2.0 * d",
    "attention_for_one": (
        "def attention_for_one(query, keys, values):\n"
        "    return softmax(keys @ query / math.sqrt(len(query)), 0) @ values"
    ),
}
ALL = {"softmax": SOFTMAX, **OTHERS}
FULL = {"softmax": 2, "attention_for_one": 2, "attention_cost": 1, "crossover_length": 1, "usual": 1}
GIVEN = 'SCALE = 2.0\n\n\nclass Scale:\n    by = 1.0\n\n\nprint("given")'
LOCKED = f"""
# %% nbgrader={{"grade": false, "grade_id": "scales", "locked": true, "schema_version": 3, "solution": false}}
{GIVEN}

# %% [markdown]
# ## Softmax
"""

Edit = Callable[[NotebookNode], None]


def written(name: str, above: str = "", below: str = "") -> Edit:
    """Write into a cell, above what stands there and below it."""

    def edit(nb: NotebookNode) -> None:
        cell = find(nb, name)
        cell.source = "\n".join(filter(None, [above, cell.source, below]))

    return edit


def replaced(name: str, old: str, new: str) -> Edit:
    def edit(nb: NotebookNode) -> None:
        cell = find(nb, name)
        assert old in cell.source
        cell.source = cell.source.replace(old, new)

    return edit


# -- the text of one cell ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "run", "left"),
    [
        (CHECK, "", ""),
        ("check('softmax', softmax)  # done\n", "", ""),
        (f"\n{CHECK};\n", "", ""),
        (f"{SOFTMAX}\n\n\n{CHECK}", SOFTMAX, ""),
        (f"# {CHECK}\n#", "", ""),
        (f"# Why?\n{CHECK}", "# Why?", ""),
        (f"{CHECK}\n{HELPER}", HELPER, ""),
        (f"x = 3; {CHECK}; y = 4", "x = 3\ny = 4", ""),
        (f"# mine\nimport math as m\n{CHECK}\n%timeit m.sqrt(2)", "# mine\nimport math as m\n%timeit m.sqrt(2)", ""),
        (f"@torch.no_grad()\n{SOFTMAX}\n{CHECK}", f"@torch.no_grad()\n{SOFTMAX}", ""),
        ("check('softmax', mine)", "", "check('softmax', mine)"),
        (f"{CHECK}\nretrun softmax", "", "retrun softmax"),
        (f"import math\ntwice = 2\n{CHECK}", "import math", "twice = 2"),
        ("", "", ""),
        (f"deep = {'-' * 3000}1\n{CHECK}", "", f"deep = {'-' * 3000}1"),
    ],
)
def test_what_stands_beside_a_check(source: str, run: str, left: str) -> None:
    assert written_in(source, CHECK, "softmax", kept={"twice"}) == (run, left)


@pytest.mark.parametrize(
    ("old", "new", "run", "left"),
    [
        ("SCALE = 2.0", "SCALE = 3.0", "", "SCALE = 3.0"),
        ("by = 1.0", "by = 2.0", "", "class Scale:\n    by = 2.0"),
        ('print("given")', 'print("given")\nHALF = SCALE / 2', "HALF = SCALE / 2", ""),
        ('print("given")', "", "", ""),
    ],
)
def test_given_code_that_was_changed_is_not_run(old: str, new: str, run: str, left: str) -> None:
    assert written_in(GIVEN.replace(old, new), GIVEN, "scales") == (run, left)


def test_hidden_tests_that_a_student_never_saw_are_no_change() -> None:
    released = "assert f(1) == 1\n### BEGIN HIDDEN TESTS\nassert f(2) == 4\n### END HIDDEN TESTS"
    assert written_in("assert f(1) == 1", released, "f") == ("", "")
    assert written_in("import math\nassert f(1) == 1", released, "f") == ("import math", "")


# -- a class -----------------------------------------------------------------------------------------------------------

CLASS: dict[str, list[Edit]] = {
    "plain": [answers(ALL), replaced("softmax", '"softmax"', "'softmax'")],
    "answer": [answers(OTHERS), written("softmax", SOFTMAX, "softmax(torch.ones(3), 0)")],
    "helper": [answers({**ALL, "softmax": USING_A_HELPER}), written("softmax", HELPER)],
    "constant": [
        answers({**ALL, "crossover_length": "def crossover_length(d):\n    return TWO * d"}),
        written("crossover_length", "TWO = 2.0"),
    ],
    "import": [
        answers({**ALL, "attention_for_one": OTHERS["attention_for_one"].replace("math.", "m.")}),
        written("attention_for_one", "import math as m"),
    ],
    "in own test": [answers({**ALL, "attention_cost": "cost"}), written("usual", OTHERS["attention_cost"])],
    "in given cell": [
        answers({**ALL, "crossover_length": "def crossover_length(d):\n    return DOUBLE * d"}),
        written("scales", below="DOUBLE = SCALE"),
    ],
    "given class": [answers(ALL), replaced("scales", "by = 1.0", "by = torch.ones(1)")],
    "right twice": [answers(ALL), written("softmax", WRONG)],
    "wrong and right": [answers({**ALL, "softmax": WRONG}), written("softmax", SOFTMAX)],
    "unfinished": [answers(OTHERS), written("softmax", SOFTMAX.replace("return", "retrun"))],
    "forbidden": [answers(OTHERS), written("softmax", FORBIDDEN)],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a cell that is given and locked."""
    root = make_course(tmp_path_factory.mktemp("class") / "course")
    source = root / "solutions" / f"{NAME}.py"
    text = source.read_text().replace("# %% [markdown]\n# ## Softmax\n", LOCKED.lstrip(), 1)
    assert GIVEN in text
    source.write_text(text)
    register(course_in(root), TOPIC)
    return root


@pytest.fixture(scope="module")
def given(root: Path) -> NotebookNode:
    return nbformat.read(render(course_in(root), TOPIC, root / "given"), as_version=4)


@pytest.fixture(scope="module")
def graded(root: Path, given: NotebookNode) -> dict[str, Graded]:
    for student, edits in CLASS.items():
        hand_in(root, student, deepcopy(given), *edits)
    return {work.student: work for work in grade_class(Classroom(course_in(root), TOPIC, {"timeout": 20}), workers=2)}


def points(work: Graded) -> dict[str, float | None]:
    assert work.scores is not None
    return {name: score for name, score in work.scores.cells.items() if name in FULL}


def autograded(root: Path, student: str) -> NotebookNode:
    return nbformat.read(root / "autograded" / student / NAME / f"{NAME}.ipynb", as_version=4)


@pytest.mark.parametrize(
    ("student", "name", "begins", "where"),
    [
        ("answer", "softmax", "def softmax(x, dim): powers", "above"),
        ("helper", "softmax", "def shifted_powers(x, dim): return", "above"),
        ("constant", "crossover_length", "TWO = 2.0`)", "above"),
        ("import", "attention_for_one", "import math as m`)", "above"),
        ("in given cell", "scales", "DOUBLE = SCALE`)", "below"),
    ],
)
def test_code_in_a_locked_cell_runs_beside_it_and_is_told(
    student: str, name: str, begins: str, where: str, graded: dict[str, Graded], root: Path, given: NotebookNode
) -> None:
    work = graded[student]
    assert points(work) == FULL
    (note,) = work.notes
    assert note.startswith(f"{name}: its locked cell was restored, and what was written into it (`{begins}")
    assert note.endswith(f"was run {where} it") and f"{student}: {note}" in notes([work])
    nb = autograded(root, student)
    assert find(nb, name).source == find(given, name).source, "the locked cell itself is the released one"
    assert note in "\n".join(cell.source for cell in nb.cells if is_note(cell))
    assert work.scores is not None and not work.scores.waiting


def test_who_changed_nothing_but_quotes_hears_nothing(graded: dict[str, Graded]) -> None:
    assert points(graded["plain"]) == FULL and graded["plain"].notes == ()


def test_a_forbidden_call_is_read_there_too(graded: dict[str, Graded]) -> None:
    assert graded["forbidden"].verdicts["softmax"].kind == "forbidden"


def test_an_answer_in_the_locked_cell_of_a_later_test_is_found(graded: dict[str, Graded]) -> None:
    assert points(graded["in own test"]) == FULL
    first, second = graded["in own test"].notes
    assert first.startswith("usual: its locked cell was restored")
    assert second.startswith("the check of attention_cost (cell 10) needs attention_cost, which cell 19 (`def atten")


def test_changed_given_code_is_restored_and_told(graded: dict[str, Graded], root: Path) -> None:
    work = graded["given class"]
    assert points(work) == FULL and work.scores is not None and not work.scores.waiting
    (note,) = work.notes
    assert note.startswith("scales: its locked cell was restored") and note.endswith("was not run")
    (shown,) = filter(is_note, autograded(root, "given class").cells)
    assert "class Scale:\n    by = torch.ones(1)" in shown.source
    assert all("torch.ones(1)" not in cell.source for cell in autograded(root, "given class").cells if cell != shown)


def test_an_answer_in_its_own_cell_stays_the_answer(graded: dict[str, Graded]) -> None:
    """Above its check a second one stands, which would replace it."""
    work = graded["right twice"]
    assert points(work) == FULL and work.scores is not None and not work.scores.waiting
    (note,) = work.notes
    assert note.endswith("was not run")


@pytest.mark.parametrize("student", ["wrong and right", "unfinished"])
def test_what_cannot_be_decided_waits_for_a_person(student: str, graded: dict[str, Graded]) -> None:
    work = graded[student]
    assert work.scores is not None and work.scores.waiting == ("softmax",)
    (note,) = (note for note in work.notes if note.startswith("softmax: "))
    assert note.endswith("was not run")
    header, (row,) = table(TOPIC, [work])
    assert row[header.index("softmax")].endswith("–")
    assert not [line for line in notes([work]) if "rests on" in line]


def test_the_page_of_feedback_says_it(graded: dict[str, Graded], root: Path) -> None:
    assert Feedback(root, NAME).write(["answer"], workers=1) == {}
    page = (root / "feedback" / "answer" / NAME / f"{NAME}.html").read_text()
    told = "its locked cell was restored, and what was written into it"
    assert page.count(told) == 2, "at the top, and where it stood"


@pytest.mark.parametrize(
    ("student", "told"),
    [
        ("answer", "softmax: you wrote into its locked cell (cell 7), which grading restores. Move"),
        ("in given cell", "scales: you wrote into its locked cell (cell 4), which grading restores. Move"),
        ("unfinished", "softmax: you wrote into its locked cell (cell 7), which grading restores. Move"),
        ("plain", ""),
    ],
)
def test_submit_says_it_beforehand(student: str, told: str, given: NotebookNode, tmp_path: Path) -> None:
    nb = deepcopy(given)
    for edit in CLASS[student]:
        edit(nb)
    found = [gap for gap in gaps(nb.cells, TOPIC, tmp_path) if "locked cell" in gap]
    assert [gap.startswith(told) for gap in found] == ([True] if told else [])


def test_text_in_a_locked_question_stands_below_it(root: Path, given: NotebookNode) -> None:
    """An instructor may lock the cell with the question, and a student types below it in the same cell."""
    released = read_released(load_config(root).CourseDirectory.db_url, NAME, NAME)
    asked = deepcopy(next(cell for cell in released.source_cells if cell.name == "scales"))
    object.__setattr__(asked, "cell_type", "markdown")
    object.__setattr__(asked, "source", "Why?\n\nSay it in a sentence.")
    others = tuple(cell for cell in released.source_cells if cell.name != "scales")
    object.__setattr__(released, "source_cells", (asked, *others))
    nb = deepcopy(given)
    cell = find(nb, "scales")
    cell.cell_type, cell.source = "markdown", "Why?\n\nSay it in a sentence.\n\nBecause of the variance."
    Repair().repair(nb, released)
    place = nb.cells.index(find(nb, "scales"))
    assert [one.source for one in nb.cells[place + 2 : place + 3]] == ["Because of the variance."]
    assert is_note(nb.cells[place + 1])


def test_a_student_writes_no_note_of_the_grader(root: Path, given: NotebookNode) -> None:
    nb = deepcopy(given)
    nb.cells.append(
        nbformat.v4.new_markdown_cell(f"{BEGINNING}softmax: all 2 points.", metadata={"course": {"place": 0}})
    )
    Repair().repair(nb, read_released(load_config(root).CourseDirectory.db_url, NAME, NAME))
    assert nb.cells[-1].source == "softmax: all 2 points." and "course" not in nb.cells[-1].metadata


def test_points_given_by_hand_stay_with_the_same_work(
    graded: dict[str, Graded], root: Path, given: NotebookNode
) -> None:
    """Versions before this one saved nothing of a locked cell, and hashed the work without it."""
    classroom = Classroom(course_in(root), TOPIC, {"timeout": 20})
    tasks = {name: make_task(classroom, name, classroom.submitted(name)) for name in ("plain", "answer", "helper")}
    hand_in(root, "stub", deepcopy(given), answers(OTHERS))
    before = make_task(classroom, "stub", classroom.submitted("stub"))
    assert tasks["answer"].is_of(before.submission()) and tasks["answer"].submission() != before.submission()
    assert not tasks["helper"].is_of(before.submission()) and not before.is_of(tasks["answer"].submission())
    now = deepcopy(given)
    now.cells.insert(3, nbformat.from_dict(note_cell("softmax: moved")))
    find(given, "self_attention_question").source = find(now, "self_attention_question").source = "Because."
    assert same_answer("self_attention_question", given, now, root / "given", {})


def test_a_notebook_whose_format_has_no_ids_gets_none(root: Path, given: NotebookNode) -> None:
    nb = deepcopy(given)
    nb.nbformat_minor = 4
    for cell in nb.cells:
        del cell["id"]
    written("softmax", SOFTMAX)(nb)
    Repair().repair(nb, read_released(load_config(root).CourseDirectory.db_url, NAME, NAME))
    nbformat.validate(nb)
    place = nb.cells.index(find(nb, "softmax"))
    assert is_note(nb.cells[place - 2]) and nb.cells[place - 1].source == SOFTMAX
