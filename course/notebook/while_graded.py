"""What a grader calls in a kernel between cells: a judged cell gets the course's `check`, and `exit` ends nothing.

It runs where the student's code runs, decides nothing, and leaves the names of the notebook as they were.
"""

from __future__ import annotations

import sys
from typing import Any

CALL = "__import__({module!r}, fromlist=('',)).{function}({arguments})"
"""How a cell calls a function of this module without binding a name of its own."""

STAYS = "exit() ends the kernel, so in your own notebook the cells below would not run. While it is graded, they run."

_NOTHING = object()
_kept: list[Any] = []
"""What `check` stood for when it was lent."""


def asking(function: str, arguments: str = "") -> str:
    """The code that calls the function of that name in a kernel."""
    return CALL.format(module=__name__, function=function, arguments=arguments)


def lend_check(names: dict[str, Any]) -> None:
    """Let `check` be the course's among a notebook's `names`, whatever the student gave the name to."""
    from .checking import check

    _kept[:] = [names.get("check", _NOTHING)]
    names["check"] = check


def take_check_back(names: dict[str, Any]) -> None:
    """Let `check` be among `names` what it was before it was lent."""
    for before in _kept:
        if before is _NOTHING:
            names.pop("check", None)
        else:
            names["check"] = before
    _kept.clear()


def outlive_exit() -> None:
    """Let `exit()`, `quit()` and what else asks this kernel to end say so, and the kernel go on."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    if shell is not None:
        shell.unobserve_all("exit_now")
        shell.observe(_stay, "exit_now")


def _stay(change: Any) -> None:
    if change["new"]:
        print(STAYS)
        change["owner"].exit_now = False
