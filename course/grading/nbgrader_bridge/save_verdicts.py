"""Define the step of autograding that saves scores and comments to the gradebook."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import determine_grade, is_grade, is_solution

from course.grading.cells import METADATA, checks_in, exercises_in, grade_id
from course.grading.gradebook.scores import Marks
from course.grading.intake.answers_elsewhere import cells_beside, note_on
from course.grading.intake.grader_notes import notes_in
from course.grading.intake.locked_cells import left_out
from course.grading.intake.untouched import is_untouched
from course.grading.nbgrader_bridge.course_of import course_of
from course.grading.nbgrader_bridge.given_out import texts_given_out
from course.judge.verdict import Verdict


class SaveVerdicts(SaveAutoGrades):
    """nbgrader's `SaveAutoGrades`, except that a notebook's scores are saved in one transaction.

    An exercise that the grading machine could not judge, or was told not to execute, has no score (None, not zero).
    An answer that rests on an earlier mistake may wait for a grader, with the points of its tests until then.
    A question without an answer gets zero, as in nbgrader, also if its text was deleted. If new text stands beside
    the question, it waits for a grader. A test with missing points also waits, keeping its points, if its locked cell
    was changed and the change was not run.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Save the scores of `nb`."""
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            self.decide(nb, resources, Marks.of(gradebook, about["notebook"], about["assignment"], about["student"]))
            gradebook.db.commit()
        return nb, resources

    def decide(self, nb: NotebookNode, resources: dict[str, Any], marks: Marks) -> None:
        """Write scores and comments into `marks`, and notes on answers in other cells into `nb`.

        Raises:
            MissingEntry: a graded cell is not among the marks.
        """
        about, verdicts = resources["nbgrader"], nb.metadata.get(METADATA, {}).get("verdicts", {})
        self.ungraded = {name for name, verdict in verdicts.items() if verdict["kind"] == "not-graded"}
        self.by_hand = {name for name, verdict in verdicts.items() if Verdict.from_dict(dict(verdict)).by_hand}
        course = course_of(self)
        if unjudged := set(checks_in(course, nb).values()) - verdicts.keys():
            self.ungraded |= unjudged & set(exercises_in(course, nb).values())
        self.notebook_id, self.assignment_id, self.student_id = about["notebook"], about["assignment"], about["student"]
        self.elsewhere = self._answered_elsewhere(nb)
        self.left_out = left_out(nb.cells)
        self.gradebook = marks
        NbGraderPreprocessor.preprocess(self, nb, resources)
        if notes := [*notes_in(nb.cells), *(f"{name}: {note}" for name, note in self.elsewhere.items())]:
            nb.metadata.setdefault(METADATA, NotebookNode())["notes"] = notes

    def _answered_elsewhere(self, nb: NotebookNode) -> dict[str, str]:
        """Return a note for each question with an untouched cell whose answer may stand in other cells."""
        asked = {index: grade_id(cell) for index, cell in enumerate(nb.cells) if _is_unanswered(cell)}
        if not asked:
            return {}
        given = texts_given_out(self.config, self.assignment_id, self.notebook_id)
        found = {name: cells_beside(nb.cells, index, given) for index, name in asked.items()}
        return {name: note_on(nb.cells, places) for name, places in found.items() if places}

    def _add_score(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        super()._add_score(cell, resources)
        name, grade = grade_id(cell), self.gradebook.grades[grade_id(cell)]
        if name in self.ungraded or name in self.elsewhere:
            grade.auto_score, grade.needs_manual_grade = None, True
        elif name in self.by_hand or (name in self.left_out and grade.auto_score != determine_grade(cell)[1]):
            grade.needs_manual_grade = True
        elif _is_unanswered(cell):
            grade.auto_score, grade.needs_manual_grade = 0.0, grade.manual_score is not None

    def _add_comment(self, cell: NotebookNode, resources: dict[str, Any]) -> None:
        super()._add_comment(cell, resources)
        name = cell.metadata["nbgrader"]["grade_id"]
        if note := self.elsewhere.get(name) or ("No response." if _is_unanswered(cell) else ""):
            self.gradebook.comments[name].auto_comment = note


def _is_unanswered(cell: NotebookNode) -> bool:
    """Return whether a question's cell is empty or as released, and has no picture, which may be the answer."""
    return bool(is_grade(cell) and is_solution(cell) and is_untouched(cell) and not cell.get("attachments"))
