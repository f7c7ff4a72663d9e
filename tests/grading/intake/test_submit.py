"""`course submit`: what goes into the zip, what it says is missing, and that what is unpacked is graded."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from copy import deepcopy
from importlib.metadata import version
from pathlib import Path

import nbformat
import pytest
import safetensors.torch
import torch
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from course import cli
from course.course import course_in
from course.grading.cells import STUBS
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.intake.submit import gaps, name_in_zip
from course.grading.kernel_edition import assemble
from course.grading.problem import Problem
from course.notebook.checkpoint import save
from course.notebook.provenance import digests
from course.syllabus import OURS, Budget, Item, Topic
from tests.commands import output_of
from tests.grading.lesson import NAME, TOPIC, answers, copied, deleted, first, make_course, release_path, solved

ROOT = Path(__file__).parents[3]
TASK = f"{TOPIC.name}_task"
TRAIN = "class Net:\n    pass\n\ndef train(model, batches):\n    pass  # once\n"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_course(tmp_path_factory.mktemp("class") / "course")


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A student's folder, with the released notebook of the real topic in it and one answer begun."""
    folder = tmp_path / "work" / NAME
    folder.mkdir(parents=True)
    nb = nbformat.read(release_path(ROOT, TOPIC), as_version=4)
    answers({"softmax": f"def softmax(x, dim):\n    {STUBS[1]}\n    x = x.exp()"})(nb)
    _write(folder, nb)
    monkeypatch.chdir(folder.parent)
    return folder


def _write(folder: Path, nb: NotebookNode) -> None:
    (folder / f"{NAME}.ipynb").write_text(nbformat.writes(nb), encoding="utf-8")


def _checkpoint(folder: Path, code: dict[str, str], name: str = TASK) -> Path:
    path = folder / "checkpoints" / f"{name}.safetensors"
    save(path, torch.nn.Linear(2, 3), {"losses": [], "code": code})
    return path


def _zip(capsys: pytest.CaptureFixture[str], *arguments: str, status: int) -> tuple[zipfile.ZipFile, str]:
    assert cli.main(["submit", "--student", "ada", *arguments]) == status
    said = capsys.readouterr().out
    return zipfile.ZipFile(said.splitlines()[0]), said


def test_a_blank_notebook_is_packed_where_that_is_meant(
    work: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / f"{NAME}.ipynb").write_bytes(release_path(ROOT, TOPIC).read_bytes())
    assert cli.main(["submit", "6", "--student", "ada"]) == 2, "nobody can be asked"
    refused = f"{NAME}.ipynb holds no answer, so nothing was packed. Save your work in Jupyter first, or add --blank"
    assert refused in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: prompt == "Pack it anyway? [y/N] " and "n")
    assert cli.main(["submit", "6", "--student", "ada"]) == 2
    assert not list(work.parent.rglob("*.zip"))
    monkeypatch.setattr("builtins.input", lambda prompt: "y")
    assert cli.main(["submit", "6", "--student", "ada", "--folder", str(work)]) == 1
    assert len(list(work.glob("*.zip"))) == 1


def test_everything_is_missing_in_a_blank_notebook(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / f"{NAME}.ipynb").write_bytes(release_path(ROOT, TOPIC).read_bytes())
    archive, said = _zip(capsys, "6", "--blank", status=1)
    assert archive.namelist() == [f"{NAME}.ipynb", "submission.json"]
    assert re.fullmatch(rf"{NAME}-ada-\d{{8}}T\d{{6}}Z\.zip", Path(archive.filename or "").name)
    missing = said.split("Still missing:\n")[1].splitlines()
    assert [line.split(":")[0].strip(" -") for line in missing].count(TASK) == 2  # no answer, no checkpoint
    assert {line.split(":")[0].strip(" -") for line in missing} == {item.name for item in TOPIC.items}
    assert f"{TOPIC.name}_question: nothing is written yet" in said


def test_the_manifest_says_what_was_handed_in(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = _checkpoint(work, {})
    _checkpoint(work, {}, f"{TASK}.flat")
    _checkpoint(work, {}, "rnn_task")
    (work / "checkpoints" / f"{TASK}.link.safetensors").symlink_to(weights)
    archive, _ = _zip(capsys, f"{NAME}/{NAME}.ipynb", "--folder", str(work), status=1)
    about = json.loads(archive.read("submission.json"))
    names = [f"{NAME}.ipynb", f"checkpoints/{TASK}.safetensors"]
    assert [file["name"] for file in about["files"]] == names == archive.namelist()[:-1]
    for file in about["files"]:
        content = archive.read(file["name"])
        assert (file["bytes"], file["sha256"]) == (len(content), hashlib.sha256(content).hexdigest())
    assert (about["topic"], about["student"]) == (NAME, "ada")
    assert about["versions"]["torch"] == version("torch") and about["missing"]  # a build's own may end in "+cu130"


def test_weights_of_rivals_are_packed_where_they_are_asked_for_or_may_be_the_work(
    work: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, rival = _checkpoint(work, {}), _checkpoint(work, {}, f"{TASK}.none")

    def packed(*options: str) -> list[str]:
        archive, said = _zip(capsys, "6", *options, status=1)
        names = [Path(name).name for name in archive.namelist() if name.endswith(".safetensors")]
        assert (rival.name in names) != (f"Not packed: {rival.name} (weights of models to compare with" in said)
        Path(archive.filename or "").unlink()
        return names

    assert packed() == [own.name]
    assert packed("--variants") == [rival.name, own.name]
    nb = nbformat.read(work / f"{NAME}.ipynb", as_version=4)
    answers({TASK: "record = fit('self_attention_task', RecallModel, train, variant='none')"})(nb)
    _write(work, nb)
    assert packed() == [rival.name, own.name], "the answer trains a variant"
    work.joinpath(f"{NAME}.ipynb").write_bytes(release_path(ROOT, TOPIC).read_bytes())
    own.unlink()
    assert packed("--blank") == [rival.name], "it may be the work"


def _cells(course: Path, *edits) -> list[dict]:
    """The short lesson, solved, and edited; its topic has a task besides."""
    nb = solved(course)
    for edit in edits:
        edit(nb)
    return nb.cells


def test_what_the_notebook_refers_to_is_packed_and_listed(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nb = nbformat.read(work / f"{NAME}.ipynb", as_version=4)
    nb.cells.append(new_markdown_cell("![sketch](figs/mine.png) ![lost](figs/lost.png)"))
    nb.cells.append(new_code_cell("from helpers import shift"))
    _write(work, nb)
    (work / "figs").mkdir()
    for name in ("figs/mine.png", "helpers.py", "unnamed.csv"):
        (work / name).write_text("")
    archive, said = _zip(capsys, "6", status=1)
    assert archive.namelist() == [f"{NAME}.ipynb", "figs/mine.png", "helpers.py", "submission.json"]
    listed = [file["name"] for file in json.loads(archive.read("submission.json"))["files"]]
    assert listed == archive.namelist()[:-1]
    assert "These include the files that the notebook refers to. A submission may have 100.0 MB" in said
    assert f"  - figs/lost.png (cell {len(nb.cells) - 1}) is not there. Put the file there" in said


def test_others_may_read_what_is_handed_in(work: Path) -> None:
    before = os.umask(0o022)
    try:
        cli.main(["submit", f"{NAME}/{NAME}.ipynb", "--student", "ada"])
    finally:
        os.umask(before)
    (archive,) = work.parent.glob("*.zip")
    assert archive.stat().st_mode & 0o777 == 0o644


_EXERCISES = ("softmax", "attention_cost", "crossover_length", "attention_for_one")
_QUESTION = Item("self_attention_question", 2, 1, "question")
_LESSON = Topic(6, "self_attention", "", "", (*(Item(name, 1, 1) for name in _EXERCISES), _QUESTION))


def test_a_full_notebook_lacks_nothing(course: Path, tmp_path: Path) -> None:
    assert list(gaps(_cells(course), _LESSON, tmp_path)) == []


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        (
            answers({"softmax": "def softmax(x, dim):\n    # YOUR CODE HERE\n    raise NotImplementedError()"}),
            "not answ",
        ),
        (answers({"softmax": "  # nothing\n"}), "the cell is empty"),
        (deleted("softmax-solution"), "the cell for your answer is gone"),
        (deleted("softmax"), "its check cell is gone"),
        (copied("softmax-solution"), "only the last one that you changed counts"),
    ],
)
def test_each_gap_has_its_sentence(edit, says: str, course: Path, tmp_path: Path) -> None:
    (gap,) = gaps(_cells(course, edit), _LESSON, tmp_path)
    assert gap.startswith("softmax: ") and says in gap


def test_what_the_checks_said_is_remembered(course: Path, tmp_path: Path) -> None:
    (tmp_path / ".course").mkdir()
    known = {item.name: {"kind": "passed"} for item in _LESSON.items[2:]}
    known["softmax"] = {"kind": "wrong", "passed": 1, "of": 3}
    (tmp_path / ".course" / "progress.json").write_text(json.dumps(known))
    assert list(gaps(_cells(course), _LESSON, tmp_path)) == [
        "softmax: 1 of 3 public checks passed when it was last checked",
        "attention_cost: its check was never run here",
    ]


def _task_gaps(folder: Path, *sources: str) -> list[str]:
    marks = {"nbgrader": {"grade_id": "deed_task-solution"}}
    cells = [new_code_cell(sources[0], metadata=marks), *map(new_code_cell, sources[1:])]
    cells.append(new_code_cell("check", metadata={"nbgrader": {"grade_id": "deed_task"}}))
    return list(gaps(cells, Topic(1, "deed", "", "", (Item("deed_task", 1, 1, "task", Budget(1, 1)),)), folder))


def test_checkpoints_that_are_missing_broken_or_older_than_the_code(tmp_path: Path) -> None:
    assert "there is no checkpoint" in _task_gaps(tmp_path, TRAIN)[0]
    path = _checkpoint(tmp_path, digests(TRAIN), "deed_task")
    assert _task_gaps(tmp_path, TRAIN) == []
    assert _task_gaps(tmp_path, TRAIN.replace("  # once", "  # twice")) == [], "a comment trains nothing"
    (gap,) = _task_gaps(tmp_path, TRAIN.replace("pass  # once", "model.eval()"))
    assert "older than your code, because since then train changed. Run the cell with fit('deed_task', …)" in gap
    (gap,) = _task_gaps(tmp_path, TRAIN.replace("class Net", "class Other"))
    assert "since then Net disappeared" in gap
    assert _task_gaps(tmp_path, TRAIN, TRAIN.replace("pass  # once", "model.eval()")) == [], "two of one name"
    save(path, torch.nn.Linear(2, 3), {})
    assert _task_gaps(tmp_path, TRAIN) == [], "of a time when no code was noted"
    safetensors.torch.save_file({"weight": torch.zeros(2)}, path, metadata={"record": "[" * 100_000})
    assert "deed_task.safetensors is not a checkpoint" in _task_gaps(tmp_path, TRAIN)[0], "nested without end"
    path.write_bytes(b"\x80 no weights")
    assert "deed_task.safetensors is not a checkpoint" in _task_gaps(tmp_path, TRAIN)[0]


def test_a_notebook_under_another_name_gets_its_own(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / f"{NAME}.ipynb").rename(work / "Untitled (3).ipynb")
    archive, _ = _zip(capsys, f"{NAME}/Untitled (3).ipynb", status=1)
    assert archive.namelist()[0] == f"{NAME}.ipynb"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nope"], "no topic is called 'nope'"),
        (["nope.ipynb"], "there is no nope.ipynb"),
        (["3"], "there is no 03_rnn.ipynb here"),
        (["6", "--student", "../ada"], "cannot name a folder"),
        (["broken.ipynb"], "broken.ipynb is not valid JSON"),
        (["strange.ipynb"], "strange.ipynb holds no exercise of the course"),
        (["6", "--student", "ada", "--folder", "broken.ipynb"], "cannot be written"),
        (["6", "--student", "ada", "--folder", "nowhere/zips"], "there is no folder nowhere/zips"),
    ],
)
def test_bad_input(arguments: list[str], says: str, work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.ipynb").write_text('{"cells": [')
    Path("strange.ipynb").write_text(nbformat.writes(nbformat.v4.new_notebook()))
    assert cli.main(["submit", *arguments]) == 2
    captured = capsys.readouterr()
    assert says in captured.err and captured.err.count("\n") == 1 and captured.out == ""
    assert list(Path().rglob("*.zip")) == []


def test_the_student_edition_submits(work: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(assemble("", OURS)), "LOGNAME": "ada"}
    ran = subprocess.run(
        [sys.executable, "-m", "course", "submit", "6"],
        cwd=work.parent,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1 and "Still missing:" in ran.stdout, ran.stderr
    assert "(change this with --student)" in ran.stdout


def _handed_in(course: Path, student: str, edit, capsys: pytest.CaptureFixture[str], folder: Path) -> Path:
    """The zip that a student makes of the lesson, with two files beside it."""
    nb = deepcopy(solved(course))
    edit(nb)
    work = folder / student / NAME
    (work / "checkpoints").mkdir(parents=True)
    (work / "tables").mkdir()
    (work / "tables" / "rows.csv.zip").write_text("1")
    (work / "helper.py").write_text("def largest(x, dim):\n    return x.amax(dim, keepdim=True)\n")
    _write(work, nb)
    _checkpoint(work, {})
    assert cli.main(["submit", str(work / f"{NAME}.ipynb"), "--student", student, "--folder", str(folder)]) == 1
    return Path(capsys.readouterr().out.splitlines()[0])


def test_what_is_unpacked_is_graded(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One zip is unpacked by hand, one by `nbgrader zip_collect`, as a course of an earlier version configures it.

    The second one's answer needs a module and a table of the student's.
    """
    needs = (
        "def softmax(x, dim):\n    p = (x - helper.largest(x, dim)).exp()\n    return int(ONE) * p / p.sum(dim, True)"
    )
    wrong = answers({"crossover_length": "def crossover_length(d):\n    return float(d)", "softmax": needs})

    def edit(nb: NotebookNode) -> None:
        wrong(nb)
        first("import helper\nONE = open('tables/rows.csv.zip').read()")(nb)

    config = course / "nbgrader_config.py"
    narrow = 'c.FileNameCollectorPlugin.valid_ext = [".ipynb", ".safetensors", ".json"]'
    config.write_text(f"{config.read_text()}\n{narrow}\n")
    by_hand = _handed_in(course, "ada", lambda nb: None, capsys, tmp_path)
    collected = _handed_in(course, "bo-b.2", edit, capsys, tmp_path)
    zipfile.ZipFile(by_hand).extractall(course / "submitted" / "ada" / NAME)
    inbox = course / "downloaded" / NAME / "archive"
    inbox.mkdir(parents=True)
    collected.rename(inbox / collected.name)
    output_of(course, "nbgrader", "zip_collect", NAME)
    there = course / "submitted" / "bo-b.2" / NAME
    names = sorted(path.relative_to(there).as_posix() for path in there.rglob("*") if path.is_file())
    taken = [f"{NAME}.ipynb", f"checkpoints/{TASK}.safetensors", "helper.py", "submission.json"]
    assert names == [*taken, "tables/rows.csv.zip", "timestamp.txt"]
    assert not (course / "submitted" / "ada" / NAME / "helper.py").exists(), "her notebook does not need it"
    when = re.search(r"-(\d{4})(\d\d)(\d\d)T", collected.name)
    assert when and there.joinpath("timestamp.txt").read_text().startswith("-".join(when.groups()))
    graded = {work.student: work for work in grade_class(Classroom(course_in(course), TOPIC), workers=1)}
    kinds = {student: {n: v.kind for n, v in work.verdicts.items()} for student, work in graded.items()}
    assert kinds["ada"]["softmax"] == kinds["ada"]["crossover_length"] == "passed"
    assert (course / "autograded" / "bo-b.2" / NAME / "tables" / "rows.csv.zip").is_file()
    assert kinds["bo-b.2"]["softmax"] == "passed" and kinds["bo-b.2"]["crossover_length"] == "wrong"
    assert not list((course / "autograded").rglob("submission.json")), "the manifest is no part of the work"


def test_one_bad_archive_does_not_keep_the_others_from_being_collected(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As they come from a platform: each damaged in its own way, and all packed into one."""
    good = _handed_in(course, "cy", lambda nb: None, capsys, tmp_path)
    inbox = course / "downloaded" / NAME / "archive"
    shutil.rmtree(inbox.parent, ignore_errors=True)
    inbox.mkdir(parents=True)
    (inbox / f"{NAME}-ann-20261122T003000Z.zip").write_bytes(good.read_bytes()[:-500])
    (inbox / f"{NAME}-bad-20261122T003000Z.zip").write_text("<html>Please log in</html>")
    with zipfile.ZipFile(inbox / f"{NAME}-bomb-20261122T003000Z.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr(f"{NAME}.ipynb", bytes(110 * 2**20))
    with zipfile.ZipFile(inbox / "all.zip", "w") as outer:
        outer.write(good, f"Cy_1_assignsubmission_file_/{good.name}")
        outer.writestr(f"Dan_2_assignsubmission_file_/{NAME}-dan-20261122T003000Z.zip", "cut off")
    said = output_of(course, "nbgrader", "zip_collect", NAME, status=1)
    told = said.partition("nbgrader zip_collect: everything is in submitted/ except these ")[2].splitlines()[1:]
    places = {"ann": "", "bad": "", "dan": "all/Dan_2_assignsubmission_file_/", "bomb": ""}
    paths = [f"  {place}{NAME}-{name}-20261122T003000Z.zip" for name, place in places.items()]
    assert told == [
        "not unpacked, because it is damaged, encrypted, or not a .zip file. Ask for it again:",
        *paths[:3],
        "not unpacked, because it holds 110 MB or more. Ask for it again:",
        *paths[3:],
    ]
    assert not any((course / "submitted" / name).exists() for name in ("ann", "bad", "bomb", "dan"))
    assert (course / "submitted" / "cy" / NAME / "checkpoints" / f"{TASK}.safetensors").is_file()


def test_what_nobody_can_be_given_is_told_last_and_a_manifest_says_whose_a_renamed_zip_is(
    course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As a platform hands it over: a bare notebook, a renamed zip, another topic's, a program, what systems add."""
    good = _handed_in(course, "fay", lambda nb: None, capsys, tmp_path)
    inbox = course / "downloaded" / NAME / "archive"
    shutil.rmtree(inbox.parent, ignore_errors=True)
    inbox.mkdir(parents=True)
    with zipfile.ZipFile(inbox / "all.zip", "w") as outer:
        outer.write(good, "Fay_1_assignsubmission_file_/my work.zip")
        outer.writestr("Gil_2_assignsubmission_file_/notebook.ipynb", "{}")
        outer.writestr(f"hal_3_4_01_markov_ngrams-hal-20261122T003000Z/{NAME}.ipynb", "{}")
        outer.writestr(f"ivy_3_5_{NAME}-ivy-20261122T003000Z/{NAME}.ipynb", "{}")
        for name in ("helper.py", "setup.exe", ".course/progress.json", "__pycache__/helper.pyc"):
            outer.writestr(f"ivy_3_5_{NAME}-ivy-20261122T003000Z/{name}", "")
        outer.writestr(f"__MACOSX/ivy_3_5_{NAME}-ivy-20261122T003000Z/._{NAME}.ipynb", "")
    told = (
        output_of(course, "nbgrader", "zip_collect", NAME, status=1)
        .partition("in submitted/ except these ")[2]
        .splitlines()[1:]
    )
    reasons = [line.partition(". ")[0] for line in told[::2]]
    assert dict(zip(reasons, told[1::2], strict=True)) == {
        "the class list has no student, or several, whom Moodle can mean by Gil": (
            "  all/Gil_2_assignsubmission_file_/notebook.ipynb"
        ),
        f"work on 01_markov_ngrams, and not on {NAME}": "  all/hal_3_4_01_markov_ngrams-hal-20261122T003000Z",
        "not collected, because it is a program": f"  all/ivy_3_5_{NAME}-ivy-20261122T003000Z/setup.exe",
    }
    there = course / "submitted" / "fay" / NAME
    assert (there / f"{NAME}.ipynb").is_file() and (there / "checkpoints" / f"{TASK}.safetensors").is_file()
    when = re.search(r"-(\d{4})(\d\d)(\d\d)T", good.name)
    assert when and there.joinpath("timestamp.txt").read_text().startswith("-".join(when.groups()))
    ivys = sorted(path.name for path in (course / "submitted" / "ivy" / NAME).iterdir())
    assert ivys == [f"{NAME}.ipynb", "helper.py", "timestamp.txt"]
    assert not (course / "submitted" / "hal").exists()


def test_a_name_is_one_persons_however_a_system_writes_its_letters() -> None:
    composed, apart = "Zo\u00eb", "Zoe\u0308"
    assert name_in_zip(apart) == composed


def test_a_login_that_machines_give_is_nobodys_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for login in ("root", "jovyan", "Student", "kaggle"):
        monkeypatch.setattr("getpass.getuser", lambda login=login: login)
        with pytest.raises(Problem, match=f"^{login} is a login that machines give to everybody. Add --student "):
            name_in_zip(None)
        assert name_in_zip(login) == login, "somebody's own words count"
    monkeypatch.setattr("getpass.getuser", lambda: "jd1234")
    assert name_in_zip(None) == "jd1234"


def test_a_students_environment_is_enough(work):
    """What `pip install course[lab]` brings along: neither nbgrader nor anything else that grading alone needs."""
    absent = ("jupytext", "msgspec", "nbgrader", "rapidfuzz", "rich")
    code = f"import sys; sys.modules.update(dict.fromkeys({absent})); from course.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "submit", f"{NAME}/{NAME}.ipynb", "--student", "ada"]
    done = subprocess.run(command, cwd=work.parent, capture_output=True, text=True, check=False)
    assert "needs" not in done.stderr and len(list(work.parent.glob("*.zip"))) == 1, done.stderr
