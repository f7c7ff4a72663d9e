"""The step of autograding that saves scores and comments to the gradebook."""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import determine_grade, is_grade, is_solution

from course.grading.cells import METADATA, checks_in, exercises_in, grade_id
from course.grading.gradebook.scores import Marks
from course.grading.intake.answers_elsewhere import cells_beside, given_sources, note_on
from course.judge.verdict import Verdict


class SaveVerdicts(SaveAutoGrades):
    """nbgrader's `SaveAutoGrades`, but a notebook's scores are saved at once, all or none.

    An exercise the grading machine could not judge, or was told not to execute, has no score: neither zero nor all.
    An answer that rests on an earlier mistake may wait for a person, with the points that the tests give until then.
    An untouched question beside new text waits for a person, where nbgrader gives it a zero.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Save the scores of `nb`."""
        about = resources["nbgrader"]
        with Gradebook(about["db_url"]) as gradebook:
            self.decide(nb, resources, Marks.of(gradebook, about["notebook"], about["assignment"], about["student"]))
            gradebook.db.commit()
        return nb, resources

    def decide(self, nb: NotebookNode, resources: dict, marks: Marks) -> None:
        """Write the scores of `nb` and comments on it into `marks`, and into `nb` where an answer may stand elsewhere.

        Raises:
            MissingEntry: a graded cell is not among the marks.
        """
        about, verdicts = resources["nbgrader"], nb.metadata.get(METADATA, {}).get("verdicts", {})
        self.ungraded = {name for name, verdict in verdicts.items() if verdict["kind"] == "not-graded"}
        self.by_hand = {name for name, verdict in verdicts.items() if Verdict.from_dict(dict(verdict)).by_hand}
        if unjudged := set(checks_in(nb).values()) - verdicts.keys():
            self.ungraded |= unjudged & set(exercises_in(nb).values())
        self.notebook_id, self.assignment_id, self.student_id = about["notebook"], about["assignment"], about["student"]
        self.elsewhere = self._answered_elsewhere(nb)
        self.gradebook = marks
        NbGraderPreprocessor.preprocess(self, nb, resources)
        if self.elsewhere:
            notes = [f"{name}: {note}" for name, note in self.elsewhere.items()]
            nb.metadata.setdefault(METADATA, NotebookNode())["notes"] = notes

    def _answered_elsewhere(self, nb: NotebookNode) -> dict[str, str]:
        """Where the answers may stand to questions whose own cells are untouched, in a sentence for each."""
        asked = {
            index: grade_id(cell)
            for index, cell in enumerate(nb.cells)
            if is_grade(cell) and is_solution(cell) and determine_grade(cell)[0] == 0
        }
        if not asked:
            return {}
        given = self._given_out()
        found = {name: cells_beside(nb.cells, index, given) for index, name in asked.items()}
        return {name: note_on(nb.cells, places) for name, places in found.items() if places}

    def _given_out(self) -> frozenset[str]:
        """The texts of the notebook's source and of its release, into whose texts the class's topics are written."""
        coursedir = CourseDirectory(config=self.config)
        steps = coursedir.source_directory, coursedir.release_directory
        folders = (Path(coursedir.format_path(step, ".", self.assignment_id)) for step in steps)
        paths = (folder / f"{self.notebook_id}.ipynb" for folder in folders)
        return frozenset().union(*(given_sources(path, path.stat().st_mtime_ns) for path in paths if path.is_file()))

    def _add_score(self, cell: NotebookNode, resources: dict) -> None:
        super()._add_score(cell, resources)
        name = cell.metadata["nbgrader"]["grade_id"]
        if name in self.ungraded or name in self.elsewhere:
            grade = self.gradebook.grades[name]
            grade.auto_score, grade.needs_manual_grade = None, True
        elif name in self.by_hand:
            self.gradebook.grades[name].needs_manual_grade = True

    def _add_comment(self, cell: NotebookNode, resources: dict) -> None:
        super()._add_comment(cell, resources)
        if note := self.elsewhere.get(cell.metadata["nbgrader"]["grade_id"]):
            self.gradebook.comments[cell.metadata["nbgrader"]["grade_id"]].auto_comment = note
