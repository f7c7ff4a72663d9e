"""Errors in a call of ours: the cell shows the student's line and one sentence, and no line of the course.

An error of ours that nobody meant still shows whole.
"""

from __future__ import annotations

import linecache
from functools import partial
from textwrap import wrap
from typing import TypeVar

E = TypeVar("E", bound=BaseException)

WIDTH = 88
"""Characters of a line: a notebook beside its list of files breaks longer ones, amid a word."""


def slip(error: E) -> E:
    """The same error, to be raised and caught as any other; only IPython shows it shorter."""
    error._render_traceback_ = partial(_told, error)  # type: ignore[attr-defined]  # IPython asks for it
    return error


def _told(error: BaseException) -> list[str]:
    sentence = wrap(str(error), WIDTH, break_long_words=False, break_on_hyphens=False)
    return [*_own_line(error), *sentence]


def _own_line(error: BaseException) -> list[str]:
    """The line of the notebook's that led to the error, as a traceback marks it, and an empty one below."""
    line, tb = "", error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_globals.get("__name__") == "__main__":
            text = linecache.getline(tb.tb_frame.f_code.co_filename, tb.tb_lineno).strip()
            line = f"----> {tb.tb_lineno} {text}"
        tb = tb.tb_next
    return [line, ""] if line else []
