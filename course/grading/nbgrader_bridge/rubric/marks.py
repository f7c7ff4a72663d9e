"""Read the points and the comment of one answer from nbgrader's gradebook, and change them by a rubric."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from course.grading.nbgrader_bridge.rubric.comment_lines import (
    renewed,
    signed,
    taken_in,
    typed_in,
    with_criterion,
    without_criterion,
)
from course.grading.nbgrader_bridge.rubric.grading_log import Answer, GradingLog, Save, add_save
from course.grading.nbgrader_bridge.rubric.points import points_of, starts_full
from course.outline import Criterion, Rubric


class Outdated(Exception):
    """Somebody else saved since the page was loaded; nothing was changed."""


class Impossible(ValueError):
    """The change cannot be made; the message is for the grader."""


class AnswerMarks:
    """The gradebook's points and comment of an answer, with its rubric.

    Args:
        gradebook: nbgrader's gradebook.
        notebook: the gradebook's entry of a submitted notebook.
        question: the name of the written question.
    """

    def __init__(self, gradebook: Any, notebook: Any, question: str, rubric: Rubric, log: GradingLog) -> None:
        self.rubric = rubric
        self._gradebook, self._log = gradebook, log
        self.answer = Answer(notebook.assignment.name, notebook.student.id, question)
        self.grade: Any = next((one for one in notebook.grades if one.name == question), None)
        self.comment: Any = next((one for one in notebook.comments if one.name == question), None)

    def of(self, notebook: Any) -> AnswerMarks:
        """Return another student's answer to the same question; `notebook` is the gradebook's entry."""
        return AnswerMarks(self._gradebook, notebook, self.answer.question, self.rubric, self._log)

    def copy(self, other: AnswerMarks) -> None:
        """Take over another answer's points and comment; the caller logs and commits."""
        self.grade.manual_score, self.grade.extra_credit, self.comment.manual_comment = other.now
        self.grade.needs_manual_grade = False

    @property
    def are_there(self) -> bool:
        """Whether the gradebook has the question in this submission."""
        return self.grade is not None and self.comment is not None

    @property
    def text(self) -> str:
        """The manual comment, with the lines of criteria."""
        return self.comment.manual_comment or ""

    @property
    def now(self) -> tuple[float | None, float | None, str | None]:
        """The manual points, extra credit and comment."""
        return self.grade.manual_score, self.grade.extra_credit, self.comment.manual_comment

    @property
    def taken(self) -> list[Criterion]:
        """The criteria that the comment names."""
        return taken_in(self.text, self.rubric)

    @property
    def version(self) -> str:
        """A hash of points, comment and their last save, which differs after any change."""
        saves = self._log.saves(self.answer)
        return sha256(json.dumps([*self.now, saves[-1].id if saves else 0]).encode()).hexdigest()

    def change(self, wanted: Mapping[str, Any], grader: str) -> None:
        """Change the answer if its version is `wanted["version"]`, and log the grader if the change has an effect.

        Raises:
            Outdated: the answer has changed since.
            Impossible: the criterion does not exist, or the points are no number.
        """
        with self._log.writing() as connection:
            self._gradebook.db.expire_all()
            if wanted.get("version") != self.version:
                raise Outdated
            before = self.now, self.grade.needs_manual_grade, self.is_by_hand
            by_hand = self._apply(wanted)
            if (self.now, self.grade.needs_manual_grade, by_hand) != before:
                criteria = [criterion.wording for criterion in self.taken]
                add_save(connection, self.answer, Save(grader, *self.now, criteria, by_hand))
            self._gradebook.db.commit()

    def _apply(self, wanted: Mapping[str, Any]) -> bool:
        """Change points and comment; return whether the points are now the grader's own, and not the sum."""
        by_hand = self.is_by_hand
        if "manual_comment" in wanted:
            self._write(str(wanted["manual_comment"] or ""))
            return by_hand
        if "criterion" in wanted:
            self._take(str(wanted["criterion"]), bool(wanted.get("take")))
            if not by_hand:
                self.grade.manual_score = self._given
        elif wanted.get("use_rubric"):
            self._write(renewed(self.text, self.rubric))
            self.grade.manual_score, by_hand = self._given, False
        else:
            self.grade.manual_score = _number(wanted.get("manual_score"))
            self.grade.extra_credit = _number(wanted.get("extra_credit"))
            by_hand = self.grade.manual_score not in (None, self._sum)
        self.grade.needs_manual_grade = self.grade.manual_score is None and self.grade.auto_score is None
        return by_hand

    def _take(self, wording: str, take: bool) -> None:
        criterion = next((one for one in self.rubric if one.wording == wording), None)
        if criterion is None:
            raise Impossible("This criterion is no longer in course.toml. Reload the page.")
        change = with_criterion if take else without_criterion
        self._write(change(self.text, self.rubric, criterion))

    def _write(self, text: str) -> None:
        self.comment.manual_comment = text or None

    @property
    def _given(self) -> float | None:
        """The points of the selected criteria, or None without any, as the answer is not graded then."""
        return self._sum if self.taken else None

    @property
    def _sum(self) -> float:
        return points_of(self.rubric, self.taken, self.grade.max_score)

    @property
    def is_by_hand(self) -> bool:
        """Whether a grader wrote the points (even if equal to the sum), so that selecting a criterion keeps them."""
        if self.grade.manual_score in (None, self._sum):
            last = next(reversed(self._log.saves(self.answer)), None)
            return last is not None and last.by_hand and last.points == self.grade.manual_score
        return True

    def used_before(self) -> list[tuple[str, int]]:
        """Return the paragraphs that graders typed for this question with their counts, the commonest first."""
        from nbgrader.api import Comment

        rows = self._gradebook.db.query(Comment.manual_comment).filter(
            Comment.cell_id == self.comment.cell_id, Comment.manual_comment.isnot(None)
        )
        counted = Counter(text for (comment,) in rows for text in typed_in(comment, self.rubric))
        return sorted(counted.items(), key=lambda one: (-one[1], one[0].casefold()))

    def described(self, grader: str) -> dict[str, Any]:
        """Return all that the page shows of the answer, for `grader`."""
        taken, saves = self.taken, self._log.saves(self.answer)
        shown = [
            {"by": save.grader, "is_you": save.grader == grader, "at": save.at, "points": save.points} for save in saves
        ]
        last = saves[-1] if saves else None
        return {
            "question": self.answer.question,
            "version": self.version,
            "maximum": self.grade.max_score,
            "starts_full": starts_full(self.rubric),
            "criteria": [_shown(one, one in taken) for one in self.rubric],
            "sum": self._sum,
            "by_hand": self.is_by_hand,
            "grade": self.grade.to_dict(),
            "comment": self.comment.to_dict(),
            "used_before": self.used_before(),
            "saves": shown,
            "changed_elsewhere": last is not None and (last.points, last.extra_credit, last.comment) != self.now,
        }


def _shown(criterion: Criterion, is_taken: bool) -> dict[str, Any]:
    """Return a criterion as the page needs it."""
    about = {"wording": criterion.wording, "text": criterion.text, "group": criterion.group}
    return {**about, "points": signed(criterion.points), "taken": is_taken}


def _number(said: Any) -> float | None:
    if said is None or said == "":
        return None
    try:
        number = float(said)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise Impossible(f"{said!r} is no number of points. Write a number such as 1.5.")
    return number
