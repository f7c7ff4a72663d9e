"""Grade one notebook for a self-learner with all cases, and report the verdicts."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.course import Course, is_course
from course.grading.course_files.cells import grade_id, mend_line_ends, notebook_bytes
from course.grading.execution.task import Limits, Outcome, Task
from course.grading.intake.check_submission import read_document, topic_of
from course.grading.intake.grader_notes import notes_in
from course.grading.intake.mending import drop_foreign_fields
from course.grading.intake.moved_cells import choose_by_marks, in_order, show_only
from course.grading.intake.needed_files import gather
from course.judge.verdict import Verdict
from course.notebook.folder import keep_grade
from course.notebook.standing import notebook_of
from course.problem import Problem
from course.syllabus import Topic

UNANSWERED = "not answered yet"
"""The judge's message about an answer that still raises NotImplementedError."""

PATIENCE = 60.0
"""The time limit in seconds for a cell that does not train."""

BESIDE = 64 * 2**20
"""The most bytes of files beside the notebook that the kernel gets, smallest files first."""


@dataclass(frozen=True)
class Marked:
    """A graded notebook: its topic, the verdicts in the order of its exercises, and notes on repairs."""

    topic: Topic
    verdicts: tuple[Verdict, ...]
    seconds: float
    notes: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """Return the sum of the earned points."""
        return sum(verdict.earned for verdict in self.verdicts)

    @property
    def points(self) -> float:
        """Return the sum of the maximum points."""
        return sum(verdict.points for verdict in self.verdicts)

    def text(self) -> str:
        """Return the reports, the total, and suggestions for the next step."""
        from course.judge import report

        blank = [one.exercise for one in self.verdicts if one.kind == "missing" and one.message.endswith(UNANSWERED)]
        told = [report.text(verdict) for verdict in self.verdicts if verdict.exercise not in blank]
        left = [f"○ not answered yet: {', '.join(blank)}"] if blank else []
        title = f"{self.topic.folder}  {self.topic.title}"
        total = f"{self.score:g} of {self.points:g} points, in {self.seconds:.0f} s"
        notes = [f"Note: {note}." for note in self.notes]
        return "\n".join([title, "", *told, *left, "", *notes, total, *self._further()])

    def _further(self) -> Iterator[str]:
        lost = (verdict for verdict in self.verdicts if verdict.earned < verdict.points)
        tried = [verdict.exercise for verdict in lost if verdict.kind not in ("missing", "not-graded")]
        if tried:
            yield f'hint("{tried[0]}") in the notebook helps you on. `course solution {tried[0]}` shows a solution.'
        for item in self.topic.items:
            if item.kind == "question":
                mark = f'Mark yours with rubric("{item.name}") in the notebook'
                yield f"{item.name} is graded by a person. {mark}, and compare it with `course solution {item.name}`."


def grade_notebook(course: Course, path: Path, policy: str = "checkpoint", seed: int = 1) -> Marked:
    """Execute the notebook at `path` in its own kernel, and judge its exercises with all their cases.

    The notebook is not changed, and nothing is saved.

    Raises:
        Problem: the file is no notebook of the course, or could not be executed.
    """
    from course.grading.execution.corpora_cache import fill_cache
    from course.grading.execution.execute import execute
    from course.grading.execution.limits import own_limits

    nb = read_submission(path)
    topic = topic_of(course, nb.cells, path)
    mark_exercises(nb, topic)
    nb.cells = nbformat.from_dict(in_order(nb.cells))
    task = Task(
        name=path.stem,
        notebook=notebook_bytes(nb),
        files=gather(nb.cells, path.parent, BESIDE).files | files_beside(path.parent),
        seed=seed,
        policy=policy,
        limits=own_limits(course, nb, Limits(PATIENCE)),
        client={"kernel_name": "python3", "skip_cells_with_tag": ""},
        outline=course.outline.public,
        root=str(course.root),
    )
    fill_cache(topic)
    outcome = Outcome.from_bytes(execute(task.to_bytes()))
    if outcome.fault:
        raise Problem(outcome.fault)
    order = [item.name for item in topic.items]
    judged = sorted(outcome.verdicts, key=lambda verdict: order.index(verdict.exercise))
    verdicts = (one.under(course.outline.follow_through) for one in judged)
    return Marked(topic, tuple(verdicts), outcome.seconds, tuple(notes_in(nb.cells)))


def read_submission(path: Path) -> NotebookNode:
    """Read and repair a notebook, or raise a `Problem` that says what is wrong with it."""
    try:
        document = read_document(path)
    except FileNotFoundError:
        raise Problem(f"there is no {path}") from None
    for cell in document["cells"]:
        if "outputs" in cell:  # execution makes new ones
            cell["outputs"] = []
    drop_foreign_fields(document["cells"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        notebook = nbformat.reads(json.dumps(document), as_version=4)
    mend_line_ends(notebook)
    return notebook


def mark_exercises(nb: NotebookNode, topic: Topic) -> None:
    """Make the last cell that checks an exercise its graded cell; an exercise without one gets a cell at the end.

    Copied cells are chosen in the same way as for a class.
    """
    from course.grading.course_files.cells import checks

    items = {item.name: item for item in topic.judged}
    found: dict[str, NotebookNode] = {}
    choice = choose_by_marks(nb.cells)
    for index, cell in enumerate(nb.cells):
        name, marks = grade_id(cell), cell.metadata.pop("nbgrader", None)
        cell.metadata.pop("tags", None)
        if index in choice.blank:
            show_only(cell)
        elif cell.cell_type == "code" and name in items and checks(cell.source, name) and index <= choice.graded[name]:
            found[name] = cell
        if name and not marks.get("grade") and index == choice.graded[name]:
            cell.metadata["nbgrader"] = marks
    for name, item in items.items():
        if name not in found:
            answer = "record.model" if item.budget else name
            found[name] = nbformat.v4.new_code_cell(f"check({name!r}, {answer})")
            nb.cells.append(found[name])
        found[name].metadata["nbgrader"] = {
            "grade": True,
            "solution": False,
            "locked": True,
            "grade_id": name,
            "points": item.points,
            "schema_version": 3,
        }


def files_beside(folder: Path) -> dict[str, bytes]:
    """Return the files beside the notebook and in `checkpoints`; deeper files are left to `gather`."""
    beside = [*folder.iterdir(), *(folder / "checkpoints").glob("*")]
    plain = (path for path in beside if path.is_file() and not path.is_symlink() and path.suffix != ".ipynb")
    files: dict[str, bytes] = {}
    left = BESIDE
    for path in sorted(plain, key=lambda path: path.stat().st_size):
        name, size = path.relative_to(folder).as_posix(), path.stat().st_size
        fits = size <= left and name.isprintable() and os.access(path, os.R_OK)
        if fits and not path.name.startswith("."):
            files[name] = path.read_bytes()
            left -= size
    return files


def demand_class(course: Course, topics: Sequence[Topic]) -> None:
    """Raise a Problem outside of a class's course if the notebooks of `topics` are here, which somebody learns from."""
    mine = [path for topic in topics if (path := notebook_of(topic)).is_file()]
    if mine and not is_course(course.root):
        raise Problem(f"the name of a topic grades a class. To grade your own notebook, name its file: {mine[0]}")


def grade_one(course: Course, path: Path, policy: str) -> int:
    """Grade one notebook, print the verdicts, and return the exit status.

    The score is saved in `.course/` beside the notebook, unless the judge could not grade an exercise.
    """
    if sys.stderr.isatty():
        print(f"Running {path.name} and its hidden tests. The first time, this also prepares corpora.", file=sys.stderr)
    marked = grade_notebook(course, path, policy)
    print(marked.text())
    if any(verdict.kind == "not-graded" for verdict in marked.verdicts):
        return 1
    earned = {verdict.exercise: verdict.earned for verdict in marked.verdicts}
    if not keep_grade(path.parent, marked.topic.folder, score=marked.score, points=marked.points, earned=earned):
        print(
            f"The score is not kept for progress(), because .course in {path.parent} cannot be written.",
            file=sys.stderr,
        )
    return 0
