"""A notebook on a machine that has its own torch and its own notebook packages and not the course, as Colab has.

No test can reach Colab itself. One environment here has the versions of its notebook packages, torch, and nothing of
the course's. Another has all versions that Colab brings of what the course needs, by
https://github.com/googlecolab/backend-info as of 19 August 2026. (Colab has Python 3.13 since that day, and torch 2.11.
Here it is the Python of the tests and the torch of `constraints.txt`.) A third has those of Kaggle, by
https://github.com/Kaggle/docker-python as of 12 August 2026: Colab's, but for ipywidgets, and no network.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpecManager
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course.course import course_in
from course.grading.course_files.course_folder import source_path
from course.grading.course_files.setup_cell import is_setup
from course.grading.release.source import build
from course.grading.release.wheel import build_wheel
from course.syllabus import OURS, Topic
from tests.clone import ROOT, clone
from tests.original import ORIGINAL, find_topic
from tests.training.see_language_model import SEEN

pytestmark = pytest.mark.slow

TOPIC = find_topic("rnn")
VIEW = "application/vnd.jupyter.widget-view+json"
ITS_OWN = ("ipykernel==6.17.1", "ipython==7.34.0", "ipywidgets==7.7.1", "traitlets==5.7.1", "numpy", "packaging")
BROUGHT = (
    *("ipykernel==6.17.1", "ipython==7.34.0", "ipywidgets==7.7.1", "jupyter_client==7.4.9", "traitlets==5.7.1"),
    *("babel==2.18.0", "datasets==4.0.0", "einops==0.8.2", "matplotlib==3.10.0", "numpy==2.1.3", "packaging"),
    *("pillow==11.3.0", "pyzmq==26.2.1", "safetensors==0.8.0", "scikit-learn==1.6.1", "tornado==6.5.7"),
)
KAGGLES = ("ipywidgets==8.1.5", *(one for one in BROUGHT if not one.startswith("ipywidgets")))
ARRIVES = {"datasets", "einops", "matplotlib", "safetensors", "scikit-learn"}


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The environment's folder: `venv`, and `content` with a student wheel in it, as a student has uploaded it.

    The browser had that wheel already, and has given it another name.
    """
    yield from _machine(tmp_path_factory.mktemp("colab"), ITS_OWN)


@pytest.fixture(scope="module")
def whole_colab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same with all that Colab brings."""
    yield from _machine(tmp_path_factory.mktemp("whole"), BROUGHT)


@pytest.fixture(scope="module")
def kaggle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The same with all that Kaggle brings."""
    yield from _machine(tmp_path_factory.mktemp("kaggle"), KAGGLES)


def _machine(folder: Path, packages: Sequence[str]) -> Iterator[Path]:
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    constraints = (ROOT / "constraints.txt").read_text("utf-8")
    (torch,) = re.findall(r"^torch==\S+$", constraints, re.MULTILINE)
    _pip(folder, "install", "--quiet", "--no-cache-dir", torch, *packages)
    wheel = build_wheel(course_in(clone(folder / "clone")), folder / "dist")
    (folder / "content").mkdir()
    shutil.copy(wheel, folder / "content" / f"{wheel.stem} (1).whl")
    yield folder
    shutil.rmtree(folder)


def _pip(folder: Path, *arguments: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [folder / "venv" / "bin" / "python", "-m", "pip", *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout


def _installed(folder: Path) -> dict[str, str]:
    lines = _pip(folder, "list", "--format", "freeze").splitlines()
    return dict(line.split("==") for line in lines)


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_all_of_a_notebook_runs(topic: Topic, whole_colab: Path) -> None:
    shown = _all_of(topic, whole_colab, _environment(whole_colab))
    assert any("Colab does not keep your notebook" in text for text in shown)


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_all_of_a_notebook_runs_on_kaggle_without_a_network(topic: Topic, kaggle: Path) -> None:
    offline = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "http://127.0.0.1:9")
    environment = {**_environment(kaggle), **offline, "PIP_NO_INDEX": "1", "KAGGLE_KERNEL_RUN_TYPE": "Interactive"}
    del environment["COLAB_RELEASE_TAG"]
    shown = _all_of(topic, kaggle, environment)
    cells = SEEN.findall(source_path(ROOT, topic).read_text("utf-8"))
    assert sum(text.startswith("What we saw:") for text in shown) == len(cells), "it needs the language model's weights"


def _all_of(topic: Topic, folder: Path, environment: dict[str, str]) -> list[str]:
    """Run the solved notebook, which sets up, predicts, checks, trains, draws and submits; return what it shows."""
    nb = build(ORIGINAL, source_path(ROOT, topic), topic)
    last = f'hint("{topic.judged[0].name}")\nprogress()\n!course submit {topic.folder} --student ada'
    nb.cells.append(new_code_cell(f"from course import hint, progress\n{last}"))
    _execute(nb, folder, environment)
    outputs = [(cell.source[:60], output) for cell in nb.cells for output in cell.get("outputs", ())]
    assert [(source, one.evalue) for source, one in outputs if one.output_type == "error"] == []
    shown = [str(one.get("data", {}).get("text/plain", one.get("text", ""))) for _, one in outputs]
    assert sum(text.startswith("✓") for text in shown) >= len(topic.judged)
    assert not any(text.startswith("✗") for text in shown)
    widgets = [source for source, one in outputs if VIEW in one.get("data", {})]
    assert sum(source.startswith("predict(") for source in widgets) == len(topic.predictions)
    return shown


def _up_to(name: str) -> NotebookNode:
    """The solved notebook's cells down to the check of an exercise."""
    nb = build(ORIGINAL, source_path(ROOT, TOPIC), TOPIC)
    (last,) = (i for i, cell in enumerate(nb.cells) if cell.metadata.get("nbgrader", {}).get("grade_id") == name)
    nb.cells = nb.cells[: last + 1]
    return nb


def _execute(nb: NotebookNode, folder: Path, environment: dict[str, str] | None = None) -> float:
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
    client.execute(env=environment or _environment(folder))
    return taken[1] - taken[0]


def _environment(folder: Path) -> dict[str, str]:
    inherited = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COURSE_CACHE")}
    path = os.pathsep.join([str(folder / "venv" / "bin"), os.environ["PATH"]])
    return {**inherited, "HOME": str(folder), "PATH": path, "COLAB_RELEASE_TAG": "release-colab", "LOGNAME": "root"}


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
    assert re.fullmatch(r"The course is installed\. It computes on .*\n", said)
    assert nb.cells[-1].outputs[0].data["text/plain"].startswith("✓ rnn_cell")

    again = _up_to("rnn_cell")
    _execute(again, colab)
    (setup,) = (cell for cell in again.cells if is_setup(cell))
    assert setup.outputs == [], "the second time it does nothing"
    assert again.cells[-1].outputs[0].data["text/plain"].startswith("✓ rnn_cell")


TRAINED = """
import torch

from course import fit
from course.show import live


def train(model, batches):
    next(iter(batches))


fit("rnn_task", lambda: torch.nn.Linear(1, 1), train)
print(live.picture("what it shows").get_state()["value"])
!course submit 03_rnn --student ada
"""


def test_work_gets_out(colab: Path) -> None:
    content = colab / "content"
    nb = build(ORIGINAL, source_path(ROOT, TOPIC), TOPIC)
    nb.cells = [*(cell for cell in nb.cells if is_setup(cell)), new_code_cell(TRAINED)]
    _execute(nb, colab)
    said = "".join(str(output.get("text", "")) + str(output.get("data", "")) for output in nb.cells[-1].outputs)
    assert "Colab deletes rnn_task.safetensors with this machine" in said
    assert "there is no 03_rnn.ipynb here, because Colab does not keep your notebook on this machine" in said
    assert 'alt="what it shows"' in said, "ipywidgets 7 has no text for its own pictures"

    shutil.copy(
        ROOT / "assignments" / "03_rnn" / "03_rnn.ipynb", content
    )  # downloaded, and dropped into the Files pane
    line = [colab / "venv" / "bin" / "course", "submit", "03_rnn", "--student", "ada", "--blank"]
    done = subprocess.run(line, cwd=content, env=_environment(colab), capture_output=True, text=True, check=False)
    (archive,) = content.glob("*.zip")
    assert done.returncode == 1 and f"Colab deletes {archive.name} with this machine" in done.stdout, done.stderr
    assert {"03_rnn.ipynb", "checkpoints/rnn_task.safetensors"} <= set(zipfile.ZipFile(archive).namelist())
