"""What a grader calls in a kernel between cells: a judged cell gets the course's `check`, and `exit` ends nothing.

It runs where the student's code runs, decides nothing, and leaves the names of the notebook as they were.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any

CALL = "__import__({module!r}, fromlist=('',)).{function}({arguments})"
"""How a cell calls a function of this module without binding a name of its own."""

STAYS = "exit() ends the kernel, so in your own notebook the cells below would not run. While it is graded, they run."

_NOTHING = object()


def asking(function: str, arguments: str = "") -> str:
    """The code that calls the function of that name in a kernel."""
    return CALL.format(module=__name__, function=function, arguments=arguments)


def lend_check(cells: Collection[str]) -> None:
    """While a cell with such a source runs, let `check` be the course's, whatever the student gave the name to."""
    from .checking import check

    shell, before = _shell(), []

    def lend(cell: Any) -> None:
        if cell.raw_cell in cells:
            before.append(shell.user_ns.get("check", _NOTHING))
            shell.user_ns["check"] = check

    def take_back(result: Any) -> None:
        for kept in before:
            if kept is _NOTHING:
                shell.user_ns.pop("check", None)
            else:
                shell.user_ns["check"] = kept
        before.clear()

    if shell is not None:
        shell.events.register("pre_run_cell", lend)
        shell.events.register("post_run_cell", take_back)


def outlive_exit() -> None:
    """Let `exit()`, `quit()` and what else asks this kernel to end say so, and the kernel go on."""
    shell = _shell()
    if shell is not None:
        shell.unobserve_all("exit_now")
        shell.observe(_stay, "exit_now")


def _shell() -> Any:
    """IPython's shell, or None in another kernel."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _stay(change: Any) -> None:
    if change["new"]:
        print(STAYS)
        change["owner"].exit_now = False
