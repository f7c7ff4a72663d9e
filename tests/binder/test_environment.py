"""Binder's environment, built here from binder's own files, and an assignment executed in it as small as Binder is.

`make binder` runs this and shows the figures. What repo2docker does is done in its order: the Python of runtime.txt,
`pip install -r requirements.txt`, then postBuild in a copy of the repository, then the server through `start`. Where
PyTorch's index of CPU builds cannot be reached, pip does without it, as its own configuration says.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nbformat
import psutil
import pytest

from course.grading.authoring.source import build, write
from course.grading.course_folder import source_path
from tests.clone import clone
from tests.original import ORIGINAL, find_topic

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TOPIC = find_topic("rnn")
MEMORY = 2 * 2**30
"""Bytes: mybinder.org ends a session that takes more (https://mybinder.readthedocs.io, user guidelines)."""


@dataclass(frozen=True)
class Built:
    """A clone of the repository, and the environment made for it."""

    clone: Path
    venv: Path
    seconds: float

    def run(self, *command: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run one of the environment's programs in the clone."""
        done = subprocess.run(
            command, cwd=self.clone, env=self.environment(**variables), capture_output=True, text=True
        )
        assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return done

    def environment(self, **variables: str) -> dict[str, str]:
        """A session's variables: nothing of this process's own Python."""
        kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COURSE_CACHE")}
        path = os.pathsep.join([str(self.venv / "bin"), os.environ.get("PATH", os.defpath)])
        return {**kept, "PATH": path, "HOME": str(self.clone.parent), **variables}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """What Binder would have, built from the files as they stand; it goes when it has been looked at."""
    folder = tmp_path_factory.mktemp("binder")
    copy = clone(folder / "course")
    started = time.monotonic()
    subprocess.run([_python(copy), "-m", "venv", folder / "venv"], check=True)
    made = Built(copy, folder / "venv", 0.0)
    reached = _reachable(_index(copy))
    patience = {} if reached else {"PIP_RETRIES": "0"}  # else pip asks for it anew for each package
    made.run("pip", "install", "--quiet", "--no-cache-dir", "-r", "binder/requirements.txt", **patience)
    made.run("binder/postBuild")
    yield Built(copy, folder / "venv", time.monotonic() - started)
    shutil.rmtree(folder)


def test_an_assignment_runs_on_one_core_with_two_gigabytes(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    write(build(ORIGINAL, source_path(ROOT, TOPIC), TOPIC), built.clone / "assignments" / "solved" / "nb.ipynb")
    with _session(built) as (server, address):
        opened = _opens(address)
        idle = _memory(server)
        started = time.monotonic()
        command = ["binder/start", "jupyter", "execute", "--inplace", "assignments/solved/nb.ipynb"]
        done, peak = _watched(built, command, beside=server)
        seconds = time.monotonic() - started
    executed = nbformat.read(built.clone / "assignments" / "solved" / "nb.ipynb", as_version=4)
    with capsys.disabled():
        print(f"\n{_report(built, idle, peak, seconds)}")
    assert done == 0
    assert opened.endswith("/lab/tree/assignments/index.ipynb")
    assert peak < MEMORY
    assert _not_passed(executed) == []


def test_the_hidden_grading_runs_there_too(built: Built, capsys: pytest.CaptureFixture[str]) -> None:
    released = f"assignments/{TOPIC.folder}/{TOPIC.folder}.ipynb"
    done, peak = _watched(built, ["binder/start", "course", "grade", released])
    with capsys.disabled():
        print(f"course grade: {peak / 2**20:,.0f} MB at the peak")
    assert done == 0 and peak < MEMORY


def test_what_is_installed_is_what_is_pinned(built: Built) -> None:
    listed = json.loads(built.run("pip", "list", "--format", "json").stdout)
    found = {_canonical(one["name"]): one["version"].split("+")[0] for one in listed}
    lines = (ROOT / "binder" / "requirements.txt").read_text("utf-8").splitlines()
    pinned = {_canonical(name): number for name, _, number in (line.partition("==") for line in lines) if number}
    assert {name: found.get(name) for name in pinned} == pinned
    assert found.keys() - pinned.keys() == {"pip", "setuptools", "sequence-course"}


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _python(root: Path) -> str:
    """The Python that runtime.txt names, or a reason not to go on."""
    wanted = (root / "binder" / "runtime.txt").read_text("utf-8").strip().removeprefix("python-")
    if f"{sys.version_info[0]}.{sys.version_info[1]}" == wanted:
        return sys.executable
    return shutil.which(f"python{wanted}") or pytest.skip(f"there is no Python {wanted} here")


def _index(root: Path) -> str:
    text = (root / "binder" / "requirements.txt").read_text("utf-8")
    (found,) = re.findall(r"^--extra-index-url (\S+)$", text, re.MULTILINE)
    return found


def _reachable(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/torch/", timeout=10):
            return True
    except (urllib.error.URLError, OSError):
        return False


@contextmanager
def _session(built: Built) -> Iterator[tuple[psutil.Process, str]]:
    """A JupyterLab server as Binder starts it, on one core; its process and its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", "--IdentityProvider.token=", "--allow-root"]
    server = subprocess.Popen(
        _held(["binder/start", "jupyter", "lab", *options]),
        cwd=built.clone,
        env=built.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield psutil.Process(server.pid), f"http://127.0.0.1:{port}/"
    finally:
        server.send_signal(signal.SIGTERM)
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _opens(address: str) -> str:
    """Where the server leads who asks for nothing in particular."""
    for _ in range(240):
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return answer.geturl()
        except urllib.error.HTTPError as error:
            return error.url or ""
        except OSError:
            time.sleep(0.5)
    raise AssertionError("the server did not answer")


def _held(command: list[str]) -> list[str]:
    """The command on one core, none of its processes with more than 2 GB of data."""
    core = min(os.sched_getaffinity(0))
    return ["bash", "-c", f'ulimit -d {MEMORY // 1024}; exec taskset -c {core} "$@"', "held", *command]


def _watched(built: Built, command: list[str], beside: psutil.Process | None = None) -> tuple[int, int]:
    """Run `command` held to its limits: its status, and the most memory that it and `beside` took together."""
    process = subprocess.Popen(_held(command), cwd=built.clone, env=built.environment(), stdout=subprocess.DEVNULL)
    trees = [psutil.Process(process.pid), *([beside] if beside else [])]
    peak, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.2):
            peak[0] = max(peak[0], sum(map(_memory, trees)))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        return process.wait(), peak[0]
    finally:
        over.set()
        watching.join()


def _memory(process: psutil.Process) -> int:
    """Bytes of a process and all it started, shared pages divided among those that share them."""
    total = 0
    try:
        for one in [process, *process.children(recursive=True)]:
            try:
                total += one.memory_full_info().pss
            except psutil.Error:
                continue
    except psutil.Error:
        pass
    return total


def _not_passed(notebook: nbformat.NotebookNode) -> list[str]:
    """The graded code cells whose public checks did not pass."""
    failed = []
    for cell in notebook.cells:
        marks = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and marks.get("grade"):
            said = " ".join(str(output.get("data", {}).get("text/plain", "")) for output in cell.outputs)
            failed += [] if said.startswith(f"✓ {marks['grade_id']}") else [f"{marks['grade_id']}: {said}"]
    return failed


def _report(built: Built, idle: int, peak: int, seconds: float) -> str:
    listed = json.loads(built.run("pip", "list", "--format", "json").stdout)
    (torch,) = (one["version"] for one in listed if one["name"] == "torch")
    size = sum(path.lstat().st_size for path in built.venv.rglob("*") if not path.is_dir())
    return (
        f"built in {built.seconds:.0f} s, {size / 2**20:,.0f} MB with torch {torch}; JupyterLab takes "
        f"{idle / 2**20:,.0f} MB; {TOPIC.folder}, solved, on one core: {seconds:.0f} s, "
        f"{peak / 2**20:,.0f} MB at the peak with JupyterLab, of {MEMORY / 2**20:,.0f}"
    )
