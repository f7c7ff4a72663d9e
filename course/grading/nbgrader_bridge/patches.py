"""Patch nbgrader's own applications, so that they refuse and keep the same things as ours."""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from glob import escape, glob
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from nbgrader.api import Gradebook

from course.files import share_database

KEYS_OF_EXCHANGE = ("timestamp.txt", "submission_secret.txt")
"""The files by which nbgrader's exchange returns feedback to the student of a submission."""


def guard_submissions() -> None:
    """Make nbgrader check a submission before it copies the files, which is when it first follows a link.

    A submission with a link or the like fails alone. The automatic scores of an earlier grading are deleted before a
    new one starts, so a failed grading leaves no old scores. The earlier points are noted for the list of attempts
    before the files are replaced. nbgrader has no hooks for this, so the converter's methods are wrapped.
    """
    from nbgrader.converters import Autograde

    copy_files, make_room = Autograde.init_assignment, Autograde.init_destination
    if getattr(copy_files, "guarded", False):
        return

    def init_assignment(self: Any, assignment_id: str, student_id: str) -> None:
        from course.grading.gradebook.scores import clear_scores, enrol, forget_arrival
        from course.grading.intake.untrusted import refuse_links, refuse_name, refuse_shared

        refuse_name(student_id)
        names = [Path(notebook).stem for notebook in self.notebooks]
        if self.create_student:
            enrol(self.coursedir.db_url, student_id)
        clear_scores(self.coursedir.db_url, assignment_id, student_id, names)
        folder = Path(self._format_source(assignment_id, student_id))
        refuse_shared(folder)
        refuse_links(folder)
        if self.coursedir.get_existing_timestamp(str(folder)) is None:
            forget_arrival(self.coursedir.db_url, assignment_id, student_id)
        copy_files(self, assignment_id, student_id)

    def init_destination(self: Any, assignment_id: str, student_id: str) -> bool:
        from course.grading.nbgrader_bridge.autograde_steps import keep_points

        keep_points(self.coursedir, assignment_id, student_id)
        return bool(make_room(self, assignment_id, student_id))

    init_assignment.guarded = True  # type: ignore[attr-defined]
    Autograde.init_assignment, Autograde.init_destination = init_assignment, init_destination


def guard_topics() -> None:
    """Make nbgrader's autograding, formgrader's button included, wait while another process grades the topic.

    nbgrader blames every gradebook error on a recent upgrade; the real error is reported instead. It has no hook here.
    """
    from nbgrader.converters import Autograde
    from nbgrader.converters.base import NbGraderException

    convert = Autograde.convert_notebooks
    if getattr(convert, "guarded", False):
        return

    def convert_notebooks(self: Any) -> None:
        from course.grading.gradebook.topic_lock import holds_topic_lock, topic_lock
        from course.grading.machine.faults import advice_for
        from course.problem import Problem

        root, topic = Path(self.coursedir.root), self.coursedir.assignment_id
        with ExitStack() as stack:
            try:
                if not holds_topic_lock(root, topic):
                    stack.enter_context(topic_lock(root, topic))
            except (Problem, OSError) as error:
                self.log.error(advice_for(error) or str(error))
                raise NbGraderException(advice_for(error) or str(error)) from error
            try:
                convert(self)
            except NbGraderException as error:
                if fault := advice_for(error.__context__):
                    self.log.error(fault)
                raise

    convert_notebooks.guarded = True  # type: ignore[attr-defined]
    Autograde.convert_notebooks = convert_notebooks


def guard_collecting() -> None:
    """Make `nbgrader zip_collect` find the owner of each file, keep replaced work, and list what was left out.

    nbgrader has no hooks for this.
    """
    from nbgrader.apps import ZipCollectApp

    process, copy = ZipCollectApp.process_extracted_files, ZipCollectApp._transfer_files
    if getattr(process, "guarded", False):
        return

    def process_extracted_files(self: Any) -> None:
        from course.grading.nbgrader_bridge.zip_collect import collect_extracted

        collect_extracted(self, process)

    def transfer_files(self: Any, collected: dict[str, dict[str, Any]]) -> None:
        from course.grading.nbgrader_bridge.zip_collect import transfer

        transfer(self, copy, collected or {})

    process_extracted_files.guarded = True  # type: ignore[attr-defined]
    ZipCollectApp.process_extracted_files = process_extracted_files
    ZipCollectApp._transfer_files = transfer_files


def guard_exchange() -> None:
    """Make `nbgrader collect` keep the work that it replaces in `submitted/`; nbgrader has no hook for this."""
    from nbgrader.exchange.default import ExchangeCollect

    copy = ExchangeCollect.copy_files
    if getattr(copy, "guarded", False):
        return

    def copy_files(self: Any) -> None:
        from course.grading.intake.attempts import arrival, is_passed_over, keep_folder
        from course.grading.intake.untrusted import plain_files
        from course.grading.machine.faults import advice_for

        root, topic = Path(self.coursedir.root), self.coursedir.assignment_id
        try:
            for record in list(self.src_records):
                student, came = record["username"], record["timestamp"]
                work = Path(self.coursedir.format_path(self.coursedir.submitted_directory, student, topic))
                there = arrival(work)
                files = dict(plain_files(Path(self.inbound_path, record["filename"])))
                if work.is_dir() and is_passed_over(root, student, topic, came, files):
                    self.src_records.remove(record)
                    continue
                is_newer = self.update and (there is None or came > there)
                if work.is_dir() and (is_newer or (self.before_duedate and there != came)):
                    keep_folder(root, student, topic, work)
        except OSError as error:
            self.fail(advice_for(error) or str(error))
        copy(self)

    copy_files.guarded = True  # type: ignore[attr-defined]
    ExchangeCollect.copy_files = copy_files


def guard_feedback() -> None:
    """Make `nbgrader release_feedback` skip work that was not collected from the exchange, and name its students.

    nbgrader stops at the first such student, so the later ones get nothing. It has no hook for this.
    """
    from nbgrader.exchange.default import ExchangeReleaseFeedback

    release = ExchangeReleaseFeedback.copy_files
    if getattr(release, "guarded", False):
        return

    def copy_files(self: Any) -> None:
        coursedir = self.coursedir
        folders = sorted({Path(page).parent for page in glob(f"{self.src_path}/*.html")})  # noqa: PTH207
        known = [folder for folder in folders if all((folder / name).is_file() for name in KEYS_OF_EXCHANGE)]
        for folder in known:
            student = escape(folder.parent.name)
            self.src_path = coursedir.format_path(coursedir.feedback_directory, student, coursedir.assignment_id)
            release(self)
        if without := ", ".join(folder.parent.name for folder in folders if folder not in known):
            told = (
                f"No feedback released for {without}, because this work was not collected from the exchange. "
                f"Send each their feedback/<student>/{coursedir.assignment_id}/{coursedir.assignment_id}.html yourself"
            )
            self.log.warning(told) if known else self.fail(told)

    copy_files.guarded = True  # type: ignore[attr-defined]
    ExchangeReleaseFeedback.copy_files = copy_files


def share_gradebooks() -> None:
    """Let graders with separate logins write one gradebook, if they share its folder; SQLite alone does not."""
    from sqlalchemy import event
    from sqlalchemy.engine import Engine

    if not event.contains(Engine, "connect", _share_gradebook):
        event.listen(Engine, "connect", _share_gradebook)


def _share_gradebook(connection: Any, _: Any) -> None:
    if isinstance(connection, sqlite3.Connection):
        for *_, path in connection.execute("PRAGMA database_list"):
            share_database(Path(path))


def change_formgrader() -> None:
    """Make formgrader work offline, show rubrics and log who saved what; nbgrader has no hook for these.

    Outside formgrader's own process this does nothing.
    """
    formgrader = sys.modules.get("nbgrader.server_extensions.formgrader.formgrader")
    if formgrader is None or getattr(formgrader.FormgradeExtension, "changed", False):
        return
    extension: Any = formgrader.FormgradeExtension
    settings, handlers = extension.init_tornado_settings, extension.init_handlers

    def init_tornado_settings(self: Any, webapp: Any) -> None:
        from course.grading.nbgrader_bridge.rubric.page import SubmissionPage

        settings(self, webapp)
        webapp.settings["nbgrader_exporter"] = SubmissionPage(Path(self.coursedir.root), config=self.config)

    def init_handlers(self: Any, webapp: Any) -> None:
        from course.grading.nbgrader_bridge.rubric.handlers import HANDLERS

        base = webapp.settings["base_url"].rstrip("/")
        webapp.add_handlers(".*$", [(f"{base}{path}", *rest) for path, *rest in HANDLERS])
        handlers(self, webapp)  # nbgrader's last handler matches all other addresses

    extension.init_tornado_settings, extension.init_handlers = init_tornado_settings, init_handlers
    extension.changed = True


def read_odd_timestamps() -> None:
    """Make nbgrader and formgrader read a time stamp as `arrival_time` does; nbgrader has no hook for this."""
    from nbgrader.apps.api import NbGraderAPI
    from nbgrader.coursedir import CourseDirectory

    def get_existing_timestamp(_self: Any, dest_path: str) -> datetime | None:
        from course.grading.intake.arrival_time import in_utc, read_stamp, refuse_timestamp

        try:
            return in_utc(read_stamp(Path(dest_path)) or None)
        except (ValueError, OverflowError):
            refuse_timestamp(Path(dest_path))
            raise

    def get_submitted_timestamp(self: Any, assignment_id: str, student_id: str) -> datetime | None:
        from course.grading.intake.attempts import arrival

        coursedir = self.coursedir
        return arrival(Path(coursedir.format_path(coursedir.submitted_directory, student_id, assignment_id)))

    CourseDirectory.get_existing_timestamp = get_existing_timestamp
    NbGraderAPI.get_submitted_timestamp = get_submitted_timestamp


def cache_lookups() -> None:
    """Make nbgrader cache, in this process, lookups that it would repeat for each submission."""
    _keep_schemas()
    _keep_opened()


@contextmanager
def gradebook_transaction(db_url: str) -> Iterator[None]:
    """Put all work on this gradebook in this process into one transaction, which is committed when the block ends.

    After an exception nothing is saved, so a grader that is stopped leaves no submission half saved.
    """
    from nbgrader.api import Gradebook
    from sqlalchemy.orm import scoped_session, sessionmaker

    with Gradebook(db_url) as gradebook, gradebook.engine.connect() as connection, connection.begin():
        session = scoped_session(sessionmaker(bind=connection, join_transaction_mode="rollback_only"))
        _opened[db_url] = _Opened(session, {gradebook.course_id})
        try:
            yield
        finally:
            _opened.pop(db_url).session.remove()


@dataclass(frozen=True)
class _Opened:
    """A gradebook that is held open, and the courses that it is known to have."""

    session: Any
    courses: set[str]


def _keep_opened() -> None:
    """Make nbgrader, which opens the gradebook ten times a submission, use the gradebook that is held open."""
    from nbgrader.api import Gradebook

    start, end = Gradebook.__init__, Gradebook.close
    if getattr(start, "economical", False):
        return

    def begin(self: Gradebook, db_url: str, course_id: str = "default_course", authenticator: Any = None) -> None:
        held = _opened.get(db_url)
        if held is None:
            start(self, db_url, course_id, authenticator)
            return
        self.db, self.engine = held.session, held.session.bind
        self.course_id, self.authenticator = course_id, authenticator
        if course_id not in held.courses:
            self.check_course(course_id)
            held.courses.add(course_id)

    def close(self: Gradebook) -> None:
        if any(self.db is held.session for held in _opened.values()):
            self.db.remove()
        else:
            end(self)

    begin.economical = True  # type: ignore[attr-defined]
    Gradebook.__init__, Gradebook.close = begin, close


def _keep_schemas() -> None:
    """Make nbgrader check the schema of cells' metadata once, instead of with each cell that it reads."""
    from nbgrader.nbgraderformat import common

    if common.jsonschema.validate is not _validate:
        common.jsonschema = SimpleNamespace(validate=_validate)


def _validate(instance: object, schema: object) -> None:
    """Validate as `jsonschema.validate` does, and cache valid instances, which a class's notebooks share."""
    from jsonschema.exceptions import best_match

    text = json.dumps(schema, sort_keys=True)
    try:
        about = text, json.dumps(instance)
    except (TypeError, ValueError):  # metadata can hold anything
        about = text, ""
    if about in _found_valid:
        return
    error = best_match(_validator(text).iter_errors(instance))
    if error is not None:
        raise error
    if about[1] and len(_found_valid) < MOST_FOUND:
        _found_valid.add(about)


MOST_FOUND = 4096
_found_valid: set[tuple[str, str]] = set()
"""Pairs of a schema and an instance that is valid by it, both as JSON."""


@cache
def _validator(schema: str) -> Any:
    from jsonschema.validators import validator_for

    plain = json.loads(schema)
    kind = validator_for(plain)
    kind.check_schema(plain)
    return kind(plain)


_opened: dict[str, _Opened] = {}
