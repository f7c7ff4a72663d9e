"""Every topic's solved notebook earns all its points, trained here and now; its release, unfilled, earns none.

The solved notebooks are executed once a run, and a second time as a class's are: with the weights of the first, and
without the cells that nothing graded depends on. Executed copies stay in build/executed, for the site.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import nbformat
import pytest

from course.grading.execution import execute
from course.grading.needless import needless
from course.grading.notebooks import build, source_path, write
from course.grading.preprocessors import own_limits, plain_sources
from course.grading.release import release_path
from course.grading.sandbox.confines import GIGABYTE
from course.grading.task import Limits, Outcome, Task, notebook_bytes
from course.syllabus import TOPICS, Topic
from website.pages import SOURCE, digest

ROOT = Path(__file__).parents[2]


def outcome_of(topic: Topic, nb: nbformat.NotebookNode) -> Outcome:
    limits = own_limits(nb, Limits(120.0))
    task = Task(topic.folder, notebook_bytes(nb), seed=2718, policy="retrain", limits=limits)
    return Outcome.from_bytes(execute(task.to_bytes()))


@cache
def solved(topic: Topic) -> Outcome:
    outcome = outcome_of(topic, build(source_path(ROOT, topic), topic))
    if not outcome.fault:
        executed = nbformat.reads(outcome.notebook.decode(), as_version=4)
        executed.metadata[SOURCE] = digest(source_path(ROOT, topic).read_text("utf-8"))
        write(executed, ROOT / "build" / "executed" / f"{topic.folder}.ipynb")
    return outcome


def judged(topic: Topic) -> list[str]:
    return [item.name for item in topic.items if item.kind != "question"]


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.folder)
def test_the_solved_notebook_earns_everything(topic):
    outcome = solved(topic)
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


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.folder)
def test_weights_and_what_is_left_out_change_no_score(topic, tmp_path):
    nb = build(source_path(ROOT, topic), topic)
    nbformat.write(nb, tmp_path / "given.ipynb")
    skip = needless(nb, plain_sources(tmp_path / "given.ipynb", 0))
    limits = own_limits(nb, Limits(60.0))
    task = Task(topic.folder, notebook_bytes(nb), solved(topic).files, seed=2718, limits=limits, skip=skip)
    outcome = Outcome.from_bytes(execute(task.to_bytes()))
    assert not outcome.fault
    assert [(v.exercise, v.score) for v in outcome.verdicts] == [(v.exercise, v.score) for v in solved(topic).verdicts]


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.folder)
def test_the_release_unfilled_earns_nothing(topic):
    outcome = outcome_of(topic, nbformat.read(release_path(ROOT, topic), as_version=4))
    assert not outcome.fault
    assert {verdict.exercise: verdict.score for verdict in outcome.verdicts} == dict.fromkeys(judged(topic), 0.0)
