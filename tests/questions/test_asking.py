"""Questions about made-up answers: each kind, the rules for choices, and keys that executing the code confirms."""

from __future__ import annotations

import json
import re
from textwrap import dedent

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course.questions import Apart, Question, Unaskable, ask
from course.questions.executing import INGREDIENTS
from course.questions.outcomes import said, seen
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
}


def result(source: str, call: str) -> str:
    """What a call gives, in this process and in a plain way."""
    names = {"torch": torch, **INGREDIENTS}
    exec(dedent(source), names)
    *first, last = call.replace("\n", "; ").split("; ")
    exec("\n".join(first), names)
    try:
        return said(seen(eval(last, names)))
    except Exception:  # noqa: BLE001 - whatever a changed copy raises
        return "It stops with an error."


def blocks(text: str) -> list[str]:
    """The blocks of code in a text."""
    found = re.findall(r"(?:^    .*\n?)+", text, re.MULTILINE)
    return [dedent(block).rstrip() for block in found]


def code_of(question: Question) -> list[str]:
    """The lines of the code that a question shows, without numbers."""
    return [line[4:] for line in question.code.split("\n")]


def changed(question: Question, change: str) -> str:
    """The code after a change that a choice names."""
    lines = code_of(question)
    if two := re.fullmatch(r"Lines (\d+) and (\d+) change places\.", change):
        a, b = int(two[1]) - 1, int(two[2]) - 1
        lines[a], lines[b] = lines[b], lines[a]
    elif gone := re.fullmatch(r"Lines? (\d+)(?: to (\d+))? (?:is|are) removed\.", change):
        first, last = int(gone[1]), int(gone[2] or gone[1])
        del lines[first - 1 : last]
    elif new := re.fullmatch(r"Line (\d+) becomes `(.*)`", change):
        indent = re.match(" *", lines[int(new[1]) - 1])[0]  # type: ignore[index]
        lines[int(new[1]) - 1] = indent + new[2]
    else:
        raise AssertionError(change)
    return "\n".join(lines)


def premise(question: Question) -> str:
    """The code after the change that a question begins with."""
    if was := re.match(r"Line (\d+) is changed from\n    (.*)\nto\n    (.*)\n", question.text):
        return changed(question, f"Line {was[1]} becomes `{was[3]}`")
    return changed(question, question.text.split("\n")[0])


def answers_of(question: Question) -> list[bool]:
    """Whether each choice is right, by executing the code that the question shows."""
    source, texts = "\n".join(code_of(question)), [choice.text for choice in question.choices]
    if question.kind == "what happens":
        right = result(source, blocks(question.text)[0])
        return [text.strip("`") == right for text in texts]
    if question.kind == "find the change":
        wanted = re.search(r"makes this call (?:return `(.*)`|stop with an error)\. Which", question.text)
        assert wanted is not None
        call = blocks(question.text)[0]
        return [result(changed(question, text), call) == (wanted[1] or "It stops with an error.") for text in texts]
    if question.kind == "tell apart":
        shared = blocks(question.text)[-1] if "…" in question.text else ""
        calls = [blocks(text)[0] if "\n" in text else text.strip("`") for text in texts]
        if shared:
            calls = [_filled(shared, text) for text in calls]
        return [result(source, call) != result(premise(question), call) for call in calls]
    if question.kind == "alters nothing":
        calls = next(calls for _, calls in ANSWERS.values() if calls[0].startswith(f"{question.about}("))
        return [all(result(source, c) == result(changed(question, text), c) for c in calls) for text in texts]
    name, line = re.search(r"What is (?:the shape of )?`(\w+)` right after line (\d+)", question.text).groups()  # type: ignore[union-attr]
    nth = {"twice": 2, "three times": 3, "four times": 4}.get((re.findall(r"run (.*)\?", question.text) or [""])[0], 1)
    spied = code_of(question)
    indent = re.match(" *", spied[int(line) - 1])[0]  # type: ignore[index]
    spied.insert(int(line), f"{indent}SPIED.append(__import__('copy').deepcopy({name}))")
    seen_: list[object] = []
    names = {"torch": torch, **INGREDIENTS, "SPIED": seen_}
    exec("\n".join(spied), names)
    exec(blocks(question.text)[0], names)
    return [text.strip("`") == said(seen(seen_[nth - 1])) for text in texts]


def _filled(call: str, choice: str) -> str:
    """A call with `…` and the arguments of a choice in their places."""
    for name, value in re.findall(r"(\w+) = (.*?)(?=, \w+ = |$)", choice):
        call = call.replace(f"{name}=…", f"{name}={value}")
    return call


@pytest.mark.parametrize("answer", ANSWERS, ids=str)
@settings(max_examples=2, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(seed=st.integers(0, 10**6))
def test_the_key_is_what_executing_the_code_says(answer: str, seed: int) -> None:
    found = asked(*ANSWERS[answer], seed=seed, most=8)
    assert len(found) >= 3
    for question in found:
        assert len({choice.text for choice in question.choices}) == 4
        assert all(choice.reason for choice in question.choices)
        if "has run" not in question.text or answer != "recursion":
            assert answers_of(question) == [place == question.key for place in range(4)], question


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
