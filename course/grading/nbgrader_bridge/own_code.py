"""Ask one question about the code of each passing exercise on a page of feedback, with its answer folded beneath."""

from __future__ import annotations

import hashlib
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.course_files.cells import grade_id, is_test
from course.grading.execution.cell_end import KernelFault
from course.grading.nbgrader_bridge.autograde_steps import JudgedExecute
from course.grading.nbgrader_bridge.course_of import course_of
from course.grading.nbgrader_bridge.page_text import QUESTION
from course.judge.report import sentence
from course.problem import Problem

if TYPE_CHECKING:
    from course.questions import Question

log = logging.getLogger(__name__)

FOLDED = "margin-top:6px;padding:4px 10px;border-radius:4px;background:rgba(128,128,128,.14)"
"""The style of the answer, whose first line alone is shown until it is opened. It needs no script."""


OPENED = "display:list-item;cursor:pointer"
"""The style of that line. The page's own style takes its triangle away."""


class AskAboutCode(NbGraderPreprocessor):
    """A feedback step that puts a question below the report on each passing exercise, unless `course.toml` says no.

    Where the machine cannot execute code, the page has no questions, and the log says why.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Add an output to each cell that checks a passing exercise."""
        course, about = course_of(self), resources["nbgrader"]
        topic = course.topic_in(about["notebook"])
        if topic is None or not course.outline.asks_in_feedback:
            return nb, resources
        from course.grading.execution.own_questions import questions_about  # imported here, because it loads torch

        settings = JudgedExecute(config=self.config)
        try:
            asked = questions_about(
                course,
                topic,
                nb,
                seed=_seed(about["student"], about["assignment"]),
                most=1,
                results=Path(settings.results) if settings.results else None,
                isolated=settings.require_sandbox,
            )
        except (KernelFault, Problem) as error:
            log.warning("%s gets no questions about the code, because %s", about["student"], error)
            return nb, resources
        for cell in nb.cells:
            if is_test(cell) and isinstance(found := asked.get(grade_id(cell), ""), tuple):
                cell.outputs += [_output(grade_id(cell), question) for question in found]
        return nb, resources


def _seed(student: str, assignment: str) -> int:
    """Return a seed for a page, so that neighbours with the same code are asked different questions."""
    return int.from_bytes(hashlib.sha256(f"feedback/{assignment}/{student}".encode()).digest()[:4])


def _output(exercise: str, question: Question) -> NotebookNode:
    # Imported here, because they load torch.
    from course.exercise.prediction import LETTERS
    from course.notebook.choices import as_asked

    asked = as_asked(question, f"Can you explain your code? A question about your `{exercise}`.", "", _forget, "")
    right, *others = sorted(range(len(question.choices)), key=lambda place: place != question.key)
    rows = [f"{LETTERS[place]}: {sentence(question.choices[place].reason)}" for place in others]
    answer = (
        f'<details style="{FOLDED}"><summary style="{OPENED}">Answer</summary>'
        f"<p><b>{LETTERS[right]}</b> is right. {sentence(question.choices[right].reason)}</p>"
        f"<p>{'<br>'.join(rows)}</p></details>"
    )
    html = QUESTION.format(asked.question_html(answer))
    return new_output("display_data", {"text/html": html, "text/plain": asked.question_text()})


def _forget(_letter: str) -> None:
    """Store nothing, because nobody answers on a page."""
