"""A notebook on a machine that has its own torch and its own notebook packages and not the course, as Colab has.

No test can reach Colab itself: here is an environment with the versions of its notebook packages
(https://github.com/googlecolab/backend-info), torch, and nothing of the course's.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbformat import NotebookNode

from course.grading.authoring.setup_cell import is_setup
from course.grading.authoring.source import build
from course.grading.course_folder import source_path
from course.grading.release.wheel import build_wheel
from course.syllabus import find_topic
from tests.clone import ROOT, clone

pytestmark = pytest.mark.slow

TOPIC = find_topic("rnn")
ITS_OWN = ("ipykernel==6.17.1", "ipython==7.34.0", "ipywidgets==7.7.1", "traitlets==5.7.1", "numpy", "packaging")
ARRIVES = {"datasets", "einops", "matplotlib", "safetensors", "scikit-learn"}


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The environment's folder: `venv`, and `content` with a student wheel in it, as a student has uploaded it."""
    folder = tmp_path_factory.mktemp("colab")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    constraints = (ROOT / "constraints.txt").read_text("utf-8")
    (torch,) = re.findall(r"^torch==\S+$", constraints, re.MULTILINE)
    _pip(folder, "install", "--quiet", "--no-cache-dir", torch, *ITS_OWN)
    wheel = build_wheel(clone(folder / "clone"), folder / "dist")
    (folder / "content").mkdir()
    shutil.copy(wheel, folder / "content")
    yield folder
    shutil.rmtree(folder)


def _pip(folder: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [folder / "venv" / "bin" / "python", "-m", "pip", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def _installed(folder: Path) -> dict[str, str]:
    lines = _pip(folder, "list", "--format", "freeze").splitlines()
    return dict(line.split("==") for line in lines)


def _up_to(name: str) -> NotebookNode:
    """The solved notebook's cells down to the check of an exercise."""
    nb = build(source_path(ROOT, TOPIC), TOPIC)
    (last,) = (i for i, cell in enumerate(nb.cells) if cell.metadata.get("nbgrader", {}).get("grade_id") == name)
    nb.cells = nb.cells[: last + 1]
    return nb


def _execute(nb: NotebookNode, folder: Path) -> float:
    """Run a notebook in `content` with the environment's own kernel; the seconds its first code cell took."""
    kernel = folder / "kernels" / "colab"
    kernel.mkdir(parents=True, exist_ok=True)
    argv = [str(folder / "venv" / "bin" / "python"), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Colab", "language": "python"}))
    specs = KernelSpecManager(kernel_dirs=[str(folder / "kernels")], ensure_native_kernel=False)
    taken: list[float] = []

    def began(cell: NotebookNode, cell_index: int) -> None:
        taken.append(time.monotonic())

    client = NotebookClient(
        nb,
        timeout=900,
        resources={"metadata": {"path": str(folder / "content")}},
        on_cell_execute=began,
        on_cell_executed=lambda **_: taken.append(time.monotonic()),
    )
    client.km = KernelManager(kernel_name="colab", kernel_spec_manager=specs)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    client.execute(env={**environment, "HOME": str(folder)})
    return taken[1] - taken[0]


def test_the_notebook_sets_itself_up_once_and_leaves_everything_as_it_was(
    colab: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = _installed(colab)
    assert not ARRIVES & before.keys()
    nb = _up_to("rnn_cell")
    seconds = _execute(nb, colab)
    after = _installed(colab)
    with capsys.disabled():
        print(f"\nthe first cell took {seconds:.0f} s and installed {len(after) - len(before)} packages")
    assert {name: after.get(name) for name in before} == before
    assert {"sequence-course", *ARRIVES} <= after.keys()
    (setup,) = (cell for cell in nb.cells if is_setup(cell))
    said = "".join(output.get("text", "") for output in setup.outputs)
    assert re.fullmatch(r"The course is installed, and with it [\w, -]+\. It computes on .*\n", said)
    assert nb.cells[-1].outputs[0].data["text/plain"].startswith("✓ rnn_cell")

    again = _up_to("rnn_cell")
    _execute(again, colab)
    (setup,) = (cell for cell in again.cells if is_setup(cell))
    assert setup.outputs == [], "the second time it does nothing"
    assert again.cells[-1].outputs[0].data["text/plain"].startswith("✓ rnn_cell")
