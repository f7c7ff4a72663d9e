"""A zygote forked from the server of a class's workers is like one that is a program of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from nbformat import NO_CONVERT, reads
from nbformat.v4 import new_code_cell, new_notebook

from course.grading.cells import notebook_bytes
from course.grading.execution.task import Outcome, Task
from course.grading.kernels.zygote_fork import FORK_IN, Forked, fork_where_ordered, order

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kernels are forked on Linux only")

SECRET = f"swordfish-{os.urandom(16).hex()}"

GRADER = """
import os, signal, sys, tempfile, time
from multiprocessing import forkserver
from pathlib import Path
from course.grading.kernel_edition import assemble
from course.grading.kernels.environment import environment
from course.grading.workers.start_early import get_ready
from course.grading.workers.worker_pool import crew
from course.syllabus import find_topic

if __name__ == "__main__":
    topic, home, task = find_topic("06_self_attention"), tempfile.TemporaryDirectory(), sys.stdin.buffer.read()
    for step in sys.argv[1:]:
        if step == "get ready":
            get_ready(topic, "checkpoint")
        elif step == "wait":
            time.sleep(0.3)
        elif step == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        elif step == "kill the server":
            os.kill(forkserver._forkserver._forkserver_pid, signal.SIGKILL)
    with crew(1, environment=lambda: environment(Path(home.name), assemble([topic]), None, "checkpoint")) as hired:
        outcome = hired.submit(task).result()
        if sys.argv[-1] == "lose the zygote":
            hired.zygote.process.kill()
            hired.zygote.process.wait(5.0)
            outcome = hired.submit(task).result()
        kind = type(hired.zygote.process).__name__
    sys.stdout.buffer.write(kind.encode() + b"\\n" + outcome)
"""

PROBE = r"""
import contextlib, json, os, re, sys

def readable():
    with open("/proc/self/mem", "rb") as memory, open("/proc/self/maps") as maps:
        for line in maps.read().splitlines():
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            if line.split()[1][0] == "r" and "[v" not in line:
                memory.seek(first)
                yield memory.read(last - first)

def opened():
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):  # that of the listing itself
            yield os.readlink(f"/proc/self/fd/{descriptor}").rpartition("/")[2]

words, planted = (b"swordfish", b"goldfish"), b"goldfish-" + b"0" * 32
print(json.dumps({
    "variables": {name: value for name, value in sorted(os.environ.items()) if "/" not in value},
    "modules": sorted(name for name in sys.modules if name.partition(".")[0] == "course"
                      and name != "course.grading.kernels.zygote"),  # which is a program's `__main__`
    "files": sorted({str(getattr(module, "__file__", "")).rpartition("/course/")[0]
                     for name, module in sys.modules.items() if name.partition(".")[0] == "course"}),
    "path": sys.path,
    "hash": hash("a word"),
    "open": sorted({re.sub(r"\d+", "0", name) for name in opened()}),
    "secrets": [any(re.search(word + rb"-[0-9a-f]{32}", part) for part in readable()) for word in words],
}))
"""


def in_a_grader(source: str, *steps: str) -> tuple[str, str, Any]:
    """What kind of process a new grader's zygote is, why its kernel started cold, if it did, and what a cell prints."""
    kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nb = new_notebook(cells=[new_code_cell(source)], metadata={"kernelspec": kernelspec})
    done = subprocess.run(
        [sys.executable, "-c", GRADER, *steps],
        input=Task("06_self_attention", notebook_bytes(nb)).to_bytes(),
        env={**os.environ, "GRADER_PASSWORD": SECRET},
        cwd=Path(sys.prefix),  # away from the repository, so that `course` is the installed one
        capture_output=True,
        check=True,
    )
    kind, _, said = done.stdout.partition(b"\n")
    outcome = Outcome.from_bytes(said)
    assert not outcome.fault, outcome.fault
    (cell,) = reads(outcome.notebook.decode(), NO_CONVERT).cells
    return kind.decode(), outcome.why_cold, "".join(output.get("text", "") for output in cell.outputs)


def test_its_kernels_find_nothing_that_those_of_a_program_would_not():
    forked, of_a_program = in_a_grader(PROBE, "get ready"), in_a_grader(PROBE)
    assert (forked[0], of_a_program[0]) == ("Forked", "Popen")
    found, expected = json.loads(forked[2]), json.loads(of_a_program[2])
    assert found == expected
    assert found["secrets"] == [False, True]  # the second is the cell's own
    assert found["variables"]["LOGNAME"] == "student" and "course.notebook.checking" in found["modules"]
    assert not any(name.startswith(("course.hidden", "course.grading.workers")) for name in found["modules"])


@pytest.mark.parametrize("later", [(), ("wait",)])
def test_a_server_that_dies_before_it_forks_is_done_without(later):
    assert in_a_grader("print(1)", "get ready", "kill the server", *later) == ("Popen", "", "1\n")


def test_a_grader_that_is_killed_before_the_fork_leaves_nothing_behind(tmp_path):
    command = [sys.executable, "-c", GRADER, "get ready", "die"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    died = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert died.returncode == -signal.SIGKILL and list(tmp_path.glob("zygote-*"))
    deadline = time.monotonic() + 30
    while (left := list(tmp_path.glob("zygote-*"))) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def test_one_that_dies_is_begun_anew_as_a_program():
    assert in_a_grader("print(1)", "get ready", "lose the zygote") == ("Popen", "", "1\n")


def test_a_server_that_is_there_already_is_not_waited_for():
    assert in_a_grader("print(1)", "get ready", "get ready") == ("Forked", "", "1\n")


def test_an_order_can_be_taken_back(tmp_path, monkeypatch):
    seen = []
    forked = order(tmp_path, {"PYTHONPATH": "/none"}, lambda: seen.append(dict(os.environ)))
    assert seen[0][FORK_IN] == str(tmp_path) and "HOME" not in seen[0] and "HOME" in os.environ
    assert forked.poll() is None
    forked.terminate()
    assert forked.wait(1.0) == 0
    monkeypatch.setenv(FORK_IN, str(tmp_path))
    monkeypatch.setattr(os, "fork", lambda: pytest.fail("it forked"))
    fork_where_ordered()


def test_a_zygote_without_a_folder_has_ended(tmp_path):
    assert Forked(Path(tmp_path, "none")).poll() == 0
