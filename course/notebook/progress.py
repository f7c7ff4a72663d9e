"""`progress`: the notebook's exercises at a glance; in the course's home notebook, the whole course as a map."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from ..study_paths import StudyPath, paths_through
from ..surroundings import variable
from ..syllabus import TOPICS, Item, Topic, Unknown, find_topic
from . import course_map
from .course_map import Standing
from .display import show
from .folder import choose_path, chosen_path, read_progress, working_folder
from .predictions import remembered
from .slip import slip

_STATES = {"passed": ("✓", "#2e9e5b"), "none": ("○", "#7a7f87"), "open": ("✗", "#d1493f")}


def progress(topic: str | None = None, path: str | None = None) -> None:
    """Shows how far the exercises of `topic` (`"03_rnn"`) are; without one, of the notebook's own topic.

    In a folder that holds the course's notebooks, each in a folder of its own, it shows the map of them all. While a
    notebook is graded, it shows nothing, as what `check` noted is on the student's machine.

    `path` (`"language"`) chooses a path through the course for the map, which remembers it; `""` chooses none.

    Raises:
        KeyError: no topic or path has that name.
        RuntimeError: a path is chosen where there is no map.
    """
    if variable("NBGRADER_EXECUTION"):
        return
    beside = {one.name: notebook for one in TOPICS if (notebook := _notebook(one)).is_file()}
    if path is not None:
        _choose(path, bool(beside))
    if topic is None and beside:
        standings = {one.name: _standing(one) for one in TOPICS}
        links = {name: notebook.as_posix() for name, notebook in beside.items()}
        along = _paths().get(chosen_path())
        show(course_map.html(TOPICS, standings, links, along), course_map.text(TOPICS, standings, along))
        return
    known = read_progress()
    shown = _called(topic) if topic else _own_topic(known)
    topics = [shown] if shown else list(TOPICS)
    show("".join(_html(one, known) for one in topics), "\n".join(_text(one, known) for one in topics))


def _paths() -> dict[str, StudyPath]:
    """The paths through the course by name; none where a class leaves topics out."""
    return {path.name: path for path in paths_through(TOPICS)}


def _choose(name: str, has_map: bool) -> None:
    """Remember the path of that name for the map of the course."""
    paths = _paths()
    if not has_map:
        raise slip(RuntimeError("A path is chosen where the map is. Run this in index.ipynb, the course's first page."))
    if name and name not in paths:
        there = f"Its paths are {', '.join(map(repr, paths))}" if paths else "It leaves topics out, so it has no paths"
        raise slip(Unknown(f"this course has no path {name!r}. {there}"))
    choose_path(name)


def _called(name: str) -> Topic:
    try:
        return find_topic(name)
    except Unknown as error:
        raise slip(error) from None


def _notebook(topic: Topic) -> Path:
    """The topic's notebook, seen from the course's home notebook."""
    return Path(topic.folder, f"{topic.folder}.ipynb")


def _standing(topic: Topic) -> Standing:
    """How far the topic's notebook is, by what `check` noted beside it."""
    known = read_progress(Path(topic.folder))
    left = [item.name for item in topic.judged if _state(item, known)[0] != "passed"]
    begun = any("kind" in known.get(item.name, {}) for item in topic.judged)
    here = _notebook(topic).is_file()
    return Standing(len(topic.judged) - len(left), len(topic.judged), begun, left[0] if left else "", here)


def _own_topic(known: dict[str, Any]) -> Topic | None:
    """The topic whose notebook lies in the working folder; else the one most of whose exercises were checked."""
    folder = working_folder().name
    beside = [topic for topic in TOPICS if Path(f"{topic.folder}.ipynb").exists() or folder == topic.folder]
    if len(beside) == 1:
        return beside[0]
    by_checks = [(sum(item.name in known for item in topic.items), topic) for topic in TOPICS]
    most = max(by_checks, key=lambda pair: pair[0])
    return most[1] if most[0] else None


def _state(item: Item, known: dict[str, Any]) -> tuple[str, str]:
    """Which state, and words for it."""
    facts = known.get(item.name, {})
    if item.kind == "question":
        return "none", "read by a person"
    if "kind" not in facts:
        return "none", "not checked yet"
    if facts["kind"] == "passed":
        return "passed", "public checks pass"
    if facts["kind"] == "missing":
        return "none", "not answered yet"
    return "open", f"{facts.get('passed', 0)} of {facts.get('of', '?')} public checks pass"


_CODE = '<code style="background:none;color:inherit">'
_TABLE = '<table style="border-collapse:collapse;margin:6px 0;font-size:14px;color:inherit">'


def _html(topic: Topic, known: dict[str, Any]) -> str:
    rows = []
    for item in topic.items:
        state, words = _state(item, known)
        mark, colour = _STATES[state]
        rows.append(
            f'<tr style="background:none"><td style="color:{colour};text-align:center" aria-hidden="true">{mark}</td>'
            f'<td style="text-align:left;padding:2px 14px 2px 4px">{_CODE}{escape(item.name)}</code></td>'
            f'<td style="text-align:left;padding:2px 14px 2px 0">{escape(words)}</td>'
            f'<td style="text-align:right;padding:2px 14px 2px 0">{_points(item)}</td>'
            f'<td style="text-align:right;opacity:.72">{item.minutes} min</td></tr>'
        )
    done = sum(_state(item, known)[0] == "passed" for item in topic.items)
    of = len(topic.judged)
    return (
        f'<div style="font-family:system-ui,sans-serif;font-size:14px;color:inherit"><b>{escape(topic.title)}</b> '
        f"&middot; {done} of {of} pass"
        f"{_TABLE}{''.join(rows)}</table>{escape(_predicted(topic))}</div>"
    )


def _predicted(topic: Topic) -> str:
    """How many predictions of the topic were made; nothing where it has none."""
    made = sum(bool(remembered(name)) for name in topic.predictions)
    return f"{made} of {len(topic.predictions)} predictions made" if topic.predictions else ""


def _points(item: Item) -> str:
    return f"{item.points:g} point{'s' * (item.points != 1)}" if item.points else "optional"


def _text(topic: Topic, known: dict[str, Any]) -> str:
    lines = [topic.title]
    for item in topic.items:
        state, words = _state(item, known)
        lines.append(f"  {_STATES[state][0]} {item.name:<32}{words:<28}{_points(item):>9} {item.minutes:>3} min")
    lines += [f"  {_predicted(topic)}"] * bool(topic.predictions)
    return "\n".join(lines)
