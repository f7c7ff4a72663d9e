"""Grades a class: looks at every submission, executes them in parallel, saves one after the other to the gradebook.

Executing takes seconds a submission and happens in worker processes. Each result is kept as it comes, so that nothing
is lost when the grader is stopped, and then saved: by nbgrader's own autograding, one submission at a time in this
process, which finds the result made.
"""

from __future__ import annotations

import glob
import json
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode

from course.grading.authoring.source import current
from course.grading.cells import grade_id, read_notebook
from course.grading.classroom.choose import Choice, choose_all
from course.grading.classroom.graded import Graded
from course.grading.classroom.handed_in import HandedIn
from course.grading.classroom.progress_bars import Progress, Silence
from course.grading.classroom.timings import Timings
from course.grading.execution.result_store import Store
from course.grading.execution.same_written_answer import same_answer
from course.grading.execution.task import NOT_ISOLATED, Outcome
from course.grading.gradebook.released_notebook import ReleasedNotebook, read_released
from course.grading.gradebook.scores import (
    arrival,
    clear_scores,
    due_of,
    enrol,
    leave_looked_at,
    looked_at,
    read_scores,
)
from course.grading.gradebook.topic_lock import sole_grader
from course.grading.intake.untrusted import remove
from course.grading.machine.faults import Fault, stops_all, told
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.nbgrader_bridge.log_capture import quiet, reason_of
from course.grading.nbgrader_bridge.patches import economise, one_gradebook
from course.grading.own_cells import changed, own_tests_in, own_tests_released, unreleased
from course.grading.problem import Problem
from course.grading.release.make_release import is_registered, register
from course.grading.workers.worker_pool import crew, execute_all, most_workers
from course.judge.verdict import Verdict
from course.syllabus import OUTLINE, Topic

if TYPE_CHECKING:
    from nbgrader.converters import Autograde

    from course.grading.execution.task import Task


class Classroom:
    """The submissions of one topic, and nbgrader's converter for them.

    Args:
        root: the course's folder.
        topic: what was submitted.
        settings: traits of `JudgedExecute`, such as `policy` or `timeout`, over those of the configuration.
    """

    def __init__(self, root: Path, topic: Topic, settings: dict[str, Any] | None = None) -> None:
        economise()
        self.root, self.topic = root, topic
        self.config: Any = load_config(root)
        self.config.CourseDirectory.assignment_id = topic.folder
        for name, value in (settings or {}).items():
            self.config.JudgedExecute[name] = value
        self.config.Exporter.optimistic_validation = True  # once a pass, and not after each of its steps
        self._sanitized: dict[str, str] = {}
        self.forgotten = False
        """Whether the gradebook knew nothing of a topic that was graded before: it was lost, with what people gave."""
        if not is_registered(root, topic, self.coursedir().db_url):
            self.forgotten = bool(glob.glob(str(self.autograded("*") / f"{topic.folder}.ipynb")))  # noqa: PTH207
            register(root, topic, self.coursedir().db_url)

    def coursedir(self, student: str = "*") -> Any:
        """nbgrader's view of the course, for one student or all."""
        from nbgrader.coursedir import CourseDirectory

        coursedir = CourseDirectory(config=self.config)
        coursedir.student_id = glob.escape(student) if student != "*" else student
        return coursedir

    @property
    def handed_in(self) -> HandedIn:
        """What lies in `submitted/`, at its place or not."""
        return HandedIn(self.coursedir(), self.topic)

    def autograded(self, student: str) -> Path:
        """The student's folder of graded work."""
        coursedir = self.coursedir()
        return Path(coursedir.format_path(coursedir.autograded_directory, student, self.topic.folder))

    def is_done(self, student: str, task: Task) -> bool:
        """Whether just this work was graded before, and its scores are in the gradebook."""
        name, kept = self.topic.folder, self._kept(student)
        return (
            kept.get("task") == task.digest()
            and kept.get("arrival") == arrival(self.coursedir().db_url, name, student, self._stamp(student))
            and _isolated_enough(kept, task)
            and bool(read_scores(self.coursedir().db_url, name, student, name))
        )

    def _stamp(self, student: str) -> datetime | None:
        """When the work came, if a file beside it says so."""
        coursedir = self.coursedir()
        folder = coursedir.format_path(coursedir.submitted_directory, student, self.topic.folder)
        with quiet():
            return coursedir.get_existing_timestamp(folder)

    def has_graded(self, student: str, task: Task) -> bool:
        """Whether the same submission was graded before, with whatever tests and settings."""
        return task.is_of(self._kept(student).get("submission", ""))

    def task(self, student: str, submission: Path) -> Task:
        """What executing the submission takes: exactly what nbgrader's own pass will ask for.

        A sanitised notebook that is the only one is kept until the student is done with: nbgrader need not make it
        twice.
        """
        from course.grading.nbgrader_bridge.judged_execute import JudgedExecute

        converter, path = self._converter(student), str(submission / f"{self.topic.folder}.ipynb")
        resources = converter.init_single_notebook_resources(path)
        resources["nbgrader"]["released"] = self.released
        nb, resources = converter.exporter.from_filename(path, resources)
        task = JudgedExecute(config=self.config).task(nb, resources, self._files(converter, submission))
        if converter.pre_convert_hook is None and len(list(submission.glob("*.ipynb"))) == 1:
            self._sanitized[student] = task.notebook.decode()
        return task

    @cached_property
    def released(self) -> ReleasedNotebook:
        """The topic's notebook as the gradebook has it."""
        return read_released(self.coursedir().db_url, self.topic.folder, self.topic.folder)

    def environment(self) -> dict[str, str]:
        """What the kernels of this class have in common; the corpora they read are in the cache from here on."""
        from course.grading.execution.corpora_cache import fill_cache
        from course.grading.kernels.environment import added, environment
        from course.grading.nbgrader_bridge.judged_execute import JudgedExecute
        from course.grading.student_edition import assemble

        fill_cache(self.topic)
        settings = JudgedExecute(config=self.config)
        with tempfile.TemporaryDirectory() as home:
            more = added(settings.environment, settings.gpu)
            return environment(Path(home), assemble(), None, settings.policy, more)

    def changed(self) -> list[str]:
        """What `course.toml` says otherwise than the release: points of exercises, and the due date."""
        if OUTLINE is None:
            return []
        released = {cell.name: cell.max_score for cell in self.released.grade_cells}
        asked = [(item, released.get(item.name, item.points)) for item in self.topic.items]
        told = [f"{item.name} {item.points:g} and not {points:g}" for item, points in asked if points != item.points]
        due, known = self.topic.due, due_of(self.coursedir().db_url, self.topic.folder)
        if due is not None and due != known:
            before = f"{known.astimezone(due.tzinfo):%Y-%m-%d %H:%M %z}" if known else "without a date"
            told.append(f"due {due:%Y-%m-%d %H:%M %z} and not {before}")
        return told

    def unreleased(self) -> list[str]:
        """The instructor's own cells whose tests or points in the source are not those of the release."""
        nb = current(self.root, self.topic)
        return unreleased(nb, self.topic, self.released) if nb is not None else []

    def demonstrated(self) -> list[str]:
        """The instructor's own tests for which every demonstration has to run, each with the reason."""
        from course.grading.execution.skippable_cells import unsure
        from course.grading.nbgrader_bridge.judged_execute import JudgedExecute

        if self.topic.own or JudgedExecute(config=self.config).demonstrations:
            return []
        reasons = {name: unsure(source) for name, (source, _) in own_tests_released(self.released).items()}
        return [f"{name} {reason}" for name, reason in reasons.items() if reason]

    @property
    def store(self) -> Store | None:
        """Where results are kept."""
        from course.grading.nbgrader_bridge.judged_execute import JudgedExecute

        return JudgedExecute(config=self.config).store()

    def save(self, student: str, outcome: Outcome | None = None, task: Task | None = None) -> str:
        """nbgrader's autograding of one submission, whose `task` had this `outcome`; says why it failed, or nothing.

        What a person gave for just this work, `task`, need not be looked at again, though tests or settings changed.

        Raises:
            Fault: it failed by a fault of the machine, as everybody's would.
            OSError: a file of this student's may not be read or written.
        """
        from nbgrader.converters import Autograde
        from nbgrader.converters.base import NbGraderException
        from sqlalchemy.exc import SQLAlchemyError

        from course.grading.nbgrader_bridge.judged_execute import handed_over
        from course.grading.nbgrader_bridge.sanitise import Sanitized

        about = self.coursedir().db_url, self.topic.folder, student, self.topic.folder
        seen = self._still_fits(student, task, looked_at(*about)) if task is not None else {}
        config = self.config.copy()
        config.Sanitized.text = self._sanitized.get(student)
        with quiet() as said:
            converter = Autograde(coursedir=self.coursedir(student), config=config)
            converter.force, converter.exporter_class = True, Sanitized
            try:
                made = handed_over(task, outcome) if task is not None and outcome is not None else nullcontext()
                with one_gradebook(converter.coursedir.db_url), made:
                    converter.start()
            except (NbGraderException, SystemExit, OSError, SQLAlchemyError) as error:
                cause = said.cause or error
                if stops_all(cause):
                    raise Fault(f"what became of {student} could not be saved: {told(cause)}") from error
                if isinstance(cause, OSError) and told(cause):
                    cause.filename = str(self.autograded(student) / str(cause.filename))  # which may say its name alone
                    raise cause from None
                return reason_of(said, error)
        if seen:
            leave_looked_at(*about, seen)
        return ""

    def _still_fits(self, student: str, task: Task, given: dict[str, float | None]) -> dict[str, float | None]:
        """What of the points that a person gave belongs to the work that is graded now."""
        if not given or self.has_graded(student, task):
            return given
        before = self._graded_notebook(student)
        if before is None:
            return {}
        now, folder = read_notebook(task.notebook), self.autograded(student)
        return {name: points for name, points in given.items() if same_answer(name, before, now, folder, task.files)}

    def renew_penalty(self, student: str) -> None:
        """Count anew what late work loses, by today's rule and points: a person gives some of them after grading."""
        from course.grading.nbgrader_bridge.late_penalty import KeepLatePenalties

        name = self.topic.folder
        about = {"notebook": name, "assignment": name, "student": student, "db_url": self.coursedir().db_url}
        with quiet():
            KeepLatePenalties(config=self.config).preprocess(NotebookNode(cells=[]), {"nbgrader": about})

    def refuse(self, student: str) -> None:
        """Take back an earlier grading of a submission that can no longer be graded."""
        self._sanitized.pop(student, None)
        enrol(self.coursedir().db_url, student)
        clear_scores(self.coursedir().db_url, self.topic.folder, student, [self.topic.folder])
        folder = self.autograded(student)
        if folder.is_dir():
            remove(folder)

    def stale(self, student: str) -> frozenset[str]:
        """The cells of a student's graded work whose tests are no longer those they were graded with."""
        from course.grading.freshness.exercise_fingerprint import tests_of

        kept, known = self._kept(student), {item.name for item in self.topic.items}
        tests = kept.get("tests", {})
        judged = {name for name in kept.get("verdicts", {}).keys() & known if tests.get(name) != tests_of(name)}
        return frozenset(judged | self._stale_own(self._graded_notebook(student)))

    def _stale_own(self, graded: NotebookNode | None) -> set[str]:
        """The instructor's own tests that are no longer those of a graded notebook."""
        return changed(own_tests_in(graded), own_tests_released(self.released)) if graded is not None else set()

    def fresh(self, student: str, task: Task) -> dict[str, Verdict]:
        """The verdicts on just this work that are not stale."""
        kept, stale = self._kept(student), self.stale(student)
        if kept.get("work") != task.work() or not _isolated_enough(kept, task):
            return {}
        verdicts = {name: Verdict.from_dict(values) for name, values in kept["verdicts"].items()}
        return {name: one for name, one in verdicts.items() if name not in stale and one.kind != "not-graded"}

    def own_outputs(self, student: str) -> dict[str, list[NotebookNode]]:
        """What the instructor's own tests gave on a student's graded work, if all of them are those of today.

        They share names, so that a change of one may decide another.
        """
        graded = self._graded_notebook(student)
        if graded is None or self._stale_own(graded):
            return {}
        own = own_tests_in(graded)
        return {grade_id(cell): cell.outputs for cell in graded.cells if grade_id(cell) in own}

    def earlier(self, student: str, task: Task) -> dict[str, Any]:
        """What a grading of just this work made of it: its points `before`, and which cells are to be `retested`."""
        if not self.has_graded(student, task):
            return {}
        name = self.topic.folder
        scores = read_scores(self.coursedir().db_url, name, student, name)
        return {"retested": self.stale(student), "before": dict(scores.cells) if scores else {}}

    def _graded_notebook(self, student: str) -> NotebookNode | None:
        """A student's graded notebook, if there is one that can be read."""
        path = self.autograded(student) / f"{self.topic.folder}.ipynb"
        try:
            return read_notebook(path.read_bytes())
        except (OSError, ValueError, KeyError, AttributeError):
            return None

    def _kept(self, student: str) -> dict[str, Any]:
        """What the student's graded notebook keeps about its grading; nothing when there is none."""
        from course.grading.cells import METADATA

        path = self.autograded(student) / f"{self.topic.folder}.ipynb"
        try:
            return dict(json.loads(path.read_text(encoding="utf-8"))["metadata"].get(METADATA, {}))
        except (OSError, ValueError, KeyError):
            return {}

    def result(self, student: str, notes: Sequence[str] = ()) -> Graded:
        """What the gradebook and the graded notebook say of a student, who is done with."""
        self._sanitized.pop(student, None)
        name = self.topic.folder
        scores = read_scores(self.coursedir().db_url, name, student, name)
        kept = self._kept(student)
        verdicts = {key: Verdict.from_dict(dict(value)) for key, value in kept.get("verdicts", {}).items()}
        used = {name: kept[name] for name in ("seconds", "cpu", "memory", "isolation", "origins") if name in kept}
        unfinished = [f"{task}: {sentence}" for task, sentence in kept.get("unfinished", {}).items()]
        told = (*notes, *map(str, kept.get("notes", ())), *unfinished)
        return Graded(student, scores, verdicts, notes=told, spent=dict(kept.get("spent", {})), **used)

    def _converter(self, student: str) -> Autograde:
        """nbgrader's converter, ready for its sanitising pass, of which it hands over the notebook and not its text."""
        from nbgrader.converters import Autograde

        from course.grading.nbgrader_bridge.sanitise import ReadMended

        converter = Autograde(coursedir=self.coursedir(student), config=self.config)
        converter.exporter = ReadMended(parent=converter, config=converter.config)
        converter._sanitizing = True
        converter._init_preprocessors()
        return converter

    def _files(self, converter: Autograde, submission: Path) -> dict[str, bytes]:
        """The files beside the notebook: the student's, and over them those the instructor gives out."""
        from nbgrader.utils import find_all_files

        coursedir = converter.coursedir
        given = Path(coursedir.format_path(coursedir.source_directory, ".", self.topic.folder))
        kept = {given / name for name in converter.exclude_overwriting.get(self.topic.folder, [])}
        files: dict[str, bytes] = {}
        for folder in (submission, given):
            for name in find_all_files(str(folder), [*coursedir.ignore, "*.ipynb"]):
                path = Path(name)
                if path not in kept:
                    files[path.relative_to(folder).as_posix()] = path.read_bytes()
        return files


def grade_class(
    classroom: Classroom,
    *,
    students: Sequence[str] = (),
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    stale: bool = False,
    progress: Progress | None = None,
) -> list[Graded]:
    """Grade the submissions of a class, or of the `students` named, and return what became of each.

    Work that was graded before stays as it is, and results that are kept are not made again, unless `force` is given.

    Args:
        workers: processes that execute; by default as many as `most_workers` says.
        scheduler: the address of a Dask scheduler whose workers execute instead.
        stale: look only at work graded before, at that whose tests have changed since; verdicts on exercises whose
            tests have not changed stay as they are.
        progress: is told what happens.

    Raises:
        Problem: nobody, or not one of those named, handed anything in; or the topic is being graded already.
    """
    submissions = classroom.handed_in.submissions()
    misnamed = [] if students or stale else classroom.handed_in.misnamed()
    missing = [student for student in students if student not in submissions]
    name = classroom.topic.folder
    if not submissions and not misnamed:
        place = f"submitted/<student>/{name}/{name}.ipynb"
        if others := classroom.handed_in.unknown_topics():
            raise Problem(
                f"nobody has handed in {name}, as {place}, but there is {', '.join(others)}, which is no topic: if "
                "that was its name, give it back, or rename these folders and the notebooks in them"
            )
        raise Problem(f"nobody has handed in {name}, as {place}; `course grade my.ipynb` grades one of your own")
    if missing:
        raise Problem(f"there is no submission of {name} by {', '.join(missing)}")
    chosen = {student: submissions[student] for student in students or submissions}
    if stale:
        chosen = {student: folder for student, folder in chosen.items() if classroom.stale(student)}
    round_ = _Round(classroom, chosen, force, stale, progress or Silence())
    most = max(1, min(workers or most_workers(), len(chosen)))
    with sole_grader(classroom.root, name):
        try:
            jobs = round_.jobs()
            first = next(jobs, None)
            if first is not None:  # nobody is hired for a class that is graded already
                with crew(most, scheduler, classroom.environment) as hired:
                    for student, task, outcome in execute_all(chain([first], jobs), hired):
                        round_.finish(student, task, outcome)
        finally:
            round_.timings.write()
    return [round_.graded[student] for student in sorted(round_.graded)] + misnamed


class _Round:
    """One grading of a class: what is to be executed, and what has become of everybody so far."""

    def __init__(
        self, classroom: Classroom, chosen: dict[str, Path], force: bool, stale: bool, progress: Progress
    ) -> None:
        self.classroom, self.chosen, self.force, self.stale = classroom, chosen, force, stale
        self.progress = progress
        self.graded: dict[str, Graded] = {}
        self.notes: dict[str, tuple[str, ...]] = {}
        self.store = classroom.store
        self.timings = Timings.of(classroom.root, classroom.topic)

    def jobs(self) -> Iterator[tuple[str, Task]]:
        """The submissions that have to be executed; all others are settled as their turn comes."""
        self.progress.begin(len(self.chosen))
        for choice in choose_all(self.classroom, self.chosen, self.force):
            self.notes[choice.student] = choice.notes
            if choice.step == "execute" and choice.task is not None:
                yield choice.student, choice.task
            else:
                self._settle(choice)

    def _settle(self, choice: Choice) -> None:
        """Do what a choice says of a submission that need not be executed."""
        if choice.step == "refuse":
            self._refuse(choice.student, choice.reason)
        elif choice.step == "set aside":
            self._set_aside(choice.student, choice.task, choice.reason)
        elif choice.step == "leave":
            self.classroom.renew_penalty(choice.student)
            self._close(choice.student)
        elif choice.task is not None and choice.outcome is not None:
            self._hand_over(choice.student, choice.task, choice.outcome, kept=True)
        else:
            self._save(choice.student)

    def finish(self, student: str, task: Task, outcome: bytes) -> None:
        """A submission was executed: keep the result, then save it."""
        from course.grading.execution.judged_outputs import with_earlier

        came = Outcome.from_bytes(outcome)
        if self.stale and not came.fault and (fresh := self.classroom.fresh(student, task)):
            came = with_earlier(came, fresh, self.classroom.own_outputs(student))
            outcome = came.to_bytes()
        if self.store:
            self.store.put(task, outcome)
        self._hand_over(student, task, came, kept=False)

    def _hand_over(self, student: str, task: Task, outcome: Outcome, kept: bool) -> None:
        self.timings.note(student, outcome, kept)
        if outcome.fault:
            self._set_aside(student, task, f"by a fault of the grading machine: {outcome.fault}", outcome)
            return
        self._save(student, replace(outcome, why_cold="") if kept else outcome, task)

    def _set_aside(self, student: str, task: Task | None, reason: str, outcome: Outcome | None = None) -> None:
        """What stands in the way is not the work itself: what was found out earlier of the same work stays."""
        if task is not None and self.classroom.has_graded(student, task):
            self.graded[student] = Graded(student, reason=f"{reason}; its earlier grading stays")
            self.progress.done(student, outcome)
        else:
            self._refuse(student, reason, outcome)

    def _save(self, student: str, outcome: Outcome | None = None, task: Task | None = None) -> None:
        earlier = self.classroom.earlier(student, task) if task is not None else {}
        try:
            reason = self.classroom.save(student, outcome, task)
        except OSError as error:
            self.graded[student] = Graded(student, reason=told(error))
            self.progress.done(student, outcome)
            return
        if reason:
            self._refuse(student, reason, outcome)
        else:
            self._close(student, outcome, **earlier)

    def _close(self, student: str, outcome: Outcome | None = None, **earlier: Any) -> None:
        graded = self.classroom.result(student, self.notes[student])
        self.graded[student] = replace(graded, why_cold=outcome.why_cold if outcome else "", **earlier)
        self.progress.done(student, outcome)

    def _refuse(self, student: str, reason: str, outcome: Outcome | None = None) -> None:
        self.classroom.refuse(student)
        self.graded[student] = Graded(student, reason=reason)
        self.progress.done(student, outcome)


def _isolated_enough(kept: dict[str, Any], task: Task) -> bool:
    """Whether what is kept came about in a sandbox, where the task demands one."""
    return not task.isolated or kept.get("isolation", NOT_ISOLATED) != NOT_ISOLATED
