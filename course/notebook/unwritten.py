"""Errors from an exercise that is not written yet, or whose cell has not run: two plain sentences, and no traceback.

Only the stub that a released notebook leaves is meant, and a name that one of its cells makes. Any other error of these
kinds, torch's own or a student's, shows whole, and so do these while a notebook is graded.
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
"""The kinds of errors that may be shown in our words."""


def speak_plainly() -> None:
    """Let the notebook meet exercises that are unwritten, or have not run, with a sentence, from the next cell on.

    Nothing changes outside a notebook, under nbgrader, or for a kind of exception that somebody else handles; for
    other kinds they still do, as Colab does for imports.
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
    """The function whose stub raised `error`, as its class and it are called; empty for every other error."""
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    if tb is None or type(error) is not NotImplementedError:
        return ""
    code = tb.tb_frame.f_code
    lines = [linecache.getline(code.co_filename, n).strip() for n in range(code.co_firstlineno, tb.tb_lineno + 1)]
    return code.co_qualname.rpartition("<locals>.")[2] if lines[-1:] == [STUB] and MARK in lines else ""


def _show(shell: Any, kind: type, error: BaseException, tb: TracebackType, tb_offset: int | None) -> None:
    """The cell fails as ever; what it shows may be ours."""
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
