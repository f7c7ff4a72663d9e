"""A course is a value: importing reads none, one is found where a program begins, and it travels as an argument."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import course
from course.course import Course, course_in, find_course, public_course
from course.grading.execution.task import Task
from course.notebook.progress import progress
from course.notebook.this_course import this_course
from course.outline import Faulty
from course.syllabus import OURS
from tests.commands import run

PACKAGE = Path(course.__file__).parent
SOLUTIONS = ("hidden", "reference", "keys")
OUTLINE = '[topics.03_rnn]\npoints = { bptt = 9 }\n[extensions]\nada = { 03_rnn = "2 days" }\n'
OWN = '[topics.20_mine]\ntitle = "Mine"\nexercises = [{ name = "f", points = 1, minutes = 5 }]\n'

IMPORTING = """
import importlib, os, sys
package, *names = sys.argv[1:]
opened = []
def look(event, given):
    if event == "open" and isinstance(given[0], str | bytes | os.PathLike):
        opened.append(os.path.abspath(os.fsdecode(given[0])))
sys.addaudithook(look)
for name in names:
    importlib.import_module(name)
of_the_course = [path for path in opened if path.startswith((package, os.getcwd()))]
print([path for path in of_the_course if not path.endswith((".py", ".pyc"))], len(of_the_course))
"""


def make(root: Path, outline: str) -> Path:
    (root / "solutions").mkdir(parents=True)
    (root / "nbgrader_config.py").touch()
    (root / "course.toml").write_text(outline, "utf-8")
    return root


def test_importing_reads_nothing_but_code(tmp_path: Path) -> None:
    """With a faulty `course.toml` in the working folder, which nobody opens."""
    make(tmp_path / "course", "nonsense")
    paths = [path.relative_to(PACKAGE.parent).with_suffix("") for path in PACKAGE.rglob("*.py")]
    parts = [path.parts for path in paths if path.name != "__main__" and path.parts[1] not in SOLUTIONS]
    names = sorted(".".join(one).removesuffix(".__init__") for one in parts)
    command = [sys.executable, "-PB", "-c", IMPORTING, str(PACKAGE), *names]
    done = subprocess.run(command, cwd=tmp_path / "course", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    read, _, count = done.stdout.strip().rpartition(" ")
    assert read == "[]" and int(count) >= len(names) > 300


def test_the_nearest_course_around_a_folder_is_found(tmp_path: Path) -> None:
    root = make(tmp_path / "course", OUTLINE)
    (root / "solutions" / "03_rnn").mkdir()
    found = find_course(root / "solutions" / "03_rnn")
    assert found == course_in(root) and found.root == root and not found.is_original
    assert [topic.folder for topic in found.topics] == ["03_rnn"] and found.item_of("bptt").points == 9
    original = find_course(tmp_path)
    assert original.is_original and original.topics == OURS and original.root == tmp_path


@pytest.mark.parametrize("outline", [OUTLINE, OUTLINE + OWN, ""], ids=["ours", "with an own topic", "original"])
def test_a_course_travels_to_a_worker(tmp_path: Path, outline: str) -> None:
    """Whole and small in a pickle, and in a task without anything about single students."""
    sent = course_in(make(tmp_path, outline)) if outline else Course(tmp_path)
    pickled = pickle.dumps(sent)
    assert pickle.loads(pickled) == sent and len(pickled) < 20_000
    task = Task("03_rnn", b"{}", outline=sent.outline.public, root=str(sent.root))
    arrived = Task.from_bytes(task.to_bytes())
    assert (arrived.course.topics, arrived.course.root) == (sent.topics, tmp_path)
    assert arrived.course.outline.public == sent.outline.public and "ada" not in arrived.outline
    assert arrived.digest() == Task("03_rnn", b"{}").digest(), "kept results stay valid"


def test_a_worker_elsewhere_looks_for_own_topics_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = make(tmp_path / "copy", OWN)
    monkeypatch.chdir(there)
    task = Task("20_mine", b"{}", outline=public_course(OWN, there).outline.public, root=str(tmp_path / "not here"))
    (topic,) = task.course.topics
    assert topic.home == there / "exercises" / "20_mine"


FAULTY = "course.toml: [topics.03_rnn] says 'dues', which means nothing here."


@pytest.fixture
def faulty(tmp_path: Path) -> Path:
    root = make(tmp_path, "[topics.03_rnn]\ndues = 1\n")
    (root / "nbgrader_config.py").write_bytes((PACKAGE.parent / "nbgrader_config.py").read_bytes())
    return root


@pytest.mark.parametrize(
    ("command", "before", "status"),
    [
        (("course", "list"), "course list", 2),
        (("course", "submit", "my.ipynb"), "course submit", 2),
        (("nbgrader", "autograde", "03_rnn"), "course", 1),
        (("nbgrader", "zip_collect", "03_rnn"), "course", 1),
    ],
    ids=lambda given: " ".join(given) if isinstance(given, tuple) else "",
)
def test_a_faulty_outline_stops_each_program_with_one_sentence(
    faulty: Path, command: tuple[str, ...], before: str, status: int
) -> None:
    said = run(faulty, *command, status=status).stderr.splitlines()
    assert said[-1].startswith(f"{before}: ") and FAULTY in said[-1] and not any("Traceback" in line for line in said)


def test_a_faulty_outline_leaves_help_and_doctor(faulty: Path) -> None:
    assert "usage: course" in run(faulty, "course", "--help").stdout
    said = run(faulty, "course", "doctor", status=1).stdout
    assert FAULTY in " ".join(said.split()) and "Correct this file" in said


def test_a_notebook_shows_the_sentence_and_finds_the_corrected_course(
    faulty: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(faulty)
    this_course.cache_clear()
    with pytest.raises(Faulty) as refused:
        progress()
    assert FAULTY in " ".join(refused.value._render_traceback_())  # type: ignore[attr-defined]
    (faulty / "course.toml").write_text(OUTLINE, "utf-8")
    assert this_course().item_of("bptt").points == 9
    this_course.cache_clear()
