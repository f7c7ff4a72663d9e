"""Near-equal answers: what is found, what is not, and that names and layout count for nothing."""

from __future__ import annotations

import inspect
from itertools import combinations

import pytest

from course.grading.report.alike_code import ALIKE, MANY, SHORTEST, code_tokens, compare, likeness, text_tokens
from course.syllabus import OURS
from tests.hidden.answers import answers

ORIGINAL = '''
def bptt(xs, h, weights):
    """Gradients, summed over time."""
    total = torch.zeros_like(weights)
    for step in reversed(range(len(xs))):
        local = 1 - h[step] ** 2  # the derivative of tanh
        total += torch.outer(local, xs[step]) @ weights.T
        if step > 3:
            total = total.clamp(-1, 1)
    return total / len(xs)
'''
DISGUISED = '''
def bptt(inputs, states, matrix):
    """Gradients, summed over time."""

    # my own work
    grad = torch.zeros_like(matrix)
    for i in reversed(range(len(inputs))):
        d = (1
             - states[i] ** 2)
        grad += torch.outer(d, inputs[i]) @ matrix.T
        if i > 3:
            grad = grad.clamp(-1, 1)
    return grad / len(inputs)
'''
DIFFERENT = """
def bptt(xs, h, weights):
    derivatives = [1 - state.square() for state in h]
    outer = torch.stack([torch.einsum("i,j->ij", d, x) for d, x in zip(derivatives, xs)])
    result = torch.einsum("tij,kj->tik", outer, weights)
    result[4:] = torch.minimum(result[4:], torch.ones(()))
    return result.mean(0)
"""


def pairs(answers: dict[str, str], given: str = "") -> list[tuple[str, str]]:
    found = compare({who: {"bptt": code} for who, code in answers.items()}, {"bptt": given}, frozenset())
    return [(pair.first, pair.second) for pair in found.pairs]


def test_names_comments_and_layout_change_little():
    same = code_tokens(ORIGINAL)
    other = code_tokens(DISGUISED)
    assert len(same) >= SHORTEST
    assert likeness(same, other) > 0.97
    assert pairs({"ada": ORIGINAL, "bea": DISGUISED, "cy": DIFFERENT}) == [("ada", "bea")]


def test_calls_are_not_names_of_ones_own():
    """`torch.zeros` and `torch.ones` are different code; two variables are not."""
    assert code_tokens("a = torch.zeros(3)") == code_tokens("b = torch.zeros(3)") != code_tokens("a = torch.ones(3)")


def test_what_was_given_out_is_not_compared():
    assert pairs({"ada": ORIGINAL, "bea": ORIGINAL}, given=ORIGINAL) == []


def test_short_answers_say_nothing():
    assert pairs({"ada": "def f(x):\n    return x + 1", "bea": "def f(y):\n    return y + 1"}) == []


def test_an_answer_many_wrote_is_the_usual_one():
    usual = {f"s{number}": ORIGINAL for number in range(MANY)}
    found = compare({who: {"bptt": code} for who, code in usual.items()}, {}, frozenset())
    assert found.pairs == () and found.usual == (("bptt", MANY),)
    assert len(pairs(dict(list(usual.items())[:-1]))) == MANY * (MANY - 1) // 2 - (MANY - 1)


def test_the_most_alike_come_first():
    nearly = ORIGINAL.replace("** 2", "** 3").replace("-1, 1", "-5, 5")
    assert pairs({"ada": ORIGINAL, "bea": nearly, "cy": ORIGINAL})[0] == ("ada", "cy")


@pytest.mark.parametrize("source", ["def f(:", "x = (", '"""', "\x00", "    indented", "a" * 100_000, "(" * 5_000])
def test_broken_code_is_read_as_far_as_it_can_be(source):
    assert isinstance(code_tokens(source), tuple)


def test_prose_is_compared_by_its_words():
    assert text_tokens("*Because* the variance, grows!") == ("because", "the", "variance", "grows")
    long = "Because the variance of a sum of independent products grows with their number " * 6
    said = {"ada": {"question": long}, "bea": {"question": long.upper()}, "cy": {"question": long[::-1]}}
    found = compare(said, {}, frozenset({"question"}))
    assert [(pair.first, pair.second) for pair in found.pairs] == [("ada", "bea")]


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.name)
def test_independent_solutions_are_not_alike(topic):
    """The right answers that prove the hidden tests were written to differ, and no two of them are shown."""
    for item in topic.judged:
        alternatives = answers("alternatives", topic, item.name)
        sources = {inspect.getsource(one) for one in alternatives if inspect.isfunction(one) or inspect.isclass(one)}
        tokens = [tokens for tokens in map(code_tokens, sorted(sources)) if len(tokens) >= SHORTEST]
        for first, second in combinations(tokens, 2):
            assert likeness(first, second) < ALIKE, item.name
