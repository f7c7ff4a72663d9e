"""Define the step of autograding that executes a notebook and judges it outside the student's process."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import Execute
from traitlets import Bool, Dict, Enum, Float, Int, Unicode
from traitlets import List as ListTrait

from course.course import Course
from course.grading.cells import METADATA, checks_in, notebook_bytes, read_notebook, topics_of
from course.grading.execution.execute import execute
from course.grading.execution.judged_outputs import score_under
from course.grading.execution.result_store import Store
from course.grading.execution.skippable_cells import skippable
from course.grading.execution.task import Limits, Outcome, Task
from course.grading.execution.time_limits import own_limits
from course.grading.fingerprints import fingerprint
from course.grading.gradebook.class_secret import class_secret
from course.grading.gradebook.scores import arrival
from course.grading.intake.untrusted import OF_SYSTEMS, is_ignored, read_files, write_files
from course.grading.nbgrader_bridge.course_of import course_of
from course.grading.own_cells import own_code_in
from course.grading.sandbox.spec import MEGABYTE, Allowance

SEEDS = 16
"""The number of seeds for hidden cases in a class: neighbours rarely share one, and each is computed only once."""

UNSEEN = ["timestamp.txt", "*_feedback", "._*", *sorted(OF_SYSTEMS)]
"""Files that are hidden from the kernel: nbgrader's own, and those that operating systems add."""

_handed: dict[str, Outcome] = {}
"""Outcomes handed over within this process, by task digest; see `handed_over`."""


@contextmanager
def handed_over(task: Task, outcome: Outcome) -> Iterator[None]:
    """Let `JudgedExecute` use `outcome` for `task` within the block, without executing or reading anything."""
    digest = task.digest()
    _handed[digest] = outcome
    try:
        yield
    finally:
        del _handed[digest]


class JudgedExecute(Execute):
    """A step that executes a notebook under the judge, or takes a stored outcome of the same task.

    Its traits include those of nbgrader's `Execute`, so `c.Execute.timeout` and `--no-execute` apply to it.
    """

    results = Unicode("", config=True, help="Folder where results are kept, by the digests of their tasks.")
    given = Unicode("", config=True, help="Folder of nbgrader's source notebooks, to know the cells given out.")
    demonstrations = Bool(False, config=True, help="Whether to run given cells that nothing graded depends on, too.")
    require_sandbox = Bool(False, config=True, help="Whether to refuse to grade where there is no sandbox.")
    gpu = Bool(False, config=True, help="Whether notebooks get an accelerator, and are not graded without one.")
    memory = Float(3072, config=True, help="Megabytes of memory for a notebook's processes together. 0 sets no limit.")
    processes = Int(64, config=True, help="Processes of a notebook at a time.")
    disk = Float(512, config=True, help="Megabytes a notebook may write.")
    printed = Float(4, config=True, help="Millions of characters kept of what a cell prints or draws.")
    policy = Enum(
        ("checkpoint", "retrain"),
        "checkpoint",
        config=True,
        help="Whether `fit` loads the submitted weights or trains anew.",
    )
    call_timeout = Float(20.0, config=True, help="Seconds for judging an exercise. A task gets three times as many.")
    notebook_timeout = Float(300.0, config=True, help="Seconds for a whole notebook beside training. 0 sets no limit.")
    secret = Unicode("", config=True, help="Seed of the hidden cases, kept beside the gradebook by default.")
    environment = Dict(config=True, help="Variables added to the kernel's cleaned environment.")
    ignore = ListTrait(Unicode(), UNSEEN, config=True, help="Files the kernel does not see.")

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any], km: Any = None
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Execute and judge `nb`, and write the files that the student's code wrote to the notebook's folder.

        Raises:
            RuntimeError: the grading machine could not execute the notebook.
        """
        folder = Path(resources["metadata"]["path"])
        task = self.task(nb, resources, read_files(folder))
        outcome = self._stored(task) or self._executed(task)
        if outcome.fault:
            raise RuntimeError(f"not graded, because the grading machine failed: {outcome.fault}")
        write_files(outcome.files, folder)
        arrived = self._arrival(resources.get("nbgrader", {}))
        return executed_notebook(self.course, task, outcome, nb.cells, arrived), resources

    @property
    def course(self) -> Course:
        """Return the course of the notebooks."""
        return course_of(self)

    def task(self, nb: NotebookNode, resources: dict[str, Any], files: dict[str, bytes]) -> Task:
        """Return the task to execute: `nb`, the `files` beside it without those to `ignore`, and the settings."""
        about, course = resources.get("nbgrader", {}), self.course
        return Task(
            name=about.get("notebook", "notebook"),
            notebook=notebook_bytes(nb),
            files={name: content for name, content in files.items() if not is_ignored(name, self.ignore)},
            seed=self.seed_of(about),
            policy=self.policy,
            limits=self._limits(nb),
            client={name: getattr(self, name) for name in PASSED_ON},
            environment=dict(self.environment),
            skip=() if self.demonstrations else skippable(nb, self._given_out(about), own_code_in(course, nb)),
            gpu=self.gpu,
            engine=fingerprint(topics_of(course, checks_in(course, nb).values())),
            isolated=self.require_sandbox,
            outline=course.outline.public,
            root=str(course.root),
        )

    def store(self) -> Store | None:
        """Return the store of results, or None if `results` is not set."""
        return Store(Path(self.results)) if self.results else None

    def _given_out(self, about: dict[str, Any]) -> frozenset[str]:
        """Return the sources of a released notebook's plain code cells, or an empty set for an unknown notebook."""
        name = about.get("notebook", "")
        topic = self.course.topic_in(name)
        if topic is None or topic.own:
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
        limits = own_limits(self.course, nb, limits)
        if self.timeout_func is None:
            return limits
        asked = {index: _unless_endless(self.timeout_func(cell)) for index, cell in enumerate(nb.cells)}
        return replace(limits, cells=asked)

    def _arrival(self, about: dict[str, Any]) -> str:
        """Return when the work arrived and by what rule it is late, as in the gradebook, or "" without a gradebook."""
        if not about.get("db_url"):
            return ""
        names = about.get("assignment", ""), about.get("student", "")
        return arrival(about["db_url"], *names, rule=self.course.late_rule)

    def seed_of(self, about: dict[str, Any]) -> int:
        """Return one of `SEEDS` seeds, chosen by class secret and submission."""
        secret = self.secret or class_secret(about.get("db_url", ""))

        def number(*parts: str) -> int:
            return int.from_bytes(hmac.digest(secret.encode(), "/".join(parts).encode(), "sha256")[:4], "big")

        place = number(about.get("student", ""), about.get("assignment", ""), about.get("notebook", ""))
        return number("seed", str(place % SEEDS)) % 2**31

    def _stored(self, task: Task) -> Outcome | None:
        if (handed := _handed.get(task.digest())) is not None:
            return handed
        store = self.store()
        return store.get(task) if store else None

    def _executed(self, task: Task) -> Outcome:
        outcome, store = execute(task.to_bytes()), self.store()
        if store:
            store.put(task, outcome)
        return Outcome.from_bytes(outcome)


def _unless_endless(seconds: float | None) -> float | None:
    """Return a cell's time limit in seconds, or None for every value that means "no limit" to nbclient."""
    return seconds if seconds is not None and seconds > 0 else None


@cache
def plain_sources(path: Path, _changed: int) -> frozenset[str]:
    """Return the sources of a notebook's code cells outside exercises; `_changed`, its mtime, is a cache key."""
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
"""Traits of `Execute` that are plain values and go into a task."""


def executed_notebook(
    course: Course, task: Task, outcome: Outcome, cells: Sequence[Mapping[str, Any]], arrived: str
) -> NotebookNode:
    """Return an outcome's notebook, scored by the course's settings, with the digests of the graded task and work.

    Args:
        cells: the sanitised notebook's, for their ids, because a stored outcome may come from a reading with other ids.
        arrived: when the work arrived and by what rule it is late, as returned by `scores.arrival`.
    """
    executed = read_notebook(outcome.notebook)
    for done, cell in zip(executed.cells, cells):
        if "id" in cell:
            done["id"] = cell["id"]
    score_under(course, executed, outcome)
    if METADATA in executed.metadata and outcome.final:
        kept = executed.metadata[METADATA]
        kept.update(task=task.digest(), work=task.work(), submission=task.submission(), arrival=arrived)
    return executed
