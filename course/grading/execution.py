"""Executes one notebook and lets the judge decide its exercises: a task's bytes in, an outcome's bytes out.

The kernel proposes, the judge decides: whatever the cells printed, the outputs of a graded exercise are replaced by
one result that holds the judge's score and report. Graded cells that are no exercise keep what the kernel gave, and
nbgrader scores them as it always does.
"""

from __future__ import annotations

import ast
import errno
import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from course.grading import corpora
from course.grading.client import LIMIT, CellEnd, KernelFault, NotebookRun
from course.grading.engine import fingerprint
from course.grading.fault import FULL_TEXTS, told
from course.grading.kernel import added, environment
from course.grading.notebooks import grade_id
from course.grading.origins import origins
from course.grading.problem import Problem
from course.grading.sandbox.confines import Confines, of_the_class
from course.grading.sandbox.tier import Tier, how_executed, required, strongest
from course.grading.staleness import tests_of
from course.grading.task import Outcome, Task, notebook_bytes, read_files, read_notebook, write_files
from course.grading.untrusted import remove
from course.grading.warm.order import Order
from course.judge.verdict import Kind, Verdict
from course.notebook.unfinished import judged_early, unfinished
from course.source import parsed
from course.syllabus import TOPICS, find_item

if TYPE_CHECKING:
    from course.judge.session import Session

METADATA = "course"
"""Where an executed notebook's metadata keeps its verdicts, for summaries and reports."""

LEFT_BEHIND = ("__pycache__", ".course", ".ipynb_checkpoints", ".ipython")
"""Files of these names are not kept after an execution."""

_WRITTEN = 64 * 2**20

DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def execute(data: bytes) -> bytes:
    """Execute the task in `data` and return its outcome; a kernel that did not start is tried a second time."""
    task = Task.from_bytes(data)
    outcome = _execute_once(task)
    if outcome.fault:
        outcome = _execute_once(task)
    return outcome.to_bytes()


def exercises_in(nb: NotebookNode) -> dict[int, str]:
    """The cells the judge decides: index and name of every one that checks an exercise there are hidden tests of."""
    marked = checks_in(nb)
    if not marked:
        return {}
    from course.hidden import find

    def known(name: str) -> bool:
        try:
            find(name)
        except KeyError:
            return False
        return True

    return {index: name for index, name in marked.items() if known(name)}


def checks_in(nb: NotebookNode) -> dict[int, str]:
    """The graded cells that check an exercise of the course: asked for first, as looking for its tests imports torch.

    An instructor's own tests of something that goes by the name of an exercise are nbgrader's to score.
    """
    graded = {i: grade_id(cell) for i, cell in enumerate(nb.cells) if cell.cell_type == "code" and is_test(cell)}
    return {i: name for i, name in graded.items() if is_check(name, nb.cells[i].source)}


def is_check(name: str, source: str) -> bool:
    """Whether the judge decides a graded cell of that name and source."""
    return in_syllabus(name) and checks(source, name)


def checks(source: str, name: str) -> bool:
    """Whether a cell's code calls `check` for the exercise `name`."""
    return re.search(rf"\bcheck\(\s*[\"']{re.escape(name)}[\"']", source) is not None


def topics_of(names: Iterable[str]) -> frozenset[str]:
    """The topics that exercises belong to; names the course does not know are passed over."""
    return frozenset(find_item(name)[0].name for name in names if in_syllabus(name))


def in_syllabus(name: str) -> bool:
    """Whether the course has an item of that name."""
    try:
        find_item(name)
    except KeyError:
        return False
    return True


def is_test(cell: NotebookNode) -> bool:
    """Whether nbgrader would score the cell by its outputs."""
    metadata = cell.metadata.get("nbgrader", {})
    return bool(metadata.get("grade")) and not metadata.get("solution")


class Examination:
    """The judge at work on one notebook: told of each cell, it collects a verdict for every exercise."""

    def __init__(self, nb: NotebookNode, names: dict[int, str], task: Task) -> None:
        self.nb, self.names, self.task = nb, names, task
        self.verdicts: dict[str, Verdict] = {}
        self.spent: dict[str, float] = {}
        self.ended = ""
        self.ends: dict[int, CellEnd] = {}
        self.session: Session | None = None
        self.interrupt: Callable[[], None] = lambda: None
        if names:
            from course.hidden import find
            from course.judge.session import Session

            self.session = Session(
                find,
                seed=task.seed,
                sources=self._sources(),
                seconds=task.limits.call,
                on_stuck=lambda name: self.interrupt(),
            )

    @property
    def address(self) -> str | None:
        """Where the kernel finds the judge."""
        return None if self.session is None else self.session.address

    def enter(self, index: int) -> None:
        """The cell at `index` starts executing."""
        self._started = time.monotonic()
        if self.session is not None and index in self.names:
            self.session.seconds = self.task.limits.judging(self.names[index])
            self.session.enter(self.names[index])

    def leave(self, index: int, end: CellEnd) -> None:
        """The cell at `index` came to its end."""
        self.ends[index] = end
        if end.over:
            self.ended = f"{end.evalue or 'the process ended'} in {self._describe(index)}"
        if self.session is not None and index in self.names:
            name = self.names[index]
            try:
                verdict = self.session.leave() or self._without_check(index, end)
            except Exception as error:  # a fault of the judge must not cost anybody a point
                verdict = self._nothing(name, "not-graded", f"The judge failed: {type(error).__name__}: {error}")
            self.spent[name] = round(time.monotonic() - self._started, 3)
            self.verdicts[name] = _because(verdict, end)

    def close(self) -> None:
        """Give every exercise that was not reached its verdict, and stop listening."""
        for name in self.names.values():
            if name not in self.verdicts:
                message = f"Not reached: {self.ended or 'the notebook ended before'}."
                self.verdicts[name] = self._nothing(name, "missing", message)
        if self.session is not None:
            self.session.close()

    def _sources(self) -> dict[str, str]:
        """What the student wrote for each exercise."""
        written = {
            cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source
            for cell in self.nb.cells
            if cell.metadata.get("nbgrader", {}).get("solution")
        }
        return {name: written.get(f"{name}-solution", "") for name in self.names.values()}

    def _without_check(self, index: int, end: CellEnd) -> Verdict:
        """The verdict on an exercise whose cell came to its end before the judge could look at an answer."""
        name = self.names[index]
        if end.kind in ("time", "memory") or end.ename == LIMIT:
            return self._nothing(name, _kind_of(end), f"This cell was stopped: {end.evalue}.")
        if end.kind == "died":
            return self._nothing(name, "error", "The notebook's process ended while this cell ran.")
        answer = self._end_of_answer(name)
        if answer is not None and answer.kind != "done":
            what = f"{answer.ename}: {answer.evalue}"[:300]
            return self._nothing(name, _kind_of(answer), f"The cell with your answer stopped with {what}")
        if answer is not None and end.evalue == f"name '{name}' is not defined" and self._is_defined_in_answer(name):
            what = f"{name} is not defined any more. Was it deleted or reset after its cell?"
            return self._nothing(name, "missing", f"There was nothing to check: {what}")
        if end.ename == "NameError":
            return self._nothing(name, "missing", f"There was nothing to check: {end.evalue[:300]}.")
        if end.kind == "error":
            return self._nothing(name, "error", f"The check was not made: {end.ename}: {end.evalue[:300]}")
        return self._nothing(name, "missing", f"The check of {name} never reached the judge.")

    def _end_of_answer(self, name: str) -> CellEnd | None:
        for index, cell in enumerate(self.nb.cells):
            if cell.metadata.get("nbgrader", {}).get("grade_id") == f"{name}-solution":
                return self.ends.get(index)
        return None

    def _is_defined_in_answer(self, name: str) -> bool:
        """Whether the cell with the answer binds the exercise's name."""
        written = parsed(self._sources().get(name, ""))
        definitions = (node for node in (written.body if written else ()) if isinstance(node, DEFINITION))
        return any(node.name == name for node in definitions)

    def _nothing(self, name: str, kind: Kind, message: str) -> Verdict:
        from course.hidden import find

        return Verdict.without_points(name, kind, find(name).points, message)

    def _describe(self, index: int) -> str:
        first = self.nb.cells[index].source.strip().partition("\n")[0]
        return f"cell {index + 1} ({first[:60]!r})"


def _kind_of(end: CellEnd) -> Kind:
    """The verdict's kind for a cell that came to a bad end."""
    return "time" if end.kind == "time" else "memory" if end.kind == "memory" else "error"


def _because(verdict: Verdict, end: CellEnd) -> Verdict:
    """The verdict, with the true reason where the judge only saw the kernel go away."""
    if end.ename == LIMIT and verdict.kind in ("error", "time"):
        return replace(verdict, kind=_kind_of(end), message=f"Stopped while it was judged: {end.evalue}.")
    return verdict


def _execute_once(task: Task) -> Outcome:
    started = time.monotonic()
    try:
        tier = required() if task.isolated else strongest()
    except Problem as problem:
        return Outcome(task.notebook, fault=str(problem))
    nb = read_notebook(task.notebook)
    names = exercises_in(nb)
    if task.engine and task.engine != (here := fingerprint(topics_of(checks_in(nb).values()))):
        return Outcome(task.notebook, fault=f"this machine has the course in state {here}, and not in {task.engine}")
    outcome = Outcome(b"", isolation=tier.label)
    try:
        examination = Examination(nb, names, task)
    except (OSError, RuntimeError) as error:  # no more files, threads or disk for this machine
        return Outcome(task.notebook, fault=f"the judge could not listen: {told(error) or error}")
    try:
        with closing(examination), _private_folder(task) as private:
            room = shutil.disk_usage(private).free
            run = _run(nb, task, examination, private, tier)
            _demand_room(task, private, min(room, shutil.disk_usage(private).free), _complaints(nb, examination))
            outcome = replace(outcome, why_cold=run.why_cold, files=_new_files(task, private / "work"))
            if examination.session is not None:
                outcome = replace(outcome, origins=origins(examination.session.weights, task, outcome.files))
            outcome = replace(outcome, unfinished=_unfinished(examination.verdicts, private / "work"))
            if (handle := run.handle) is not None:
                outcome = replace(outcome, memory=handle.memory, cpu=round(handle.cpu, 2))
    except KernelFault as error:
        outcome = replace(outcome, fault=str(error))
    except OSError as error:
        outcome = replace(outcome, fault=told(error) or str(error))
    verdicts = tuple(
        judged_early(verdict, outcome.unfinished.get(name, "")) for name, verdict in examination.verdicts.items()
    )
    seconds = round(time.monotonic() - started, 3)
    outcome = replace(outcome, verdicts=verdicts, spent=examination.spent, seconds=seconds)
    record(nb, examination.names, outcome, of_the_course=any(task.name == topic.folder for topic in TOPICS))
    return replace(outcome, notebook=notebook_bytes(nb))


@contextmanager
def _private_folder(task: Task) -> Iterator[Path]:
    """A folder for one notebook, its files in `work` beside its `home`, gone afterwards whatever was made in it.

    Raises:
        KernelFault: it cannot be made.
    """
    with ExitStack() as stack:
        try:
            private = Path(tempfile.mkdtemp(prefix="course-"))
            stack.callback(remove, private)
            for name in ("work", "home"):
                (private / name).mkdir()
            write_files(task.files, private / "work")
        except (OSError, ValueError) as error:
            raise KernelFault(f"the notebook's folder could not be made: {told(error) or error}") from error
        yield private


ROOM = 512 * 2**20
"""Bytes that a notebook whose disk has no limit of its own should find free."""


def _demand_room(task: Task, private: Path, room: int, complaints: str) -> None:
    """Where a disk was full that had less room than a notebook may use, nobody's code is to blame.

    What a notebook says of a disk is only an occasion to look: anybody can raise such an error.

    Raises:
        KernelFault: something in the notebook met such a disk, or a quota.
    """
    needed = task.limits.allowance.disk or ROOM
    no_space, no_quota = (text in complaints for text in FULL_TEXTS)
    if no_quota and _is_over_quota(private, needed):
        what = "your quota was used up on the disk"
    elif no_space and room < needed:
        what = "no space was left on the disk"
    else:
        return
    disk = next(place for place in private.parents if place.is_mount())
    raise KernelFault(f"{what} of {disk} while the notebook ran: make room there, or export TMPDIR=another folder")


def _is_over_quota(folder: Path, size: int) -> bool:
    """Whether a quota refuses a file of that size: what is left of one can only be found out by asking for it."""
    if not hasattr(os, "posix_fallocate"):  # macOS
        return False
    with tempfile.TemporaryFile(dir=folder) as file:
        try:
            os.posix_fallocate(file.fileno(), 0, size)
        except OSError as error:
            return error.errno == errno.EDQUOT
    return False


def _complaints(nb: NotebookNode, examination: Examination) -> str:
    """What the errors of the cells say, and those that the judge met."""
    outputs = (output for cell in nb.cells for output in cell.get("outputs", ()))
    errors = (f"{output.get('evalue')}" for output in outputs if output.output_type == "error")
    return "\n".join([*errors, *(verdict.message for verdict in examination.verdicts.values())])


def _run(nb: NotebookNode, task: Task, examination: Examination, private: Path, tier: Tier) -> NotebookRun:
    work, home, edition = private / "work", private / "home", _edition()
    number = _told(task.seed)
    more = {"COURSE_NUMBER": str(number), **added(task.environment, task.gpu)}
    variables = environment(home, edition, examination.address, task.policy, more)
    run = NotebookRun(
        nb,
        limits=task.limits,
        order=Order(tier.name, _confines(task, private, edition, examination), str(work), variables, number),
        sockets=private,
        skip=task.skip,
        judged=examination.names,
        enter=examination.enter,
        leave=examination.leave,
        **task.client,
    )
    examination.interrupt = run.interrupt
    run.run()
    return run


def _told(seed: int) -> int:
    """What a kernel's own random numbers start from: the same at each grading, with no way back to the hidden cases."""
    return int.from_bytes(hashlib.sha256(f"kernel:{seed}".encode()).digest()[:4], "big") % 2**31


def _edition() -> Path:
    """The student edition of the course as this process has it, made again should it have been removed."""
    if not _assembled().is_dir():
        _assembled.cache_clear()
    return _assembled()


@cache
def _assembled() -> Path:
    from course.grading.edition import assemble

    return assemble()


def _confines(task: Task, private: Path, edition: Path, examination: Examination) -> Confines:
    """What the notebook sees: the student edition, the corpora, the judge's socket."""
    judge = [] if examination.address is None else [Path(examination.address).parent]
    readable = [edition, *corpora.for_students(), *judge]
    allowance = replace(task.limits.allowance, cpu=task.limits.notebook)
    return Confines(str(private), tuple(map(str, readable)), task.gpu, allowance, tuple(map(str, of_the_class())))


def _unfinished(verdicts: Mapping[str, Verdict], work: Path) -> dict[str, str]:
    """Of each task that lost points, what is to be said of its training where a clock ended it."""
    from course.notebook.checkpoint import Unfit, read_record

    said = {}
    for name in (name for name, verdict in verdicts.items() if verdict.kind != "passed" and find_item(name)[1].budget):
        with suppress(Unfit):
            said[name] = unfinished(read_record(work / "checkpoints" / f"{name}.safetensors"))
    return {name: sentence for name, sentence in said.items() if sentence}


def _new_files(task: Task, work: Path) -> dict[str, bytes]:
    """What the student's code wrote, within bounds."""
    present = read_files(work, ignore=LEFT_BEHIND, limit=_WRITTEN)
    return {path: content for path, content in present.items() if task.files.get(path) != content}


def record(nb: NotebookNode, names: dict[int, str], outcome: Outcome, of_the_course: bool = False) -> None:
    """Write the verdicts into `nb`: each judged cell gets exactly one output, and the metadata keeps them all.

    An ordinary notebook without exercises stays without metadata, unless it is a topic's of the course.
    """
    if not names and not of_the_course:
        nb.metadata.pop(METADATA, None)
        return
    from course.judge import report

    verdicts = {verdict.exercise: verdict for verdict in outcome.verdicts}
    for index, name in names.items():
        cell, verdict = nb.cells[index], verdicts[name]
        data = NotebookNode(
            {
                "text/plain": repr(score_of(cell, verdict)),
                "text/html": report.html(verdict, note=how_executed(outcome.isolation)),
            }
        )
        result = {"output_type": "execute_result", "metadata": NotebookNode(), "execution_count": cell.execution_count}
        cell.outputs = [NotebookNode(result, data=data)]
    nb.metadata[METADATA] = {
        "isolation": outcome.isolation,
        "seconds": outcome.seconds,
        "memory": outcome.memory,
        "cpu": outcome.cpu,
        "spent": outcome.spent,
        "origins": outcome.origins,
        "unfinished": outcome.unfinished,
        "tests": {name: tests_of(name) for name in verdicts},
        "verdicts": {name: verdict.to_dict() for name, verdict in verdicts.items()},
    }


def with_earlier(
    outcome: Outcome, earlier: Mapping[str, Verdict], outputs: Mapping[str, list[NotebookNode]]
) -> Outcome:
    """An outcome with some of its verdicts replaced by those of an earlier execution of the same work.

    So are the `outputs` of an instructor's own tests, by name, which nbgrader scores.
    """
    nb = read_notebook(outcome.notebook)
    for cell in nb.cells:
        if is_test(cell) and grade_id(cell) in outputs:
            cell.outputs = outputs[grade_id(cell)]
    replaced = replace(outcome, verdicts=tuple(earlier.get(one.exercise, one) for one in outcome.verdicts))
    record(nb, exercises_in(nb), replaced)
    return replace(replaced, notebook=notebook_bytes(nb))


def score_of(cell: NotebookNode, verdict: Verdict) -> float:
    """The verdict's score in the cell's own points, never above them: an instructor may have changed their number."""
    points = float(cell.metadata["nbgrader"].get("points", verdict.points))
    scale = points / verdict.points if verdict.points else 0.0
    return float(min(points, max(0.0, verdict.score * scale)))
