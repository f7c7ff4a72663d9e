"""Runs all attacks and says what became of them; many share a notebook, so that both sandboxes take little time."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from course.course import course_in
from course.grading.cells import notebook_bytes, read_notebook
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.execution.execute import execute
from course.grading.execution.task import Limits, Outcome, Task
from course.grading.sandbox import probe as sandbox_probe
from course.grading.sandbox.spec import MEGABYTE, Allowance

from ..grading.lesson import TOPIC, answers, before, make_course, solved
from .answers import EXERCISES, MESSAGES, TRICKS, WRONG, Trick
from .handed_in import HONEST, hand_in_all
from .probes import ALL, BOMBS, PREPARED, Probe
from .table import Met
from .world import World

CONFINED = ("bubblewrap", "landlock")
"""The tiers that promise to confine; each is tried where this machine has it."""

SMALL = Allowance(memory=500 * MEGABYTE, processes=40, file=100 * MEGABYTE, disk=60 * MEGABYTE)


def run_all(folder: Path) -> list[Met]:
    """Every attack, everywhere it can be tried, in a class and with canaries below `folder`."""
    world, course = World(folder / "canaries"), make_course(folder / "class")
    rows: list[Met] = []
    with world:
        for name in tiers():
            with asked_for(name):
                rows += _probed(world, name)
                rows += [_bombed(world, name, bomb) for bomb in BOMBS]
        rows += _answered(world, course, MESSAGES)
        rows += _answered(world, course, TRICKS)
        rows += _handed_in(world, course)
    return rows


def tiers() -> list[str]:
    """The confining tiers that this machine has."""
    found = []
    for name in CONFINED:
        with asked_for(name):
            if sandbox_probe.strongest().name == name:
                found.append(name)
    return found


@contextmanager
def asked_for(name: str) -> Iterator[None]:
    """Have this tier used, or a weaker one where it does not work."""
    held = os.environ.get("COURSE_SANDBOX")
    os.environ["COURSE_SANDBOX"] = name
    try:
        yield
    finally:
        if held is None:
            del os.environ["COURSE_SANDBOX"]
        else:
            os.environ["COURSE_SANDBOX"] = held


def _probed(world: World, name: str) -> Iterator[Met]:
    probes = [probe for probe in ALL if probe.only in ("", name)]
    left, cells = _run(world, [probe.source for probe in probes], Limits(4.0, output=200_000))
    harm = world.harm(left)
    for probe, cell in zip(probes, cells, strict=True):
        yield Met(probe.name, probe.aim, name, harm, _error(cell))


def _bombed(world: World, name: str, bomb: Probe) -> Met:
    left, (cell,) = _run(world, [bomb.source], Limits(12.0, allowance=SMALL))
    return Met(bomb.name, bomb.aim, name, world.harm(left), _error(cell))


def _run(world: World, sources: Sequence[str], limits: Limits) -> tuple[bytes, list[NotebookNode]]:
    """What an execution left (notebook and files), and the cells of `sources`."""
    names = "\n".join(f"{name} = {value!r}" for name, value in world.names().items())
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nb = new_notebook(cells=[new_code_cell(source) for source in (f"{PREPARED}\n{names}", *sources)])
    nb.metadata["kernelspec"] = kernelspec
    outcome = Outcome.from_bytes(execute(Task("probes", notebook_bytes(nb), limits=limits).to_bytes()))
    if outcome.fault:
        raise RuntimeError(outcome.fault)
    return outcome.to_bytes() + b"".join(outcome.files.values()) + outcome.notebook, read_notebook(
        outcome.notebook
    ).cells[1:]


def _error(cell: NotebookNode) -> str:
    """The error that stands below a cell."""
    told = [output for output in cell.outputs if output.output_type == "error"]
    return f"{told[-1].ename}: {told[-1].evalue}" if told else ""


def _answered(world: World, course: Path, tricks: Sequence[Trick]) -> Iterator[Met]:
    """Four tricks a notebook, each on an exercise of its own."""
    for start in range(0, len(tricks), len(EXERCISES)):
        tried = dict(zip(EXERCISES, tricks[start : start + len(EXERCISES)], strict=True))
        nb = solved(course)
        answers({name: trick.source or WRONG[name] for name, trick in tried.items()})(nb)
        for name, trick in tried.items():
            if trick.before:
                before(name, trick.before)(nb)
        task = Task("answers", notebook_bytes(nb), limits=replace(Limits(15.0), call=10.0), client=CLIENT)
        outcome = Outcome.from_bytes(execute(task.to_bytes()))
        if outcome.fault:
            raise RuntimeError(outcome.fault)
        harm = world.harm(outcome.notebook)
        verdicts = {verdict.exercise: verdict for verdict in outcome.verdicts}
        for name, trick in tried.items():
            verdict = verdicts[name]
            gained = f"{verdict.score:g} points" if verdict.score else ""
            told = "" if verdict.kind in ("passed", "not-graded") else f"{verdict.kind}: {verdict.message}"
            yield Met(trick.name, trick.aim, outcome.isolation, ", ".join(filter(None, (harm, gained))), told)


CLIENT = {"kernel_name": "python3", "skip_cells_with_tag": ""}


def _handed_in(world: World, course: Path) -> Iterator[Met]:
    submissions = hand_in_all(course, world.root)
    graded = {
        work.student: work for work in grade_class(Classroom(course_in(course), TOPIC, {"timeout": 15}), workers=1)
    }
    honest = graded[HONEST].scores
    full = honest and all(honest.cells[name] == honest.maxima[name] for name in EXERCISES)
    spoilt = "" if full else "an honest submission lost points"
    for student, submission in submissions.items():
        work = graded[student]
        left = b"".join(path.read_bytes() for path in course.glob(f"autograded/{student}/**/*") if path.is_file())
        cells = work.scores.cells if work.scores else {}
        wrong = {name: cells.get(name) for name, score in (submission.scores or {}).items() if cells.get(name) != score}
        gained = str(wrong) if wrong else "graded" if work.scores and submission.scores is None else ""
        verdicts = "; ".join(f"{name} {verdict.kind}" for name, verdict in work.verdicts.items())
        effect = ", ".join(filter(None, (world.harm(left), spoilt, gained)))
        yield Met(submission.name, submission.aim, "any", effect, work.reason or verdicts)


def main(argv: Sequence[str] | None = None) -> int:
    """Run everything and print the table; the status says whether anything had an effect or went unreported."""
    from .table import table

    description = "Tries over a hundred attacks on the grader of this machine, and prints what became of each: minutes."
    argparse.ArgumentParser(prog="python -m tests.attacks", description=description).parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        rows = run_all(Path(folder))
    print(table(rows))
    print(f"\n{len(rows)} attacks, {sum(row.harmless for row in rows)} without effect and reported")
    return int(not all(row.harmless for row in rows))
