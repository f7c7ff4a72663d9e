"""Collect a report's facts about a class from the gradebook, the graded notebooks and the submissions."""

from __future__ import annotations

import ast
import statistics
import tempfile
import warnings
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import to_notebook

from course.grading.classroom.classroom import Classroom
from course.grading.classroom.graded import Graded
from course.grading.classroom.groups import one_of_each
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.make_task import make_task
from course.grading.classroom.progress_bars import Timings
from course.grading.classroom.summary import graded_cells
from course.grading.course_files.cells import SOLUTION_SUFFIX, grade_id, mend_line_ends
from course.grading.course_files.course_folder import release_path
from course.grading.course_files.untouched import marks_of
from course.grading.execution.task import Task
from course.grading.gradebook.scores import others
from course.grading.intake.check_submission import examine, read_document
from course.grading.intake.moved_cells import choose_by_marks
from course.grading.intake.untrusted import plain_files
from course.grading.machine.faults import advice_for
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.release.make_release import render
from course.grading.report.alike_code import Likeness, compare
from course.grading.report.alike_weights import SharedWeights, alike_checkpoints
from course.grading.report.tampering import Sign, signs
from course.grading.report.training_signs import training_signs
from course.grading.report.viva_section import Viva
from course.problem import Problem
from course.source import parsed
from course.syllabus import Item, Topic

OTHER_CELLS = "cells of their own"
"""The name under which code that students added outside of answer cells is compared."""


@dataclass(frozen=True)
class Success:
    """The results of an exercise: the numbers of students with all, some and none of its points, and the mean share.

    If `counts` is false, the exercise has no points and these numbers are zero.
    `open` counts undecided answers, and `kinds` the verdicts of each kind that did not pass. The others count, by the
    failing earlier exercise: `grounds` the answers that depend on it, `correct_given_prerequisite` those that are
    otherwise right, `kept` those that keep their points, and `waiting` those that wait for a person.
    """

    item: Item
    full: int
    some: int
    none: int
    open: int
    mean: float | None
    kinds: dict[str, int]
    grounds: dict[str, int]
    correct_given_prerequisite: dict[str, int]
    kept: dict[str, int]
    waiting: dict[str, int]
    counts: bool = True


@dataclass(frozen=True)
class Findings:
    """All facts of a report. `absent` are students of the gradebook who handed in nothing.

    `withdrawn` are students whose submission was removed but whose points are still in the gradebook. `extended` has
    the due dates of students with an extension. `viva` are answers to questions about one's own code.
    """

    topic: Topic
    graded: tuple[Graded, ...]
    absent: tuple[str, ...] = ()
    withdrawn: tuple[str, ...] = ()
    signs: tuple[Sign, ...] = ()
    shared_weights: tuple[SharedWeights, ...] = ()
    likeness: Likeness = field(default_factory=Likeness)
    answers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    extended: Mapping[str, datetime] = field(default_factory=dict)
    viva: Viva = field(default_factory=lambda: Viva(()))

    @property
    def scored(self) -> list[Graded]:
        """Return the work of students with points in the gradebook."""
        return [work for work in self.graded if work.scores is not None and not work.reason]

    @property
    def unfinished(self) -> list[tuple[str, str]]:
        """Return the students who were not graded, or only in part, each with the reason."""
        told = [(work.student, work.reason) for work in self.graded if work.reason]
        for work in self.scored:
            faults = [verdict for verdict in work.verdicts.values() if verdict.kind == "not-graded"]
            told += [(work.student, f"{verdict.exercise}: {verdict.message}") for verdict in faults]
        return told

    @property
    def to_read(self) -> dict[str, list[str]]:
        """Return, for each item, the students whose answers wait for a person."""
        waiting: dict[str, list[str]] = defaultdict(list)
        for work in self.scored:
            assert work.scores is not None
            for name, score in work.scores.cells.items():
                if (score is None and name not in work.verdicts) or name in (*work.scores.again, *work.scores.waiting):
                    waiting[name].append(work.student)
        return dict(waiting)

    def shares(self) -> list[float]:
        """Return each student's points as a share of the maximum."""
        scores = [work.scores for work in self.scored if work.scores is not None]
        return [min(1.0, score.score / score.points) if score.points else 0.0 for score in scores]

    def items(self) -> list[Item]:
        """Return the released items in the notebook's order, then the instructor's own cells."""
        known = {item.name: item for item in self.topic.items}
        return [known.get(name) or Item(name, 0, 0) for name in graded_cells(self.topic, self.scored)]

    def success(self) -> list[Success]:
        """Return the results of each item."""
        return [success_of(item, self.scored) for item in self.items()]


def collect(classroom: Classroom) -> Findings:
    """Collect the findings about all submissions of a topic and their results.

    Raises:
        Problem: nothing was handed in, or nothing of it is graded yet.
    """
    folder = classroom.topic.folder
    submissions = classroom.handed_in.submissions()
    if not submissions and (locked_up := classroom.handed_in.misnamed()):
        raise Problem(locked_up[0].reason)
    if not submissions:
        raise Problem(f"nothing was handed in for {folder}. Put submissions into submitted/*/{folder}")
    graded = tuple(became(classroom, student, place) for student, place in submissions.items())
    if not any(work.scores for work in graded):
        raise Problem(f"nothing of {folder} is graded yet. Run `course grade {folder}` first")
    release = _release(classroom)
    locked, given = _locked(release), _given(release)
    notebooks = {student: read_or_none(place / f"{folder}.ipynb") for student, place in submissions.items()}
    answers = {student: answers_of(nb, release, given) for student, nb in notebooks.items() if nb is not None}
    forbidden = _forbidden(classroom.topic)
    noticed: list[Sign] = []
    for work in graded:
        notebook = notebooks[work.student] if work.scores is not None else None  # grading restores no others
        noticed += signs(work.student, notebook, locked, given, work.verdicts, forbidden)
        noticed += training_signs(work, submissions[work.student], notebook, classroom.topic.items)
    apart = one_of_each(classroom.course, classroom.topic, submissions)
    prose = frozenset(item.name for item in classroom.topic.items if item.kind == "question")
    excused = classroom.course.outline.excused_from(classroom.topic.folder)
    return Findings(
        classroom.topic,
        (*graded, *classroom.handed_in.misnamed(), *classroom.handed_in.misplaced()),
        *others(classroom.coursedir().db_url, classroom.topic.folder, {*submissions, *excused}),
        tuple(noticed),
        alike_checkpoints({student: submissions[student] for student in apart}),
        compare(
            {name: answers[name] for name in apart if name in answers}, answers_of(release, None, frozenset()), prose
        ),
        answers,
        classroom.course.outline.extended_due(classroom.topic.folder),
        Viva.of(classroom.root, classroom.topic),
    )


def became(classroom: Classroom, student: str, place: Path) -> Graded:
    """Return the result of a submission; unreadable files become its reason, so that the report goes on."""
    try:
        return _became(classroom, student, place)
    except OSError as error:
        return Graded(student, reason=advice_for(error) or str(error))


def _became(classroom: Classroom, student: str, place: Path) -> Graded:
    """Return the result of a submission from its files and the gradebook."""
    name = f"{classroom.topic.folder}.ipynb"
    done, last = classroom.autograded(student) / name, LastGrading(classroom, student)
    try:
        notes = examine(classroom.course, place, classroom.topic.folder)
    except Problem as problem:
        return Graded(student, reason=str(problem))
    if not done.is_file():
        refused = _fault(classroom, student) or _as_nbgrader_reads(classroom, student, place)
        return Graded(student, reason=refused if isinstance(refused, str) else "not graded yet")
    newest = max(path.stat().st_mtime for _, path in plain_files(place))
    if newest > done.stat().st_mtime:
        task = _as_nbgrader_reads(classroom, student, place)
        if isinstance(task, str) or not last.is_of(task):
            notes.append("changed since it was graded")
    return last.result(notes)


def _as_nbgrader_reads(classroom: Classroom, student: str, place: Path) -> Task | str:
    """Return the task that would grade the submission now, or the reason why it is refused."""
    with quiet():
        try:
            return make_task(classroom, student, place)
        except Exception as error:  # noqa: BLE001 - nbgrader's steps may raise anything, and grading reports it
            return (str(error).strip() or type(error).__name__).splitlines()[-1]


def _fault(classroom: Classroom, student: str) -> str:
    """Return why the grading machine failed on a submission, as recorded at the last execution, or an empty string."""
    fault = Timings.of(classroom.root, classroom.topic).fault(student)
    return f"the grading machine failed: {fault}" if fault else ""


def _release(classroom: Classroom) -> NotebookNode:
    """Return the released notebook, rendered again if its file is missing."""
    path = release_path(classroom.root, classroom.topic)
    if path.is_file():
        return nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        return nbformat.read(render(classroom.course, classroom.topic, Path(folder)), as_version=4)


def _forbidden(topic: Topic) -> dict[str, tuple[str, ...]]:
    """Return the forbidden calls of each exercise of a topic."""
    from course.hidden import exercises

    return {exercise.name: exercise.forbidden for exercise in exercises(topic)}


def _locked(release: NotebookNode) -> dict[str, str]:
    marked = [cell for cell in release.cells if cell.metadata.get("nbgrader", {}).get("locked")]
    return {cell.metadata.nbgrader.grade_id: cell.source for cell in marked}


def _given(release: NotebookNode) -> frozenset[str]:
    return frozenset(cell.source for cell in release.cells if cell.cell_type == "code")


def answers_of(nb: NotebookNode, release: NotebookNode | None, given: frozenset[str]) -> dict[str, str]:
    """Return the sources of the answer cells by exercise, and of cells that the student added.

    An answer cell whose metadata an editor dropped is recognised by the name that it defines.
    """
    answers: dict[str, str] = {}
    added: list[str] = []
    graded = choose_by_marks(nb.cells).graded
    for index, cell in enumerate(nb.cells):
        marks, name = marks_of(cell), grade_id(cell)
        if marks.get("solution") and name:
            if graded[name] == index:
                answers[name.removesuffix(SOLUTION_SUFFIX)] = cell.source
        elif release is not None and cell.cell_type == "code" and not marks and cell.source not in given:
            added.append(cell.source)
    if release is None:
        return answers
    asked = answers_of(release, None, frozenset()).keys() - answers.keys()
    found = [_defined(source, asked) for source in added]
    own = "\n".join(source for source, defined in zip(added, found, strict=True) if not defined)
    answers = {name: source for defined in found for name, source in defined.items()} | answers
    return {**answers, OTHER_CELLS: own} if own else answers


def _defined(source: str, names: Collection[str]) -> dict[str, str]:
    """Return the source of each of `names` that a cell defines, which is the whole cell if it defines only one."""
    tree = parsed(source)
    nodes = [node for node in (tree.body if tree else ()) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    lines = source.splitlines()
    found = {node.name: "\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in nodes if node.name in names}
    return dict.fromkeys(found, source) if len(found) == 1 else found


def read_or_none(path: Path) -> NotebookNode | None:
    """Read a submitted notebook; return None if it is no plain file or no notebook."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            notebook = to_notebook(read_document(path))
            mend_line_ends(notebook)
            return notebook
    except Exception:  # noqa: BLE001 - nbformat fails in many ways on malformed notebooks
        return None


def success_of(item: Item, scored: Sequence[Graded]) -> Success:
    """Count the results of an exercise over all work that has a score."""
    full = some = none = undecided = 0
    counts = any(work.scores and work.scores.maxima.get(item.name) for work in scored)
    shares: list[float] = []
    kinds, grounds = Counter[str](), Counter[str]()
    correct_given_prerequisite, kept, waiting = Counter[str](), Counter[str](), Counter[str]()
    for work in scored:
        assert work.scores is not None
        if item.name not in work.scores.maxima:
            continue
        score, most = work.scores.cells.get(item.name), work.scores.maxima[item.name]
        verdict = work.verdicts.get(item.name)
        if verdict is not None and verdict.kind != "passed":
            kinds[verdict.kind] += 1
            grounds[verdict.rests_on] += bool(verdict.rests_on)
            correct_given_prerequisite[verdict.rests_on] += verdict.correct_given_prerequisite and not verdict.by_hand
            kept[verdict.rests_on] += verdict.keeps
            waiting[verdict.rests_on] += item.name in work.scores.waiting
        if score is None or item.name in work.scores.waiting:
            undecided += 1
            continue
        if not most:
            continue
        shares.append(score / most)
        full, some, none = full + (score >= most), some + (0 < score < most), none + (score <= 0 < most)
    mean = statistics.fmean(shares) if shares else None
    rests = {
        "grounds": +grounds,
        "correct_given_prerequisite": +correct_given_prerequisite,
        "kept": +kept,
        "waiting": +waiting,
    }
    return Success(item, full, some, none, undecided, mean, dict(kinds), **rests, counts=counts)
