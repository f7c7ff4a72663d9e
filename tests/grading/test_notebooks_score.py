"""Every topic's solved notebook earns all its points, trained here and now; its release, unfilled, earns none.

`make test` executes a few whole and more as a class's are, without the cells that nothing graded depends on: second
trainings among them. `make quick` executes each one whose source has changed, and `make soak` all of them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from course.grading.course_files.course_folder import release_path, source_path
from course.grading.execution.execute import execute
from course.grading.execution.skippable_cells import skippable
from course.grading.execution.task import Outcome
from course.grading.nbgrader_bridge.autograde_steps import plain_sources
from course.grading.release.source import build
from course.grading.sandbox.spec import GIGABYTE
from course.syllabus import OURS, Topic
from tests.few import few
from tests.original import ORIGINAL
from website.executed import ROOT, solved, task_of, trained


def outcome_of(*about: Any, **task: Any) -> Outcome:
    return Outcome.from_bytes(execute(task_of(*about, **task).to_bytes()))


def left_out(topic: Topic, nb: nbformat.NotebookNode, folder: Path) -> tuple[int, ...]:
    """The cells that a class's grading leaves out."""
    nbformat.write(build(ORIGINAL, source_path(ROOT, topic), topic), folder / "given.ipynb")
    return skippable(nb, plain_sources(folder / "given.ipynb", 0))


WHOLE = tuple(topic for topic in OURS if topic.number in (6, 13, 17, 18, 20))
"""Topics whose notebooks are executed whole within half a minute."""

IN_CLASS = [topic for topic in OURS if topic not in WHOLE]
SLOW = (5, 10, 11, 15, 16, 19, 21)
"""Topics whose notebooks take longest, 25 to 50 seconds each: `make soak` has them."""

some_topics = pytest.mark.parametrize("topic", few(OURS, *WHOLE[:3:2]), ids=lambda topic: topic.folder)


def judged(topic: Topic) -> list[str]:
    return [item.name for item in topic.judged]


def earns_everything(topic: Topic, outcome: Outcome) -> None:
    assert not outcome.fault
    assert outcome.memory < 1.5 * GIGABYTE
    assert [verdict.exercise for verdict in outcome.verdicts] == judged(topic)
    lost = {v.exercise: (v.kind, v.score, v.message) for v in outcome.verdicts if v.score < v.points}
    assert lost == {}
    errors = [
        (cell.source.splitlines()[0], output.ename, output.evalue)
        for cell in nbformat.reads(outcome.notebook.decode(), as_version=4).cells
        for output in cell.get("outputs", ())
        if output.output_type == "error"
    ]
    assert errors == []


@pytest.mark.parametrize("topic", few(OURS, *WHOLE), ids=lambda topic: topic.folder)
def test_the_solved_notebook_earns_everything(topic):
    earns_everything(topic, solved(topic))


@pytest.mark.parametrize(
    "topic", few(IN_CLASS, *(topic for topic in IN_CLASS if topic.number not in SLOW)), ids=lambda topic: topic.folder
)
def test_so_it_does_without_what_nothing_graded_depends_on(topic, tmp_path):
    nb = build(ORIGINAL, source_path(ROOT, topic), topic)
    earns_everything(topic, trained(topic, nb, skip=left_out(topic, nb, tmp_path)))


@some_topics
def test_weights_and_what_is_left_out_change_no_score(topic, tmp_path):
    nb = build(ORIGINAL, source_path(ROOT, topic), topic)
    outcome = outcome_of(topic, nb, 60.0, files=solved(topic).files, skip=left_out(topic, nb, tmp_path))
    assert not outcome.fault
    assert [(v.exercise, v.score) for v in outcome.verdicts] == [(v.exercise, v.score) for v in solved(topic).verdicts]


@some_topics
def test_the_release_unfilled_earns_nothing(topic, tmp_path):
    nb = nbformat.read(release_path(ROOT, topic), as_version=4)
    outcome = outcome_of(topic, nb, policy="retrain", skip=left_out(topic, nb, tmp_path))
    assert not outcome.fault
    assert {verdict.exercise: verdict.score for verdict in outcome.verdicts} == dict.fromkeys(judged(topic), 0.0)
