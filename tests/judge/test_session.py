"""The judge's session with kernels that behave, that lie, and that are silent."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from pathlib import Path

import pytest
import torch

from course.exercise.key import key_of
from course.exercise.settings import NOTES
from course.exercise.wire import pack, receive, send
from course.judge import Session
from course.judge.session import MOST_CONNECTIONS
from course.notebook.checking import check
from tests.judge.sample import cell, sample
from tests.original import ORIGINAL, points_of


def find(name):
    if name != "rnn_cell":
        raise KeyError(name)
    return sample


@pytest.fixture
def session():
    stuck = []
    with Session(find, ORIGINAL.item_of, seed=5, seconds=1.5, on_stuck=stuck.append) as opened:
        opened.stuck = stuck
        yield opened


@pytest.fixture
def in_kernel(session, monkeypatch, tmp_path):
    """Return `check` as it runs in a graded kernel."""
    monkeypatch.setenv("COURSE_JUDGE", session.address)
    monkeypatch.setattr("course.notebook.checking.key", lambda name: key_of(sample, public_only=True))
    monkeypatch.chdir(tmp_path)
    return check


def connect(session):
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(5)
    connection.connect(session.address)
    return connection


def test_the_first_check_in_the_grade_cell_counts(session, in_kernel, capsys):
    session.enter("rnn_cell")
    in_kernel("rnn_cell", cell)
    assert session.leave().score == points_of(sample.name)
    assert "2 of 2 points" in capsys.readouterr().out


def test_a_key_that_cannot_be_made_costs_no_points(session, in_kernel, monkeypatch):
    def fails(*_):
        raise MemoryError("no room")

    monkeypatch.setattr("course.judge.session.expected", fails)
    session.enter("rnn_cell")
    in_kernel("rnn_cell", cell)
    assert session.leave().kind == "not-graded"


def test_a_judge_that_does_not_come_to_an_end_costs_no_points(session, monkeypatch):
    asked, let_go = threading.Event(), threading.Event()

    def takes_its_time(*_):
        asked.set()
        let_go.wait(30)
        raise TimeoutError

    monkeypatch.setattr("course.judge.session.expected", takes_its_time)
    monkeypatch.setattr("course.judge.session.PATIENCE", -session.seconds)
    session.enter("rnn_cell")
    with connect(session) as connection:
        send(connection, {"ready": "rnn_cell"})
        assert asked.wait(10)
        verdict = session.leave()
        let_go.set()
    assert verdict.kind == "not-graded" and "did not come to an end" in verdict.message


def test_a_second_check_does_not_replace_the_first(session, in_kernel):
    session.enter("rnn_cell")
    in_kernel("rnn_cell", lambda x, W, b: x)
    in_kernel("rnn_cell", cell)
    assert session.leave().score == 0


def test_checks_elsewhere_record_nothing(session, in_kernel):
    in_kernel("rnn_cell", cell)
    session.enter("another")
    in_kernel("rnn_cell", cell)
    assert session.leave() is None
    assert session.verdicts == {}


def test_the_source_of_the_solution_cell_is_read(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with Session(
        find, ORIGINAL.item_of, seed=5, sources={"rnn_cell": "def rnn_cell(x, W, b): return torch.softmax(x)"}
    ) as session:
        monkeypatch.setenv("COURSE_JUDGE", session.address)
        session.enter("rnn_cell")
        check("rnn_cell", cell)
        assert session.leave().kind == "forbidden"


def test_silence_is_a_verdict_of_its_own(session):
    session.enter("rnn_cell")
    with connect(session) as connection:
        send(connection, {"ready": "rnn_cell"})
        receive(connection)
        verdict = session.leave()
    assert verdict.kind == "time"
    assert session.stuck == ["rnn_cell"]


def test_a_kernel_that_cannot_be_interrupted_is_told_its_verdict_all_the_same(session):
    def closed(name):
        raise RuntimeError("Event loop is closed")

    session.on_stuck = closed
    session.enter("rnn_cell")
    with connect(session) as connection:
        send(connection, {"ready": "rnn_cell"})
        receive(connection)
        assert "out of time" in receive(connection)["done"]
    assert session.leave().kind == "time"


@pytest.mark.parametrize("bound", ["MOST_ANSWER", "MOST_ANSWERS"])
def test_answers_have_a_largest_size(session, monkeypatch, bound):
    monkeypatch.setattr(f"course.judge.session.{bound}", 1000)
    session.enter("rnn_cell")
    with connect(session) as connection:
        send(connection, {"ready": "rnn_cell"})
        receive(connection)
        send(connection, {"outputs": {"out": torch.zeros(1000)}, "raised": None})
        verdict = session.leave()
    assert (verdict.kind, verdict.score) == ("error", 0)
    assert "beyond the limit of 1000" in verdict.message


def test_a_kernel_that_goes_away(session):
    session.enter("rnn_cell")
    with connect(session) as connection:
        send(connection, {"ready": "rnn_cell"})
        receive(connection)
    verdict = session.leave()
    assert (verdict.kind, verdict.score) == ("error", 0)


@pytest.mark.parametrize(
    "told", [["compiled", "mine", 3], ["mine"], "compiled", {"notes": "all good"}, [["device"]], None]
)
def test_a_kernel_chooses_among_our_notes_and_writes_none(session, monkeypatch, told):
    answer = {"outputs": {"out": True}, "raised": None, "mutated": [], "watched": [], "seconds": 0.0}
    session.enter("rnn_cell")
    with connect(session) as connection:
        send(connection, {"ready": "rnn_cell"})
        while "run" in (asked := receive(connection)):
            send(connection, answer)
        assert asked == {"notes": True}
        send(connection, told)
        assert "done" in receive(connection)
    verdict = session.leave()
    assert verdict.score == 0
    assert verdict.notes == ((NOTES["compiled"],) if isinstance(told, list) and "compiled" in told else ())


FORGED = [
    b"\x00" * 64,
    struct.pack(">QI", 2**62, 5),
    struct.pack(">QI", 40, 8) + b'{"a": 1}' + b"x" * 32,
]


@pytest.mark.parametrize("answer", FORGED)
def test_forged_answers_gain_nothing(session, answer):
    session.enter("rnn_cell")
    with connect(session) as connection:
        send(connection, {"ready": "rnn_cell"})
        receive(connection)
        connection.sendall(answer)
        assert session.leave().score == 0


@pytest.mark.parametrize(
    "answer",
    [
        {"verdict": {"score": 100}},
        {"outputs": {"out": True}, "raised": None, "mutated": [], "watched": [], "seconds": 0.0},
        {"outputs": {}, "raised": None, "mutated": [], "watched": [], "seconds": 0.0},
        {
            "outputs": {"out": torch.full((2, 5), float("nan"))},
            "raised": None,
            "mutated": [],
            "watched": [],
            "seconds": 0.0,
        },
        {"done": "all good"},
    ],
)
def test_well_formed_lies_gain_nothing(session, answer):
    session.enter("rnn_cell")
    with connect(session) as connection:
        send(connection, {"ready": "rnn_cell"})
        for _ in range(3):
            try:
                if "run" not in receive(connection):
                    break
                send(connection, answer)
            except (ConnectionError, OSError):
                break
        assert session.leave().score == 0


def test_answers_before_they_are_asked_for_do_not_help(session):
    """Send all answers at once, because the judge may close the connection once it has read enough of them."""
    answer = {"outputs": {"out": 1.0}, "raised": None, "mutated": [], "watched": [], "seconds": 0.0}
    session.enter("rnn_cell")
    with connect(session) as connection:
        connection.sendall(pack({"ready": "rnn_cell"}) + 4 * pack(answer))
        assert "run" in receive(connection)
        assert session.leave().score == 0


def heard(session):
    """Return whether the session accepts and answers one more connection."""
    try:
        with connect(session) as connection:
            send(connection, {"ready": "unknown"})
            return receive(connection) == {"public": True}
    except OSError:
        return False


def everybody_left(session):
    """Wait until the session has closed all its connections."""
    for _ in range(MOST_CONNECTIONS):
        assert session.room.acquire(timeout=5)
    session.room.release(MOST_CONNECTIONS)


def test_many_callers_do_not_keep_the_judge_from_the_check(session, in_kernel):
    idle = []
    with contextlib.suppress(BlockingIOError):
        idle.extend(connect(session) for _ in range(40))
    assert idle[MOST_CONNECTIONS].recv(1) == b"", "one too many is turned away"
    for connection in idle:
        connection.close()
    deadline = time.monotonic() + 10
    while not heard(session):  # in its turn: all who called before were met or turned away
        assert time.monotonic() < deadline
    everybody_left(session)
    session.enter("rnn_cell")
    in_kernel("rnn_cell", cell)
    assert session.leave().score == points_of(sample.name)


def test_greetings_that_are_none(session):
    for greeting in ({"ready": 3}, {"ready": "unknown"}, [], "rnn_cell"):
        with connect(session) as connection:
            send(connection, greeting)
            assert receive(connection) == {"public": True}


def test_close_leaves_nothing_behind(session):
    address = session.address
    session.close()
    session.listener.join(5)
    assert not session.listener.is_alive()
    assert not Path(address).exists()


def test_a_judge_that_cannot_listen_costs_no_points(session, monkeypatch):
    """Report a machine fault if no thread can start for a moment, and serve the next check."""

    def none_left(thread):
        raise RuntimeError("can't start new thread")

    session.enter("rnn_cell")
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", none_left)
        connect(session).close()
        deadline = time.monotonic() + 5
        while not session.deaf and time.monotonic() < deadline:
            time.sleep(0.01)
    verdict = session.leave()
    assert verdict.kind == "not-graded" and "new thread" in verdict.message
    session.enter("rnn_cell")
    with connect(session) as connection:
        send(connection, {"ready": "rnn_cell"})
        assert "run" in receive(connection, time.monotonic() + 5, 2**20)
