"""Find the strongest sandbox that works on this machine, by running a test process in each."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from course.grading.sandbox import bubblewrap
from course.grading.sandbox.spec import Confines
from course.problem import Problem

TIERS = ("bubblewrap", "landlock", "none")
"""The kinds of sandbox, strongest first; `none` only sets resource limits and does not stop an attacker."""

NOT_ISOLATED = "NOT ISOLATED"
"""The label of an execution without a sandbox, in reports and in the notebook's metadata."""

PATIENCE = 30.0
"""The time limit of a probe in seconds; a probe usually takes a fraction of a second."""

_LOOK = """
import os, socket, sys, zmq
inside, canary, port = sys.argv[1:]
open(os.path.join(inside, "written"), "w").close()
open_ways = []
try:
    open(canary).close()
    open_ways.append("a file outside could be read")
except OSError:
    pass
try:
    with socket.socket() as line:
        line.settimeout(2)
        line.connect(("127.0.0.1", int(port)))
    open_ways.append("the network could be reached")
except OSError:
    pass
sys.exit(", ".join(open_ways) or None)
"""
"""The script that runs in a sandbox: it must not reach a file and a port that exist outside."""


@dataclass(frozen=True)
class Tier:
    """A sandbox that works on this machine; `reasons` say why the stronger ones do not work."""

    name: str
    reasons: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Return the tier's label in reports."""
        return NOT_ISOLATED if self.name == "none" else self.name


def how_executed(label: str) -> str:
    """Return the sentence for reports about the sandbox of an execution."""
    if label == NOT_ISOLATED:
        return f"Executed {NOT_ISOLATED}, with no sandbox around the student's code."
    return f"Executed in a sandbox ({label})."


def strongest() -> Tier:
    """Return the strongest sandbox of this machine, at most the tier that `COURSE_SANDBOX` names."""
    wanted = os.environ.get("COURSE_SANDBOX") or TIERS[0]
    if wanted not in TIERS:
        raise Problem(f"COURSE_SANDBOX is {wanted!r}. Set it to one of {', '.join(TIERS)}")
    return strongest_from(wanted)


@cache
def strongest_from(wanted: str) -> Tier:
    """Return the strongest sandbox not above the tier `wanted`; forked processes inherit the cached result."""
    reasons: list[str] = []
    for name in TIERS[TIERS.index(wanted) :]:
        reason = probe_tier(name)
        if not reason:
            return Tier(name, tuple(reasons))
        reasons.append(f"{name}: {reason}")
    raise AssertionError("a process without a sandbox always works")


def required() -> Tier:
    """Return the strongest sandbox, and require one.

    Raises:
        Problem: there is no sandbox; the message has the reason for each tier.
    """
    tier = strongest()
    if tier.name == "none":
        why = "; ".join(tier.reasons) or "COURSE_SANDBOX asks for none"
        raise Problem(f"a sandbox is required, but this machine has none ({why})")
    return tier


def probe_tier(name: str) -> str:
    """Return why a tier does not work on this machine, or an empty string if it works."""
    if name == "none":
        return ""
    if not sys.platform.startswith("linux"):
        return "only on Linux"
    if name == "bubblewrap" and bubblewrap.program() is None:
        return "not installed"
    return look_from_inside(name)


def look_from_inside(name: str) -> str:
    """Return what a process in this tier's sandbox can do although it must not, or why it could not run.

    The result is empty if the sandbox works.
    """
    with (
        tempfile.TemporaryDirectory(prefix="probe-") as outside,
        tempfile.TemporaryDirectory(prefix="probe-") as inside,
        contextlib.ExitStack() as stack,
    ):
        canary = Path(outside, "canary")
        canary.touch()
        try:
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        except OSError as error:
            return f"whether the network is out of reach cannot be tried, as nothing can listen on 127.0.0.1: {error}"
        port = listener.getsockname()[1]
        return _try(name, Confines(inside), [_LOOK, inside, str(canary), str(port)])


def _try(name: str, confines: Confines, script: list[str]) -> str:
    if name == "bubblewrap":
        argv = [*bubblewrap.command(confines), sys.executable, "-c", *script]
    else:
        confined = (
            "import sys; from course.grading.sandbox.apply import confine;"
            f"from course.grading.sandbox.spec import Confines; confine({name!r}, Confines({confines.private!r}))\n"
        )
        argv = [sys.executable, "-c", confined + script[0], *script[1:]]
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    said = done.stderr.strip().splitlines()
    return "" if done.returncode == 0 else (said[-1] if said else f"ended with status {done.returncode}")
