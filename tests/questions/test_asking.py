"""Questions about made-up answers: each kind, the rules for choices, and keys that executing the code confirms."""

from __future__ import annotations

import json
from textwrap import dedent

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course.questions import Apart, Question, Unaskable, ask
from tests.questions.checked_again import mistakes, result, same
from tests.questions.made_up import COUNT, COUNT_CALLS, SOFTMAX, SOFTMAX_CALLS, asked, made

CELL = """
def cell(x, h, W, U):
    update = torch.sigmoid(x @ W)
    candidate = torch.tanh(h @ U)
    return update * h + (1 - update) * candidate
"""
CELL_CALLS = (
    "cell(zeros(1, 1), tensor([[2.]]), zeros(1, 1), zeros(1, 1))",
    "cell(tensor([[100.]]), tensor([[2.]]), ones(1, 1), zeros(1, 1))",
    "cell(tensor([[-100.]]), tensor([[2.]]), ones(1, 1), zeros(1, 1))",
    "cell(tensor([[-100.]]), tensor([[100.]]), ones(1, 1), ones(1, 1))",
    "cell(tensor([[100.]]), tensor([[-100.]]), ones(1, 1), ones(1, 1))",
    "cell(zeros(1, 1), tensor([[-100.]]), ones(1, 1), ones(1, 1))",
)

TWO_CELLS = """
def shifted(x, dim):
    return x - x.amax(dim, keepdim=True)

def softmax(x, dim):
    e = shifted(x, dim).exp()
    return e / e.sum(dim, keepdim=True)
"""

TREE = """
def depth(tree):
    deepest = 0
    for branch in tree:
        below = depth(branch)
        deepest = max(deepest, below)
    return deepest + 1
"""
TREE_CALLS = (
    "depth([])",
    "depth([[]])",
    "depth([[], [[]]])",
    "depth([[[[]]]])",
    "depth([[], [], []])",
    "depth([[[]], [[]]])",
)

IN_PLACE = """
def clear(x, mask):
    kept = x.clone()
    x[mask] = 0
    x += kept
    return x * 2
"""
IN_PLACE_CALLS = (
    "clear(tensor([1., 2.]), tensor([True, False]))",
    "clear(tensor([1., 2.]), tensor([False, False]))",
    "clear(tensor([3., 5., 7.]), tensor([True, True, True]))",
    "clear(tensor([0., 0.]), tensor([True, False]))",
    "clear(tensor([[4.], [6.]]), tensor([False, True]))",
)

CLASS = """
class Memory:
    def __init__(self, size):
        self.size, self.rows = size, []

    def add(self, row):
        rows = [*self.rows, row]
        if len(rows) > self.size:
            rows = rows[1:]
        self.rows = rows
        return rows
"""
PARTS = """
def swapped(x):
    out = x.new_zeros(len(x), 3)
    for k in range(len(x)):
        out[k, 0], out[k, 1], out[k, 2] = x[k, 1], x[k, 0], k + 1
    return out.sum(1)
"""
PARTS_CALLS = tuple(
    f"swapped(tensor({rows}))"
    for rows in ([[2, 5]], [[4, 4], [1, 3]], [[0, 2], [3, 6]], [[7, 5], [2, 2], [9, 4]], [[0, 0]], [[1, 8]])
)

CLASS_CALLS = tuple(
    f"memory = Memory({size}); " + "".join(f"memory.add({row}); " for row in rows) + "memory.rows"
    for size, rows in ((2, (4, 5, 6)), (1, (4, 5)), (3, (4, 5)), (2, (7,)), (2, (7, 7, 7)), (0, (4,)))
)

ANSWERS = {
    "softmax": (SOFTMAX, SOFTMAX_CALLS),
    "count": (COUNT, COUNT_CALLS),
    "cell": (CELL, CELL_CALLS),
    "two cells": (TWO_CELLS, SOFTMAX_CALLS),
    "recursion": (TREE, TREE_CALLS),
    "in place": (IN_PLACE, IN_PLACE_CALLS),
    "class": (CLASS, CLASS_CALLS),
    "parts": (PARTS, PARTS_CALLS),
}


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
@settings(max_examples=2, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6))
def test_the_key_is_what_executing_the_code_says(answer: str, seed: int) -> None:
    source, calls = ANSWERS[answer]

    def passes(changed: str) -> bool:
        return all(
            same(*(result(text, call, {"torch": torch}) for text in (dedent(source), changed))) for call in calls
        )

    found = asked(source, calls, seed=seed, most=8)
    assert len(found) >= 3
    for question in found:
        assert len({choice.text for choice in question.choices}) == 4
        assert all(choice.reason for choice in question.choices)
        assert not mistakes(question.to_plain(), {"torch": torch}, passes), question


def test_each_kind_is_asked() -> None:
    kinds = {question.kind for seed in range(3) for question in asked(CELL, CELL_CALLS, seed=seed, most=8)}
    assert kinds == {"trace", "tell apart", "what happens", "find the change", "alters nothing"}


def test_a_shape_is_asked_where_numbers_are_any() -> None:
    source = """
    def heads(x, n):
        b, t, d = x.shape
        split = x.reshape(b, t, n, d // n)
        apart = split.transpose(1, 2)
        return apart.sum(2)
    """
    calls = (
        "heads(numbers(2, 3, 10), 5).shape",
        "heads(numbers(3, 2, 8), 4).shape",
        "heads(numbers(4, 5, 6), 3).shape",
    )
    shapes = [q for q in asked(source, calls, most=8) if q.kind == "trace"]
    assert shapes and all(question.text.count("the shape of") == 1 for question in shapes)
    assert any(q.choices[q.key].text == "`(2, 5, 3, 2)`" or "(2, 3, 5, 2)" in q.choices[q.key].text for q in shapes)


def test_the_same_seed_gives_the_same_questions_and_another_one_others() -> None:
    one, again, other = (asked(SOFTMAX, SOFTMAX_CALLS, seed=seed, most=4) for seed in (1, 1, 2))
    assert one == again
    assert one != other


def test_helpers_are_asked_about_and_comments_are_not_shown() -> None:
    source = TWO_CELLS.replace("def softmax(x, dim):", 'def softmax(x, dim):\n    """Says it all."""  # the answer')
    found = [question for seed in range(3) for question in asked(source, SOFTMAX_CALLS, seed=seed, most=8)]
    assert all("Says" not in question.code and "#" not in question.code for question in found)
    assert any("x.amax" in choice.text for question in found for choice in question.choices)


def test_nothing_is_asked_about_ties_that_chance_decides() -> None:
    source = "def first(words):\n    best = max(set(words), key=words.count)\n    return best + '!'\n"
    calls = tuple(f"first({words!r})" for words in (list("abcdef"), list("ghijkl"), list("mnopqr")))
    with pytest.raises(Unaskable, match="differently each time"):
        asked(source, calls)


def test_without_calls_nothing_is_asked() -> None:
    with pytest.raises(Unaskable, match="no small input"):
        ask(made(SOFTMAX, (), name="softmax"), Apart(30))


def test_a_long_source_shows_what_a_question_touches() -> None:
    helpers = "".join(f"def other{k}(x):\n    return [\n" + "        x,\n" * 12 + "    ]\n" for k in range(4))
    found = asked(helpers + SOFTMAX, SOFTMAX_CALLS)
    assert all(len(question.code.split("\n")) <= 45 and "…" in question.code for question in found)
    assert all("x.amax(dim" in question.code for question in found)


def test_a_question_is_plain_data() -> None:
    question = asked(SOFTMAX, SOFTMAX_CALLS)[0]
    plain = json.loads(json.dumps(question.to_plain()))
    assert Question.from_plain(plain) == question
    for spoilt in (
        {**plain, "key": 4},
        {**plain, "choices": plain["choices"][:3]},
        {**plain, "text": None, "key": "0"},
    ):
        with pytest.raises((ValueError, TypeError, KeyError)):
            Question.from_plain(spoilt)
