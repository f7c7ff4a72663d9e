"""Find calls of the course's functions in a cell, and warn if a name no longer means the course's function.

A student may assign a value to a name such as `check` or `fit`.
"""

from __future__ import annotations

import ast
import inspect
import sys
from typing import Any

from ..source import parsed
from ..surroundings import variable
from .display import in_notebook, say
from .this_course import this_course

CALLED = {
    "check": "nothing was checked",
    "fit": "nothing was trained",
    "hint": "no hint was shown",
    "predict": "nothing was asked",
    "rubric": "no criteria were shown",
}
"""Functions of the course that take the name of an item or prediction, with the effect of an overwritten one."""


def watch_over_names() -> None:
    """Register a hook that warns after a cell whose call of such a function meant something else.

    Nothing changes outside a notebook, or under nbgrader.
    """
    if not in_notebook() or variable("NBGRADER_EXECUTION"):
        return
    shell = sys.modules["IPython"].get_ipython()

    def look(result: Any) -> None:
        for name in calls_in(result.info.raw_cell or ""):
            if sentence := overwritten(name, shell.user_ns):
                say(sentence)

    shell.events.register("post_run_cell", look)


def calls_in(source: str) -> list[str]:
    """Return the course's functions that a cell calls for a known name: `["fit"]` for `fit("rnn_task", …)`."""
    calls = (node for node in ast.walk(parsed(source) or ast.Module([], [])) if isinstance(node, ast.Call))
    return sorted({node.func.id for node in calls if isinstance(node.func, ast.Name) and _is_of_the_course(node)})


def _is_of_the_course(call: ast.Call) -> bool:
    topics = this_course().topics
    names = {name for topic in topics for name in (*topic.predictions, *(item.name for item in topic.items))}
    first = call.args[0] if call.args else None
    of_ours = isinstance(call.func, ast.Name) and call.func.id in CALLED
    return of_ours and isinstance(first, ast.Constant) and first.value in names


def overwritten(name: str, names: dict[str, Any]) -> str:
    """Return a warning about a function that a cell called, or nothing if its name still means the course's."""
    if name not in names:
        return f"The name `{name}` is gone from this notebook. Run its first code cell again, which imports it."
    own = names[name]
    if inspect.isfunction(own) and own.__module__.startswith(__package__):
        return ""
    return (
        f"The name `{name}` now belongs to a value of yours (type {type(own).__name__}), so {CALLED[name]}. "
        f"Give your value another name, and run `from course import {name}` again."
    )
