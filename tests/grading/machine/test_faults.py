"""The machine misbehaves: one sentence says what to do, nothing is graded wrongly, and the next run goes on."""

from __future__ import annotations

import errno
import logging
import os
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import pytest
from filelock import FileLock
from sqlalchemy.exc import OperationalError

from course import cli
from course.course import Course, course_in
from course.grading.classroom import last_grading, saving
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.grade_command import grade_topic
from course.grading.classroom.handed_in import HandedIn
from course.grading.classroom.saving import save
from course.grading.course_files.cells import notebook_bytes
from course.grading.execution import execute as execution
from course.grading.execution import worker_pool
from course.grading.execution.result_store import Store
from course.grading.execution.task import Outcome, Task
from course.grading.export import export_grades
from course.grading.machine import faults
from course.grading.machine.faults import Fault, advice_for, stops_all
from course.grading.nbgrader_bridge import unpacking
from course.grading.nbgrader_bridge.log_capture import quiet
from course.judge.verdict import Verdict
from course.problem import Problem

from ..lesson import TOPIC, find, solved
from ..test_resume import SETTINGS, make_class, plain


def of(number: int, place: str | None = "/somewhere/file") -> OSError:
    return OSError(number, os.strerror(number), place)


def of_sqlite(said: str) -> OperationalError:
    return OperationalError("INSERT", {}, sqlite3.OperationalError(said))


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (of(errno.ENOSPC), "no space is left on the disk of /somewhere/file. Make room there"),
        (of(errno.EDQUOT), "your quota is used up on the disk of /somewhere/file"),
        (OSError(errno.ENOSPC, "", "/source", None, "/target"), "no space is left on the disk of /target"),
        (shutil.Error([("/a", "/b", "[Errno 28] No space left")] * 99), "no space is left on the disk of /b"),
        (of(errno.EROFS), "mounted read-only"),
        (of(errno.EACCES), "Change its rights"),
        (of(errno.EMFILE), "ulimit -n"),
        (of(errno.EAGAIN), "ulimit -u"),
        (RuntimeError("can't start new thread"), "ulimit -u"),
        (of(errno.ENOMEM), "no memory left"),
        (MemoryError(), "no memory left"),
        (OSError("AF_UNIX path too long"), "Set TMPDIR to /tmp"),
        (of_sqlite("database is locked"), "another program has locked the gradebook"),
        (of_sqlite("attempt to write a readonly database"), "cannot be written"),
        (of_sqlite("database or disk is full"), "Make room"),
        (of_sqlite("no such column: grade.extra_credit"), "nbgrader db upgrade"),
        (of_sqlite("file is not a database"), "damaged"),
        (of_sqlite("unable to open database file"), "is a file, in a folder"),
        (ValueError(str(of_sqlite("database is locked"))), "another program"),  # as nbgrader passes it on
    ],
)
def test_what_is_wrong_with_the_machine_is_said_with_what_to_do(error, says):
    assert says in advice_for(error) and "\n" not in advice_for(error)
    assert stops_all(error) == (getattr(error, "errno", 0) != errno.EACCES)


@pytest.mark.parametrize("error", [None, KeyError("x"), of(errno.EISDIR), of(errno.ENOENT), ValueError("is full")])
def test_other_errors_are_none_of_the_machines_faults(error):
    assert advice_for(error) == "" and not stops_all(error)


def test_who_does_not_say_which_disk_is_full_has_it_looked_for(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    usage = shutil.disk_usage

    def full(place: Path) -> object:
        return SimpleNamespace(free=0) if Path(place) == tmp_path else usage(place)

    monkeypatch.setattr(faults.shutil, "disk_usage", full)
    assert advice_for(of(errno.ENOSPC, None)).endswith(
        f"of {tmp_path}. Make room there, or set TMPDIR to another folder"
    )


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> tuple[Path, dict[str, object]]:
    """A class of two that was graded, and what became of it as nothing happened."""
    root = make_class(tmp_path_factory.mktemp("undisturbed") / "class", 2)
    return root, plain(grade_class(Classroom(course_in(root), TOPIC, SETTINGS), workers=1))


@pytest.fixture
def graded(undisturbed, tmp_path) -> Path:
    """The class, graded: its results are kept."""
    return shutil.copytree(undisturbed[0], tmp_path / "class")


def grade(root: Path, **options) -> dict[str, object]:
    return plain(grade_class(Classroom(course_in(root), TOPIC, SETTINGS), workers=1, **options))


def test_a_gradebook_that_fails_amid_a_class_ends_it_and_costs_nobody_anything(graded, undisturbed, monkeypatch):
    """What nbgrader met it does not hand on, and says itself that it was recently upgraded."""
    from course.grading.nbgrader_bridge.autograde_steps import SaveVerdicts

    shutil.rmtree(graded / "autograded")
    with monkeypatch.context() as patch:
        patch.setattr(SaveVerdicts, "decide", lambda *_: (_ for _ in ()).throw(of_sqlite("database is locked")))
        with pytest.raises(Fault, match="s00 could not be saved: another program has locked the gradebook"):
            grade(graded)
    assert grade(graded) == undisturbed[1]


@pytest.mark.parametrize(("number", "others"), [(errno.ENOSPC, "stopped"), (errno.EACCES, "graded")])
def test_a_disk_that_becomes_full_ends_it_and_a_locked_folder_is_one_students(
    graded, undisturbed, monkeypatch, number, others
):
    from nbgrader.converters import Autograde

    begin, write = Autograde.init_destination, saving.write_files

    def fail_to_write(files: dict[str, bytes], folder: Path) -> None:
        if folder.parent.name == "s00":
            raise of(number)
        write(files, folder)

    def fail(self, assignment: str, student: str) -> bool:
        if student == "s00":
            raise of(number, "notebook.ipynb")  # as what removes a folder says it
        return begin(self, assignment, student)

    shutil.rmtree(graded / "autograded")
    with monkeypatch.context() as patch:
        patch.setattr(saving, "write_files", fail_to_write)
        patch.setattr(Autograde, "init_destination", fail)
        if others == "stopped":
            with pytest.raises(Fault, match="no space is left"):
                grade(graded)
        else:
            one, other = grade_class(Classroom(course_in(graded), TOPIC, SETTINGS), workers=1)
            place = graded / "autograded" / "s00" / TOPIC.folder / "notebook.ipynb"
            assert one.reason.startswith(f"{place} may not be") and not one.complete
            assert plain([other])["s01"] == undisturbed[1]["s01"]
    assert grade(graded) == undisturbed[1]


def test_a_machine_that_cannot_look_at_work_takes_no_grade_back(graded, undisturbed, monkeypatch):
    def look(*_: object) -> list[str]:
        raise of(errno.EMFILE)

    with monkeypatch.context() as patch:
        patch.setattr(last_grading, "examine", look)
        with pytest.raises(OSError, match="Too many open files"):
            grade(graded)
    monkeypatch.setattr(Store, "get", lambda *_: pytest.fail("its grading was forgotten"))
    assert grade(graded) == undisturbed[1]


def test_what_nobody_thought_of_is_one_students_and_takes_no_grade_back(graded, undisturbed, monkeypatch):
    look = last_grading.examine

    def stumble(course: Course, folder: Path, *rest: str) -> list[str]:
        if folder.parent.name == "s00":
            raise UnboundLocalError("cannot access local variable 'newcell'")
        return look(course, folder, *rest)

    with monkeypatch.context() as patch:
        patch.setattr(last_grading, "examine", stumble)
        one, other = grade_class(Classroom(course_in(graded), TOPIC, SETTINGS), workers=1)
    told = "it cannot be examined (cannot access local variable 'newcell'). Its earlier grading stays"
    assert one.reason == told and plain([other])["s01"] == undisturbed[1]["s01"]
    assert grade(graded) == undisturbed[1]


def test_results_that_can_only_be_read_are_read(tmp_path, monkeypatch):
    store, task = Store(tmp_path), Task(TOPIC.folder, b"{}")
    store.put(task, Outcome(b"{}").to_bytes())
    monkeypatch.setattr("os.utime", lambda *_: (_ for _ in ()).throw(of(errno.EROFS)))
    assert store.get(task) is not None


def test_a_clock_that_was_ahead_keeps_no_result_from_being_removed(tmp_path):
    store, task = Store(tmp_path), Task(TOPIC.folder, b"{}")
    store.put(task, Outcome(b"{}").to_bytes())
    os.utime(store.path(task), (4e9, 4e9))
    assert store.prune(days=1) == []
    assert [kept.path for kept in store.prune(days=0)] == [store.path(task)]


def test_timings_that_cannot_be_written_are_missed_by_no_grade(graded, undisturbed):
    timings = graded / ".course" / "timings"
    shutil.rmtree(timings)
    timings.touch()
    assert grade(graded, force=True) == undisturbed[1]


def _writing(said: str) -> Callable[..., None]:
    def edit(nb) -> None:
        answer = find(nb, "softmax-solution")
        answer.source = f"raise OSError(28, {said!r})\n{answer.source}"

    return edit


@pytest.mark.parametrize(
    ("said", "free", "quota", "blamed"),
    [
        ("No space left on device", 2**20, False, True),
        ("No space left on device", 2**40, True, False),  # the notebook's own part of the memory, which is small
        ("Disk quota exceeded", 2**40, True, True),
        ("Disk quota exceeded", 2**40, False, False),  # anybody can say so
        ("something else", 2**20, True, False),
    ],
)
def test_a_disk_that_is_full_while_a_notebook_runs_costs_no_points(undisturbed, monkeypatch, said, free, quota, blamed):
    nb = solved(undisturbed[0])
    _writing(said)(nb)
    usage = shutil.disk_usage
    monkeypatch.setattr(execution.shutil, "disk_usage", lambda place: usage(place)._replace(free=free))

    def allocate(*_: int) -> None:
        if quota:
            raise of(errno.EDQUOT)

    monkeypatch.setattr(execution.os, "posix_fallocate", allocate)
    outcome = Outcome.from_bytes(execution.execute(Task(TOPIC.folder, notebook_bytes(nb)).to_bytes()))
    assert (not outcome.final) == blamed
    assert ("Make room there" in outcome.fault) == blamed


def test_of_the_disk_that_the_judge_meets_in_an_answer_it_holds_as_well(tmp_path, monkeypatch):
    verdict = Verdict("softmax", "error", 0, 2, "OSError: [Errno 28] No space left on device")
    examination = SimpleNamespace(verdicts={"softmax": verdict})
    assert "No space left" in execution.complaints_of(SimpleNamespace(cells=[]), examination)


def test_what_a_library_logs_of_what_it_raises_as_well_is_not_shown(capsys, tmp_path, monkeypatch):
    """nbgrader's gradebook logs a traceback of a database that fails."""

    def fail(*_: object) -> None:
        logging.getLogger("tornado.application").exception("Rolling back session due to database error")
        raise of_sqlite("database or disk is full")

    monkeypatch.setitem(cli.COMMANDS, "list", (fail, cli.COMMANDS["list"][1]))
    assert cli.main(["list"]) == 2
    assert capsys.readouterr().err == "course list: no space is left on the gradebook's disk. Make room there\n"


def test_nbgraders_log_hands_over_what_it_went_on_after():
    from traitlets.log import get_logger

    with quiet() as said:
        try:
            raise of(errno.ENOSPC)
        except OSError:
            get_logger().error("There was an error")
    assert isinstance(said.cause, OSError) and said == ["There was an error"]


def test_a_folder_for_temporary_files_that_no_socket_fits_into_is_refused_before_anybody_is_graded(
    graded, monkeypatch, capsys
):
    monkeypatch.chdir(graded)
    monkeypatch.setattr("tempfile.tempdir", "/tmp/" + "x" * 90)
    assert cli.main(["grade", TOPIC.folder]) == 2
    assert "is too long for sockets (" in capsys.readouterr().err


def test_where_no_worker_can_begin_nothing_of_its_is_left(monkeypatch, tmp_path):
    """Without /dev/shm there are no semaphores."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(worker_pool, "ProcessPoolExecutor", fail)
    with pytest.raises(Problem, match="They need /dev/shm"), worker_pool.open_pool(1):
        pass
    assert list(tmp_path.iterdir()) == []


def test_nbgraders_own_autograding_waits_its_turn(graded, undisturbed):
    lock = FileLock(graded / ".course" / "locks" / f"{TOPIC.folder}.lock")
    with lock:
        assert "another command works on" in save(Classroom(course_in(graded), TOPIC, SETTINGS), "s00")
    assert grade(graded) == undisturbed[1]


def test_nbgraders_own_commands_say_what_is_wrong_with_the_gradebook(graded, monkeypatch):
    from nbgrader.converters import Autograde
    from nbgrader.converters.base import NbGraderException

    from course.grading.nbgrader_bridge.autograde_steps import SaveVerdicts

    classroom = Classroom(course_in(graded), TOPIC, SETTINGS)
    monkeypatch.setattr(SaveVerdicts, "decide", lambda *_: (_ for _ in ()).throw(of_sqlite("database is locked")))
    with quiet() as said, pytest.raises(NbGraderException):
        converter = Autograde(coursedir=classroom.coursedir("s00"), config=classroom.config)
        converter.force = True
        converter.start()
    assert said[-1].startswith("another program has locked the gradebook")


def test_a_table_that_could_not_be_written_whole_leaves_the_one_there_was(graded, monkeypatch):
    from nbgrader.plugins import CsvExportPlugin

    table, _ = export_grades(course_in(graded), "csv", [TOPIC])
    before = table.read_text()

    def fail(self, gradebook) -> None:
        Path(self.to).write_text("half a li")
        raise of(errno.ENOSPC, None)

    monkeypatch.setattr(CsvExportPlugin, "export", fail)
    with pytest.raises(Problem, match=r"csv\.csv cannot be written: No space left"):
        export_grades(course_in(graded), "csv", [TOPIC])
    assert table.read_text() == before and os.listdir(table.parent) == [table.name]  # noqa: PTH208


def test_archives_are_not_blamed_for_a_disk_that_is_full(tmp_path, monkeypatch):
    archive = tmp_path / "archive"
    archive.mkdir()
    with ZipFile(archive / "ada.zip", "w") as packed:
        packed.writestr("work.ipynb", "{}")
    monkeypatch.setattr(unpacking, "unpack", lambda *_: (_ for _ in ()).throw(of(errno.ENOSPC)))
    with pytest.raises(SystemExit, match=r"Make room there. Then run it again with --force"):
        unpacking.TolerantExtractor().extract(str(archive), str(tmp_path / "extracted"))


def test_a_gradebook_that_was_lost_is_made_anew_and_what_was_in_it_is_missed(graded, undisturbed, capsys):
    def run() -> str:
        grade_topic(course_in(graded), TOPIC, workers=1, settings=SETTINGS)
        return capsys.readouterr().out

    assert "comments by hand are lost" not in run()
    (graded / "gradebook.db").unlink()
    assert "comments by hand are lost" in run()
    assert "comments by hand are lost" not in run()
    assert grade(graded) == undisturbed[1]


def test_a_students_folder_that_may_not_be_read_is_not_passed_over(graded, undisturbed, monkeypatch):
    """nbgrader finds nothing in it, and so nobody."""
    locked, access, found = graded / "submitted" / "s01", os.access, HandedIn.handed_in
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != locked and access(path, mode))
    monkeypatch.setattr(HandedIn, "handed_in", lambda self: {"s00": found(self)["s00"]})
    one, other = grade_class(Classroom(course_in(graded), TOPIC, SETTINGS), workers=1)
    assert plain([one])["s00"] == undisturbed[1]["s00"]
    assert other.student == "s01" and "s01 may not be read by you" in other.reason and not other.complete
