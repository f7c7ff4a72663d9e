"""Read the last grading of a student's work from the graded notebook and gradebook, and say which parts are valid."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode

from course.grading.cells import METADATA, grade_id, read_notebook
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.graded import Graded, PackedVerdicts
from course.grading.execution.same_written_answer import same_answer
from course.grading.gradebook.scores import Scores, arrival, read_scores
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.own_cells import changed, own_tests_in, own_tests_released
from course.grading.sandbox.probe import NOT_ISOLATED
from course.judge.verdict import Verdict
from course.syllabus import FollowThrough

if TYPE_CHECKING:
    from course.grading.execution.task import Task


class LastGrading:
    """The last grading of one student's work on the topic of a class, which may not exist."""

    def __init__(self, classroom: Classroom, student: str) -> None:
        self.classroom, self.student, self.topic = classroom, student, classroom.topic
        self.course = classroom.course
        self.folder = classroom.autograded(student)
        self.path = self.folder / f"{self.topic.folder}.ipynb"

    def is_done(self, task: Task) -> bool:
        """Whether exactly this work was graded before, with the same tests and settings, and its scores are kept."""
        kept, database = self._kept(), self.classroom.coursedir().db_url
        rule, follow_through = self.course.late_rule, self.course.outline.follow_through
        return (
            kept.get("task") == task.digest()
            and kept.get("arrival") == arrival(database, self.topic.folder, self.student, self._stamp(), rule=rule)
            and _isolated_enough(kept, task)
            and not any(_scored_otherwise(one, follow_through) for one in kept.get("verdicts", {}).values())
            and bool(self._scores())
        )

    def is_of(self, task: Task) -> bool:
        """Whether the same submission was graded before, with any tests and settings."""
        return task.is_of(self._kept().get("submission", ""))

    def stale(self) -> frozenset[str]:
        """Return the cells of the graded work whose tests have changed since they were graded."""
        from course.grading.fingerprints import state_of

        kept, known = self._kept(), {item.name: item for item in self.topic.items}
        judged, tests = kept.get("verdicts", {}).keys() & known.keys(), kept.get("tests", {})
        judged = {name for name in judged if tests.get(name) != state_of(self.topic, known[name])}
        return frozenset(judged | self._stale_own(self._notebook()))

    def fresh(self, task: Task) -> dict[str, Verdict]:
        """Return the verdicts on exactly this work that are not stale."""
        kept, stale = self._kept(), self.stale()
        if kept.get("work") != task.work() or not _isolated_enough(kept, task):
            return {}
        verdicts = {name: Verdict.from_dict(values).under("lose") for name, values in kept["verdicts"].items()}
        return {name: one for name, one in verdicts.items() if name not in stale and one.kind != "not-graded"}

    def own_outputs(self) -> dict[str, list[NotebookNode]]:
        """Return the outputs of the instructor's own tests on the graded work, if none of these tests has changed.

        A change of one test may change the output of another, because the tests share names.
        """
        graded = self._notebook()
        if graded is None or self._stale_own(graded):
            return {}
        own = own_tests_in(self.course, graded)
        return {grade_id(cell): cell.outputs for cell in graded.cells if grade_id(cell) in own}

    def earlier(self, task: Task) -> dict[str, Any]:
        """Return an earlier grading's points, `before`, and its stale cells, `retested`; empty for other work."""
        if not self.is_of(task):
            return {}
        scores = self._scores()
        return {"retested": self.stale(), "before": dict(scores.cells) if scores else {}}

    def still_fits(self, task: Task, given: dict[str, float | None]) -> dict[str, float | None]:
        """Return those manual points whose answers are the same in the work that is graded now."""
        if not given or self.is_of(task):
            return given
        before = self._notebook()
        if before is None:
            return {}
        now, folder = read_notebook(task.notebook), self.folder
        return {name: points for name, points in given.items() if same_answer(name, before, now, folder, task.files)}

    def result(self, notes: Sequence[str] = ()) -> Graded:
        """Return a student's result from the gradebook and the graded notebook, after grading."""
        return self.result_with(self._scores(), notes)

    def result_with(self, scores: Scores | None, notes: Sequence[str] = ()) -> Graded:
        """Return a student's result from the graded notebook and points that were read before."""
        return self.graded(self._kept(), scores, notes)

    def graded(self, kept: dict[str, Any], scores: Scores | None, notes: Sequence[str] = ()) -> Graded:
        """Return a student's result from the graded notebook's metadata `kept` and the gradebook's scores."""
        self.classroom.sanitized.pop(self.student, None)
        verdicts = PackedVerdicts(kept.get("verdicts", {}))
        used = {name: kept[name] for name in ("seconds", "cpu", "memory", "isolation", "origins") if name in kept}
        unfinished = [f"{task}: {sentence}" for task, sentence in kept.get("unfinished", {}).items()]
        told = (*notes, *map(str, kept.get("notes", ())), *unfinished, *self._extension())
        return Graded(self.student, scores, verdicts, notes=told, spent=dict(kept.get("spent", {})), **used)

    def _extension(self) -> list[str]:
        """Return a note on the student's extension, if there is one."""
        due = self.course.outline.extended_due(self.topic.folder).get(self.student)
        return [f"has an extension, until {due:%Y-%m-%d %H:%M %z}"] if due else []

    def _stamp(self) -> datetime | None:
        """Return the work's arrival time, if a timestamp file beside it has one."""
        coursedir = self.classroom.coursedir()
        folder = coursedir.format_path(coursedir.submitted_directory, self.student, self.topic.folder)
        with quiet():
            return coursedir.get_existing_timestamp(folder)

    def _stale_own(self, graded: NotebookNode | None) -> set[str]:
        """Return the instructor's own tests that have changed since the notebook was graded."""
        if graded is None:
            return set()
        return changed(own_tests_in(self.course, graded), own_tests_released(self.course, self.classroom.released))

    def _scores(self) -> Scores | None:
        name = self.topic.folder
        return read_scores(self.classroom.coursedir().db_url, name, self.student, name)

    def _notebook(self) -> NotebookNode | None:
        """Return the student's graded notebook; None if there is none that can be read."""
        try:
            return read_notebook(self.path.read_bytes())
        except (OSError, ValueError, KeyError, AttributeError):
            return None

    def _kept(self) -> dict[str, Any]:
        """Return the metadata about the grading in the student's graded notebook; empty if there is none."""
        try:
            return dict(json.loads(self.path.read_text(encoding="utf-8"))["metadata"].get(METADATA, {}))
        except (OSError, ValueError, KeyError):
            return {}


def _scored_otherwise(kept: dict[str, Any], follow_through: FollowThrough) -> bool:
    """Whether a verdict that depends on an earlier mistake was scored under a setting other than `follow_through`."""
    verdict = Verdict.from_dict(kept)
    today = verdict.under(follow_through)
    return (verdict.decided_anew or today.decided_anew) and verdict.follow_through != follow_through


def _isolated_enough(kept: dict[str, Any], task: Task) -> bool:
    """Whether the kept result was made in a sandbox, if the task requires one."""
    return not task.isolated or kept.get("isolation", NOT_ISOLATED) != NOT_ISOLATED
