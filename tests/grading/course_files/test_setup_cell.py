"""The top of every notebook: badges that open that very notebook, and a cell that sets up where nothing is."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import nbformat
import pytest

from course.grading.course_files.course_folder import release_path
from course.grading.course_files.setup_cell import ABOVE, ARCHIVE, badges, is_setup, setup_source
from course.syllabus import BRANCH, OURS, SOURCE, Topic

ROOT = Path(__file__).parents[3]
SETUP = setup_source(is_ours=True)
BADGE = re.compile(r"\[!\[([^\]]*)\]\(([^)]*)\)\]\(([^)]*)\)")
every_topic = pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)


def _released(topic: Topic) -> nbformat.NotebookNode:
    return nbformat.read(release_path(ROOT, topic), as_version=4)


def _opened(text: str) -> dict[str, str]:
    """Which file of the repository each badge of `text` opens, by the badge's alternative text."""
    opened = {}
    for words, _, target in BADGE.findall(text):
        address = urlsplit(target)
        start = "/v2/gh" if address.netloc == "mybinder.org" else "/github"
        owner_and_name = urlsplit(SOURCE).path
        if address.netloc == "mybinder.org":
            assert address.path == f"{start}{owner_and_name}/{BRANCH}"
            (opened[words],) = parse_qs(address.query)["labpath"]
        else:
            assert address.netloc == "colab.research.google.com"
            head = f"{start}{owner_and_name}/blob/{BRANCH}/"
            assert address.path.startswith(head)
            opened[words] = unquote(address.path.removeprefix(head))
    return opened


@every_topic
def test_the_badges_of_a_release_open_that_very_notebook(topic: Topic) -> None:
    title, blank, *lines = _released(topic).cells[0].source.splitlines()
    assert title.startswith("# ") and not blank
    path = release_path(ROOT, topic).relative_to(ROOT).as_posix()
    assert _opened("\n".join(lines[:2])) == {"Open in Binder": path, "Open in Colab": path}
    assert (ROOT / path).is_file()


def test_the_readmes_badges_open_the_home_notebook_which_has_them_and_sets_up_too() -> None:
    home = nbformat.read(ROOT / "assignments" / "index.ipynb", as_version=4)
    ours = badges("assignments/index.ipynb")
    assert ours in (ROOT / "README.md").read_text("utf-8") and ours in home.cells[0].source
    assert [index for index, cell in enumerate(home.cells) if is_setup(cell)] == [1]


def test_no_source_repeats_the_address() -> None:
    holders = [path for path in (ROOT / "solutions").glob("*.py") if SOURCE in path.read_text("utf-8")]
    assert holders == []


@every_topic
def test_every_notebook_sets_up_alike_before_anything_runs(topic: Topic) -> None:
    above, first, second, *_ = _released(topic).cells
    assert above.source.endswith(f"\n\n{ABOVE}") and "installs the course where it is missing" in ABOVE
    assert is_setup(first) and first.source == SETUP.strip()
    assert "nbgrader" not in first.metadata
    assert not is_setup(second) and ast.parse(second.source).body


@pytest.mark.parametrize("is_ours", [True, False])
def test_it_is_one_line_where_code_can_be_folded_and_short_elsewhere(is_ours: bool) -> None:
    """JupyterLab shows the first line of a folded cell, and Colab its title."""
    title, *code = setup_source(is_ours).strip().splitlines()
    assert title == "# @title Set up: install the course where it is missing" and len(code) < 24
    folded = nbformat.read(ROOT / "assignments" / "index.ipynb", as_version=4).cells[1].metadata
    assert folded.jupyter.source_hidden and folded.cellView == "form" and folded["_kg_hide-input"]


DRIVER = """
import sys
try:
    exec(sys.argv[1], {"__name__": "__main__"})
except RuntimeError as error:
    print(*error._render_traceback_(), sep="\\n")
"""
"""Runs the cell as Jupyter does: of an error it shows what the error would have it show."""


def _run(cell: str, folder: Path, *options: str, **variables: str) -> str:
    """What the cell shows, run in `folder`; Kaggle's inputs are in `folder/input`."""
    line = [sys.executable, *options, "-c", DRIVER, cell.replace("/kaggle/input", str(folder / "input"))]
    environment = {**os.environ, **variables}
    ran = subprocess.run(line, cwd=folder, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_where_the_course_is_installed_it_does_nothing(tmp_path: Path) -> None:
    assert _run(SETUP, tmp_path, PYTHONPATH=str(ROOT)) == ""
    assert list(tmp_path.iterdir()) == []


PIP = """
import json, sys
from pathlib import Path
Path("asked.json").write_text(json.dumps(sys.argv[1:]))
Path("course.py").write_text("def set_up(): print('set up')")
"""
OURS, THEIRS = setup_source(is_ours=True), setup_source(is_ours=False)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    """A folder of a machine without the course, with a stand-in for pip, which is found first as it is there."""
    (tmp_path / "pip.py").write_text(PIP)
    return tmp_path


def _set_up(cell: str, folder: Path) -> tuple[str, str]:
    """What the cell shows, and the name of what it has pip install; empty where it does not."""
    said = _run(cell, folder, "-S", PYTHONPATH="")
    asked = folder / "asked.json"
    named = [Path(one).name for one in json.loads(asked.read_text())] if asked.is_file() else [""]
    return said, next((name for name in named if name.endswith(".whl")), named[-1])


def _wheel(path: Path, version: str) -> str:
    """Write the wheel of a version, as far as it is needed here; returns the name that pip wants it to have."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as wheel:
        for name in (
            "__init__",
            "notebook/__init__",
            "notebook/hide_traceback",
            "notebook/colab",
            "notebook/setting_up",
        ):
            wheel.write(ROOT / "course" / f"{name}.py", f"course/{name}.py")
        wheel.writestr(f"sequence_course-{version}.dist-info/METADATA", "")
    return f"sequence_course-{version}-py3-none-any.whl"


def test_without_a_wheel_it_takes_the_public_address(elsewhere: Path) -> None:
    assert _set_up(OURS, elsewhere) == ("set up\n", Path(ARCHIVE).name)
    assert json.loads((elsewhere / "asked.json").read_text())[-1] == ARCHIVE


NAMES = (
    "sequence_course-0.1.0-py3-none-any.whl",
    "sequence_course-0.1.0-py3-none-any (1).whl",
    "Copy of sequence_course.whl",
    "input/for-class/sequence_course-0.1.0-py3-none-any.whl",
    "input/datasets/ada/for-class/sequence_course-0.1.0-py3-none-any.whl",
)


@pytest.mark.parametrize("name", NAMES)
def test_it_prefers_a_wheel_beside_the_notebook_or_among_kaggles_inputs(name: str, elsewhere: Path) -> None:
    proper = _wheel(elsewhere / name, "0.1.0")
    assert _set_up(OURS, elsewhere) == ("set up\n", proper)


@pytest.mark.parametrize("is_ours", [True, False])
def test_of_several_wheels_the_newest_counts(is_ours: bool, elsewhere: Path) -> None:
    """Not the last by name, nor by the time of the file."""
    newest = _wheel(elsewhere / "sequence_course-0.10.0-py3-none-any.whl", "0.10.0+20270201101500.0a1b2c3d")
    for number, version in enumerate(("0.10.0+20270131090000.ffffffff", "0.10.0+ffffffff", "0.9.0+20270601000000.ff")):
        _wheel(elsewhere / f"sequence_course ({number}).whl", version)
    assert _set_up(setup_source(is_ours), elsewhere) == ("set up\n", newest)


def test_a_classs_notebook_asks_for_its_own_wheel_and_takes_no_other(elsewhere: Path) -> None:
    for _ in range(2):
        said, installed = _set_up(THEIRS, elsewhere)
        assert said.startswith("This notebook belongs to a class, and the class's package is not here. Put the .whl ")
        assert said.count("\n") == 1 and not installed and SOURCE not in THEIRS
        _wheel(elsewhere / "sequence_course-9.0.0-py3-none-any.whl", "9.0.0")
    proper = _wheel(elsewhere / "sequence_course-0.1.0+1.abc-py3-none-any.whl", "0.1.0+1.abc")
    assert _set_up(THEIRS, elsewhere) == ("set up\n", proper)


def test_a_wheel_that_was_not_uploaded_whole_is_none(elsewhere: Path) -> None:
    _wheel(elsewhere / "sequence_course-0.1.0+1.abc-py3-none-any.whl", "0.1.0+1.abc")
    (elsewhere / "sequence_course-0.2.0+1.abc-py3-none-any.whl").write_bytes(b"PK half of a wheel")
    assert _set_up(THEIRS, elsewhere) == ("set up\n", "sequence_course-0.1.0+1.abc-py3-none-any.whl")


def test_without_a_network_it_says_so_at_once(elsewhere: Path) -> None:
    (elsewhere / "pip.py").unlink()
    began = time.monotonic()
    offline = {"HTTPS_PROXY": "http://127.0.0.1:9", "PIP_CONFIG_FILE": os.devnull}
    said = _run(OURS, elsewhere, "-S", PYTHONPATH="", **offline)
    assert said.startswith("The course could not be downloaded. Turn the internet on, or put the course's .whl file")
    assert said.count("\n") == 1 and time.monotonic() - began < 15


@pytest.mark.parametrize("has_wheel", [True, False])
def test_what_else_pip_cannot_do_is_what_it_said(has_wheel: bool, elsewhere: Path) -> None:
    (elsewhere / "pip.py").write_text("import sys\nsys.exit('ERROR: no space left on device')")
    told = "ERROR: no space left on device\n"
    if has_wheel:
        _wheel(elsewhere / "sequence_course-0.1.0-py3-none-any.whl", "0.1.0")
        told = "pip could not install the course: no space left on device. Fix that, and then run this cell again.\n"
    assert _set_up(OURS, elsewhere) == (told, "")
