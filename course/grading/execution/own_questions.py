"""Make questions about the code in a submitted notebook, with keys from executing it in the kernel's sandbox.

This process reads the code as text, changes it, compares outcomes and writes the questions. It executes nothing of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from pathlib import Path

from nbformat import NotebookNode

from course.course import Course
from course.grading.course_files.cells import METADATA, checks_in
from course.grading.execution.kept_questions import KeptQuestions
from course.grading.execution.question_sandbox import Unfinished, sandboxed
from course.grading.sandbox.probe import required, strongest
from course.questions import Question, Subject, Unaskable, ask, subject
from course.questions.choosing import FEWEST
from course.questions.executing import Ran, Run, Runner
from course.questions.reading import read
from course.source import UNREADABLE
from course.syllabus import Topic


def questions_about(
    course: Course,
    topic: Topic,
    nb: NotebookNode,
    exercises: Iterable[str] | None = None,
    *,
    seed: int = 0,
    most: int = 6,
    results: Path | None = None,
    isolated: bool = False,
) -> dict[str, tuple[Question, ...] | str]:
    """Return up to `most` questions about the code of each exercise, or a sentence why there are none.

    The same code, seed and edition of the course give the same questions.

    Args:
        nb: a graded notebook, whose code counts up to the cell that checks an exercise.
        exercises: by default those that `passing` finds.
        results: the folder for results of executions, in which a request that was made before finds its answer.
        isolated: whether to refuse to execute anything where there is no sandbox.

    Raises:
        KernelFault: the machine cannot execute code.
        Problem: `isolated` demands a sandbox, and there is none.
    """
    folder = results / f"{topic.folder}-questions" if results else None
    sandbox = partial(sandboxed, course, topic, required if isolated else strongest)
    found: dict[str, tuple[Question, ...] | str] = {}
    for name in passing(topic, nb) if exercises is None else exercises:
        try:
            about = _subject(course, nb, name)
            found[name] = _asked(about, seed, most, KeptQuestions(about, folder), sandbox)
        except Unaskable as reason:
            found[name] = f"There is nothing to ask about `{name}`, because {reason}."
    return found


def passing(topic: Topic, nb: NotebookNode) -> list[str]:
    """Return the exercises of a topic that pass in a graded notebook and have code of one's own, in order."""
    verdicts = nb.metadata.get(METADATA, {}).get("verdicts", {})
    return [
        item.name
        for item in topic.items
        if item.kind == "exercise" and verdicts.get(item.name, {}).get("kind") == "passed"
    ]


def _subject(course: Course, nb: NotebookNode, name: str) -> Subject:
    """Return what is asked about: the text of an answer, and the calls that the exercise declares.

    Raises:
        Unaskable: the text cannot be found, or nothing can be asked about it.
    """
    from course.hidden import find  # imported here, because it loads torch

    given = {item.name for other in course.topics for item in other.items if item.kind == "exercise"} - {name}
    ends = [index for index, checked in checks_in(course, nb).items() if checked == name] or [len(nb.cells)]
    cells = [cell.source for cell in nb.cells[: ends[0] + 1] if cell.cell_type == "code"]
    calls = find(course, name).calls
    try:
        called, source, setup = read(cells, name, given.__contains__, calls)
        return subject(called, source, setup, calls, name)
    except UNREADABLE:
        raise Unaskable("it is no plain Python") from None


def _asked(
    about: Subject, seed: int, most: int, kept: KeptQuestions, sandbox: Callable[[], AbstractContextManager[Runner]]
) -> tuple[Question, ...]:
    """Return the questions about one answer. The sandbox is made only if something must be executed."""
    if (known := kept.asked(seed, most)) is not None:
        return known
    with ExitStack() as stack:
        made: list[Runner] = []

        def run(runs: list[Run]) -> list[Ran]:
            if not made:
                made.append(stack.enter_context(sandbox()))
            return made[0](runs)

        try:
            found = tuple(ask(about, kept.remembering(run), seed, max(most, FEWEST))[:most])
        except Unfinished:  # another time the machine may be faster
            raise
        except UNREADABLE:
            raise Unaskable("it is no plain Python") from None
        except Unaskable as reason:
            kept.note(seed, most, str(reason))
            kept.save()
            raise
    kept.note(seed, most, found)
    kept.save()
    return found
