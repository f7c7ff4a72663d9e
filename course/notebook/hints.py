"""`hint`: show the next hint for an exercise or a written question, and after the last how to see a solution."""

from __future__ import annotations

from html import escape
from importlib import import_module
from importlib.util import find_spec

from ..judge.report import sentence
from .display import show
from .find_key import answer_key, called, key, passed_over
from .folder import note, read_progress


def hint(name: str) -> None:
    """Show the next hint for the exercise or written question `name`.

    With the last one it says how to see a solution. After that it begins again with the first one.

    Raises:
        KeyError: no exercise has that name.
    """
    if elsewhere := passed_over(called(name)[0]):
        print(elsewhere)
        return
    ladder = _hints(name)
    if not ladder:
        show(f"<p>There is no hint for <code>{escape(name)}</code>.</p>", f"There is no hint for {name}.")
        return
    given = int(read_progress().get(name, {}).get("hints", 0))
    position = given % len(ladder)
    note(name, hints=given + 1)
    left = len(ladder) - position - 1
    more = f"{left} more. Call hint again to see the next" if left else _after_the_last(name)
    body = (
        f'<div style="border-left:4px solid #4a7fd1;padding:6px 12px;margin:4px 0;max-width:52em;line-height:1.45;'
        f'color:inherit;font-family:system-ui,sans-serif;font-size:14px"><b>Hint {position + 1} of {len(ladder)}</b> '
        f'&middot; <code style="background:none;color:inherit">{escape(name)}</code>'
        f'<div style="margin-top:4px">{sentence(ladder[position])}</div>'
        f'<div style="margin-top:4px;opacity:.72;font-size:.9em">{sentence(more)}</div></div>'
    )
    show(body, f"Hint {position + 1} of {len(ladder)} for {name}: {ladder[position]} ({more})")


def _after_the_last(name: str) -> str:
    """Return a sentence on how to see a solution, or whom to ask if a class's edition contains none."""
    if find_spec("course.hidden") is not None:
        return f"This was the last one. In a terminal, `course solution {name}` shows a solution once you have tried"
    return "This was the last one. This edition of the course holds no solutions, so show your attempt to an instructor"


def _hints(name: str) -> tuple[str, ...]:
    topic, item = called(name)
    if item.kind != "question":
        return key(name).hints
    if find_spec("course.hidden") is not None:
        declared: dict[str, tuple[str, ...]] = import_module("course.hidden").question_hints(topic)
    else:
        declared = answer_key(topic.name).question_hints
    return declared.get(name, ())
