"""Judge one notebook while it is executed, and collect a verdict for every exercise."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from course.grading.execution.causes import NO_MEMORY, UNDEFINED, described, failed_cell, full_cell
from course.grading.execution.cell_end import LIMIT, CellEnd
from course.grading.execution.task import Task
from course.judge.verdict import HOW_LARGE, Kind, Verdict
from course.source import definitions, is_stub, parsed

if TYPE_CHECKING:
    from course.judge.session import Session

DEFINITION = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Examination:
    """The judge of one notebook: `enter` and `leave` are called around each cell, `verdicts` has the results.

    `names` gives the exercise that each checking cell checks, by the cell's index.
    """

    def __init__(self, nb: NotebookNode, names: dict[int, str], task: Task) -> None:
        self.nb, self.names, self.task = nb, names, task
        self.verdicts: dict[str, Verdict] = {}
        self.spent: dict[str, float] = {}
        self.ended = ""
        self.ends: dict[int, CellEnd] = {}
        self.session: Session | None = None
        self.interrupt: Callable[[], None] = lambda: None
        if names:
            from course.hidden import find  # imported here, because a grader that only saves results needs no torch
            from course.judge.session import Session

            self.session = Session(
                partial(find, task.course),
                task.course.item_of,
                seed=task.seed,
                sources=self._sources(),
                seconds=task.limits.call,
                on_stuck=lambda name: self.interrupt(),
            )

    @property
    def address(self) -> str | None:
        """Return the path of the socket on which the judge listens; None if the notebook has no exercises."""
        return None if self.session is None else self.session.address

    def enter(self, index: int) -> None:
        """Have the judge listen for the exercise of the cell at `index`, which starts now."""
        self._started = time.monotonic()
        if self.session is not None and index in self.names:
            self.session.seconds = self.task.limits.judging(self.names[index])
            self.session.enter(self.names[index], self.nb.cells[index].source)

    def leave(self, index: int, end: CellEnd) -> None:
        """Take the verdict on the exercise of the cell at `index`, which has just ended."""
        self.ends[index] = end
        if self.session is not None:
            self.session.written |= definitions(self.nb.cells[index].source)
        if end.over:
            self.ended = f"{end.evalue or 'the process ended'} in {described(self.nb, index)}"
        if self.session is not None and index in self.names:
            name = self.names[index]
            try:
                verdict = self.session.leave() or self._without_check(index, end)
            except Exception as error:  # noqa: BLE001 - a fault of the judge must cost no points
                verdict = self._nothing(name, "not-graded", f"The judge failed: {type(error).__name__}: {error}")
            self.session.verdicts.setdefault(name, verdict)  # a later answer may depend on this one
            self.spent[name] = round(time.monotonic() - self._started, 3)
            self.verdicts[name] = self._with_causes(_because(verdict, end), index)

    def close(self) -> None:
        """Give every exercise that was not reached a verdict, and close the judge's socket."""
        full = next((self._full_cell(index) for index, end in self.ends.items() if end.kind == "memory"), "")
        for name in self.names.values():
            if name not in self.verdicts:
                message = f"This cell did not run: {self.ended or 'the notebook ended before it'}."
                self.verdicts[name] = replace(self._nothing(name, "missing", message), notes=(full,) if full else ())
        if self.session is not None:
            self.session.close()

    def _sources(self) -> dict[str, str]:
        """Return the student's source for each exercise: its own cell or, if that is a stub, a cell above its check."""
        written = {
            cell.metadata.get("nbgrader", {}).get("grade_id"): cell.source
            for cell in self.nb.cells
            if cell.metadata.get("nbgrader", {}).get("solution")
        }
        own = {name: written.get(f"{name}-solution", "") for name in self.names.values()}
        blank = {index: name for index, name in self.names.items() if is_stub(own[name])}
        return own | {name: self._defined_above(index, name) or own[name] for index, name in blank.items()}

    def _defined_above(self, index: int, name: str) -> str:
        """Return the source of the last cell above `index` that defines the name, or ""."""
        defines = re.compile(rf"^(def|class) +{name}\b|^{name} *=", re.MULTILINE)
        above = (cell.source for cell in reversed(self.nb.cells[:index]) if cell.cell_type == "code")
        return next(filter(defines.search, above), "")

    def _without_check(self, index: int, end: CellEnd) -> Verdict:
        """Return the verdict on an exercise whose checking cell ended without calling `check`."""
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
            verdict = self._nothing(name, "missing", f"There was nothing to check: {end.evalue[:300]}.")
            return self._grounded(verdict, index)
        if end.kind == "error":
            return self._nothing(name, "error", f"The check was not made: {end.ename}: {end.evalue[:300]}")
        return self._nothing(name, "missing", f"The check of {name} never reached the judge.")

    def _grounded(self, verdict: Verdict, index: int) -> Verdict:
        """Return the verdict, with the failing prerequisite that left the cell at `index` nothing to check, if any.

        A cell between the answer and its check may need an earlier answer, for example the cell that trains a model.
        """
        assert self.session is not None
        for before in range(self._place_of_answer(verdict.exercise), index):
            missed = UNDEFINED.fullmatch(self.ends.get(before, CellEnd()).evalue)
            if missed and (prerequisite := self.session.failing_prerequisite(verdict.exercise, missed[1])):
                untold = not is_stub(self._sources()[verdict.exercise])
                return replace(verdict, rests_on=prerequisite, cannot_tell=untold)
        return verdict

    def _place_of_answer(self, name: str) -> int:
        """Return the index of the cell with an answer, or the number of cells if there is none."""
        for index, cell in enumerate(self.nb.cells):
            if cell.metadata.get("nbgrader", {}).get("grade_id") == f"{name}-solution":
                return index
        return len(self.nb.cells)

    def _end_of_answer(self, name: str) -> CellEnd | None:
        return self.ends.get(self._place_of_answer(name))

    def _is_defined_in_answer(self, name: str) -> bool:
        """Whether the cell with the answer defines the exercise's name."""
        written = parsed(self._sources().get(name, ""))
        definitions = (node for node in (written.body if written else ()) if isinstance(node, DEFINITION))
        return any(node.name == name for node in definitions)

    def _full_cell(self, index: int) -> str:
        """Return a sentence on a cell other than `index` that fills the memory, or ""."""
        return full_cell(self.nb, self.ends, index, self.task.limits.allowance.memory)

    def _nothing(self, name: str, kind: Kind, message: str) -> Verdict:
        return Verdict.without_points(name, kind, self.task.course.item_of(name).points, message)

    def _with_causes(self, verdict: Verdict, index: int) -> Verdict:
        """Return the verdict on the cell at `index`, with notes on earlier cells that made it fail."""
        if verdict.kind in ("passed", "not-graded"):
            return verdict
        said = "\n".join([verdict.message, *(case.message for case in verdict.cases)])
        failed = "" if verdict.rests_on else failed_cell(self.nb, self.ends, index, said)
        verdict = replace(verdict, kind="error" if failed and verdict.kind == "missing" else verdict.kind)
        full = ""
        if verdict.kind == "memory" or any(words in f"{said} {failed}" for words in NO_MEMORY):
            full = self._full_cell(index)
        notes = (*verdict.notes, *filter(None, (failed, full)))
        return replace(_without_question(verdict) if full else verdict, notes=notes)


def _without_question(verdict: Verdict) -> Verdict:
    """Return the verdict without the question how large the answer's tensors are: another cell fills the memory."""
    cases = (replace(case, message=case.message.removesuffix(f" {HOW_LARGE}")) for case in verdict.cases)
    return replace(verdict, message=verdict.message.removesuffix(f" {HOW_LARGE}"), cases=tuple(cases))


def _kind_of(end: CellEnd) -> Kind:
    """Return the verdict's kind for a cell that did not end normally."""
    return "time" if end.kind == "time" else "memory" if end.kind == "memory" else "error"


def _because(verdict: Verdict, end: CellEnd) -> Verdict:
    """Return the verdict, with the exceeded limit as its reason if the judge only saw the connection close."""
    if end.ename == LIMIT and verdict.kind in ("error", "time"):
        return replace(verdict, kind=_kind_of(end), message=f"Stopped while it was judged: {end.evalue}.")
    return verdict
