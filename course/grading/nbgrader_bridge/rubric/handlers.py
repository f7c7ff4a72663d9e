"""Handle the requests of formgrader's page: read the rubrics of a submission, and apply a grader's changes."""

from __future__ import annotations

import getpass
import json
import os
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nbgrader.api import MissingEntry
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, check_notebook_dir, check_xsrf
from sqlalchemy.exc import SQLAlchemyError
from tornado import web

from course.grading.machine.faults import Fault, advice_for
from course.grading.nbgrader_bridge.rubric.alike_answers import GradedTexts
from course.grading.nbgrader_bridge.rubric.class_answers import ClassAnswers
from course.grading.nbgrader_bridge.rubric.grading_log import Answer, GradingLog
from course.grading.nbgrader_bridge.rubric.marks import AnswerMarks, Impossible, Outdated
from course.grading.nbgrader_bridge.rubric.points import fault_of
from course.outline import FILE, Faulty, Rubric, read_outline

STATIC = Path(__file__).parent / "static"

_ANONYMOUS = re.compile(r"[0-9a-f]{32}")
"""The name that Jupyter makes up for a user who has only its token."""


def rubrics_of(root: Path, topic: str) -> Mapping[str, Rubric]:
    """Return the rubrics of a topic by question, as `course.toml` has them now.

    Raises:
        Faulty: `course.toml` has a fault.
    """
    path = root / FILE
    return read_outline(path).rubrics.get(topic, {}) if path.is_file() else {}


def grader_of(user: Any) -> str:
    """Return the grader's name from JupyterHub or Jupyter's user, or else the operating system's user."""
    name = getattr(user, "username", "") or ""
    if name and not _ANONYMOUS.fullmatch(name):
        return name
    return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()


class RubricHandler(BaseApiHandler):
    """The base of both handlers."""

    @property
    def grader(self) -> str:
        """The name of the grader who looks at the page."""
        return grader_of(self.current_user)

    def marks(self, submission_id: str) -> list[AnswerMarks]:
        """Return the answers of a submission that have a rubric."""
        self.gradebook.db.expire_all()
        try:
            notebook = self.gradebook.find_submission_notebook_by_id(submission_id)
        except MissingEntry:
            raise web.HTTPError(404) from None
        root = Path(self.coursedir.root)
        rubrics = rubrics_of(root, notebook.assignment.name)
        log = GradingLog(root)
        found = [AnswerMarks(self.gradebook, notebook, name, rubric, log) for name, rubric in rubrics.items()]
        found = [one for one in found if one.are_there]
        for one in found:
            if fault := fault_of(rubrics[one.answer.question], one.grade.max_score):
                raise Faulty(f"{root / FILE}: {fault}")
        return found

    def refuse(self, status: int, sentence: str) -> None:
        """Answer with a sentence for the grader that says what went wrong."""
        self.set_status(status)
        self.finish(json.dumps({"fault": sentence}))

    def undo(self, status: int, sentence: str) -> None:
        """Forget changes that are not saved, and answer with a sentence."""
        self.gradebook.db.rollback()
        self.refuse(status, sentence)


class RubricsHandler(RubricHandler):
    """The rubrics of a submission, with the selected criteria and who saved them."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def get(self, submission_id: str) -> None:
        """Answer with a list, with an entry for each question that has a rubric."""
        try:
            self.finish(json.dumps([one.described(self.grader) for one in self.marks(submission_id)]))
        except Faulty as fault:
            self.refuse(400, str(fault))
        except (Fault, OSError, SQLAlchemyError) as error:
            self.refuse(500, advice_for(error) or str(error))


class AnswerHandler(RubricHandler):
    """One answer of a submission."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def put(self, submission_id: str, question: str) -> None:
        """Apply a change and answer with the new state; status 409 means that nothing was changed."""
        wanted = self.get_json_body()
        try:
            marks = next((one for one in self.marks(submission_id) if one.answer.question == question), None)
            if marks is None:
                self.refuse(404, f"{question} has no rubric in course.toml any more. Reload the page.")
                return
            try:
                marks.change(wanted if isinstance(wanted, dict) else {}, self.grader)
            except Outdated:
                self.set_status(409)
            self.finish(json.dumps(marks.described(self.grader)))
        except (Faulty, Impossible) as fault:
            self.undo(400, str(fault))
        except (Fault, OSError, SQLAlchemyError) as error:
            self.undo(500, advice_for(error) or str(error))


class ClassHandler(RubricHandler):
    """All students' answers to the question of one answer."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def get(self, submission_id: str, question: str) -> None:
        """Answer with what is graded of the question, which answers are alike, and the next that nobody graded."""
        self._answer(submission_id, question, None)

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    def post(self, submission_id: str, question: str) -> None:
        """Give the answer's points and comment to those named in `to`; status 409 means that nothing was changed."""
        wanted = self.get_json_body()
        self._answer(submission_id, question, wanted if isinstance(wanted, dict) else {})

    def _answer(self, submission_id: str, question: str, wanted: Mapping[str, Any] | None) -> None:
        try:
            marks = next((one for one in self.marks(submission_id) if one.answer.question == question), None)
            if marks is None:
                self.refuse(404, f"{question} has no rubric in course.toml any more. Reload the page.")
                return
            log = GradingLog(Path(self.coursedir.root))
            answers = ClassAnswers(self.gradebook, submission_id, marks, log, partial(self._text, marks.answer))
            given = None
            if wanted is not None:
                given = answers.give(list(wanted.get("to", ())), str(wanted.get("version")), self.grader)
            self.finish(json.dumps({**answers.described(self.grader), "gave": given}))
        except Outdated:
            self.undo(409, "Somebody changed this answer meanwhile. Nothing was given to the others.")
        except (Faulty, Impossible) as fault:
            self.undo(400, str(fault))
        except (Fault, OSError, SQLAlchemyError) as error:
            self.undo(500, advice_for(error) or str(error))

    def _text(self, answer: Answer, student: str) -> str | None:
        """Return a student's text for the question of `answer`."""
        folder = self.coursedir.format_path(self.coursedir.autograded_directory, student, answer.topic)
        return TEXTS.read(Path(self.coursedir.root, folder, f"{answer.topic}.ipynb"), answer.question)


TEXTS = GradedTexts()
"""The answers that this server has read."""

HANDLERS = [
    (r"/formgrader/api/rubrics/([^/]+)", RubricsHandler),
    (r"/formgrader/api/rubrics/([^/]+)/([^/]+)", AnswerHandler),
    (r"/formgrader/api/questions/([^/]+)/([^/]+)", ClassHandler),
    (r"/formgrader/rubric/(.*)", web.StaticFileHandler, {"path": str(STATIC)}),
]
