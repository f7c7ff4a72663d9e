"""Show two plain sentences instead of a traceback for an exercise that is not written, or whose cell has not run.

This covers the stub of a released notebook, and names that one of its cells makes. Other errors of these types, from
torch or a student's code, are shown in full. While a notebook is graded, all errors are.
"""

from __future__ import annotations

import linecache
import sys
from types import TracebackType
from typing import Any

from ..source import MARK, STUB
from ..surroundings import variable
from .display import in_notebook
from .missing_names import what_to_run_first

OURS = (NotImplementedError, NameError)
"""Types of errors that may be shown as a sentence."""


def speak_plainly() -> None:
    """Register a handler that shows a sentence for unwritten exercises and missing names, from the next cell on.

    It does nothing outside a notebook, under nbgrader, or for error types that another handler covers. Existing
    handlers for other types stay, such as Colab's for imports.
    """
    if not in_notebook() or variable("NBGRADER_EXECUTION"):
        return
    shell = sys.modules["IPython"].get_ipython()
    others, theirs = shell.custom_exceptions, shell.CustomTB
    ours = tuple(kind for kind in OURS if not issubclass(kind, others))
    if not ours:
        return

    def handle(shell: Any, kind: type, error: BaseException, tb: TracebackType, tb_offset: int | None = None) -> Any:
        if issubclass(kind, others):
            return theirs(kind, error, tb, tb_offset)
        return _show(shell, kind, error, tb, tb_offset)

    shell.set_custom_exc((*others, *ours), handle)


def unwritten(error: BaseException, tb: TracebackType | None) -> str:
    """Return the qualified name of the function whose stub raised `error`, or an empty string for other errors."""
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    if tb is None or type(error) is not NotImplementedError:
        return ""
    code = tb.tb_frame.f_code
    lines = [linecache.getline(code.co_filename, n).strip() for n in range(code.co_firstlineno, tb.tb_lineno + 1)]
    return code.co_qualname.rpartition("<locals>.")[2] if lines[-1:] == [STUB] and MARK in lines else ""


def _show(shell: Any, kind: type, error: BaseException, tb: TracebackType, tb_offset: int | None) -> None:
    """Show the error of a cell, which fails as usual, either as a sentence or with its traceback."""
    if name := unwritten(error, tb):
        told = [
            f"`{name}` is not written yet. It still says `{STUB}`.",
            "Write your code in place of that line, run its cell, and then this one again.",
        ]
    else:
        told = what_to_run_first(error, tb, shell.history_manager.input_hist_raw[-1])
    if told:
        error._render_traceback_ = lambda: told  # type: ignore[attr-defined]  # IPython asks for it
    shell.showtraceback((kind, error, tb), tb_offset=tb_offset)
