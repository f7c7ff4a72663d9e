"""Hide the traceback of errors in a call of the course: show the student's line and one sentence.

An unexpected error of the course still shows its whole traceback.
"""

from __future__ import annotations

import linecache
from functools import partial
from textwrap import wrap
from typing import TypeVar

E = TypeVar("E", bound=BaseException)

WIDTH = 88
"""Characters of a line. A notebook beside the file browser would break longer ones within words."""


def hide_traceback(error: E) -> E:
    """Return the error with a short display in IPython. It is raised and caught like any other."""
    error._render_traceback_ = partial(_told, error)  # type: ignore[attr-defined]  # IPython asks for it
    return error


def _told(error: BaseException) -> list[str]:
    sentence = wrap(str(error), WIDTH, break_long_words=False, break_on_hyphens=False)
    return [*_own_line(error), *sentence]


def _own_line(error: BaseException) -> list[str]:
    """Return the notebook's line that led to the error, marked as in a traceback, and an empty line."""
    line, tb = "", error.__traceback__
    while tb is not None:
        if tb.tb_frame.f_globals.get("__name__") == "__main__":
            text = linecache.getline(tb.tb_frame.f_code.co_filename, tb.tb_lineno).strip()
            line = f"----> {tb.tb_lineno} {text}"
        tb = tb.tb_next
    return [line, ""] if line else []
