"""The steps our course adds to nbgrader's autograding: `JudgedExecute`, `SaveVerdicts`, `KeepLatePenalties`."""

from __future__ import annotations

import copy
import hmac
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.api import Gradebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties, Execute, NbGraderPreprocessor, SaveAutoGrades
from nbgrader.utils import determine_grade, is_grade, is_solution
from traitlets import Bool, Dict, Enum, Float, Int, Unicode
from traitlets import List as ListTrait

from course.grading.answers_elsewhere import cells_beside, given_sources, note_on
from course.grading.engine import fingerprint
from course.grading.execution import METADATA, checks_in, execute, exercises_in, topics_of
from course.grading.gradebook import Marks, arrival, class_secret
from course.grading.late import LatePolicy
from course.grading.needless import needless
from course.grading.notebooks import grade_id
from course.grading.own_cells import own_code_in
from course.grading.sandbox.confines import MEGABYTE, Allowance
from course.grading.store import Store
from course.grading.task import (
    Limits,
    Outcome,
    Task,
    is_ignored,
    notebook_bytes,
    read_files,
    read_notebook,
    write_files,
)
from course.syllabus import TOPICS

SEEDS = 16
"""Different draws of the hidden cases in a class: enough that neighbours differ, few enough to compute once each."""


class JudgedExecute(Execute):
    """Executes a notebook under the judge: takes a stored outcome of the same task, or executes it now.

    Its traits are those of nbgrader's `Execute`, whose settings (`c.Execute.timeout`, `--no-execute`) apply to it.
    """

    results = Unicode("", config=True, help="Folder where results are kept, by the digests of their tasks.")
    given = Unicode("", config=True, help="Folder of nbgrader's source notebooks, to know the cells given out.")
    demonstrations = Bool(False, config=True, help="Whether to run given cells that nothing graded depends on, too.")
    require_sandbox = Bool(False, config=True, help="Whether to refuse to grade where there is no sandbox.")
    gpu = Bool(False, config=True, help="Whether notebooks get an accelerator, and are not graded without one.")
    memory = Float(3072, config=True, help="Megabytes of memory for a notebook's processes together; 0: no limit.")
    processes = Int(64, config=True, help="Processes of a notebook at a time.")
    disk = Float(512, config=True, help="Megabytes a notebook may write.")
    printed = Float(4, config=True, help="Millions of characters kept of what a cell prints or draws.")
    policy = Enum(
        ("checkpoint", "retrain"),
        "checkpoint",
        config=True,
        help="Whether `fit` loads the submitted weights or trains anew.",
    )
    call_timeout = Float(20.0, config=True, help="Seconds for judging an exercise; a task gets three times as many.")
    notebook_timeout = Float(300.0, config=True, help="Seconds for a whole notebook beside training; 0: no limit.")
    secret = Unicode("", config=True, help="Draws the hidden cases; by default kept beside the gradebook.")
    environment = Dict(config=True, help="Variables added to the kernel's cleaned environment.")
    ignore = ListTrait(Unicode(), ["timestamp.txt", "*_feedback"], config=True, help="Files the kernel does not see.")

    def preprocess(self, nb: NotebookNode, resources: dict, km: Any = None) -> tuple[NotebookNode, dict]:
        """Execute and judge `nb`; what the student's code wrote lands in the notebook's folder.

        Raises:
            RuntimeError: the grading machine could not execute it.
        """
        folder = Path(resources["metadata"]["path"])
        task = self.task(nb, resources, read_files(folder))
        outcome = self._stored(task) or self._executed(task)
        if outcome.fault:
            raise RuntimeError(f"not graded, by a fault of the grading machine: {outcome.fault}")
        write_files(outcome.files, folder)
        executed = _with_ids(read_notebook(outcome.notebook), nb)
        if METADATA in executed.metadata and outcome.final:
            executed.metadata[METADATA].update(task=task.digest(), work=task.work(), submission=task.submission())
            executed.metadata[METADATA]["arrival"] = _arrival(resources.get("nbgrader", {}))
        return executed, resources

    def task(self, nb: NotebookNode, resources: dict, files: dict[str, bytes]) -> Task:
        """What is to be executed: `nb` with `files` beside it but for those to `ignore`, and all that decides it."""
        about = resources.get("nbgrader", {})
        return Task(
            name=about.get("notebook", "notebook"),
            notebook=notebook_bytes(nb),
            files={name: content for name, content in files.items() if not is_ignored(name, self.ignore)},
            seed=self._seed(about),
            policy=self.policy,
            limits=self._limits(nb),
            client={name: getattr(self, name) for name in PASSED_ON},
            environment=dict(self.environment),
            skip=() if self.demonstrations else needless(nb, self._given_out(about), own_code_in(nb)),
            gpu=self.gpu,
            engine=fingerprint(topics_of(checks_in(nb).values())),
            isolated=self.require_sandbox,
        )

    def store(self) -> Store | None:
        """Where results are kept, if anywhere."""
        return Store(Path(self.results)) if self.results else None

    def _given_out(self, about: dict) -> frozenset[str]:
        """The sources of the plain code cells of one of the course's own notebooks as it was given out."""
        name = about.get("notebook", "")
        if not _is_ours(name):
            return frozenset()
        path = Path(self.given, about.get("assignment", ""), f"{name}.ipynb")
        return plain_sources(path, path.stat().st_mtime_ns) if self.given and name and path.is_file() else frozenset()

    def _limits(self, nb: NotebookNode) -> Limits:
        limits = Limits(
            _unless_endless(self.timeout),
            call=self.call_timeout,
            notebook=self.notebook_timeout or None,
            output=int(self.printed * 1e6),
            allowance=Allowance(
                memory=int(self.memory * MEGABYTE) or None,
                processes=self.processes or None,
                disk=int(self.disk * MEGABYTE) or None,
            ),
        )
        limits = own_limits(nb, limits)
        if self.timeout_func is None:
            return limits
        asked = {index: _unless_endless(self.timeout_func(cell)) for index, cell in enumerate(nb.cells)}
        return replace(limits, cells=asked)

    def _seed(self, about: dict) -> int:
        """One of `SEEDS` numbers, by class secret and submission."""
        secret = self.secret or class_secret(about.get("db_url", ""))

        def number(*parts: str) -> int:
            return int.from_bytes(hmac.digest(secret.encode(), "/".join(parts).encode(), "sha256")[:4], "big")

        place = number(about.get("student", ""), about.get("assignment", ""), about.get("notebook", ""))
        return number("seed", str(place % SEEDS)) % 2**31

    def _stored(self, task: Task) -> Outcome | None:
        store = self.store()
        return store.get(task) if store else None

    def _executed(self, task: Task) -> Outcome:
        outcome, store = execute(task.to_bytes()), self.store()
        if store:
            store.put(task, outcome)
        return Outcome.from_bytes(outcome)


def _unless_endless(seconds: float | None) -> float | None:
    """A cell's time, and `None` for all the ways nbclient knows to set no limit."""
    return seconds if seconds is not None and seconds > 0 else None


@cache
def plain_sources(path: Path, changed: int) -> frozenset[str]:
    """The sources of a notebook's code cells that are no exercise; `changed` is when the file last was."""
    cells = read_notebook(path.read_bytes()).cells
    return frozenset(cell.source for cell in cells if cell.cell_type == "code" and "nbgrader" not in cell.metadata)


PASSED_ON = (
    "kernel_name",
    "startup_timeout",
    "iopub_timeout",
    "raise_on_iopub_timeout",
    "interrupt_on_timeout",
    "error_on_timeout",
    "extra_arguments",
    "skip_cells_with_tag",
    "store_widget_state",
    "record_timing",
    "coalesce_streams",
)
"""Traits of `Execute` that go with a task, being plain values."""


class SaveVerdicts(SaveAutoGrades):
    """nbgrader's `SaveAutoGrades`, but a notebook's scores are saved at once, all or none.

    An exercise the grading machine could not judge, or was told not to execute, has no score: neither zero nor all.
    An untouched question beside new text waits for a person, where nbgrader gives it a zero.
    """

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Save the scores of `nb`."""
        about, verdicts = resources["nbgrader"], nb.metadata.get(METADATA, {}).get("verdicts", {})
        self.ungraded = {name for name, verdict in verdicts.items() if verdict["kind"] == "not-graded"}
        if unjudged := set(checks_in(nb).values()) - verdicts.keys():
            self.ungraded |= unjudged & set(exercises_in(nb).values())
        self.notebook_id, self.assignment_id, self.student_id = about["notebook"], about["assignment"], about["student"]
        self.elsewhere = self._answered_elsewhere(nb)
        with Gradebook(about["db_url"]) as gradebook:
            self.gradebook = Marks(gradebook, self.notebook_id, self.assignment_id, self.student_id)
            nb, resources = NbGraderPreprocessor.preprocess(self, nb, resources)
            gradebook.db.commit()
        if self.elsewhere:
            notes = [f"{name}: {note}" for name, note in self.elsewhere.items()]
            nb.metadata.setdefault(METADATA, NotebookNode())["notes"] = notes
        return nb, resources

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
        """The texts of the notebook as it was given out; nothing where neither source nor release is there."""
        coursedir = CourseDirectory(config=self.config)
        for step in (coursedir.source_directory, coursedir.release_directory):
            path = Path(coursedir.format_path(step, ".", self.assignment_id), f"{self.notebook_id}.ipynb")
            if path.is_file():
                return given_sources(path, path.stat().st_mtime_ns)
        return frozenset()

    def _add_score(self, cell: NotebookNode, resources: dict) -> None:
        super()._add_score(cell, resources)
        name = cell.metadata["nbgrader"]["grade_id"]
        if name in self.ungraded or name in self.elsewhere:
            grade = self.gradebook.grades[name]
            grade.auto_score, grade.needs_manual_grade = None, True

    def _add_comment(self, cell: NotebookNode, resources: dict) -> None:
        super()._add_comment(cell, resources)
        if note := self.elsewhere.get(cell.metadata["nbgrader"]["grade_id"]):
            self.gradebook.comments[cell.metadata["nbgrader"]["grade_id"]].auto_comment = note


class KeepLatePenalties(AssignLatePenalties):
    """nbgrader's `AssignLatePenalties`, but without a rule for penalties those given by hand stay."""

    def has_rule(self) -> bool:
        """Whether `c.AssignLatePenalties.plugin_class`, the plugin's method or `course.toml` names a rule."""
        self.init_plugin()
        rule = self.plugin_inst
        if isinstance(rule, LatePolicy):
            return bool(rule.late.percent_per_day)
        return type(rule) is not LateSubmissionPlugin or rule.penalty_method != "none"

    def penalty(self, notebook: Any) -> float | None:
        """The points that a submitted notebook of the gradebook loses by the rule; None where it is in time."""
        late = notebook.assignment.total_seconds_late
        if late <= 0:
            return None
        lost = self.plugin_inst.late_submission_penalty(notebook.student.id, notebook.score, late)
        return None if lost is None else self._check_late_penalty(notebook, lost)

    def preprocess(self, nb: NotebookNode, resources: dict) -> tuple[NotebookNode, dict]:
        """Save what the notebook loses by the rule, if there is one."""
        if self.has_rule():
            about = resources["nbgrader"]
            with Gradebook(about["db_url"]) as gradebook:
                submitted = gradebook.find_submission_notebook(about["notebook"], about["assignment"], about["student"])
                submitted.late_submission_penalty = self.penalty(submitted)
                gradebook.db.commit()
        return nb, resources


TRAINING = re.compile(r"\bfit\(\s*[\"'](\w+)[\"']")
"""A cell that trains, and the name of its task."""

MOST_TRAININGS = 8
"""Cells that get a training's time on top; the course's own notebooks have up to six."""


def own_limits(nb: NotebookNode, limits: Limits) -> Limits:
    """`limits` with what the course's own cells are allowed: the judge's time, and the budgets of training.

    However often a cell names a task, and whatever tasks of other notebooks: it gets the budget once. What a training
    may wait beyond its seconds of work, on a busy machine, all trainings of a notebook share.
    """
    cells: dict[int, float | None] = {}
    trainings: list[float] = []
    patience = 0.0
    checks = checks_in(nb)
    topics = topics_of(checks.values())
    tasks = {item.name: item.budget for topic in TOPICS if topic.name in topics for item in topic.items if item.budget}
    for index, cell in enumerate(nb.cells):
        if index in checks:
            cells[index] = max(limits.cell or 0.0, limits.judging(checks[index]) + 10.0)
        budgets = [tasks[name] for name in set(TRAINING.findall(cell.source)) & tasks.keys()]
        if cell.cell_type == "code" and budgets and len(trainings) < MOST_TRAININGS:
            cells[index] = limits.cell and limits.cell + sum(budget.wall for budget in budgets)
            trainings.append(sum(budget.seconds for budget in budgets))
            patience = max(patience, *(budget.wall - budget.seconds for budget in budgets))
    return replace(limits, cells=cells, notebook=limits.notebook and limits.notebook + sum(trainings) + patience)


def _arrival(about: dict) -> str:
    """When the work came and by what rule it is late, as the gradebook has it by now."""
    if not about.get("db_url"):
        return ""
    return arrival(about["db_url"], about.get("assignment", ""), about.get("student", ""))


def _is_ours(name: str) -> bool:
    """Whether a notebook is of a topic of this course, and not of an instructor's own or of an ordinary course."""
    return any(name == topic.folder and not topic.own for topic in TOPICS)


def _with_ids(executed: NotebookNode, nb: NotebookNode) -> NotebookNode:
    """`executed` with the ids `nb` has: a stored outcome may come from a reading of it that drew others."""
    executed = copy.copy(executed)
    for done, cell in zip(executed.cells, nb.cells):
        if "id" in cell:
            done["id"] = cell["id"]
    return executed
