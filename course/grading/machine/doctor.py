"""`course doctor` checks whether this machine can run the course, and says what is wrong and what to do.

It runs with the standard library alone, because any package that it checks may be missing or broken.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from course.grading.machine.check_grading import own_course, sandbox
from course.grading.machine.check_jupyter import jupyter, kernel
from course.grading.machine.check_packages import packages, python
from course.grading.machine.check_space import disk, existing, language_model, memory, writable
from course.grading.machine.check_torch import torch_works
from course.grading.machine.check_user import home
from course.grading.machine.finding import Finding
from course.grading.machine.resources import memory_at_hand


def examine(folder: Path) -> list[Finding]:
    """Return all findings on this machine, and on `folder` as the folder of the notebooks."""
    folder = folder.absolute()
    looks: list[Callable[[], Iterable[Finding]]] = [
        python,
        packages,
        torch_works,
        home,
        jupyter,
        kernel,
        lambda: [memory(memory_at_hand()), disk(folder, shutil.disk_usage(existing(folder)).free)],
        lambda: writable(folder),
        language_model,
        lambda: own_course(folder),
    ]
    if find_spec("course.hidden") is not None:
        looks += [sandbox]
    return [finding for look in looks for finding in look()]


def report(findings: Sequence[Finding]) -> str:
    """Return the findings as lines, with a summary at the end."""
    wrong, notes = (sum(finding.kind == kind for finding in findings) for kind in ("wrong", "note"))
    plural = "thing" if wrong == 1 else "things"
    verdict = f"{wrong} {plural} to fix." if wrong else "Everything the course needs is here."
    also = f" {notes} worth knowing." if notes else ""
    return "\n".join([*map(str, findings), "", verdict + also])


def diagnose(folder: Path) -> int:
    """Print the report, and return the exit status, which is 1 if something is wrong."""
    findings = examine(folder)
    print(report(findings))
    return int(any(finding.kind == "wrong" for finding in findings))
