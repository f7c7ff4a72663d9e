"""Answers that behave badly are executed apart, and nothing of it stays."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from course.questions import Apart, Unaskable
from course.questions.executing import Run
from course.questions.outcomes import said
from tests.questions.made_up import SOFTMAX, SOFTMAX_CALLS, asked, made

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each run starts a process")


def outcome(source: str, call: str = "f(1)", seed: int = 0, seconds: float = 30.0) -> str:
    """What a call gives, in words, or its kind where there are none."""
    value = Apart(seconds)([Run("import torch", source, call, seed)])[0].outcome
    return said(value) if value.is_asked else f"{value.kind} {' '.join(map(str, value.parts))}".strip()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return x + 1", "2"),
        ("raise KeyError(x)", "It stops with an error."),
        ("import sys; sys.exit(3)", "It stops with an error."),
        ("import os; os._exit(3)", "endless"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "other acts"),
        ("return f(x)", "endless"),
        ("while True: pass", "endless"),
        ("print('x' * 10 ** 6); return x", "1"),
        ("import subprocess; subprocess.run(['true'])", "other acts"),
        ("open('spoilt', 'w')", "other acts"),
    ],
)
def test_what_an_answer_may_do_to_a_process(body: str, expected: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    assert outcome(f"def f(x):\n    {body}\n", seconds=6.0) == expected
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("result", "name"),
    [
        ("torch.ones(1, 1) @ (torch.ones(1, 1) > 0)", "TypeError"),
        ("torch.ones(2)[torch.ones(1)]", "TypeError"),
        ("torch.ones(2) - torch.ones(3)", "RuntimeError"),
        ("torch.ones(2)[2]", "IndexError"),
    ],
)
def test_numbers_of_types_that_do_not_fit_are_told_from_shapes(result: str, name: str) -> None:
    ran = Apart(30.0)([Run("import torch", f"def f(x):\n    return {result}\n", "f(1)")])
    assert (ran[0].outcome.kind, ran[0].outcome.parts[0]) == ("error", name)


@pytest.mark.parametrize(
    "body",
    ["import time; time.sleep(60)", "sum(range(10 ** 13))",
     "while True:\n        try:\n            sum(range(10 ** 4))\n        except BaseException:\n            pass"],
)  # fmt: skip
def test_what_no_signal_ends_is_ended_with_its_process(body: str) -> None:
    ran = Apart(3.0)([Run("", f"def f(x):\n    {body}\n", "f(1)"), Run("", "def f(x): return x + 1", "f(1)")])
    assert [one.outcome.kind for one in ran] == ["endless", "int"]


@pytest.mark.parametrize("body", ["import time; time.sleep(60 + {})", "sum(range(10 ** 13 + {}))"])
def test_the_time_for_all_questions_ends(body: str) -> None:
    hanging = [Run("", f"def f(x):\n    {body.format(k)}\n", "f(1)") for k in range(9)]
    with pytest.raises(Unaskable, match="longer than a question can wait"):
        Apart(0.9)(hanging)


def test_time_without_the_processor_does_not_count() -> None:
    """On a crowded machine an answer waits for the processor. Here it sleeps, which looks the same from outside."""
    waiting = [Run("", f"def f(x):\n    import time; time.sleep(0.8); return x + {k}\n", "f(1)") for k in range(3)]
    assert [one.outcome.parts for one in Apart(2.0, 0.7)(waiting)] == [(1,), (2,), (3,)]


@pytest.mark.parametrize(
    "source",
    [
        "def f(x): return torch.rand(3)",
        "import random\ndef f(x): return random.random()",
        "def f(x): return torch.empty(2)",
        "def f(x): return list({'a', 'b', 'c', 'd', 'e', 'f'})",
        "def f(x): return list(set('abcdef') | {'g'})",
        "def f(x): return [c for c in {c for c in 'abcdef'}]",
        "def f(x): return set('abcdef').pop()",
        "def f(x): return hash('a') % 1000",
    ],
)
def test_chance_comes_out_differently(source: str) -> None:
    assert len({outcome(source, seed=seed) for seed in (1, 2, 3)}) > 1


def test_nothing_is_left_behind(capfd: pytest.CaptureFixture[str]) -> None:
    before = torch.get_rng_state(), torch.get_num_threads(), torch.empty, dict(os.environ), set(sys.modules)
    source = SOFTMAX.replace("    return", "    torch.manual_seed(5); print('noise')\n    return")
    assert asked(source, SOFTMAX_CALLS)
    after = torch.get_rng_state(), torch.get_num_threads(), torch.empty, dict(os.environ), set(sys.modules)
    assert torch.equal(before[0], after[0]) and before[1:] == after[1:]
    assert capfd.readouterr() == ("", "")


HONEST = "e = (x - x.amax(dim, keepdim=True)).exp(); return e / e.sum(dim, keepdim=True)"


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("e = x + torch.rand(()); return e", "differently each time"),
        ("seen.append(1)\n    if len(seen) > 9: return x * 0\n    " + HONEST, "the second time"),
        ("import os\n    " + HONEST, "more than compute"),
        ("open('notes')\n    " + HONEST, "more than compute"),
        ("torch.save(x, 'notes')\n    " + HONEST, "more than compute"),
        ("while True: pass", "longer than a question can wait"),
        ("return 2 * x", "too short"),
        ("y = " + " + ".join(["x"] * 1250) + "\n    " + HONEST, "500 characters"),
        ("\n    ".join(f"y{k} = x + {k}" for k in range(2000)) + "\n    " + HONEST, "too long"),
        ("y = " + "(" * 300 + "x" + ")" * 300 + "\n    " + HONEST, "no plain Python"),
    ],
)
def test_an_answer_that_cannot_be_asked_about_is_passed_over_with_a_word(body: str, why: str) -> None:
    calls = SOFTMAX_CALLS[:1] if body.startswith("while") else SOFTMAX_CALLS  # each takes its time several times
    with pytest.raises(Unaskable, match=why):
        asked(f"seen = []\ndef softmax(x, dim):\n    {body}\n", calls)


@pytest.mark.parametrize(
    "first",
    [
        "if '_see_' in globals(): return x * 0",
        "if sys.gettrace(): return x * 0",
        "print('hello')",
        "x += 0",
        "n = 10 ** 9\n    if n < 9: n = sum(range(n ** 4))",
        "s = '<script>alert(1)</script>'",
    ],
)
def test_code_that_looks_for_the_watcher_gains_nothing(first: str) -> None:
    source = f"def softmax(x, dim):\n    {first}\n    {HONEST}\n"
    found = asked(source, SOFTMAX_CALLS, setup="import torch, sys", silence=0.5)
    assert len(found) >= 3
    if "_see_" in first:
        assert all(question.kind != "trace" for question in found)


def test_signs_that_nobody_sees_are_shown() -> None:
    found = asked(f"def softmax(x, dim):\n    s = '\u202e evil'\n    {HONEST}\n", SOFTMAX_CALLS)
    assert all("\u202e" not in q.code + q.text for q in found) and all("\\u202e evil" in q.code for q in found)


def test_a_subject_names_its_own_answer() -> None:
    source = SOFTMAX.replace("softmax", "mine")
    found = made(source, ("mine(tensor([2.]), 0)",), name="mine")
    assert found.calls == ("mine(tensor([2.]), 0)",)
