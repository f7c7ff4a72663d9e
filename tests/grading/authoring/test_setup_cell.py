"""The top of every notebook: badges that open that very notebook, and a cell that sets up where nothing is."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import nbformat
import pytest

from course.grading.authoring.setup_cell import ARCHIVE, SETUP, badges, is_setup
from course.grading.course_folder import release_path
from course.syllabus import BRANCH, SOURCE, TOPICS, Topic

ROOT = Path(__file__).parents[3]
BADGE = re.compile(r"\[!\[([^\]]*)\]\(([^)]*)\)\]\(([^)]*)\)")
every_topic = pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.folder)


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
    assert is_setup(home.cells[1])


def test_no_source_repeats_the_address() -> None:
    holders = [path for path in (ROOT / "solutions").glob("*.py") if SOURCE in path.read_text("utf-8")]
    assert holders == []


@every_topic
def test_every_notebook_sets_up_alike_before_anything_runs(topic: Topic) -> None:
    first, second = [cell for cell in _released(topic).cells if cell.cell_type == "code"][:2]
    assert is_setup(first) and first.source == SETUP.strip()
    assert first.metadata.jupyter.source_hidden and "nbgrader" not in first.metadata
    assert not is_setup(second) and ast.parse(second.source).body


def _run(folder: Path, *options: str, **variables: str) -> str:
    environment = {**os.environ, **variables}
    ran = subprocess.run(
        [sys.executable, *options, "-c", SETUP], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_where_the_course_is_installed_it_does_nothing(tmp_path: Path) -> None:
    assert _run(tmp_path, PYTHONPATH=str(ROOT)) == ""
    assert list(tmp_path.iterdir()) == []


PIP = """
import json, sys
from pathlib import Path
Path("asked.json").write_text(json.dumps(sys.argv[1:]))
Path("course.py").write_text("def set_up(): print('set up')")
"""


@pytest.mark.parametrize("wheels", [(), ("sequence_course-0.1.0-py3-none-any.whl",)])
def test_where_it_is_not_it_prefers_a_wheel_beside_the_notebook(wheels: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "pip.py").write_text(PIP)  # found first, as the working folder comes first
    for name in wheels:
        (tmp_path / name).touch()
    assert _run(tmp_path, "-S", PYTHONPATH="") == "set up\n"
    asked = json.loads((tmp_path / "asked.json").read_text())
    assert asked == ["install", "--quiet", "--no-deps", wheels[0] if wheels else ARCHIVE]
