"""`progress`: list the notebook's exercises or, in the course's home notebook, show the whole course as a map."""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path
from typing import Any

from ..course import Course
from ..surroundings import variable
from ..syllabus import Item, Topic, Unknown
from . import course_map
from .display import plain, show
from .folder import choose_path, read_progress, working_folder
from .hide_traceback import hide_traceback
from .standing import (
    MARKS,
    date,
    grade_of,
    next_after,
    notebook_of,
    path_called,
    path_chosen_in,
    predictions_made,
    standing_of,
    state_of,
)
from .this_course import this_course

_COLOURS = {"passed": "#2e9e5b", "none": "#7a7f87", "open": "#d1493f"}


def progress(topic: str | None = None, path: str | None = None) -> None:
    """Show the progress in the exercises of `topic` (`"03_rnn"`), by default those of the notebook's own topic.

    In a folder that contains the folders of the course's notebooks, show the map of them all. While a notebook is
    graded, show nothing, because the notes of `check` are on the student's machine.

    `path` (`"language"`) chooses a path through the course for the map, which stores it. `""` chooses none.

    Raises:
        KeyError: no topic or path has that name.
        RuntimeError: a path is chosen where there is no map.
    """
    if variable("NBGRADER_EXECUTION"):
        return
    course = this_course()
    topics = course.topics
    links = {one.name: notebook_of(one).as_posix() for one in topics if notebook_of(one).is_file()}
    if path is not None:
        _choose(course, path, bool(links))
    if topic is None and links:
        standings = {one.name: standing_of(one) for one in topics}
        along = path_chosen_in(topics, Path())
        show(course_map.html(topics, standings, links, along), course_map.text(topics, standings, along))
        return
    shown = _called(course, topic) if topic else _own_topic(course, read_progress())
    if shown is None:
        known = read_progress()
        pages = [(_html(course, one, known, []), _text(course, one, known, [])) for one in topics]
        show("".join(page for page, _ in pages), "\n".join(text for _, text in pages))
        return
    folder, home = (Path(shown.folder), Path()) if shown.name in links else (Path(), Path(".."))
    known, below = read_progress(folder), [*_grade(shown, folder), _what_comes_next(course, shown, home)]
    show(_html(course, shown, known, below), _text(course, shown, known, [plain(line) for line in below]))


def _choose(course: Course, name: str, has_map: bool) -> None:
    """Store the name of the path for the map of the course."""
    if not has_map:
        raise hide_traceback(
            RuntimeError("A path is chosen where the map is. Run this in index.ipynb, the course's first page.")
        )
    try:
        path_called(course.topics, name)
    except Unknown as error:
        raise hide_traceback(error) from None
    choose_path(name)


def _called(course: Course, name: str) -> Topic:
    try:
        return course.find_topic(name)
    except Unknown as error:
        raise hide_traceback(error) from None


def _own_topic(course: Course, known: dict[str, Any]) -> Topic | None:
    """Return the topic whose notebook is in the folder, or else that with most names in use, or with most checks."""
    folder = working_folder().name
    beside = [topic for topic in course.topics if Path(f"{topic.folder}.ipynb").exists() or folder == topic.folder]
    if len(beside) == 1:
        return beside[0]
    used = vars(sys.modules["__main__"])  # the folder may have notes of several notebooks, as on a mounted Drive
    by_use = [[sum(item.name in names for item in topic.items) for names in (used, known)] for topic in course.topics]
    most = max(by_use)
    return course.topics[by_use.index(most)] if any(most) else None


def _grade(topic: Topic, folder: Path) -> list[str]:
    """Return a sentence with the grade from `course grade` and its time, or nothing if there is none."""
    grade = grade_of(topic, folder)
    if grade is None:
        return []
    return [f"Grading gave {grade.words()}{f' on {date(grade.at)}' if grade.at else ''}."]


def _what_comes_next(course: Course, topic: Topic, home: Path) -> str:
    """Return the next notebook on the chosen path, with a link to it in HTML if it is beside this one."""
    path = path_chosen_in(course.topics, home)
    where, after = f" on the path {path.title.lower()}" if path else "", next_after(course.topics, topic, path)
    if after is None:
        return f"This is the last notebook{where}."
    name, notebook = f"{after.number} {escape(after.title)}", notebook_of(after, home)
    link = f'<a href="{notebook.as_posix()}">{name}</a>' if notebook.is_file() else name
    return f"Next{where} comes {link}."


_CODE = '<code style="background:none;color:inherit">'
_TABLE = '<table style="border-collapse:collapse;margin:6px 0;font-size:14px;color:inherit">'


def _html(course: Course, topic: Topic, known: dict[str, Any], below: list[str]) -> str:
    rows = []
    for item in topic.items:
        state, words = state_of(item, known, by_person=not course.is_original)
        rows.append(
            f'<tr style="background:none"><td style="color:{_COLOURS[state]};text-align:center" aria-hidden="true">'
            f"{MARKS[state]}</td>"
            f'<td style="text-align:left;padding:2px 14px 2px 4px">{_CODE}{escape(item.name)}</code></td>'
            f'<td style="text-align:left;padding:2px 14px 2px 0">{escape(words)}</td>'
            f'<td style="text-align:right;padding:2px 14px 2px 0">{_points(item)}</td>'
            f'<td style="text-align:right;opacity:.72">{item.minutes} min</td></tr>'
        )
    done = sum(state_of(item, known)[0] == "passed" for item in topic.items)
    of = len(topic.judged)
    lines = "<br>".join(filter(None, [predictions_made(topic, known), *below]))
    return (
        f'<div style="font-family:system-ui,sans-serif;font-size:14px;color:inherit"><b>{escape(topic.title)}</b> '
        f"&middot; {done} of {of} pass"
        f"{_TABLE}{''.join(rows)}</table>{lines}</div>"
    )


def _points(item: Item) -> str:
    return f"{item.points:g} point{'s' * (item.points != 1)}" if item.points else "optional"


def _text(course: Course, topic: Topic, known: dict[str, Any], below: list[str]) -> str:
    lines = [topic.title]
    for item in topic.items:
        state, words = state_of(item, known, by_person=not course.is_original)
        lines.append(f"  {MARKS[state]} {item.name:<32}{words:<32}{_points(item):>9} {item.minutes:>3} min")
    lines += [f"  {line}" for line in (predictions_made(topic, known), *below) if line]
    return "\n".join(lines)
