"""Which sandbox this machine can give, found out by a real run of each, strongest first."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course.grading.problem import Problem
from course.grading.sandbox import bubblewrap
from course.grading.sandbox.confines import Confines

TIERS = ("bubblewrap", "landlock", "none")
"""Strongest first; `none` keeps to limits of time, memory and the like, and stops nobody who means harm."""

NOT_ISOLATED = "NOT ISOLATED"
"""How an execution without a sandbox is called, in reports and in the notebook's metadata."""

_LOOK = """
import os, socket, sys, zmq
inside, canary = sys.argv[1:]
open(os.path.join(inside, "written"), "w").close()
try:
    open(canary).close()
    sys.exit("a file outside could be read")
except OSError:
    pass
try:
    with socket.socket() as line:
        line.settimeout(1)
        line.connect(("192.0.2.1", 80))
    sys.exit("the network could be reached")
except OSError:
    pass
"""


@dataclass(frozen=True)
class Tier:
    """A sandbox that works here; `reasons` say why the stronger ones do not."""

    name: str
    reasons: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """How it is called in reports."""
        return NOT_ISOLATED if self.name == "none" else self.name


def how_executed(label: str) -> str:
    """What every report says of the way it came about."""
    if label == NOT_ISOLATED:
        return f"Executed {NOT_ISOLATED}: with no sandbox around the student's code."
    return f"Executed in a sandbox ({label})."


@cache
def strongest() -> Tier:
    """The strongest sandbox there is on this machine; `COURSE_SANDBOX` names a weaker one to be used."""
    wanted = os.environ.get("COURSE_SANDBOX", "")
    if wanted and wanted not in TIERS:
        raise Problem(f"COURSE_SANDBOX is {wanted!r}; it can be {', '.join(TIERS)}")
    reasons: list[str] = []
    for name in TIERS[TIERS.index(wanted) if wanted else 0 :]:
        reason = _probe(name)
        if not reason:
            return Tier(name, tuple(reasons))
        reasons.append(f"{name}: {reason}")
    raise AssertionError("a process without a sandbox always works")


def required() -> Tier:
    """The strongest sandbox, if there is any.

    Raises:
        Problem: there is none; the message says why, tier by tier.
    """
    tier = strongest()
    if tier.name == "none":
        why = "; ".join(tier.reasons) or "COURSE_SANDBOX asks for none"
        raise Problem(f"a sandbox is required, and there is none on this machine ({why})")
    return tier


def _probe(name: str) -> str:
    """Why a tier does not work here; empty when it does."""
    if name == "none":
        return ""
    if not sys.platform.startswith("linux"):
        return "only on Linux"
    if name == "bubblewrap" and bubblewrap.program() is None:
        return "not installed"
    with (
        tempfile.TemporaryDirectory(prefix="probe-") as outside,
        tempfile.TemporaryDirectory(prefix="probe-") as inside,
    ):
        canary = Path(outside, "canary")
        canary.touch()
        return _try(name, Confines(inside), [_LOOK, inside, str(canary)])


def _try(name: str, confines: Confines, script: list[str]) -> str:
    if name == "bubblewrap":
        argv = [*bubblewrap.command(confines), sys.executable, "-c", *script]
    else:
        confined = (
            "import sys; from course.grading.sandbox.confinement import confine;"
            f"from course.grading.sandbox.confines import Confines; confine({name!r}, Confines({confines.private!r}))\n"
        )
        argv = [sys.executable, "-c", confined + script[0], *script[1:]]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=30.0)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else f"ended with status {done.returncode}")
