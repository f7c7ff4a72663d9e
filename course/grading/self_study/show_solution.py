"""`course solution`: show an exercise's reference solution with a commentary to a student who has tried it."""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import course as package
from course.course import Course
from course.grading.course_files.catalogue import counted
from course.grading.course_files.course_folder import released_at
from course.notebook.folder import read_progress
from course.problem import Problem
from course.syllabus import BRANCH, SOURCE, Item, Topic

WIDTH = 100


def show(course: Course, name: str, asked: bool = False) -> int:
    """Print the solution of the exercise `name`; unless `asked`, first ask whether the student has tried it.

    Raises:
        Problem: there is no such exercise, this edition has no solutions, or the student cannot be asked.
    """
    topic, item = _item(course, name)
    if asked or _has_tried(topic, item):
        print(text(course, topic, item))
    else:
        print(f'Good. `hint("{name}")` in the notebook gives a stronger hint each time.')
    return 0


def text(course: Course, topic: Topic, item: Item) -> str:
    """Return the solution, its background, the examined cases, and the known misconceptions."""
    heading = f"{item.name}  {topic.folder}, {counted(item.points, 'point')}"
    return "\n\n".join([heading, *(f"{title}\n\n{body}" for title, body in _sections(course, topic, item))])


def _sections(course: Course, topic: Topic, item: Item) -> Iterator[tuple[str, str]]:
    from course.hidden import find, other_question

    if item.kind == "question":
        other = other_question(topic)
        if other:
            yield "The question", other.prompt
        yield "The model answer", other.answer if other else _cell(course, topic, item.name)
        return
    declared = find(course, item.name)
    if item.kind == "task":
        yield "The notebook's own training", _cell(course, topic, f"{item.name}-solution")
    else:
        where = f"The reference, from course/reference/{topic.name}.py" if not topic.own else "The reference"
        yield where, inspect.getsource(declared.reference).strip()
        yield "What it rests on", inspect.getdoc(sys.modules[declared.reference.__module__]) or ""
    if note := inspect.getdoc(declared.make_cases):
        yield "What is examined", note
    if declared.misconceptions:
        yield "Known mistakes, and an experiment that shows each", "\n".join(map(_turn, declared.misconceptions))


def _turn(misconception: Any) -> str:
    """Return a misconception's name with the experiment that shows it."""
    convention = f" (Right under another convention: {misconception.convention}.)" if misconception.convention else ""
    line = f"- {misconception.name.replace('_', ' ')}. {misconception.hint}{convention}"
    return textwrap.fill(line, WIDTH, subsequent_indent="  ")


def _cell(course: Course, topic: Topic, grade_id: str) -> str:
    """Return the source of the notebook's cell `grade_id` with its solution, without the solution markers."""
    from course.grading.course_files.course_folder import source_path
    from course.grading.release.source import build

    source = source_path(Path(package.__file__).parents[1], topic)
    if not source.is_file():
        raise Problem(f"{grade_id.removesuffix('-solution')} is solved in {_address(f'solutions/{source.name}')}")
    cells = build(course, source, topic).cells
    (cell,) = (one for one in cells if one.metadata.get("nbgrader", {}).get("grade_id") == grade_id)
    lines = (line for line in cell.source.splitlines() if not line.strip().startswith("###"))
    return "\n".join(lines)


LISTED = ". `course list 3` names the exercises of topic 3"


def _item(course: Course, name: str) -> tuple[Topic, Item]:
    try:
        return course.find_item(name)
    except KeyError as error:
        raise Problem(f"{error.args[0]}{course.similar(name) or LISTED}") from None


def _address(path: str) -> str:
    return f"{SOURCE}/blob/{BRANCH}/{path}"


def _has_tried(topic: Topic, item: Item) -> bool:
    """Whether the student has tried, according to the progress file of `check` or their own answer."""
    known = _known(topic).get(item.name, {})
    if known.get("kind") == "passed":
        return True
    if not sys.stdin.isatty():
        raise Problem("it asks whether you have tried, but nobody is there to answer. Add --yes")
    try:
        answer = input(f"{_question(item, known)} [y/N] ")
    except EOFError:
        print()
        raise Problem("it asks whether you have tried, but nobody answered. Add --yes") from None
    return answer.strip().lower() in ("y", "yes")


def _question(item: Item, known: dict[str, Any]) -> str:
    if item.kind == "question":
        return "Have you written your own answer?"
    hints = int(known.get("hints", 0))
    taken = f" and asked for {hints} hint{'s' * (hints != 1)}" if hints else ""
    if known.get("kind") in (None, "missing"):
        return f"You have not tried {item.name} here yet{taken}. It takes about {item.minutes} minutes. Show it anyway?"
    return f"You have tried{taken}, and {known.get('passed', 0)} of {known.get('of', '?')} public checks pass. Show it?"


def _known(topic: Topic) -> dict[str, Any]:
    """Return the contents of the topic's progress file, which lies here, in a folder below, or in a release above."""
    here = Path.cwd()
    released = ((above / released_at(topic)).parent for above in (here, *here.parents))
    beside = [here, here / topic.folder, *sorted(here.glob(f"*/{topic.folder}")), *released]
    for folder in beside:
        known = read_progress(folder)
        if any(item.name in known for item in topic.items):
            return known
    return {}
