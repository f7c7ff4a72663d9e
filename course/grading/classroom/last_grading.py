"""The last grading of a student's work, from the graded notebook and the gradebook, and what of it still holds."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode

from course.grading.cells import METADATA, grade_id, read_notebook
from course.grading.classroom.absent import extended_due
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.graded import Graded, PackedVerdicts
from course.grading.execution.same_written_answer import same_answer
from course.grading.gradebook.scores import Scores, arrival, read_scores
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.own_cells import changed, own_tests_in, own_tests_released
from course.grading.sandbox.probe import NOT_ISOLATED
from course.judge.verdict import Verdict
from course.syllabus import FOLLOW_THROUGH, Topic

if TYPE_CHECKING:
    from course.grading.execution.task import Task


class LastGrading:
    """The last grading of one student's work on the topic of a class; there need not be any."""

    def __init__(self, classroom: Classroom, student: str) -> None:
        self.classroom, self.student, self.topic = classroom, student, classroom.topic
        self.folder = classroom.autograded(student)
        self.path = self.folder / f"{self.topic.folder}.ipynb"

    def is_done(self, task: Task) -> bool:
        """Whether just this work was graded before, and its scores are in the gradebook."""
        kept, database = self._kept(), self.classroom.coursedir().db_url
        return (
            kept.get("task") == task.digest()
            and kept.get("arrival") == arrival(database, self.topic.folder, self.student, self._stamp())
            and _isolated_enough(kept, task)
            and not any(map(_scored_otherwise, kept.get("verdicts", {}).values()))
            and bool(self._scores())
        )

    def is_of(self, task: Task) -> bool:
        """Whether the same submission was graded before, with whatever tests and settings."""
        return task.is_of(self._kept().get("submission", ""))

    def stale(self) -> frozenset[str]:
        """The cells of a student's graded work whose tests are no longer those they were graded with."""
        from course.grading.fingerprints import state_of

        kept, known = self._kept(), {item.name for item in self.topic.items}
        tests = kept.get("tests", {})
        judged = {name for name in kept.get("verdicts", {}).keys() & known if tests.get(name) != state_of(name)}
        return frozenset(judged | self._stale_own(self._notebook()))

    def fresh(self, task: Task) -> dict[str, Verdict]:
        """The verdicts on just this work that are not stale."""
        kept, stale = self._kept(), self.stale()
        if kept.get("work") != task.work() or not _isolated_enough(kept, task):
            return {}
        verdicts = {name: Verdict.from_dict(values).under("lose") for name, values in kept["verdicts"].items()}
        return {name: one for name, one in verdicts.items() if name not in stale and one.kind != "not-graded"}

    def own_outputs(self) -> dict[str, list[NotebookNode]]:
        """What the instructor's own tests gave on a student's graded work, if all of them are those of today.

        They share names, so that a change of one may decide another.
        """
        graded = self._notebook()
        if graded is None or self._stale_own(graded):
            return {}
        own = own_tests_in(graded)
        return {grade_id(cell): cell.outputs for cell in graded.cells if grade_id(cell) in own}

    def earlier(self, task: Task) -> dict[str, Any]:
        """What a grading of just this work made of it: its points `before`, and which cells are to be `retested`."""
        if not self.is_of(task):
            return {}
        scores = self._scores()
        return {"retested": self.stale(), "before": dict(scores.cells) if scores else {}}

    def still_fits(self, task: Task, given: dict[str, float | None]) -> dict[str, float | None]:
        """What of the points that a person gave belongs to the work that is graded now."""
        if not given or self.is_of(task):
            return given
        before = self._notebook()
        if before is None:
            return {}
        now, folder = read_notebook(task.notebook), self.folder
        return {name: points for name, points in given.items() if same_answer(name, before, now, folder, task.files)}

    def result(self, notes: Sequence[str] = ()) -> Graded:
        """What the gradebook and the graded notebook say of a student, who is done with."""
        return self.result_with(self._scores(), notes)

    def result_with(self, scores: Scores | None, notes: Sequence[str] = ()) -> Graded:
        """What the graded notebook says of a student whose points are read already."""
        return self.graded(self._kept(), scores, notes)

    def graded(self, kept: dict[str, Any], scores: Scores | None, notes: Sequence[str] = ()) -> Graded:
        """What became of a student, who is done with: by what the graded notebook keeps, and the gradebook's scores."""
        self.classroom.sanitized.pop(self.student, None)
        verdicts = PackedVerdicts(kept.get("verdicts", {}))
        used = {name: kept[name] for name in ("seconds", "cpu", "memory", "isolation", "origins") if name in kept}
        unfinished = [f"{task}: {sentence}" for task, sentence in kept.get("unfinished", {}).items()]
        told = (*notes, *map(str, kept.get("notes", ())), *unfinished, *_extension(self.student, self.topic))
        return Graded(self.student, scores, verdicts, notes=told, spent=dict(kept.get("spent", {})), **used)

    def _stamp(self) -> datetime | None:
        """When the work came, if a file beside it says so."""
        coursedir = self.classroom.coursedir()
        folder = coursedir.format_path(coursedir.submitted_directory, self.student, self.topic.folder)
        with quiet():
            return coursedir.get_existing_timestamp(folder)

    def _stale_own(self, graded: NotebookNode | None) -> set[str]:
        """The instructor's own tests that are no longer those of a graded notebook."""
        if graded is None:
            return set()
        return changed(own_tests_in(graded), own_tests_released(self.classroom.released))

    def _scores(self) -> Scores | None:
        name = self.topic.folder
        return read_scores(self.classroom.coursedir().db_url, name, self.student, name)

    def _notebook(self) -> NotebookNode | None:
        """A student's graded notebook, if there is one that can be read."""
        try:
            return read_notebook(self.path.read_bytes())
        except (OSError, ValueError, KeyError, AttributeError):
            return None

    def _kept(self) -> dict[str, Any]:
        """What the student's graded notebook keeps about its grading; nothing when there is none."""
        try:
            return dict(json.loads(self.path.read_text(encoding="utf-8"))["metadata"].get(METADATA, {}))
        except (OSError, ValueError, KeyError):
            return {}


def _scored_otherwise(kept: dict[str, Any]) -> bool:
    """Whether a verdict that rests on an earlier mistake was scored under another setting than today's."""
    verdict = Verdict.from_dict(kept)
    today = verdict.under(FOLLOW_THROUGH)
    return (verdict.decided_anew or today.decided_anew) and verdict.follow_through != FOLLOW_THROUGH


def _extension(student: str, topic: Topic) -> list[str]:
    due = extended_due(topic).get(student)
    return [f"has an extension, until {due:%Y-%m-%d %H:%M %z}"] if due else []


def _isolated_enough(kept: dict[str, Any], task: Task) -> bool:
    """Whether what is kept came about in a sandbox, where the task demands one."""
    return not task.isolated or kept.get("isolation", NOT_ISOLATED) != NOT_ISOLATED
