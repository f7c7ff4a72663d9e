"""The steps added to nbgrader, one by one and without a kernel."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.utils import determine_grade
from traitlets.config import Config

from course.grading.cells import exercises_in
from course.grading.execution.judged_outputs import record, score_of
from course.grading.execution.task import Limits, Outcome
from course.grading.execution.time_limits import MOST_TRAININGS, own_limits
from course.grading.gradebook.class_secret import class_secret
from course.grading.nbgrader_bridge.configure import configure
from course.grading.nbgrader_bridge.feedback_page import TrimHiddenTests
from course.grading.nbgrader_bridge.judged_execute import JudgedExecute
from course.grading.nbgrader_bridge.sanitise import Repair
from course.judge.verdict import Verdict
from tests.original import ORIGINAL

HIDDEN = "assert f(1) == 1\n### BEGIN HIDDEN TESTS\nassert f(2) == 4, 'four'\n### END HIDDEN TESTS"


def test_cell(source: str = "", name: str = "softmax", points: float = 2) -> NotebookNode:
    marks = {"grade": True, "solution": False, "locked": True, "grade_id": name, "points": points, "schema_version": 3}
    return new_code_cell(source or f'check("{name}", answer)', metadata={"nbgrader": marks})


test_cell.__test__ = False


@pytest.mark.parametrize(
    ("score", "points", "worth", "paid"),
    [(2.0, 2.0, 2, 2.0), (2.0000001, 2.0, 2, 2.0), (1.0, 2.0, 10, 5.0), (-1.0, 2.0, 2, 0.0), (0.0, 0.0, 2, 0.0)],
)
def test_no_score_is_above_the_cells_points(score, points, worth, paid):
    """nbgrader drops the whole submission for a score a hair above."""
    cell = test_cell(points=worth)
    verdict = Verdict("softmax", "passed", score, points)
    assert score_of(cell, verdict) == paid
    nb = new_notebook(cells=[cell])
    record(ORIGINAL, nb, {0: "softmax"}, Outcome(b"", (verdict,)))
    assert determine_grade(cell) == (paid, worth)


def test_whatever_the_kernel_printed_is_replaced():
    """An error, a warning, a number, an HTML result without text: none of them is seen by nbgrader."""
    cell = test_cell()
    cell.outputs = [
        new_output("stream", name="stderr", text="NNPACK"),
        new_output("error", ename="E", evalue="", traceback=[]),
        new_output("execute_result", data={"text/html": "<b>2.0</b>"}),
        new_output("execute_result", data={"text/plain": "nan"}),
    ]
    nb = new_notebook(cells=[cell])
    record(ORIGINAL, nb, {0: "softmax"}, Outcome(b"", (Verdict("softmax", "partial", 1.5, 2, "<script>"),)))
    (output,) = cell.outputs
    assert output.data["text/plain"] == "1.5" and "<script>" not in output.data["text/html"]
    assert determine_grade(cell) == (1.5, 2)


def test_every_step_of_the_configuration_is_switched_on():
    """A plain nbconvert preprocessor in nbgrader's lists does nothing unless it is enabled."""
    from traitlets.utils.importstring import import_item

    c = Config()
    configure(c)
    steps = [*c.Autograde.sanitize_preprocessors, *c.Autograde.autograde_preprocessors]
    off = [name for name in (*steps, *c.GenerateFeedback.preprocessors) if not import_item(name)(config=c).enabled]
    # Stock nbgrader has these two off as well, for an instructor to switch on.
    assert set(off) <= {
        "nbgrader.preprocessors.IgnorePattern",
        "nbconvert.preprocessors.ClearMetadataPreprocessor",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    }


def test_nbgraders_own_commands_collect_and_export_as_the_course_does():
    from nbgrader.apps import ExportApp, ZipCollectApp

    from course.grading.nbgrader_bridge.quoted_csv import QuotedCsv
    from course.grading.nbgrader_bridge.unpacking import TolerantExtractor
    from course.grading.nbgrader_bridge.zip_collect import TopicCollector

    c = Config()
    configure(c)
    assert ExportApp(config=c).plugin_class is QuotedCsv
    assert (ZipCollectApp(config=c).extractor_plugin, ZipCollectApp(config=c).collector_plugin) == (
        TolerantExtractor,
        TopicCollector,
    )


@pytest.mark.parametrize(
    ("line", "evalue", "seen"),
    [(1, "one", "AssertionError: one"), (3, "four", "AssertionError in a hidden test")],
)
def test_feedback_tells_nothing_of_hidden_tests(line, evalue, seen):
    traceback = [
        "\x1b[0;31m-----------\x1b[0m",
        "\x1b[0;31mAssertionError\x1b[0m    Traceback (most recent call last)",
        f"Cell In[4], line {line}\n      1 assert f(1) == 1\n----> {line} assert ...\n      3 assert f(2) == 4, 'four'",
        f"\x1b[0;31mAssertionError\x1b[0m: {evalue}",
    ]
    cell = test_cell(HIDDEN)
    cell.outputs = [new_output("error", ename="AssertionError", evalue=evalue, traceback=traceback)]
    TrimHiddenTests().preprocess_cell(cell, {}, 0)
    assert cell.outputs[0].traceback == [seen]
    assert "four" not in str(cell.outputs)


def test_an_error_below_the_test_is_told_without_the_test():
    cell = test_cell(HIDDEN)
    traceback = ["Cell In[2], line 1, in f(x)\n----> 1 secret()", "NameError: name 'secret' is not defined"]
    cell.outputs = [new_output("error", ename="NameError", evalue="name 'secret' is not defined", traceback=traceback)]
    TrimHiddenTests().preprocess_cell(cell, {}, 0)
    assert len(cell.outputs[0].traceback) == 1


def test_what_cells_may_take():
    cells = [new_code_cell("1"), new_code_cell('record = fit("rnn_task", build, train)'), test_cell(name="rnn_cell")]
    limits = own_limits(
        ORIGINAL, new_notebook(cells=[*cells, test_cell(name="rnn_task")]), Limits(30.0, notebook=300.0)
    )
    assert limits.of(0) == 30
    assert limits.of(1) > 100
    assert limits.of(2) == 30
    assert limits.of(3) == 70
    assert limits.notebook > 400


def test_nbgraders_own_settings_hold():
    config = Config({"Execute": {"timeout": 7, "timeout_func": None}})
    task = JudgedExecute(config=config, secret="s").task(new_notebook(), {"nbgrader": {}}, {})
    assert task.limits.cell == 7
    config.Execute.timeout_func = lambda cell: 11
    task = JudgedExecute(config=config, secret="s").task(new_notebook(cells=[new_code_cell()]), {"nbgrader": {}}, {})
    assert task.limits.of(0) == 11
    for endless in (-1, 0, None):
        config = Config({"Execute": {"timeout": endless, "timeout_func": None}})
        assert JudgedExecute(config=config, secret="s").task(new_notebook(), {"nbgrader": {}}, {}).limits.of(0) is None
        config.Execute.timeout_func = lambda cell, seconds=endless: seconds
        cells = [new_code_cell(), new_code_cell('fit("self_attention_task", build, train)')]
        nb = new_notebook(cells=[*cells, test_cell(name="self_attention_task")])
        assert JudgedExecute(config=config, secret="s").task(nb, {"nbgrader": {}}, {}).limits.of(1) is None


def test_own_tests_by_an_exercises_name_are_scored_as_nbgrader_does():
    """Names such as merge or perplexity are anybody's: what the judge decides says check."""
    own = test_cell("assert merge([1], [2]) == [1, 2]", name="merge")
    ours = test_cell('course.check(\n    "softmax", softmax)', name="softmax")
    another = test_cell('check("softmax", softmax)', name="perplexity")
    assert exercises_in(ORIGINAL, new_notebook(cells=[own, ours, another])) == {1: "softmax"}


def test_a_class_draws_sixteen_seeds_and_keeps_them(tmp_path):
    config = Config()
    execute = JudgedExecute(config=config)
    about = {
        "db_url": f"sqlite:///{tmp_path / 'gradebook.db'}?timeout=60",
        "assignment": "03_rnn",
        "notebook": "03_rnn",
    }
    seeds = {execute.seed_of({**about, "student": f"student {number}"}) for number in range(200)}
    assert len(seeds) == 16
    assert execute.seed_of({**about, "student": "student 1"}) in seeds
    secret = tmp_path / ".course-secret"
    assert secret.stat().st_mode & 0o077 == 0


WRITES = """
import sys

from nbgrader.api import Gradebook

url, student = sys.argv[1:]
with Gradebook(url) as gradebook:
    for number in range(20):
        gradebook.update_or_create_student(student, first_name=str(number))
"""


def test_two_writers_wait_for_each_other(tmp_path):
    """SQLite's own five seconds are too few for a class: our configuration waits for sixty."""
    from nbgrader.api import Gradebook

    text = (Path(__file__).parents[2] / "course/grading/nbgrader_bridge/course_config.py").read_text()
    assert "?timeout=60" in text
    url = f"sqlite:///{tmp_path / 'gradebook.db'}?timeout=60"
    with Gradebook(url):
        pass
    writers = [subprocess.Popen([sys.executable, "-c", WRITES, url, student]) for student in ("ada", "bea")]
    assert [writer.wait() for writer in writers] == [0, 0]


def test_a_training_gets_its_time_once():
    """However often a cell names it, in words or in code, and only in its own notebook.

    120 s of work may take 600 on the clock of a busy machine: each cell may wait that long, the notebook once.
    """
    train = 'record = fit("self_attention_task", build, train)'
    cells = [
        new_code_cell(f"# {train}\n" * 50 + train),
        new_markdown_cell(train),
        new_code_cell('fit("rnn_task", build, train)'),
        test_cell(name="self_attention_task"),
    ]
    limits = own_limits(ORIGINAL, new_notebook(cells=cells), Limits(30.0, notebook=300.0))
    assert limits.cells[0] == 630.0 and limits.notebook == 300.0 + 120.0 + 480.0
    assert limits.cells.keys() == {0, 3}
    many = own_limits(
        ORIGINAL,
        new_notebook(cells=[*(new_code_cell(train) for _ in range(100)), cells[-1]]),
        Limits(30.0, notebook=300.0),
    )
    assert many.notebook == 300.0 + MOST_TRAININGS * 120.0 + 480.0


def test_the_class_secret_is_drawn_once_and_never_empty(tmp_path):
    url = f"sqlite:///{tmp_path / 'gradebook.db'}"
    path = tmp_path / ".course-secret"
    path.touch()  # cut off while it was written
    secret = class_secret(url)
    assert len(secret) == 32 and class_secret(url) == secret
    assert path.stat().st_mode & 0o777 == 0o600 and list(tmp_path.iterdir()) == [path]
    path.unlink()
    assert class_secret(url) not in ("", secret)


def test_the_check_of_a_task_comes_back_below_the_cell_that_trains():
    """Above it there would be nothing to check."""
    sources = [
        "def train(): ...",
        "# prose",
        "record = fit('rnn_task', Model, train)",
        "fit('rnn_task', Rival, train)",
        "1",
    ]
    nb = new_notebook(cells=[new_code_cell(source) for source in sources])
    assert Repair.behind_training(nb, "rnn_task", 1) == 3
    assert Repair.behind_training(nb, "rnn_cell", 1) == 1
    assert Repair.behind_training(nb, "rnn_task", 4) == 4
