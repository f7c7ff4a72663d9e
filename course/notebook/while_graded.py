"""Functions that a grader calls in a kernel before the first cell, so that no cell can break the later ones.

They run in the student's process, decide nothing, and do not change the notebook's variables.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..surroundings import beside_notebook, keep_surroundings
from .folder import working_folder
from .overwritten import calls_in

CALL = "__import__({module!r}, fromlist=('',)).{function}()"
"""Code for a cell that calls a function of this module without binding a name."""

STAYS = "exit() ends the kernel, so in your own notebook the cells below would not run. While it is graded, they run."

ON_THE_CPU = "This machine lacks the default device that this cell sets. While it is graded, the notebook uses the CPU."

_NOTHING = object()


def asking(function: str) -> str:
    """Return the code that calls a function of this module in a kernel."""
    return CALL.format(module=__name__, function=function)


def begin() -> None:
    """Store the environment and the notebook's folder, start each cell there, and ignore `exit()` and `quit()`."""
    keep_surroundings()
    shell = _shell()
    if shell is not None:
        shell.unobserve_all("exit_now")
        shell.observe(_stay, "exit_now")
        shell.events.register("pre_run_cell", _come_back)


def lend() -> None:
    """Bind the course's names to its functions while a cell calls them, even if the student has overwritten them."""
    from ..exercise.settings import put_lacking_device_aside
    from .checking import check
    from .hints import hint
    from .predictions import predict
    from .rubrics import rubric
    from .training import fit

    ours = {"check": check, "fit": fit, "hint": hint, "predict": predict, "rubric": rubric}
    shell, before = _shell(), dict[str, Any]()

    def lend_names(cell: Any) -> None:
        for name in calls_in(cell.raw_cell):
            before[name] = shell.user_ns.get(name, _NOTHING)
            shell.user_ns[name] = ours[name]

    def take_back(_result: Any) -> None:
        for name, kept in before.items():
            if shell.user_ns.get(name) is not ours[name]:  # the cell has assigned the name itself
                continue
            if kept is _NOTHING:
                del shell.user_ns[name]
            else:
                shell.user_ns[name] = kept
        before.clear()
        if put_lacking_device_aside():
            print(ON_THE_CPU)

    if shell is not None:
        shell.events.register("pre_run_cell", lend_names)
        shell.events.register("post_run_cell", take_back)


def _shell() -> Any:
    """Return IPython's shell, or None in another kernel."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def _stay(change: Any) -> None:
    if change["new"]:
        print(STAYS)
        change["owner"].exit_now = False


def _come_back(_cell: Any) -> None:
    """Change back to the notebook's folder if an earlier cell has left it."""
    home = beside_notebook(Path())
    if not working_folder().is_relative_to(home):
        with suppress(OSError):
            os.chdir(home)
