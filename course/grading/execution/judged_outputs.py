"""Replace the outputs of judged cells by their verdicts, and read verdicts back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from nbformat import NotebookNode

from course.course import Course
from course.grading.cells import METADATA, exercises_in, grade_id, is_test, notebook_bytes, read_notebook
from course.grading.execution.task import Outcome
from course.grading.fingerprints import state_of
from course.grading.sandbox.probe import how_executed
from course.judge.verdict import Verdict


def record(
    course: Course, nb: NotebookNode, names: dict[int, str], outcome: Outcome, of_the_course: bool = False
) -> None:
    """Write the verdicts into `nb`: each judged cell gets exactly one output, and the metadata holds all verdicts.

    A notebook without exercises gets no metadata, unless it belongs to a topic of the course.
    """
    if not names and not of_the_course:
        nb.metadata.pop(METADATA, None)
        return
    from course.judge import report

    verdicts = {verdict.exercise: verdict for verdict in outcome.verdicts}
    for index, name in names.items():
        cell, verdict = nb.cells[index], verdicts[name]
        data = NotebookNode(
            {
                "text/plain": repr(score_of(cell, verdict)),
                "text/html": report.html(verdict, note=how_executed(outcome.isolation)),
            }
        )
        result = {"output_type": "execute_result", "metadata": NotebookNode(), "execution_count": cell.execution_count}
        cell.outputs = [NotebookNode(result, data=data)]
    nb.metadata[METADATA] = {
        "isolation": outcome.isolation,
        "seconds": outcome.seconds,
        "memory": outcome.memory,
        "cpu": outcome.cpu,
        "spent": outcome.spent,
        "origins": outcome.origins,
        "unfinished": outcome.unfinished,
        "tests": {name: state_of(*course.find_item(name)) for name in verdicts},
        "verdicts": {name: verdict.to_dict() for name, verdict in verdicts.items()},
    }


def score_under(course: Course, nb: NotebookNode, outcome: Outcome) -> None:
    """Score again the answers in `nb` that depend on failing ones, by a course's setting, which workers do not know."""
    follow_through = course.outline.follow_through
    if any(verdict.under(follow_through).decided_anew for verdict in outcome.verdicts):
        under = tuple(verdict.under(follow_through) for verdict in outcome.verdicts)
        record(course, nb, exercises_in(course, nb), replace(outcome, verdicts=under))


def with_earlier(
    course: Course, outcome: Outcome, earlier: Mapping[str, Verdict], outputs: Mapping[str, list[NotebookNode]]
) -> Outcome:
    """Return an outcome with some of its verdicts replaced by those of an earlier execution of the same work.

    The `outputs` of an instructor's own tests, which nbgrader scores, are replaced by name in the same way.
    """
    nb = read_notebook(outcome.notebook)
    for cell in nb.cells:
        if is_test(cell) and grade_id(cell) in outputs:
            cell.outputs = outputs[grade_id(cell)]
    replaced = replace(outcome, verdicts=tuple(earlier.get(one.exercise, one) for one in outcome.verdicts))
    record(course, nb, exercises_in(course, nb), replaced)
    return replace(replaced, notebook=notebook_bytes(nb))


def score_of(cell: NotebookNode, verdict: Verdict) -> float:
    """Return the verdict's score, scaled to the cell's points, which an instructor may have changed, and no higher."""
    points = float(cell.metadata["nbgrader"].get("points", verdict.points))
    scale = points / verdict.points if verdict.points else 0.0
    return float(min(points, max(0.0, verdict.earned * scale)))
