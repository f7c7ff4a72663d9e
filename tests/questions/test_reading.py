"""The text of an answer and its setup, read from cells that are not executed."""

from __future__ import annotations

import pytest

from course.questions import Unaskable
from course.questions.reading import read

CELLS = [
    "import math\nfrom torch.nn import functional as F, init\nfrom course.data import load_text\n%matplotlib inline",
    "SCALE = 1 / math.sqrt(4)\ntext = load_text('austen')\nvocab = sorted(set(text))\nmodel = fit('lstm_task')",
    "def other(x):\n    return x + 1",
    "@F.cached\ndef helper(x):\n    text = x\n    return other(text)",
    "def mine(x):\n    return helper(x) * SCALE + len(vocab)",
    "answer = mine",
]


def test_a_setup_has_what_the_answer_needs_and_loads_or_trains_nothing() -> None:
    name, source, setup = read(CELLS, "answer", lambda name: name == "other", ["answer(init.zeros_, shaped(1))"])
    assert name == "mine"
    assert source == f"{CELLS[3]}\n\n\n{CELLS[4]}\n"
    assert "def other" in setup and "SCALE = 1" in setup and "import math" in setup
    assert "from torch.nn import functional as F" in setup
    assert all(name not in setup for name in ("text", "vocab", "model", "init", "matplotlib"))


def test_the_last_definition_counts() -> None:
    cells = ["def f(x):\n    return x", "def f(x):\n    return -x", "x = 1"]
    assert read(cells, "f", lambda name: False)[1] == "def f(x):\n    return -x\n"


@pytest.mark.parametrize(
    "cell", ["answer = len", "answer = lambda x: x", "answer = answer", "for answer in []: pass", "("]
)
def test_what_is_no_function_of_a_cell_cannot_be_read(cell: str) -> None:
    with pytest.raises(Unaskable, match="not written as a function"):
        read([cell], "answer", lambda name: False)
