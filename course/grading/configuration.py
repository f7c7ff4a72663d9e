"""What an `nbgrader_config.py` needs for grading with the judge: `configure(c, root)`."""

from __future__ import annotations

import logging
import re
import sys
import traceback
from contextlib import ExitStack
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

from traitlets.config import Config

from course.syllabus import OUTLINE

NAME = "nbgrader_config.py"

RESULTS = Path(".course", "results")
"""Where, in a course's folder, the results of executions are kept."""


def configure(c: Any, root: Path | None = None) -> None:
    """Add the judge to an nbgrader configuration: sanitising, execution, saving, feedback.

    With the course's folder `root`, results are kept there, so that nothing is executed twice, and cells that the
    course gave out and nothing graded depends on are not run.
    """
    stop_at_faults()
    if root is not None:
        c.JudgedExecute.results = str(root / RESULTS)
        c.JudgedExecute.given = str(root / c.CourseDirectory.get("source_directory", "source"))
    # Of what was downloaded, what is damaged or nobody's does not keep the others from being collected.
    c.ZipCollectApp.extractor_plugin = "course.grading.unpacking.EachAlone"
    c.ZipCollectApp.collector_plugin = "course.grading.collect.OfTheTopic"
    # A name with a comma is one column of the exported table.
    c.ExportApp.plugin_class = "course.grading.export.quoted.QuotedCsv"
    # Widgets have a picture of themselves where nothing runs.
    c.GenerateAssignment.preprocessors.append("course.grading.add_stills.AddStills")
    # A submission is read however odd its file is.
    c.Autograde.exporter_class = "course.grading.repair.Mended"
    # The steps of `repair` undo what students do to notebooks.
    c.Autograde.sanitize_preprocessors = [
        "course.grading.repair.Repair",
        "nbgrader.preprocessors.ClearOutput",
        "nbgrader.preprocessors.DeduplicateIds",
        "course.grading.repair.RestoreKernelspec",
        "course.grading.repair.RestoreCells",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    # JudgedExecute runs the notebook and lets the judge decide, outside the student's process.
    c.Autograde.autograde_preprocessors = [
        "course.grading.preprocessors.JudgedExecute",
        "nbgrader.preprocessors.IgnorePattern",
        "nbconvert.preprocessors.ClearMetadataPreprocessor",
        "nbgrader.preprocessors.LimitOutput",
        "course.grading.preprocessors.SaveVerdicts",
        "course.grading.preprocessors.KeepLatePenalties",
        "nbgrader.preprocessors.CheckCellMetadata",
    ]
    # Feedback shows what a student wrote and what the judge said, and nothing of hidden tests. What late work loses is
    # counted anew: a person gives some of the points after grading.
    c.GenerateFeedback.preprocessors = [
        "course.grading.preprocessors.KeepLatePenalties",
        "nbgrader.preprocessors.GetGrades",
        "course.grading.feedback.SubmissionNotes",
        "course.grading.feedback.TrimHiddenTests",
        "nbgrader.preprocessors.ClearHiddenTests",
        "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
        "course.grading.feedback.Readable",
    ]
    # What students wrote stands in formgrader's pages and in feedback, and runs in neither.
    c.HTMLExporter.preprocessors.append("course.grading.harmless.Harmless")
    c.HTMLExporter.filters.update({"markdown2html": "course.grading.harmless.markdown2html"})
    # A deleted test cell comes back and scores, instead of waiting for a manual grade for ever.
    c.OverwriteCells.add_missing_cells = True
    # With nbclient's default tag a student could have any cell skipped, tests included.
    c.Execute.skip_cells_with_tag = ""
    if OUTLINE is not None:  # late work loses what course.toml says; nbgrader knows when it came
        c.AssignLatePenalties.plugin_class = "course.grading.late.LatePolicy"
    guard_submissions()
    guard_topics()
    guard_collecting()
    guard_exchange()


def stop_at_faults() -> None:
    """Make nbgrader stop where the rest of its configuration fails, instead of going on with settings of its own.

    Those know no sandbox. nbgrader has no setting for that by the time it reads the file, but it logs the fault.
    """
    from traitlets.log import get_logger

    logging.getLogger(get_logger().name).addFilter(_stop)


def _stop(record: logging.LogRecord) -> bool:
    if record.exc_info and record.exc_info[1] and str(record.msg).startswith("Exception while loading config"):
        sys.exit(f"course: {fault_of(record.exc_info[1])}")
    return True


def fault_of(error: BaseException) -> str:
    """Where a configuration failed and how, in a line."""
    lines = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(NAME)]
    if isinstance(error, SyntaxError):
        return f"{NAME}, line {error.lineno}: {error.msg}"
    where = f"{NAME}, line {lines[-1].lineno}" if lines else NAME
    return f"{where}: {type(error).__name__}: {error}"


def misspelt(config: Config, text: str) -> str:
    """Which setting of the configuration written in `text` nobody reads, in a line; nothing where all are read.

    traitlets only logs such a setting, and not before somebody is graded without it. Told are those of our own classes
    and those that are nearly right: another program's are none of our business.
    """
    classes = _configurable()
    for section, settings in config.items():
        wanted, is_ours = classes.get(section, (set(), False))
        if section not in classes:
            if near := get_close_matches(section, classes, 1, cutoff=0.9):
                return f"{_place(section, text)}: there is no class {section}; is {near[0]} meant?"
            continue
        for name, value in settings.items():
            if name in wanted or isinstance(value, Config):
                continue
            near = get_close_matches(name, wanted, 1, cutoff=0.6 if is_ours else 0.8)
            if near or is_ours:
                meant = f"is {near[0]} meant?" if near else "leave it out"
                return f"{_place(f'{section}.{name}', text)}: {section} has no setting {name}; {meant}"
    return ""


def _place(setting: str, text: str) -> str:
    pattern = re.compile(rf"^[^#]*\b{re.escape(setting)}\b")
    lines = (number for number, line in enumerate(text.splitlines(), 1) if pattern.search(line))
    number = next(lines, None)
    return f"{NAME}, line {number}" if number else NAME


def _configurable() -> dict[str, tuple[set[str], bool]]:
    """The settings there are, by the names of the classes they may be set at, and whether such a class is ours.

    What is set at a class holds for those that are made of it, with settings of their own.
    """
    from traitlets.config import Configurable

    plugins = ("add_stills", "collect", "export.quoted", "late", "unpacking")
    for module in (*plugins, "feedback", "harmless", "preprocessors", "repair"):
        import_module(f"course.grading.{module}")
    found: dict[str, tuple[set[str], bool]] = {}
    waiting, seen = [Configurable], set()
    while waiting:
        cls = waiting.pop()
        waiting += [sub for sub in cls.__subclasses__() if sub not in seen]
        seen |= set(cls.__subclasses__())
        for base in cls.__mro__:
            if issubclass(base, Configurable):
                settings, is_ours = found.get(base.__name__, (set(), False))
                is_ours = is_ours or base.__module__.startswith("course.")
                found[base.__name__] = settings | set(cls.class_trait_names(config=True)), is_ours
    return found


def guard_submissions() -> None:
    """Make nbgrader look at a submission before it copies its files, which is where it first follows a link.

    A submission with a link or the like in it fails by itself, and the automatic scores of an earlier grading go before
    a new one starts, so that one that fails leaves none behind. nbgrader has no hook at that place: the converter's
    method is wrapped.
    """
    from nbgrader.converters import Autograde

    copy_files = Autograde.init_assignment
    if getattr(copy_files, "guarded", False):
        return

    def init_assignment(self: Any, assignment_id: str, student_id: str) -> None:
        from course.grading.gradebook import clear_scores, enrol, forget_arrival
        from course.grading.untrusted import refuse_links, refuse_name, refuse_shared

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

    init_assignment.guarded = True  # type: ignore[attr-defined]
    Autograde.init_assignment = init_assignment


def guard_topics() -> None:
    """Make nbgrader's own autograding, formgrader's button included, wait its turn while somebody grades the topic.

    What it says of a gradebook that fails, that it was recently upgraded, is told as it is. nbgrader has no hook here.
    """
    from nbgrader.converters import Autograde
    from nbgrader.converters.base import NbGraderException

    convert = Autograde.convert_notebooks
    if getattr(convert, "guarded", False):
        return

    def convert_notebooks(self: Any) -> None:
        from course.grading.fault import told
        from course.grading.problem import Problem
        from course.grading.sole import is_sole_grader, sole_grader

        root, topic = Path(self.coursedir.root), self.coursedir.assignment_id
        with ExitStack() as stack:
            try:
                if not is_sole_grader(root, topic):
                    stack.enter_context(sole_grader(root, topic))
            except (Problem, OSError) as error:
                self.log.error(told(error) or str(error))
                raise NbGraderException(told(error) or str(error)) from error
            try:
                convert(self)
            except NbGraderException as error:
                if fault := told(error.__context__):
                    self.log.error(fault)
                raise

    convert_notebooks.guarded = True  # type: ignore[attr-defined]
    Autograde.convert_notebooks = convert_notebooks


def guard_collecting() -> None:
    """Make `nbgrader zip_collect` decide whose work is whose, keep what it replaces, and end with what it left out.

    nbgrader has no hook at these places.
    """
    from nbgrader.apps import ZipCollectApp

    process, copy = ZipCollectApp.process_extracted_files, ZipCollectApp._transfer_files
    if getattr(process, "guarded", False):
        return

    def process_extracted_files(self: Any) -> None:
        from course.grading.collect import collect_extracted

        collect_extracted(self, process)

    def transfer_files(self: Any, collected: dict[str, dict]) -> None:
        from course.grading.collect import transfer

        transfer(self, copy, collected or {})

    process_extracted_files.guarded = True  # type: ignore[attr-defined]
    ZipCollectApp.process_extracted_files = process_extracted_files
    ZipCollectApp._transfer_files = transfer_files


def guard_exchange() -> None:
    """Make `nbgrader collect` keep what it replaces in `submitted/`; nbgrader has no hook here."""
    from nbgrader.exchange.default import ExchangeCollect

    copy = ExchangeCollect.copy_files
    if getattr(copy, "guarded", False):
        return

    def copy_files(self: Any) -> None:
        from course.grading.attempts import arrival, keep_folder
        from course.grading.fault import told

        root, topic = Path(self.coursedir.root), self.coursedir.assignment_id
        try:
            for record in self.src_records:
                student, came = record["username"], record["timestamp"]
                work = Path(self.coursedir.format_path(self.coursedir.submitted_directory, student, topic))
                there = arrival(work)
                is_newer = self.update and (there is None or came > there)
                if work.is_dir() and (is_newer or (self.before_duedate and there != came)):
                    keep_folder(root, student, topic, work)
        except OSError as error:
            self.fail(told(error) or str(error))
        copy(self)

    copy_files.guarded = True  # type: ignore[attr-defined]
    ExchangeCollect.copy_files = copy_files
