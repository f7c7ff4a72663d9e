"""`check` stops an answer that never ends, and says so; while a notebook is graded, other limits hold."""

from __future__ import annotations

import re
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
import torch
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from course import check
from course.notebook import checking

ENDLESS = {
    "a loop": "def rnn_cell(*inputs):\n    while True:\n        pass",
    "one that catches errors": (
        "def rnn_cell(*inputs):\n    while True:\n        try:\n            inputs.nothing\n"
        "        except Exception:\n            pass"
    ),
    "a generator": "import itertools\n\ndef rnn_cell(*inputs):\n    return sum(x for x in itertools.count())",
    "a function that it calls": "def spin(n):\n    while n > 0:\n        n += 1\n\ndef rnn_cell(*_):\n    spin(1)",
}
CALL = 'check("rnn_cell", rnn_cell)'


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the cell of a check shows for each answer, with a limit that is short enough to wait for."""
    begin = "from course import check\nfrom course.notebook import checking\n\nchecking.SECONDS = 0.5"
    cells = [cell for answer in ENDLESS.values() for cell in (answer, CALL)]
    nb = new_notebook(cells=[new_code_cell(source) for source in (begin, *cells)])
    where = {"metadata": {"path": str(tmp_path_factory.mktemp("notebook"))}}
    NotebookClient(nb, allow_errors=True, kernel_name="python3", resources=where).execute()
    return dict(zip(ENDLESS, nb.cells[2::2], strict=True))


@pytest.mark.parametrize("kind", ENDLESS)
def test_what_never_ends_is_stopped_at_its_line(stopped: Any, kind: str) -> None:
    (error,) = stopped[kind].outputs
    line, gap, *said = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(error.traceback)).split("\n")
    lines = [f"----> {number} {text.strip()}" for number, text in enumerate(ENDLESS[kind].split("\n"), 1)]
    assert line in lines and gap == ""
    assert " ".join(said) == "The check was stopped after 0.5 seconds, at this line of yours. Does a loop never end?"
    assert error.ename == "TimeoutError"


def limit_while_it_is_checked() -> float:
    """Seconds that an answer has left where it is called."""
    left: list[float] = []

    def rnn_cell(*inputs: Any) -> torch.Tensor:
        left.append(signal.getitimer(signal.ITIMER_PROF)[0])
        return torch.zeros(1)

    check("rnn_cell", rnn_cell)
    assert signal.getitimer(signal.ITIMER_PROF) == (0, 0)
    return max(left)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_limit_holds_for_the_check_alone() -> None:
    assert 0 < limit_while_it_is_checked() < checking.SECONDS + 1  # a timer is rounded up
    assert signal.getsignal(signal.SIGPROF) is signal.SIG_DFL


def test_a_notebook_that_is_graded_has_limits_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    assert limit_while_it_is_checked() == 0


def test_outside_the_main_thread_an_answer_is_checked_without_a_limit() -> None:
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(limit_while_it_is_checked()))
    thread.start()
    thread.join()
    assert found == [0]


def test_a_timer_of_somebody_elses_stays(request: pytest.FixtureRequest) -> None:
    request.addfinalizer(lambda: signal.signal(signal.SIGPROF, signal.SIG_DFL))
    signal.signal(signal.SIGPROF, signal.SIG_IGN)
    assert limit_while_it_is_checked() == 0
    assert signal.getsignal(signal.SIGPROF) is signal.SIG_IGN
