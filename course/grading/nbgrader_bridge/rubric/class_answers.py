"""All students' answers to one question: which nobody graded, which are alike, who graded how many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from course.grading.nbgrader_bridge.rubric.alike_answers import changes, is_near, words
from course.grading.nbgrader_bridge.rubric.comment_lines import taken_in
from course.grading.nbgrader_bridge.rubric.grading_log import GradingLog, Save, add_save
from course.grading.nbgrader_bridge.rubric.marks import AnswerMarks, Impossible, Outdated


@dataclass(frozen=True)
class One:
    """A student's answer: `submission` is formgrader's id, `number` that in its list, and `text` is the answer."""

    student: str
    submission: str
    number: int
    text: str
    marks: AnswerMarks

    @property
    def is_open(self) -> bool:
        """Whether nbgrader waits for a person, for the first time or after the student handed in again."""
        return bool(self.marks.grade.needs_manual_grade)

    @property
    def is_again(self) -> bool:
        """Whether a person gave points before the student handed in other work."""
        return self.is_open and self.marks.grade.manual_score is not None

    @property
    def is_empty(self) -> bool:
        """Whether nbgrader itself gave 0 points, because the answer is empty or unchanged."""
        grade = self.marks.grade
        return not self.is_open and grade.manual_score is None and grade.auto_score is not None

    @property
    def is_untouched(self) -> bool:
        """Whether nobody gave points or wrote a comment, so that another answer's may be taken over."""
        return self.is_open and not self.is_again and not self.marks.text


class ClassAnswers:
    """The answers of a class to the question of `marks`, in formgrader's order.

    Args:
        gradebook: nbgrader's gradebook.
        submission: formgrader's id of the answer that the grader looks at.
        marks: the points and the comment of that answer.
        read: returns a student's text, or None if there is no graded notebook.
    """

    def __init__(
        self, gradebook: Any, submission: str, marks: AnswerMarks, log: GradingLog, read: Callable[[str], str | None]
    ) -> None:
        topic, question = marks.answer.topic, marks.answer.question
        self._gradebook, self._log, self._question = gradebook, log, question
        notebooks = sorted(gradebook.notebook_submissions(topic, topic), key=lambda one: one.id)
        texts = [(notebook, text) for notebook in notebooks if (text := read(notebook.student.id)) is not None]
        found = [
            One(notebook.student.id, notebook.id, number, text, marks.of(notebook))
            for number, (notebook, text) in enumerate(texts, 1)
        ]
        self.all = [one for one in found if one.marks.are_there]
        self.here = next((one for one in self.all if one.submission == submission), None)

    @property
    def next(self) -> str | None:
        """The id of the next answer that nobody graded, after this one and then from the beginning, or None."""
        place = self.all.index(self.here) if self.here else -1
        order = [*self.all[place + 1 :], *self.all[: max(place, 0)]]
        return next((one.submission for one in order if one.is_open), None)

    def alike(self) -> dict[str, tuple[One, bool]]:
        """Return the other answers that are equal (True) or nearly equal to this one, by their ids."""
        if self.here is None:
            return {}
        mine = words(self.here.text)
        others = [(one, words(one.text)) for one in self.all if one is not self.here and not one.is_empty]
        return {one.submission: (one, theirs == mine) for one, theirs in others if mine and is_near(mine, theirs)}

    def give(self, wanted: Collection[str], version: str, grader: str) -> int:
        """Give this answer's points and comment to `wanted` ones that are alike and untouched; return how many got it.

        Raises:
            Outdated: this answer has changed since the grader saw it.
            Impossible: this answer itself is not graded yet.
        """
        with self._log.writing() as connection:
            self._gradebook.db.expire_all()
            if self.here is None or self.here.marks.version != version:
                raise Outdated
            if self.here.is_open:
                raise Impossible("This answer is not graded yet. Grade it first, and then give the same to the others.")
            source, by_hand = self.here.marks, self.here.marks.is_by_hand
            those = [one for name, (one, _) in self.alike().items() if name in wanted and one.is_untouched]
            for one in those:
                one.marks.copy(source)
                criteria = [criterion.wording for criterion in source.taken]
                add_save(connection, one.marks.answer, Save(grader, *one.marks.now, criteria, by_hand))
            self._gradebook.db.commit()
        return len(those)

    def described(self, grader: str) -> dict[str, Any]:
        """Return all that the page shows of the class, for `grader`."""
        graded = [one for one in self.all if not one.is_open and not one.is_empty]
        savers = self._log.last_savers(self.all[0].marks.answer) if self.all else {}
        shares = Counter(savers.get(one.student, "") for one in graded)
        given = Counter(criterion.wording for one in graded for criterion in taken_in(one.marks.text, one.marks.rubric))
        return {
            "question": self._question,
            "answers": len(self.all),
            "open": sum(one.is_open for one in self.all),
            "again": sum(one.is_again for one in self.all),
            "empty": sum(one.is_empty for one in self.all),
            "graded": len(graded),
            "shares": [[name, name == grader, count] for name, count in shares.most_common()],
            "given": dict(given),
            "next": self.next,
            "alike": [self._alike(one, equal) for one, equal in self.alike().values()],
        }

    def _alike(self, one: One, equal: bool) -> dict[str, Any]:
        assert self.here is not None
        shown = [] if equal else [asdict(change) for change in changes(self.here.text, one.text)]
        about: Mapping[str, Any] = {"id": one.submission, "number": one.number, "equal": equal, "changes": shown}
        return {**about, "untouched": one.is_untouched, "open": one.is_open, "points": one.marks.grade.manual_score}
