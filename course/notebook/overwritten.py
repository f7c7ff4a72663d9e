"""A note below a cell that calls `check` after the name was given to something else."""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable
from typing import Any

from ..syllabus import find_item
from .display import in_notebook, say

CALL = re.compile(r"^\s*check\(\s*[\"'](\w+)[\"']", re.M)
"""The course's call, as it stands in a notebook: its first argument is an exercise's name."""


def watch_over(check: Callable[..., Any]) -> None:
    """Have this notebook's kernel say after a cell that called `check` that the name means something else.

    Nothing changes outside a notebook, or under nbgrader.
    """
    if not in_notebook() or "NBGRADER_EXECUTION" in os.environ:
        return
    shell = sys.modules["IPython"].get_ipython()

    def look(result: Any) -> None:
        if sentence := overwritten(result.info.raw_cell or "", shell.user_ns, check):
            say(sentence)

    shell.events.register("post_run_cell", look)


def overwritten(source: str, names: dict[str, Any], check: Callable[..., Any]) -> str:
    """What to say of `check` after a cell with that source ran; nothing where the name is still the course's."""
    called = CALL.search(source)
    if called is None or not _is_exercise(called[1]):
        return ""
    if "check" not in names:
        return "The name `check` is gone from this notebook. Run its first code cell again, which imports it."
    own = names["check"]
    if own is check or (inspect.isfunction(own) and own.__module__ == check.__module__):
        return ""
    return (
        f"The name `check` now belongs to a value of yours (type {type(own).__name__}), so nothing was checked. "
        "Give your value another name, and run `from course import check` again."
    )


def _is_exercise(name: str) -> bool:
    try:
        find_item(name)
    except KeyError:
        return False
    return True
