"""The grader may be stopped at any moment, gently or not: the next run goes on, and the grades are the same."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import psutil
import pytest

from course.course import Course, course_in
from course.grading.classroom import grade_class as classrooms
from course.grading.classroom import last_grading
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.grade_command import grade_topic
from course.grading.classroom.graded import Graded
from course.grading.classroom.last_grading import LastGrading
from course.grading.classroom.make_task import make_task
from course.grading.classroom.summary import not_graded
from course.grading.execution.result_store import Store
from course.grading.execution.task import NOT_ISOLATED, Outcome
from course.grading.execution.worker_pool import FORKS, LocalWorkers
from course.problem import Problem
from tests.few import few

from .lesson import TOPIC, answers, find, hand_in, make_course, solved

T = TypeVar("T")
ROOT = Path(__file__).parents[2]
SETTINGS = {"timeout": 20, "secret": "the same for all"}
SOFTMAX = (
    "def softmax(x, dim):\n    return x * 0",
    "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)",
    "def softmax(x, dim):\n    return torch.log_softmax(x, dim)",
    "def softmax(x, dim):\n    raise RuntimeError",
)


def make_class(root: Path, size: int) -> Path:
    """Pupils with five kinds of answers, no two with the same notebook."""
    make_course(root)
    for number in range(size):
        nb = solved(root)
        if number % 5:
            answers({"softmax": SOFTMAX[number % 5 - 1]})(nb)
        find(nb, "softmax-solution").source += f"\n# {number}"
        hand_in(root, f"s{number:02}", nb)
    (root / ".course-secret").write_text("the same for all")
    return root


def plain(graded: list[Graded]) -> dict[str, object]:
    """All that is a grade, and nothing that is a time."""
    said = {}
    for work in graded:
        verdicts = {name: {**verdict.to_dict(), "seconds": 0} for name, verdict in sorted(work.verdicts.items())}
        scores = work.scores and (work.scores.score, sorted(work.scores.cells.items()))
        said[work.student] = json.dumps([work.reason, scores, verdicts], sort_keys=True)
    return said


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[Path, dict[str, object]]:
    """A class and what becomes of it when nobody disturbs."""
    root = make_class(tmp_path_factory.mktemp("class"), 10)
    other = shutil.copytree(root, tmp_path_factory.mktemp("undisturbed") / "class")
    return root, plain(grade_class(Classroom(course_in(other), TOPIC, SETTINGS), workers=2))


@contextmanager
def counted(monkeypatch) -> Iterator[list[str]]:
    """The names of those whose work is sent to be executed."""
    sent: list[str] = []
    execute_all = classrooms.execute_all

    def count(jobs, pool):
        def noted():
            for student, task in jobs:
                sent.append(student)
                yield student, task

        yield from execute_all(noted(), pool)

    with monkeypatch.context() as patch:
        patch.setattr(classrooms, "execute_all", count)
        yield sent


def test_unchanged_work_is_never_executed_twice(undisturbed, tmp_path, monkeypatch):
    root, expected = undisturbed
    root = shutil.copytree(root, tmp_path / "class")
    students = ["s00", "s01", "s02"]
    some = {student: expected[student] for student in students}

    def grade(**options) -> dict[str, object]:
        return plain(grade_class(Classroom(course_in(root), TOPIC, SETTINGS), students=students, workers=2, **options))

    with counted(monkeypatch) as sent:
        assert grade() == some and sorted(sent) == students
    with counted(monkeypatch) as sent:
        assert grade() == some and sent == []
    shutil.rmtree(root / "autograded" / "s01")  # saved anew from the result that is kept
    with counted(monkeypatch) as sent:
        assert grade() == some and sent == []
    path = root / "submitted" / "s01" / TOPIC.folder / f"{TOPIC.folder}.ipynb"
    path.write_text(path.read_text().replace("x * 0", "x * 0 + 1"))
    with counted(monkeypatch) as sent:
        assert grade() != some and sent == ["s01"]
    with counted(monkeypatch) as sent:
        grade(force=True)
        assert sorted(sent) == students


def test_a_class_graded_already_hires_nobody(undisturbed, tmp_path, monkeypatch):
    root = shutil.copytree(undisturbed[0], tmp_path / "class")
    grade_class(Classroom(course_in(root), TOPIC, SETTINGS), students=["s00"], workers=1)
    monkeypatch.setattr(LocalWorkers, "__init__", lambda *_: pytest.fail("opened"))
    grade_class(Classroom(course_in(root), TOPIC, SETTINGS), students=["s00"], workers=1)


def test_two_graders_do_not_get_into_each_others_way(undisturbed, tmp_path, monkeypatch):
    root = shutil.copytree(undisturbed[0], tmp_path / "class")
    students = ["s00", "s01"]
    some = {student: undisturbed[1][student] for student in students}
    refused = []

    def meanwhile(self, task, outcome):
        try:
            grade_class(Classroom(course_in(root), TOPIC, SETTINGS), students=students, workers=1, force=True)
        except Problem as problem:
            refused.append(str(problem))
        return put(self, task, outcome)

    put = Store.put
    monkeypatch.setattr(Store, "put", meanwhile)
    assert plain(grade_class(Classroom(course_in(root), TOPIC, SETTINGS), students=students, workers=2)) == some
    assert len(refused) == 2 and all("another command" in said for said in refused)
    monkeypatch.undo()
    assert plain(grade_class(Classroom(course_in(root), TOPIC, SETTINGS), students=students, workers=2)) == some


def test_work_that_lies_elsewhere_is_pointed_at(undisturbed, tmp_path, capsys):
    root = shutil.copytree(undisturbed[0], tmp_path / "class")
    name, handed_in = TOPIC.folder, root / "submitted"
    work = handed_in / "s00" / name / f"{name}.ipynb"
    assert grade_topic(course_in(root), TOPIC, settings=SETTINGS) == 0
    for place in (
        f"flat/{name}",
        f"typo/{name[1:]}/{name[1:]}",
        f"kase/{name.title()}/{name.title()}",
        f"in/a/{name}/{name}",
    ):
        path = handed_in / f"{place}.ipynb"
        path.parent.mkdir(parents=True)
        shutil.copy(work, path)
    (handed_in / "other" / "ps1").mkdir(parents=True)
    (handed_in / "other" / "ps1" / "problem1.ipynb").write_text("{}")
    said = not_graded(list(Classroom(course_in(root), TOPIC, SETTINGS).handed_in.misplaced()))
    assert [sentence.partition(" (")[0] for sentence in said] == ["flat", "in", "kase", "typo"]
    assert said[0] == f"flat (not graded): flat/{name}.ipynb belongs at flat/{name}/{name}.ipynb"
    assert grade_topic(course_in(root), TOPIC, settings=SETTINGS) == 1 and said[0] in capsys.readouterr().out
    assert grade_topic(course_in(root), TOPIC, students=["s00"], settings=SETTINGS) == 0, "who is named is graded"
    assert "flat" not in capsys.readouterr().out


def test_a_fault_of_the_machine_leaves_the_grading_there_is(undisturbed, tmp_path, monkeypatch):
    root = shutil.copytree(undisturbed[0], tmp_path / "class")
    classroom = Classroom(course_in(root), TOPIC, SETTINGS)
    before = plain(grade_class(classroom, students=["s00"], workers=1))

    def fail(jobs, pool):
        for student, task in jobs:
            yield student, task, Outcome(task.notebook, fault="no memory").to_bytes()

    with monkeypatch.context() as patch:
        patch.setattr(classrooms, "execute_all", fail)
        (work,) = grade_class(Classroom(course_in(root), TOPIC, SETTINGS), students=["s00"], workers=1, force=True)
        assert "no memory" in work.reason and "stays" in work.reason and not work.complete
        otherwise = Classroom(course_in(root), TOPIC, {**SETTINGS, "gpu": True, "timeout": 7})
        (work,) = grade_class(otherwise, students=["s00"], workers=1)
        assert "no memory" in work.reason and "stays" in work.reason and not work.complete
        (other,) = grade_class(Classroom(course_in(root), TOPIC, SETTINGS), students=["s01"], workers=1)
        assert "no memory" in other.reason and "stays" not in other.reason
    with counted(monkeypatch) as sent:
        assert plain(grade_class(classroom, students=["s00"], workers=1)) == before and sent == []


def test_a_folder_that_cannot_be_looked_at_is_one_students_alone(undisturbed, tmp_path, monkeypatch):
    root = shutil.copytree(undisturbed[0], tmp_path / "class")
    examine = last_grading.examine

    def locked(course: Course, folder: Path, name: str) -> list[str]:
        if folder.parent.name == "s00":
            raise PermissionError(13, "Permission denied", str(folder))
        return examine(course, folder, name)

    monkeypatch.setattr(last_grading, "examine", locked)
    one, other = grade_class(Classroom(course_in(root), TOPIC, SETTINGS), students=["s00", "s01"], workers=1)
    assert one.reason.endswith("may not be read or written by you. Change its rights") and not other.reason


def test_what_was_executed_without_a_sandbox_does_not_do_where_one_is_required(undisturbed, tmp_path, monkeypatch):
    root = shutil.copytree(undisturbed[0], tmp_path / "class")
    classroom = Classroom(course_in(root), TOPIC, SETTINGS)
    grade_class(classroom, students=["s00"], workers=1)
    path = root / "autograded" / "s00" / TOPIC.folder / f"{TOPIC.folder}.ipynb"
    task = replace(make_task(classroom, "s00", classroom.handed_in.submissions()["s00"]), isolated=True)
    last = LastGrading(classroom, "s00")
    nb = json.loads(path.read_text())
    assert last.is_done(task) == (nb["metadata"]["course"]["isolation"] != NOT_ISOLATED)
    nb["metadata"]["course"]["isolation"] = NOT_ISOLATED
    path.chmod(0o644)
    path.write_text(json.dumps(nb))
    assert not last.is_done(task) and last.is_done(replace(task, isolated=False))


def heeding(how: signal.Signals) -> None:
    """Have a program that begins end at the signal: whoever runs the tests in the background ignores some."""
    signal.signal(how, signal.SIG_DFL)


def killed(root: Path, how: signal.Signals, after: float, temporary: Path) -> None:
    """Grade, and send the signal after so many seconds; nothing is left, of processes or of temporary files."""
    grader = subprocess.Popen(
        [sys.executable, "-m", "tests.grading.crash", str(root)],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "TMPDIR": str(temporary)},
        start_new_session=True,
        preexec_fn=None if how == signal.SIGKILL else partial(heeding, how),
    )
    try:
        grader.wait(after)
    except subprocess.TimeoutExpired:
        grader.send_signal(how)
        grader.wait(60)
    finally:
        grader.kill()
    assert soon_nothing(lambda: [*_at_work_in(temporary), *_ours(temporary)]) == [], f"after {after} s, {how.name}"


def kill_until_done(root: Path, times: int, seconds: float, seed: int, temporary: Path) -> None:
    moments = random.Random(seed)
    for number in range(times):
        how = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)[number % 3]
        killed(root, how, moments.uniform(0.5, seconds), temporary)


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder for temporary files with a path that sockets fit into."""
    with tempfile.TemporaryDirectory(prefix="t-") as folder:
        yield Path(folder)


def test_killed_at_any_moment_and_resumed_the_grades_are_the_same(undisturbed, tmp_path, short):
    root, expected = undisturbed
    root = shutil.copytree(root, tmp_path / "class")
    kill_until_done(root, 5, 10.0, seed=1, temporary=short)
    assert plain(grade_class(Classroom(course_in(root), TOPIC, SETTINGS), workers=2)) == expected


@pytest.mark.slow
def test_killed_fifty_times_over_a_class_of_thirty(tmp_path, short):
    root = make_class(tmp_path / "class", 30)
    other = shutil.copytree(root, tmp_path / "undisturbed")
    expected = plain(grade_class(Classroom(course_in(other), TOPIC, SETTINGS), workers=2))
    for seed in range(10):
        again = shutil.copytree(root, tmp_path / f"again{seed}")
        kill_until_done(again, 5, 12.0, seed, short)
        assert plain(grade_class(Classroom(course_in(again), TOPIC, SETTINGS), workers=2)) == expected


@pytest.mark.parametrize(
    ("how", "status", "times"),
    few([(signal.SIGINT, 130, 3), (signal.SIGTERM, 143, 3), (signal.SIGHUP, 129, 3)], (signal.SIGTERM, 143, 3)),
)
def test_a_polite_signal_ends_the_grader_with_its_own_status_and_nothing_left(
    undisturbed, tmp_path, how, status, times, short
):
    root = shutil.copytree(undisturbed[0], tmp_path / "class")
    grader = subprocess.Popen(
        [sys.executable, "-m", "course", "grade", TOPIC.folder, "--workers", "2"],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(short)},
        start_new_session=True,
        preexec_fn=partial(heeding, how),
    )
    deadline = time.monotonic() + 90
    while not list((root / ".course" / "results").glob("*/*.zip")) and time.monotonic() < deadline:
        time.sleep(0.1)
    for _ in range(times):  # who presses Ctrl-C again does not get it faster, nor with a traceback
        grader.send_signal(how)
        time.sleep(0.2)
    _, said = grader.communicate(timeout=60)
    assert grader.returncode == status
    assert "Traceback" not in said and "stopped" in said and "goes on from here" in said
    assert soon_nothing(lambda: _session(grader.pid)) == [] and _ours(short) == []


@pytest.mark.skipif(not FORKS, reason="workers are forked on Linux only")
@pytest.mark.parametrize("after", [0.0, 0.5])
def test_ctrl_c_while_workers_are_begun_is_answered_with_one_sentence(undisturbed, tmp_path, short, after):
    root = shutil.copytree(undisturbed[0], tmp_path / "class")
    grader = subprocess.Popen(
        [sys.executable, "-m", "course", "grade", TOPIC.folder],
        cwd=root,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(short)},
        start_new_session=True,
        preexec_fn=partial(heeding, signal.SIGINT),
    )
    deadline = time.monotonic() + 60
    while not any("forkserver" in command for command in _session(grader.pid)):
        assert time.monotonic() < deadline, "no fork server was begun"
        time.sleep(0.02)
    time.sleep(after)
    os.killpg(grader.pid, signal.SIGINT)  # as a terminal does, to the server that is importing, too
    _, said = grader.communicate(timeout=60)
    stopped = "stopped. What is done is kept, and the next run goes on from here"
    assert (grader.returncode, said) == (130, f"course grade: {stopped}\n")
    assert soon_nothing(lambda: _session(grader.pid)) == [] and list(short.iterdir()) == []


def soon_nothing(left: Callable[[], list[T]]) -> list[T]:
    """What is still left after ten seconds in which all of it should have gone."""
    deadline = time.monotonic() + 10
    while (found := left()) and time.monotonic() < deadline:
        time.sleep(0.1)
    return found


def _ours(temporary: Path) -> list[Path]:
    """The files that are left, without what Python leaves, and the lesson of these tests.

    A folder that was made just before the kill, for workers yet to come, stays empty.
    """
    tops = (top for top in temporary.iterdir() if not top.name.startswith(("pymp-", "lesson-")))
    return [Path(folder, name) for top in tops for folder, _, names in os.walk(top) for name in names]


def _at_work_in(temporary: Path) -> list[int]:
    """The processes that began with this folder, or one in it, for temporary files."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):  # it has ended
            if process.environ().get("TMPDIR", "").startswith(str(temporary)):
                found.append(process.pid)
    return found


def _session(leader: int) -> list[str]:
    """The commands that still run in a session."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, ProcessLookupError):  # it has ended
            if os.getsid(process.pid) == leader and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
    return found
