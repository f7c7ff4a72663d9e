"""What nbgrader stumbles over, as real submissions in one class: every trap here lost somebody's grade once."""

from __future__ import annotations

import html
import json
import os
import shutil
from pathlib import Path

import nbformat
import pytest

from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.graded import Graded
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.make_task import make_task
from course.grading.classroom.save import save
from course.grading.course_folder import notebook_path
from course.grading.execution.task import Outcome
from course.grading.gradebook.scores import read_scores
from course.grading.problem import Problem
from course.grading.release.make_release import register
from course.grading.report import findings, write_report
from course.grading.sandbox.probe import how_executed, strongest
from course.grading.self_study import grade_one
from course.notebook.while_graded import STAYS
from tests.commands import output_of

from .lesson import NAME, TOPIC, answers, before, copied, deleted, find, first, hand_in, make_course, solved

ALL = {"softmax": 2, "attention_cost": 1, "crossover_length": 1, "attention_for_one": 2, "usual": 1}
FORGED = {"grade": True, "grade_id": "extra", "points": 50, "solution": False, "schema_version": 3, "locked": True}

NOISE = """import sys, warnings
class Noisy(float):
    def __repr__(self):
        return "nan"
def crossover_length(d):
    print("[W NNPACK.cpp:64] Could not initialize NNPACK!", file=sys.stderr)
    warnings.warn("slow")
    return 2.0 * d"""

LOOP = "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass"

OVERFLOWS = "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"


def tagged(tags):
    def edit(nb):
        for name in ALL:
            find(nb, name).metadata["tags"] = tags

    return edit


def forged(nb):
    nb.cells.append(nbformat.v4.new_code_cell("50", metadata={"nbgrader": dict(FORGED)}))
    find(nb, "softmax").metadata["nbgrader"].update(points=50, solution=True, schema_version=1)
    find(nb, "attention_cost").metadata["nbgrader"] = {"grade_id": "attention_cost"}
    nb.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": {"nonsense": 1}}
    nb.metadata["course"] = {"verdicts": {"softmax": {"kind": "passed"}}}


def edited_tests(nb):
    for name in ALL:
        find(nb, name).source = "1e9"


def without_marks(nb):
    for cell in nb.cells:
        cell.metadata.pop("nbgrader", None)


def raw(nb):
    cell = find(nb, "softmax")
    nb.cells[nb.cells.index(cell)] = nbformat.v4.new_raw_cell(cell.source, metadata=cell.metadata)


def misfits(nb):
    """Metadata of kinds that the format does not have, several in one cell."""
    nb.metadata.update(language_info=5, title=5, authors=None)
    find(nb, "softmax").metadata.update(jupyter=5, execution=5, name="", tags=["a,b", "a", "a"])
    find(nb, "self_attention_question").metadata.update(collapsed="no", format=[])


def without_check(nb):
    for cell in nb.cells:
        cell.source = cell.source.replace("from course import check", "import course")


def check_renamed(nb):
    """The name `check` given to other things, one of which is used later on."""
    before("softmax", "check = softmax(torch.zeros(3), 0)")(nb)
    before("attention_cost", "assert check.shape == (3,)\nfrom numpy.testing import assert_allclose as check")(nb)
    before("crossover_length", "assert check.__name__ == 'assert_allclose'\ndel check")(nb)
    before("attention_for_one", "for check in range(3): pass")(nb)
    before("usual", "assert check == 2")(nb)


def exits(nb):
    """Every way that a cell has to ask its kernel to end, and ones that end the cell alone."""
    first("exit()")(nb)
    before("softmax", "quit")(nb)
    before("attention_cost", "import sys\nsys.exit()")(nb)
    before("crossover_length", "raise SystemExit(3)")(nb)
    before("attention_for_one", "import asyncio\nexit()\nawait asyncio.sleep(0.3)")(nb)
    before("usual", "get_ipython().kernel.do_shutdown(True)")(nb)  # how people restart a kernel from a cell


def picture_lost(nb):
    find(nb, "self_attention_question").source = "My drawing: ![x](attachment:image.png)"


WRONG = answers({"softmax": "def softmax(x, dim):\n    return x * 0"})
SUBMISSIONS = {
    "ada": [],
    "check_renamed": [check_renamed],
    "copied": [copied("softmax"), copied("softmax-solution"), copied("usual")],
    "deleted": [deleted("softmax", "attention_cost", "usual"), deleted("crossover_length-solution")],
    "deleted_both": [deleted("attention_cost-solution", "attention_cost")],
    "died": [before("crossover_length", "import os\nos._exit(0)")],
    "edited": [edited_tests, WRONG],
    "exits": [exits],
    "forged": [forged],
    "misfits": [misfits],
    "noisy": [answers({"crossover_length": NOISE}), before("usual", "float('nan')")],
    "overflows": [answers({"softmax": OVERFLOWS})],
    "picture_lost": [picture_lost],
    "plain": [without_marks],
    "raw": [raw],
    "reset": [first("%reset -f\nimport math, torch"), before("attention_for_one", "del attention_for_one")],
    "stuck": [before("crossover_length", LOOP)],
    "tagged": [tagged(["skip-execution"]), WRONG, answers({"attention_cost": "attention_cost = len"})],
    "tagged_oddly": [tagged("skip-execution"), WRONG],
    "without_check": [without_check],
    "writes": [first("open('left.txt', 'w').write('x')\nprint(open('data/given.txt').read())")],
}


MISNAMED = {
    os.fsdecode(b"\xff"): repr("\udcff"),
    "*": "*",
    "<img src=x onerror=run()>": "<img src=x onerror=run()>",
    ".bob": ".bob",
}
"""Names of folders that are no students', and how they are told."""


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    root = make_course(tmp_path_factory.mktemp("class"))
    for student, edits in SUBMISSIONS.items():
        hand_in(root, student, solved(root), *edits)
    data = root / "submitted" / "writes" / NAME / "data"
    data.mkdir()
    (data / "given.txt").write_text("given")
    link = hand_in(root, "link", solved(root))
    link.unlink()
    link.symlink_to(root / "solutions" / NAME / f"{NAME}.ipynb")
    hand_in(root, "broken", solved(root)).write_text("{")
    (root / "submitted" / "linked").symlink_to("overflows")
    for name in MISNAMED:
        hand_in(root, name, solved(root))
    return root


@pytest.fixture(scope="module")
def graded(root) -> dict[str, Graded]:
    classroom = Classroom(course_in(root), TOPIC, {"timeout": 15})
    return {work.student: work for work in grade_class(classroom, workers=2)}


def cells(work: Graded) -> dict[str, float | None]:
    return {name: score for name, score in work.scores.cells.items() if name in ALL}


def notebook(root: Path, student: str):
    return nbformat.read(root / "autograded" / student / NAME / f"{NAME}.ipynb", as_version=4)


@pytest.mark.parametrize("told", MISNAMED.values())
def test_a_folder_that_has_no_students_name_is_told_and_costs_nobody_else_anything(root, graded, told):
    assert graded[told].reason.startswith("the folder's name ") and graded[told].scores is None
    assert graded["ada"].complete and not (root / "autograded" / told).exists()
    page = write_report(course_in(root), TOPIC, root / "report.html").read_text("utf-8")
    assert html.escape(told) in page.replace("&#39;", "&#x27;") and "<img src=x" not in page


@pytest.mark.parametrize(
    "student",
    [
        "ada",
        "check_renamed",
        "copied",
        "exits",
        "forged",
        "misfits",
        "noisy",
        "plain",
        "raw",
        "without_check",
        "writes",
    ],
)
def test_right_answers_score_in_full(graded, student):
    assert cells(graded[student]) == ALL


def test_every_trap_leaves_the_rest_of_the_class_graded(graded):
    refused = {*MISNAMED.values(), "link", "linked", "broken"}
    assert {student for student, work in graded.items() if work.reason} == refused
    assert set(graded) == {*SUBMISSIONS, *refused}
    assert "the folder of linked is a symbolic link" in graded["linked"].reason


def test_deleted_tests_come_back_and_are_scored(graded):
    assert cells(graded["deleted"]) == {**ALL, "crossover_length": 0}
    assert graded["deleted"].verdicts["crossover_length"].kind == "missing"
    assert cells(graded["deleted_both"]) == {**ALL, "attention_cost": 0, "usual": 0}


def test_a_dead_kernel_loses_nothing_judged_before(graded):
    assert cells(graded["died"]) == {**ALL, "crossover_length": 0, "attention_for_one": 0, "usual": 0}
    verdict = graded["died"].verdicts["crossover_length"]
    assert verdict.kind == "missing" and "process ended in cell 11 ('import os')" in verdict.message


def test_a_name_given_to_something_else_is_the_students_again_after_a_graded_cell(graded, root):
    errors = [output for cell in notebook(root, "check_renamed").cells for output in cell.get("outputs", ())]
    assert not [output for output in errors if output.output_type == "error"]


def test_what_ends_a_kernel_ends_no_grading_and_is_told(graded, root):
    told = "which ends a notebook there. Grading runs the cells below it all the same"
    assert [note for note in graded["exits"].notes if told in note] == [
        f"cell {number} calls {called}(), {told}" for number, called in ((4, "exit"), (7, "quit"), (18, "exit"))
    ]
    (cell,) = (cell for cell in notebook(root, "exits").cells if cell.source == "exit()")
    assert cell.outputs[0].text == f"{STAYS}\n"


def test_what_was_reset_or_deleted_is_missing_alone(graded):
    assert cells(graded["reset"]) == {**ALL, "attention_for_one": 0}
    verdict = graded["reset"].verdicts["attention_for_one"]
    assert verdict.message.endswith(
        "attention_for_one is not defined any more. Was it deleted or reset after its cell?"
    )


def test_a_kernel_that_cannot_be_interrupted_loses_nothing_judged_before(graded):
    assert cells(graded["stuck"]) == {**ALL, "crossover_length": 0, "attention_for_one": 0, "usual": 0}
    assert "could not be interrupted" in graded["stuck"].verdicts["crossover_length"].message


def test_no_tag_skips_a_test(graded):
    assert cells(graded["tagged"]) == {**ALL, "softmax": 0, "attention_cost": 0, "attention_for_one": 0, "usual": 0}
    assert cells(graded["tagged_oddly"])["softmax"] == 0


def test_edited_tests_are_the_released_ones_again(graded, root):
    assert cells(graded["edited"])["softmax"] == 0
    assert find(notebook(root, "edited"), "softmax").source == 'check("softmax", softmax)'


def test_a_misunderstanding_has_its_name(graded):
    verdict = graded["overflows"].verdicts["softmax"]
    assert verdict.misconception == "overflows" and 0 < verdict.score < 2


def test_a_judged_cell_has_exactly_one_output(graded, root):
    for student in ("ada", "died", "noisy", "overflows"):
        for name in TOPIC.items:
            if name.name in graded[student].verdicts:
                (output,) = find(notebook(root, student), name.name).outputs
                assert output.output_type == "execute_result"
                assert set(output.data) == {"text/plain", "text/html"}
                assert float(output.data["text/plain"]) == graded[student].scores.cells[name.name]
                assert how_executed(strongest().label) in output.data["text/html"]


def test_files_a_notebook_reads_and_writes(graded, root):
    folder = root / "autograded" / "writes" / NAME
    assert (folder / "left.txt").read_text() == "x"
    (cell,) = (cell for cell in notebook(root, "writes").cells if cell.source.startswith("open('left.txt'"))
    assert "given" in cell.outputs[0].text


def test_links_are_never_followed(graded, root):
    assert "symbolic link" in graded["link"].reason
    assert not (root / "autograded" / "link").exists()


def test_the_written_question_waits_for_a_person(graded):
    assert graded["ada"].scores.cells["self_attention_question"] is None


def test_a_failed_regrade_leaves_no_old_scores(graded, root):
    path = root / "submitted" / "ada" / NAME / f"{NAME}.ipynb"
    whole = path.read_text()
    path.write_text(whole[:-30])
    try:
        (work,) = grade_class(Classroom(course_in(root), TOPIC), students=["ada"], force=True, workers=1)
        assert "not valid JSON" in work.reason
        scores = read_scores(f"sqlite:///{root / 'gradebook.db'}", NAME, "ada", NAME)
        assert scores.score == 0 and set(scores.cells.values()) == {None}
        assert not (root / "autograded" / "ada" / NAME).exists()
    finally:
        path.write_text(whole)


def test_outcomes_made_in_parallel_are_those_nbgrader_asks_for(root, tmp_path, monkeypatch):
    """The worker's task and that of nbgrader's own pass are the same, so nothing is executed twice."""
    from course.grading.execution.execute import execute
    from course.grading.nbgrader_bridge import judged_execute

    root = shutil.copytree(root, tmp_path / "course", symlinks=True)
    classroom = Classroom(course_in(root), TOPIC, {"timeout": 15})
    student = "writes"
    for name in ("timestamp.txt", "old_feedback", "Icon\r", "._x"):  # nbgrader's and a Mac's: no kernel sees them
        (classroom.handed_in.submissions()[student] / name).write_text("2026-03-01 12:00:00 UTC")
    task = make_task(classroom, student, classroom.handed_in.submissions()[student])
    outcome = Outcome.from_bytes(execute(task.to_bytes()))
    monkeypatch.setattr(judged_execute, "execute", lambda data: pytest.fail("executed a second time"))
    assert save(classroom, student, outcome, task) == ""
    assert cells(LastGrading(classroom, student).result()) == ALL
    assert LastGrading(classroom, student).is_done(task)


def test_lines_that_end_as_on_windows_are_those_given_out(tmp_path):
    """What was given out is known by its text: it was run for nothing, and the report took it for a student's."""

    def windows(nb):
        for cell in nb.cells:
            cell.source = cell.source.replace("\n", "\r\n")

    root = make_course(tmp_path / "course")
    places = {student: hand_in(root, student, solved(root)) for student in ("ada", "win")}
    hand_in(root, "win", solved(root), windows)
    assert b"\\r\\n" in places["win"].read_bytes()
    classroom = Classroom(course_in(root), TOPIC)
    ada, win = (make_task(classroom, student, path.parent) for student, path in places.items())
    assert win.notebook == ada.notebook and win.skip == ada.skip
    for read in (findings.read_or_none, grade_one.read_submission):
        ada, win = map(read, places.values())
        assert [cell.source for cell in win.cells] == [cell.source for cell in ada.cells]


def test_a_topic_that_was_renamed_is_told_from_one_that_nobody_handed_in(tmp_path):
    root = make_course(tmp_path / "course")
    (root / "submitted" / "ada" / "20_old_name").mkdir(parents=True)
    with pytest.raises(
        Problem, match=r"there are folders named 20_old_name, which is no topic. If the topic was renamed"
    ):
        grade_class(Classroom(course_in(root), TOPIC), workers=1)


def test_plain_nbgrader_takes_the_same_path(graded, root, tmp_path):
    """`nbgrader autograde --force` over a broken submission, a linked one, one without a name and a sound one."""
    course = shutil.copytree(root, tmp_path / "course", symlinks=True)
    misnamed = "<img src=x onerror=run()>"
    for folder in (course / "submitted").iterdir():
        if folder.name not in ("broken", "link", "linked", "overflows", misnamed):
            shutil.rmtree(folder)
    said = output_of(course, "nbgrader", "autograde", NAME, "--force", status=1)
    assert "symbolic link" in said and "cannot be a student's" in said
    assert not (course / "autograded" / misnamed).exists()
    scores = read_scores(f"sqlite:///{course / 'gradebook.db'}", NAME, "overflows", NAME)
    assert scores.cells == graded["overflows"].scores.cells
    assert not (course / "autograded" / "link").exists() and not (course / "autograded" / "linked").exists()


def test_feedback_and_export(graded, root):
    output_of(root, "nbgrader", "generate_feedback", NAME, "--force", "--student", "overflows")
    output_of(root, "nbgrader", "generate_feedback", NAME, "--force", "--student", "deleted_both")
    page = (root / "feedback" / "overflows" / NAME / f"{NAME}.html").read_text()
    hint = graded["overflows"].verdicts["softmax"].hint
    assert hint.split("?")[0].replace("'", "&#x27;") in page.replace("&#39;", "&#x27;")
    assert how_executed(strongest().label) in page
    assert '"#self_attention_question"]::after { content: ": self_attention_question, not graded yet"; }' in page
    assert '"#softmax"]::after { content: ": softmax"; }' in page
    page = (root / "feedback" / "deleted_both" / NAME / f"{NAME}.html").read_text()
    assert "NameError" in page
    output_of(root, "nbgrader", "generate_feedback", NAME, "--student", "picture_lost")
    again = output_of(root, "nbgrader", "generate_feedback", NAME, "--student", "picture_lost")
    assert "Skipping" not in again, "what a person gave since is in the gradebook alone"
    page = (root / "feedback" / "picture_lost" / NAME / f"{NAME}.html").read_text()
    assert "My drawing: <em>[Picture “x” not shown: the cell has no attachment image.png]</em>" in page
    for secret in ("the secret sum", "BEGIN HIDDEN", "attention_cost(5, 7)"):
        assert secret not in page
    output_of(root, "nbgrader", "export")
    lines = (root / "grades.csv").read_text().splitlines()
    assert any(line.startswith(f"{NAME},") and ",ada," in line for line in lines)


def test_verdicts_are_kept_in_the_notebook(graded, root):
    kept = notebook(root, "overflows").metadata["course"]
    assert kept["isolation"] == strongest().label and kept["seconds"] > 0
    assert kept["verdicts"]["softmax"]["misconception"] == "overflows"
    assert set(kept["spent"]) == set(kept["verdicts"])
    json.dumps(kept)


def test_an_instructors_second_notebook_is_graded_beside_ours(tmp_path):
    root = make_course(tmp_path)
    nbformat.write(
        second("### BEGIN SOLUTION\ndouble = lambda x: 2 * x\n### END SOLUTION"), extra(notebook_path(root, TOPIC))
    )
    register(course_in(root), TOPIC)
    path = hand_in(root, "ada", solved(root))
    nbformat.write(second("double = lambda x: x + x"), extra(path))
    classroom = Classroom(course_in(root), TOPIC, {"timeout": 15})
    (work,) = grade_class(classroom, workers=1)
    assert not work.reason and cells(work) == ALL
    assert read_scores(classroom.coursedir().db_url, NAME, "ada", "extra").score == 3


def extra(path: Path) -> Path:
    return path.with_name("extra.ipynb")


def second(answer: str) -> nbformat.NotebookNode:
    """A notebook with one exercise of an instructor's own, by nbgrader's rules."""
    common = {"schema_version": 3, "task": False, "cell_type": "code"}
    asked = {**common, "grade_id": "double-answer", "solution": True, "grade": False, "locked": False}
    graded = {**common, "grade_id": "double", "solution": False, "grade": True, "locked": True, "points": 3}
    written = nbformat.v4.new_code_cell(answer, metadata={"nbgrader": asked})
    test = nbformat.v4.new_code_cell("assert double(4) == 8", metadata={"nbgrader": graded})
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=[written, test], metadata={"kernelspec": kernel})


@pytest.mark.parametrize("student", ["copied", "deleted", "forged", "raw"])
def test_what_is_sanitised_once_is_what_nbgrader_sanitises(graded, root, student):
    """A class's submissions are sanitised before they are executed, and then saved as they are."""
    path = root / "autograded" / student / NAME / f"{NAME}.ipynb"
    kept = path.read_bytes()
    assert save(Classroom(course_in(root), TOPIC, {"timeout": 15}), student) == ""
    assert path.read_bytes() == kept
