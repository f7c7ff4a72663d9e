"""`rubric`: show the criteria of a written question for self-assessment, and store which ones the answer meets."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..judge.report import sentence
from ..surroundings import variable
from ..syllabus import Unknown
from .display import in_notebook, plain, show
from .find_key import answer_key, called
from .folder import note, now, read_progress
from .hide_traceback import hide_traceback
from .this_course import this_course

LETTERS = "abcd"
"""Labels of the criteria."""


def rubric(name: str, met: str | None = None) -> None:
    """Show the criteria of the written question `name`, or store which of them your answer meets. It earns no points.

    They are the course's own criteria and not the instructor's. While a notebook is graded, nothing is shown.

    Args:
        name: of the question, such as `"self_attention_question"`.
        met: the letters of the criteria that your answer meets, such as `"ac"`; `""` for none.

    Raises:
        Unknown: no written question has that name, or it has no such criterion.
    """
    if variable("NBGRADER_EXECUTION"):
        return
    criteria = _criteria(name)
    if met is not None and criteria:
        _note(name, criteria, _letters(name, met, LETTERS[: len(criteria)]))
    noted = read_progress().get(name, {}).get("met")
    marked = noted if isinstance(noted, str) else None
    if in_notebook() and met is None and criteria:
        _show_boxes(name, criteria, marked)
        return
    html = _html(name, criteria, marked)
    show(html, "\n".join(map(plain, html.split("\n"))))


def _note(name: str, criteria: Sequence[str], met: str) -> None:
    note(name, met=met, criteria=len(criteria), met_at=now())


def _show_boxes(name: str, criteria: Sequence[str], marked: str | None) -> None:
    """Show the criteria, and below them a checkbox for each."""
    import ipywidgets as widgets
    from IPython.display import display

    from ..show.panel import Panel

    page, letters = widgets.HTML(_html(name, criteria, marked)), LETTERS[: len(criteria)]
    narrow = widgets.Layout(width="auto", margin="0 14px 0 0")
    boxes = {
        letter: widgets.Checkbox(letter in (marked or ""), description=f"meets {letter}", indent=False, layout=narrow)
        for letter in letters
    }

    def mark(_: Any) -> None:
        met = "".join(letter for letter, box in boxes.items() if box.value)
        _note(name, criteria, met)
        page.value = _html(name, criteria, met)

    for box in boxes.values():
        box.observe(mark, "value")
    display(Panel([page, widgets.HBox(list(boxes.values()))]))


def _criteria(name: str) -> tuple[str, ...]:
    topic, item = called(name)
    if item.kind != "question":
        raise hide_traceback(Unknown(f"{name!r} is no written question. Its check says whether it is right"))
    if find_spec("course.hidden") is not None:
        declared: dict[str, tuple[str, ...]] = import_module("course.hidden").question_criteria(topic)
    else:
        declared = answer_key(topic.name).question_criteria
    return declared.get(name, ())


def _letters(name: str, met: object, known: str) -> str:
    """Return the letters in `met`, sorted and without repetition. Spaces and commas may separate them."""
    given = {letter for letter in met.lower() if letter not in " ,"} if isinstance(met, str) else {repr(met)}
    if unknown := sorted(given - {*known}):
        which = f"Give letters from a to {known[-1]}, such as 'ac'"
        raise hide_traceback(Unknown(f"{name} has no criterion {unknown[0]:.40}. {which}"))
    return "".join(sorted(given))


_BOX = (
    "border-left:4px solid #2e9e5b;padding:6px 12px;margin:4px 0;max-width:52em;line-height:1.45;color:inherit;"
    "font-family:system-ui,sans-serif;font-size:14px;white-space:normal"
)
_CODE = '<code style="background:none;color:inherit">'


def _html(name: str, criteria: Sequence[str], noted: str | None) -> str:
    """Return the criteria as HTML, collapsed until something was stored. Its lines match the plain text's."""
    if not criteria:
        return f'<div style="{_BOX}">There are no criteria for {_CODE}{escape(name)}</code>.</div>'
    rows = (_row(letter, text, noted) for letter, text in zip(LETTERS, criteria, strict=False))
    others = " Your instructor may grade by other criteria." if not this_course().is_original else ""
    how = f'{_CODE}rubric("{escape(name)}", "ac")</code> notes that it meets a and c. That earns no points.{others}'
    first = "<b>Mark your own answer</b>, once it is written. A good one does this:"
    if noted is not None:
        first = f"<b>Your answer meets {len(noted)} of {len(criteria)} criteria</b>, you say."
    lines = "\n".join([f"<summary>{first}</summary>", *rows, f'<div style="margin-top:6px">{how}</div>'])
    return f'<div style="{_BOX}"><details{" open" if noted is not None else ""}>{lines}</details></div>'


def _row(letter: str, text: str, noted: str | None) -> str:
    mark = "" if noted is None else f"{'✓' if letter in noted else '○'} "
    style = "margin-top:4px;padding-left:2em;text-indent:-1.4em"
    return f'<div style="{style}">{mark}{letter}) {sentence(text)}</div>'
