"""A mistake is told where it was made: a failing answer names the earlier one it rests on, where that fails too."""

from __future__ import annotations

import sys

import pytest
import torch

from course import check
from course.hidden import find
from course.judge.ground import grounded
from course.judge.report import html, text
from course.judge.session import Session
from course.judge.verdict import Verdict

FORWARD = """
def rnn_forward(xs, h0, W_x, W_h, b):
    h, states = h0, []
    for t in range(xs.shape[1]):
        h = rnn_cell(xs[:, t], h, W_x, W_h, b)
        states.append(h)
    return torch.stack(states, dim=1), h
"""
BACK = "%matplotlib inline\ndef bptt(xs, h0, *weights):\n    hs, _ = rnn_forward(xs, h0, *weights)\n    return hs"


def wrong(name, **more):
    return Verdict(name, "wrong", 0, 2, **more)


@pytest.mark.parametrize("kind", ["partial", "wrong", "error", "time", "memory", "missing"])
def test_what_a_failing_answer_calls_and_fails_is_told(kind):
    earlier = {"softmax": wrong("softmax"), "rnn_cell": Verdict("rnn_cell", kind, 0, 2)}
    assert grounded(Verdict("rnn_forward", kind, 0, 3), FORWARD, earlier).rests_on == "rnn_cell"


@pytest.mark.parametrize("kind", ["passed", "forbidden", "not-graded"])
def test_what_does_not_fail_by_it_is_not_blamed_on_anything(kind):
    verdict = Verdict("rnn_forward", kind, 0, 3)
    assert grounded(verdict, FORWARD, {"rnn_cell": wrong("rnn_cell")}) == verdict


@pytest.mark.parametrize("kind", ["passed", "not-graded"])
def test_what_stands_is_no_ground_for_a_failure(kind):
    assert not grounded(wrong("rnn_forward"), FORWARD, {"rnn_cell": Verdict("rnn_cell", kind, 2, 2)}).rests_on


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def rnn_forward(xs) ->",
        "def rnn_forward(xs):\n    return xs  # not by rnn_cell",
        "def rnn_forward(xs):\n    return rnn_forward(xs)",
        "def rnn_cell(x):\n    return x\ndef rnn_forward(xs):\n    return rnn_cell(xs)",
        "rnn_cell = None\ndef rnn_forward(xs):\n    return rnn_cell(xs)",
    ],
)
def test_nothing_is_told_where_nothing_is_called(source):
    earlier = {"rnn_cell": wrong("rnn_cell"), "rnn_forward": wrong("rnn_forward")}
    assert not grounded(wrong("rnn_forward"), source, earlier).rests_on


def test_told_is_where_it_begins():
    earlier = {"rnn_cell": wrong("rnn_cell")}
    earlier["rnn_forward"] = grounded(wrong("rnn_forward"), FORWARD, earlier)
    assert grounded(wrong("bptt"), BACK, earlier).rests_on == "rnn_cell"
    earlier["rnn_cell"] = Verdict("rnn_cell", "passed", 2, 2)  # mended, and what rests on it not checked again
    assert not grounded(wrong("bptt"), BACK, earlier).rests_on


def test_the_report_says_where_to_begin_before_any_hint():
    verdict = wrong("rnn_forward", rests_on="rnn_cell", hint="Does the state move?")
    for said in (text(verdict), html(verdict)):
        assert said.index("rnn_cell") < said.index("mend that first") < said.index("Does the state move?")
    assert Verdict.from_dict(verdict.to_dict()) == verdict


def softmax(x, dim):
    return x / x.sum(dim, keepdim=True)


def attention_for_one(query, keys, values):
    weights = softmax(keys @ query, 0)
    return weights @ values, weights


SOURCES = {
    "softmax": "def softmax(x, dim):\n    return x / x.sum(dim, keepdim=True)",
    "attention_for_one": (
        "def attention_for_one(query, keys, values):\n    weights = softmax(keys @ query, 0)\n"
        "    return weights @ values, weights"
    ),
}


def test_at_grading(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with Session(find, seed=5, sources=SOURCES) as session:
        monkeypatch.setenv("COURSE_JUDGE", session.address)
        for name, answer in (("softmax", softmax), ("attention_for_one", attention_for_one)):
            session.enter(name)
            check(name, answer)
            session.leave()
        assert [verdict.rests_on for verdict in session.verdicts.values()] == ["", "softmax"]


@pytest.fixture
def notebook(monkeypatch, tmp_path):
    """A notebook's names, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COURSE_JUDGE", raising=False)
    monkeypatch.setattr("course.notebook.checking._checked", {})
    return lambda name, value: monkeypatch.setattr(sys.modules["__main__"], name, value, raising=False)


def test_in_a_notebook_until_it_is_written_anew(notebook, capsys):
    notebook("softmax", softmax)
    check("softmax", softmax)
    assert "rests on" not in capsys.readouterr().out
    check("attention_for_one", attention_for_one)
    assert (
        "It rests on your `softmax`, which does not pass either: mend that first, and check again."
        in capsys.readouterr().out
    )
    notebook("softmax", torch.softmax)
    check("attention_for_one", attention_for_one)
    assert "rests on" not in capsys.readouterr().out


def rnn_cell(x, h, W_x, W_h, b):
    # YOUR CODE HERE
    raise NotImplementedError()


def rnn_forward(xs, h0, W_x, W_h, b):
    return rnn_cell(xs[:, 0], h0, W_x, W_h, b)


def test_in_a_notebook_what_is_not_written_need_not_be_checked(notebook, capsys):
    notebook("rnn_cell", rnn_cell)
    check("rnn_forward", rnn_forward)
    assert "It rests on `rnn_cell`, which is not written yet" in capsys.readouterr().out


def test_in_a_notebook_methods_are_read_too(notebook, capsys):
    class ElmanClassifier(torch.nn.Module):
        def __init__(self, *sizes):
            super().__init__()

        def forward(self, ids, lengths):
            return softmax(torch.ones(len(ids), 2), 1) + 1

    notebook("softmax", softmax)
    check("softmax", softmax)
    check("ElmanClassifier", ElmanClassifier)
    assert "It rests on your `softmax`" in capsys.readouterr().out
