"""Commands of the course and of nbgrader, run as from a shell, without the seconds in which Python imports torch.

A server of this process imports the libraries once, the course not among them, and is forked for each command. So a
command reads `course.toml` and the environment anew, as a process of its own does.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parents[1]
LIBRARIES = ("torch", "nbgrader.apps", "nbgrader.api", "nbgrader.converters", "jupyter_client", "IPython", "jupytext")
SECONDS = 300
"""How long a command may take."""


@dataclass(frozen=True)
class Done:
    """What a command said, and its exit status: negative where a signal ended it."""

    returncode: int
    stdout: str
    stderr: str


def run(folder: Path, *command: str, status: int | None = 0, **environment: str | None) -> Done:
    """Run `python -m <command>` in `folder`, with variables of this environment changed, or removed where None.

    Raises:
        AssertionError: it ended with another status than `status`, which may be None for any.
    """
    variables = {"USER": "grader", **os.environ, "PYTHONPATH": str(ROOT), **environment}
    with tempfile.TemporaryDirectory() as place:
        kept = {name: value for name, value in variables.items() if value is not None}
        order = {"folder": str(folder), "command": command, "environment": kept, "place": place}
        server = _server()
        assert server.stdin and server.stdout
        server.stdin.write(json.dumps(order) + "\n")
        server.stdin.flush()
        returncode = int(server.stdout.readline())
        outputs = [Path(place, name).read_text("utf-8", errors="replace") for name in ("stdout", "stderr")]
    done = Done(returncode, *outputs)
    assert status in (None, done.returncode), done.stdout + done.stderr
    return done


def output_of(folder: Path, *command: str, status: int = 0, **environment: str | None) -> str:
    """What a command said, run as `run` does."""
    done = run(folder, *command, status=status, **environment)
    return done.stdout + done.stderr


@cache
def _server() -> subprocess.Popen[str]:
    line = [sys.executable, "-m", "tests.commands"]
    server = subprocess.Popen(line, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(server.communicate)
    return server


def _serve() -> None:
    """Import the libraries, and fork for each order that is read; each is answered with an exit status."""
    for name in LIBRARIES:
        import_module(name)
    gc.freeze()
    while line := os.read(0, 1 << 20):
        order = json.loads(line)
        child = os.fork()
        if not child:
            os._exit(_obey(order["folder"], order["command"], order["environment"], Path(order["place"])))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def _obey(folder: str, command: list[str], environment: Mapping[str, str], place: Path) -> int:
    """Do what the process `python -m <command>` does, with its output in files; returns its exit status."""
    with contextlib.ExitStack() as files:
        for descriptor, name in ((1, "stdout"), (2, "stderr")):
            os.dup2(files.enter_context((place / name).open("wb")).fileno(), descriptor)
        os.dup2(files.enter_context(Path(os.devnull).open()).fileno(), 0)
    signal.alarm(SECONDS)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    sys.path[:1] = [folder, *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    sys.argv = list(command)
    try:
        runpy.run_module(command[0], run_name="__main__", alter_sys=True)
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:  # noqa: BLE001
        traceback.print_exc()
        status = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return status


if __name__ == "__main__":
    _serve()
