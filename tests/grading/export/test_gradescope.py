"""The autograder for Gradescope, run as Gradescope runs it: from its zip, in a folder laid out like theirs."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import nbformat
import pytest

import course
from course.course import course_in
from course.grading.classroom.graded import Graded
from course.grading.export import autograder as autograders
from course.grading.export.autograder import gradescope_results, hand_in
from course.grading.export.gradescope import write_autograder
from course.grading.gradebook.scores import Scores
from course.grading.kernel_edition import ANSWER_KEYS, answer_key
from course.grading.machine.faults import Fault
from course.grading.problem import Problem
from course.judge.verdict import CaseResult, Verdict
from course.syllabus import OURS
from tests.grading.classes import OVERFLOWS, given_out
from tests.grading.lesson import NAME, TOPIC, answers

PACKAGE = Path(course.__file__).parent
TOP = {
    "score": float,
    "execution_time": int,
    "output": str,
    "output_format": str,
    "visibility": str,
    "stdout_visibility": str,
    "extra_data": dict,
    "tests": list,
}
EACH = {
    "score": float,
    "max_score": float,
    "status": str,
    "name": str,
    "output": str,
    "output_format": str,
    "visibility": str,
}
CHOICES = {
    "output_format": {"text", "html", "simple_format", "md", "ansi"},
    "visibility": {"hidden", "after_due_date", "after_published", "visible"},
    "stdout_visibility": {"hidden", "after_due_date", "after_published", "visible"},
    "status": {"passed", "failed"},
}


def validate(results: dict[str, Any]) -> None:
    """Every field is one that Gradescope documents, and holds what it may hold."""
    assert "score" in results or results["tests"]
    for known, fields in ((TOP, results), *((EACH, test) for test in results.get("tests", ()))):
        for name, value in fields.items():
            assert isinstance(value, known[name]), (name, value)
            assert value in CHOICES.get(name, [value])
    for test in results.get("tests", ()):
        assert 0 <= test["score"] <= test["max_score"]


def test_nothing_of_single_students_goes_along(graded_class: Path, tmp_path: Path) -> None:
    root = shutil.copytree(graded_class, tmp_path / "class")
    extensions = f'[extensions]\nada = {{ "{NAME}" = "2 days" }}\n'
    (root / "course.toml").write_text(f"[topics.{NAME}]\n{extensions}", "utf-8")
    with zipfile.ZipFile(write_autograder(course_in(root), TOPIC, tmp_path / "autograder.zip")) as archive:
        (carried,) = [archive.read(name).decode() for name in archive.namelist() if name.endswith("/course.toml")]
    assert NAME in carried and "ada" not in carried


@pytest.fixture(scope="module")
def autograder(graded_class: Path, tmp_path_factory) -> Path:
    """A folder like Gradescope's /autograder after `setup.sh`, which makes an environment and the answer keys."""
    root = tmp_path_factory.mktemp("gradescope") / "autograder"
    path = write_autograder(course_in(graded_class), TOPIC, root.parent / "autograder.zip")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(root / "source")
        modes = {info.filename: info.external_attr >> 16 & 0o777 for info in archive.infolist()}
    assert modes["setup.sh"] == modes["run_autograder"] == 0o755
    shutil.copy(root / "source" / "run_autograder", root)
    keys = root / "source" / ".cache" / ANSWER_KEYS
    keys.mkdir(parents=True)
    for topic in OURS:
        shutil.copy(answer_key(topic, PACKAGE), keys)
    python = root / "source" / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    return root


def run(
    root: Path, name: str, nb: nbformat.NotebookNode | None, status: int = 0, **environment: str
) -> tuple[dict, str]:
    """Hand in as `name` and run the autograder; returns the results, if there are any, and what was printed."""
    shutil.rmtree(root / "submission", ignore_errors=True)
    (root / "submission").mkdir()
    (root / "results").mkdir(exist_ok=True)
    people = {"users": [{"email": name, "id": 1, "name": name}]}
    (root / "submission_metadata.json").write_text(json.dumps(people))
    if nb is not None:
        nbformat.write(nb, root / "submission" / f"{NAME}.ipynb")
    elif name == "scan":
        (root / "submission" / "homework.pdf").write_bytes(b"%PDF-1.7")
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COURSE_CACHE")}
    done = subprocess.run(
        ["bash", str(root / "run_autograder")],
        cwd=root,
        env={**variables, "COURSE_AUTOGRADER": str(root), **environment},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == status, done.stdout + done.stderr
    path = root / "results" / "results.json"
    return json.loads(path.read_text()) if path.is_file() else {}, done.stdout


def test_the_judge_there_says_what_it_says_here(autograder, graded_class):
    nb = given_out(graded_class)
    answers(OVERFLOWS)(nb)
    results, _ = run(autograder, "bea@example.org", nb)
    validate(results)
    here = json.loads((graded_class / "autograded/bea" / NAME / f"{NAME}.ipynb").read_text())["metadata"]["course"]
    tests = {test["name"]: test for test in results["tests"]}
    assert set(tests) == {*here["verdicts"], "usual"}
    for name, verdict in here["verdicts"].items():
        assert tests[name]["score"] == pytest.approx(verdict["score"], abs=0.01)
        assert tests[name]["max_score"] == verdict["points"]
    assert "Look here: What is exp(1000)" in tests["softmax"]["output"]
    assert results["extra_data"]["misconceptions"]["softmax"] == "overflows"
    assert "Your instructor grades these: self_attention_question" in results["output"]
    text = json.dumps(results, ensure_ascii=False)
    hidden = [case for verdict in here["verdicts"].values() for case in verdict["cases"] if not case["public"]]
    assert hidden and any(not case["passed"] for case in hidden)
    assert not [case["title"] for case in hidden if case["title"] in text]
    assert "hidden check" in tests["softmax"]["output"] and "secret" not in text


def test_what_is_no_notebook_of_ours_gets_a_sentence(autograder):
    results, _ = run(autograder, "scan", None)
    validate(results)
    assert results["score"] == 0 and f"there is no {NAME}.ipynb" in results["output"]


def test_without_a_sandbox_nothing_is_graded(autograder, graded_class):
    results, printed = run(autograder, "ada", given_out(graded_class), status=1, COURSE_SANDBOX="none")
    assert results == {} and printed.startswith("Not graded: ") and "sandbox" in printed


@pytest.fixture
def handed_in(tmp_path, monkeypatch) -> Path:
    """A folder like Gradescope's in which a submission waits, whatever grading it makes of it."""
    for name in ("source", "submission", "results"):
        (tmp_path / name).mkdir()
    settings = {"topic": NAME, "visibility": "visible", "require_sandbox": True}
    (tmp_path / "source" / "settings.json").write_text(json.dumps(settings))
    return tmp_path


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (Fault("what became of s1 could not be saved: no space is left"), "what became of s1 could not be saved"),
        (Problem("nbgrader_config.py, line 3: NameError"), "line 3"),
        (OSError(errno.ENOSPC, "No space left on device", "/tmp/x"), "no space is left on the disk of /tmp/x"),
    ],
)
def test_a_fault_of_the_machine_is_one_line_there_and_no_result(handed_in, monkeypatch, capsys, error, says):
    def grade(*_: object) -> Graded:
        raise error

    monkeypatch.setattr(autograders, "grade", grade)
    assert autograders.main(handed_in) == 1
    assert not (handed_in / "results" / "results.json").exists()
    printed = capsys.readouterr().out
    assert printed.startswith("Not graded: ") and says in printed and printed.count("\n") == 1


def test_results_are_in_the_encoding_of_json_whatever_the_system_writes(handed_in, monkeypatch):
    """Not every image of a container has a locale of UTF-8."""
    monkeypatch.setattr(autograders, "grade", lambda *_: Graded("s1", reason="a ✗ where no letter is"))
    monkeypatch.setattr("io.text_encoding", lambda encoding, *_: encoding or "ascii")
    assert autograders.main(handed_in) == 0
    assert "✗" in json.loads((handed_in / "results" / "results.json").read_bytes())["output"]


def test_the_zip_holds_no_student(graded_class, tmp_path):
    path = write_autograder(course_in(graded_class), TOPIC, tmp_path / "autograder.zip")
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        book = archive.read("class/gradebook.db")
    assert {"setup.sh", "run_autograder", "requirements.txt"} <= set(names)
    assert not [name for name in names if name.startswith("class/submitted")]
    without_ids = _without_ids(book, tmp_path / "gradebook.db")
    assert b"ada" not in without_ids and b"self_attention_question" in without_ids


def test_a_zip_that_cannot_be_made_leaves_the_last_one(graded_class, tmp_path, monkeypatch):
    def fail() -> str:
        raise Problem("no requirements")

    path = tmp_path / "autograder.zip"
    path.write_bytes(b"the last one")
    monkeypatch.setattr("course.grading.export.gradescope.requirements", fail)
    with pytest.raises(Problem, match="no requirements"):
        write_autograder(course_in(graded_class), TOPIC, path)
    assert path.read_bytes() == b"the last one" and list(tmp_path.iterdir()) == [path]


def uploaded(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(name)
    return folder


def test_of_copies_the_outermost_is_graded_and_the_others_named(tmp_path):
    submission = uploaded(tmp_path / "submission", f"work/{NAME}.ipynb", f"a/old/{NAME}.ipynb")
    notes = hand_in(submission, tmp_path / "place", TOPIC)
    assert (tmp_path / "place" / f"{NAME}.ipynb").read_text() == f"work/{NAME}.ipynb"
    assert notes == [f"work/{NAME}.ipynb is graded. a/old/{NAME}.ipynb is not"]


def test_one_copy_needs_no_note(tmp_path):
    assert hand_in(uploaded(tmp_path / "submission", f"{NAME}.ipynb"), tmp_path / "place", TOPIC) == []


def test_copies_side_by_side_are_refused(tmp_path):
    submission = uploaded(tmp_path / "submission", f"a/{NAME}.ipynb", f"b/{NAME}.ipynb")
    with pytest.raises(Problem, match=rf"several {NAME}.ipynb, a/{NAME}.ipynb, b/{NAME}.ipynb. Upload only the one"):
        hand_in(submission, tmp_path / "place", TOPIC)
    assert not (tmp_path / "place").exists()


def _without_ids(book: bytes, copy: Path) -> bytes:
    """The bytes of a gradebook without nbgrader's ids: random hexadecimal digits spell many a short name."""
    copy.write_bytes(book)
    with closing(sqlite3.connect(copy)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        values = [value for table in tables for row in database.execute(f'SELECT * FROM "{table}"') for value in row]
    for value in values:
        if isinstance(value, str) and re.fullmatch("[0-9a-f]{32}", value):
            book = book.replace(value.encode(), b"-")
    return book


def test_the_scripts_are_sound(autograder):
    for script in ("setup.sh", "run_autograder"):
        subprocess.run(["bash", "-n", str(autograder / "source" / script)], check=True)


def test_setup_makes_the_environment(autograder, tmp_path):
    """With stand-ins for what would change the system: what is called, in which order, and with what."""
    root = shutil.copytree(autograder, tmp_path / "autograder", symlinks=True)
    shutil.rmtree(root / "source" / ".venv")
    programs = tmp_path / "programs"
    programs.mkdir()
    log = tmp_path / "log"
    pip = f'#!/bin/sh\\necho pip "$@" >> {log}'
    scripts = {
        "apt-get": f'echo apt-get "$@" >> {log}',
        "python3.14": "exit 1",
        "python3.13": "exit 1",
        "python3.12": f'[ "$1" = -c ] && exit 0\necho venv "$@" >> {log}; mkdir -p .venv/bin; '
        f"printf '{pip}' > .venv/bin/python; chmod +x .venv/bin/python",
    }
    for name, body in scripts.items():
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    environment = {"PATH": f"{programs}:/usr/bin:/bin", "COURSE_AUTOGRADER": str(root)}
    subprocess.run(["bash", str(root / "source/setup.sh")], env=environment, check=True, capture_output=True)
    lines = log.read_text().splitlines()
    assert [line.split()[0] for line in lines] == ["apt-get", "apt-get", "venv", "pip", "pip"]
    assert "bubblewrap" in lines[1] and "-r requirements.txt" in lines[-2]
    assert lines[-1].endswith("-m course.grading.kernel_edition"), "the answer keys are made beforehand"
    assert "torch==" in (root / "source/requirements.txt").read_text()
    assert (root / "source/settings.json").stat().st_mode & 0o007 == 0


def test_hidden_cases_are_counted_and_not_told():
    cases = (
        CaseResult("a public one", False, True, message="2 was expected"),
        CaseResult("the secret one", False, False, message="at [3, 1] it is 17", got="17"),
        CaseResult("a secret edge", False, False, held_back="together", needs="a public one"),
        CaseResult("a known edge", False, True, held_back="together", needs="the secret one"),
    )
    verdict = Verdict("softmax", "wrong", 0.0, 2.0, "at [3, 1] it is 17", "overflows", "Look.", cases=cases)
    graded = Graded("ada", Scores(0, 2, {"softmax": 0.0}, {"softmax": 2.0}), {"softmax": verdict})
    (test,) = gradescope_results(TOPIC, graded, "after_due_date")["tests"]
    assert test["visibility"] == "after_due_date"
    assert "a public one: 2 was expected" in test["output"] and "1 hidden check fails" in test["output"]
    assert "None of 4 checks earns points. 'a known edge' and 1 other pass, but" in test["output"]
    assert "only once 'a public one' and 1 other pass." in test["output"]
    assert "secret" not in test["output"] and "17" not in test["output"]


def test_what_waits_for_a_person_has_the_points_of_the_tests_until_then():
    verdict = Verdict("attention_for_one", "partial", 0.5, 2, rests_on="softmax", cannot_tell=True).under("keep")
    scores = Scores(0.5, 2, {"attention_for_one": 0.5}, {"attention_for_one": 2.0}, waiting=("attention_for_one",))
    said = gradescope_results(TOPIC, Graded("ada", scores, {"attention_for_one": verdict}), "visible")
    assert said["tests"][0]["score"] == 0.5 and "0.5 of 2 points so far" in said["tests"][0]["output"]
    assert "Your instructor decides" in said["tests"][0]["output"]
    assert "Your instructor grades these: attention_for_one" in said["output"]
