"""Relations between wrong numbers and right ones: each is reported, and none for unrelated numbers."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.exercise.key import Key, KeyCase
from course.exercise.recording import Recording
from course.exercise.script import build, call
from course.judge import explain_values
from course.judge.compare import difference
from course.judge.explain_values import explained
from course.judge.relation import RELATIONS, Pair

SEEDS = st.integers(0, 2**32 - 1)


def numbers(seed, *shape, spread=1.0):
    return spread * torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def key_for(*cases, signature=("x", "mask")):
    """Return an answer key of these cases, each with its right value."""
    held = tuple(
        KeyCase(case, lambda right=right: Recording({"out": right}), lambda name: Recording()) for case, right in cases
    )
    return Key("sample", signature, (), (), (), held)


def said(*pairs, cases=None):
    """Return the message about each pair of a right value and an answer, with one case for each pair."""
    cases = cases or [call(f"case {n}", grad=False, tolerance=1e-6) for n in range(len(pairs))]
    key = key_for(*zip(cases, [right for right, _ in pairs], strict=True))
    seen = {n: Recording({"out": answer}) for n, (_, answer) in enumerate(pairs)}
    found = explained(key, [difference(held, seen[n]) for n, held in enumerate(key.cases)], seen)
    return [gap.message if gap else "" for gap in found]


def with_row_factors(x):
    return x * torch.arange(2.0, 2 + len(x))[:, None]


RELATED = {
    "all values are 0": torch.zeros_like,
    "transposed": lambda x: x[:4].T,
    "the signs are reversed": torch.neg,
    "every value is 3 times": lambda x: 3 * x,
    "every value is 0.37 times": lambda x: 0.37 * x,
    "every value is too large by 0.25": lambda x: x + 0.25,
    "the exponential of the right": torch.exp,
    "the square of the right": torch.square,
    "one minus the right": lambda x: 1 - x,
    "one divided by the right": torch.reciprocal,
    "the tanh of the right": torch.tanh,
    "the sigmoid of the right": torch.sigmoid,
    "every value that should be below 0 is 0": torch.relu,
    "the softmax of the right values along axis 1": lambda x: x.softmax(1),
    "the softmax of the right values along axis 0": lambda x: x.softmax(0),
    "the log-softmax of the right values along axis 1": lambda x: x.log_softmax(1),
    "divided by their sum along axis 1": lambda x: x / x.sum(1, keepdim=True),
    "divided by their length along axis 0": lambda x: x / x.norm(dim=0, keepdim=True),
    "the cumulative sums of the right values along axis 0": lambda x: x.cumsum(0),
    "along axis 1 the values are right up to a factor": with_row_factors,
    "along axis 1 the values are right up to an added constant": lambda x: x + torch.arange(1.0, 1 + len(x))[:, None],
    "the same along axis 0, but they should differ": lambda x: x[:1].expand_as(x),
    "reversed along axis 0": lambda x: x.flip(0),
    "reversed along axis 1": lambda x: x.flip(1),
    "one position too late along axis 0": lambda x: x.roll(1, 0),
    "one position too early along axis 1": lambda x: x.roll(-1, 1),
    "in another order along axis 1": lambda x: x[:, [1, 0, 3, 2]],
    "at other positions": lambda x: x.flatten().roll(5).reshape(x.shape),
    "rounded to whole numbers": torch.round,
    "right only at the first position of axis 0": lambda x: torch.cat([x[:1], x[1:].cos() + 2]),
    "everywhere except at the last position of axis 1": lambda x: torch.cat([x[:, :-1], x[:, -1:].cos() + 2], 1),
    "right only in the first half of axis 1": lambda x: torch.cat([x[:, :2], x[:, 2:].cos() + 2], 1),
}


@pytest.mark.parametrize("words", RELATED)
@settings(max_examples=8)
@given(seed=SEEDS)
def test_a_related_tensor_is_told_its_relation(words, seed):
    x = numbers(seed, 4 if words == "transposed" else 7, 4, spread=3.0)
    assert words in said((x, RELATED[words](x)))[0]


@settings(max_examples=50)
@given(seed=SEEDS)
def test_an_unrelated_tensor_is_told_none(seed):
    x, other, given_too, mask = (numbers(seed + n, 6, 5) for n in range(4))
    pair = Pair(x, other, 1e-6, {"`x`": given_too, "`mask`": mask > 0}, {"result 2 of 2": given_too + 1})
    assert not any(found.sentence for relation in RELATIONS if (found := relation(pair)))
    assert said((x, other))[0].startswith("30 of 30 values are off")


@pytest.mark.parametrize("right", [numbers(3, 4, 5), numbers(3, 4, 5).abs()])
def test_barely_wrong_numbers_are_told_nothing_that_is_true_of_right_ones(right):
    case = call("the first argument is the right answer", right, grad=False, tolerance=1e-6)
    for barely_wrong in (right * (1 + 5e-6), right + 5e-6 * right.sin()):
        assert " of 20 values are off" in said((right, barely_wrong), cases=[case])[0]
        assert " of 20 values are off" in said((right, barely_wrong))[0]


@settings(max_examples=20)
@given(seed=SEEDS, size=st.integers(2, 9))
def test_an_unrelated_mask_or_list_of_numbers_is_told_none(seed, size):
    generator = torch.Generator().manual_seed(seed)
    for top in (2, 50):
        x, other = torch.randint(0, top, (2, size, 6), generator=generator)
        x, other = (x.bool(), other.bool()) if top == 2 else (x, other)
        message = said((x, other))[0]
        assert "values are off" in message or message == ""


def test_no_right_answer_is_examined(monkeypatch):
    def fails(pair):
        raise AssertionError("a right answer was examined")

    monkeypatch.setattr(explain_values, "RELATIONS", (fails,))
    assert said((numbers(1, 3, 4), numbers(1, 3, 4))) == [""]


def test_masks_that_say_the_opposite_or_lie_on_their_side():
    mask = torch.ones(6, 6).tril().bool()
    assert said((mask, ~mask)) == ["every True should be False, and every False True"]
    assert said((mask, mask.T)) == ["the values are right, but transposed"]
    assert said((mask, torch.ones_like(mask)), (mask, torch.ones_like(mask))) == ["all values are True"] * 2


@pytest.mark.parametrize("right", [torch.tensor([0.3, 2.7, 41.9]), torch.tensor([0.0, 2.7, 41.9])])
def test_what_is_barely_wrong_and_above_zero_is_no_absolute_value(right):
    (sentence,) = said((right.double(), right.double() * (1 + 3e-6)))
    assert sentence and "absolute value" not in sentence


def test_one_number_tells_little_and_two_tell_enough():
    assert said((2.5, 7.5)) == ["got 7.5, which is too large"]
    assert said((2.54, 7.62), (1.11, 3.33))[0] == "got 7.62, which is 3 times what it should be"
    assert said((2.54, 7.62), (1.11, 2.22))[1] == "got 2.22, which is 2 times what it should be"
    assert said((2.54, 3.61), (1.11, 9.33))[0] == "got 3.61, which is too large"


def test_a_fitted_number_has_to_be_the_same_in_all_cases():
    assert said((2.54, 2.54 * 1.443), (1.11, 1.11 * 1.443), (0.7, 0.7 * 1.443))[0].endswith(
        "1.443 times what it should be"
    )
    assert said((2.54, 2.54 * 1.443), (1.11, 1.11 * 1.27), (0.7, 0.7 * 1.71))[0].endswith("too large")


def test_what_holds_in_one_case_and_not_in_another_is_not_said():
    one, other = numbers(1, 3, 4), numbers(2, 5, 4)
    assert "3 times" in said((one, 3 * one), (other, 2 * other))[0]
    assert said((one, 3 * one), (other, other.flip(0)))[0].startswith("12 of 12 values are off")


def test_what_holds_in_all_public_cases_is_said_of_those_whatever_the_hidden_ones_show():
    one, other = numbers(1, 3, 4), numbers(2, 5, 4)
    public, hidden = (call(name, grad=False, tolerance=1e-6, public=name == "public") for name in ("public", "hidden"))
    told = said((one, 3 * one), (other, other.flip(0)), cases=[public, hidden])
    assert told[0] == "every value is 3 times what it should be" and told[1].startswith("16 of 20 values are off")


def test_results_and_inputs_are_known():
    h, c, x = (numbers(n, 3, 4) for n in range(3))
    assert (
        said(((h, c), (c, c)))[0]
        == "in result 1 of 2, the values are what result 2 of 2 should be (the other result is right)"
    )
    assert said(((h, c), (h, -c)))[0] == "in result 2 of 2, the signs are reversed (the other result is right)"
    case = call("case", x, grad=False, tolerance=1e-6)
    assert (
        said(([h, c, x], [h, -c, x]))[0] == "in element 2 of 3, the signs are reversed (all other elements are right)"
    )
    assert said((([h, c], x), ([h, -c], x)))[0].startswith("in result 1 of 2, element 2 of 2, the signs are reversed")
    for answer, words in ((x, "the values are those of `x`, unchanged"), (h + x, "too large by `x`")):
        assert words in said((h, answer), cases=[case])[0]
    assert (
        "too small by 2 times `x`" in said((h, h - 2 * x[0]), cases=[call("case", x[0], grad=False, tolerance=1e-6)])[0]
    )


def test_lists_and_dicts_of_numbers_are_examined_as_one():
    right = {word: 3 * n + 1 for n, word in enumerate("abcdefghijkl")}
    assert said((right, {word: 2 * count for word, count in right.items()}))[0].endswith("2 times what it should be")
    assert said(([1.5, 2.25, 3.125], [3.125, 2.25, 1.5]))[0] == "the values are right, but reversed"


@pytest.mark.parametrize(
    ("right", "answer", "is_said"),
    [
        ([*range(20)] * 2, [*range(20), *range(19, -1, -1)], False),
        ([0, 1, 2, 3] * 10, [0, 3, 2, 1] * 10, False),
        ([0.0, 1.0, 2.0, 3.0] * 10, [0.0, 3.0, 2.0, 1.0] * 10, False),
        ([[0, 1, 2, 3] * 2] * 5, [[2, 3, 0, 1] * 2] * 5, False),
        ([904, 17, 523, 88, 341, 250], [17, 904, 88, 523, 250, 341], True),
        ([0.1, 1.2, 2.4, 3.3] * 3, [1.2, 0.1, 3.3, 2.4] * 3, True),
    ],
    ids=["half in reverse", "states of a path", "codes", "paths", "ids", "fractions"],
)
def test_numbers_that_repeat_are_not_called_the_right_ones_in_another_order(right, answer, is_said):
    told = said(*[(torch.tensor(right), torch.tensor(answer))] * 3)
    assert ("in another order" in told[0]) == is_said and "other positions" not in told[0]


def test_right_where_a_mask_says_so():
    x, mask = numbers(3, 3, 5), torch.arange(5) < torch.tensor([[5], [3], [2]])
    case = call("case", x, mask, grad=False, tolerance=1e-6)
    assert said((x, torch.where(mask, x, 9.0)), cases=[case]) == [
        "the values are right where `mask` is True, and wrong elsewhere"
    ]
    rows = torch.where(mask.all(1, keepdim=True), x, x.cos() + 3)
    assert said((x, rows), cases=[case]) == [
        "the values are right where `mask` is True throughout, and wrong elsewhere"
    ]


def test_what_the_passing_cases_have_in_common_is_said():
    x, right = numbers(1, 3, 5), numbers(2, 3, 5)
    wrong = [(right, numbers(n, 3, 5)) for n in range(3, 6)]
    masks = [call(f"{n}", x, mask=x > n - 1, grad=False, tolerance=1e-6) for n in range(3)]
    bare = call("bare", x, grad=False, tolerance=1e-6)
    told = said((right, right), *wrong, cases=[bare, *masks])
    assert told[0] == "" and told[1].endswith("Your solution is right only where `mask` is not given")
    train = [build(f"{n}", tolerance=1e-6).train().call(x) for n in range(3)]
    told = said((right, right), *wrong, cases=[build("quiet", tolerance=1e-6).call(x), *train])
    assert told[1].endswith("Your solution is right only where the model is in `eval` mode")
    assert "only where" not in said((right, right), *wrong[:2], cases=[bare, *masks[:2]])[1]


@pytest.mark.parametrize(("small", "is_said"), [(1, False), (2, True)])
def test_the_size_of_one_passing_case_says_nothing(small, is_said):
    x, right = numbers(1, 3, 5), numbers(2, 3, 5)
    few = [call(f"small {n}", x[:1], grad=False, tolerance=1e-6) for n in range(small)]
    many = [call(f"large {n}", x, grad=False, tolerance=1e-6) for n in range(3)]
    wrong = [(right, numbers(n, 3, 5)) for n in range(3, 6)]
    told = said(*[(right, right)] * small, *wrong, cases=[*few, *many])
    assert ("only where `x` has size 1 along axis 0" in told[-1]) == is_said


ODD = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.3, 7.0, 1e-12, 1e300, math.inf, -math.inf, math.nan], dtype=torch.float64)


@settings(max_examples=60)
@given(
    seed=SEEDS,
    shape=st.lists(st.integers(1, 5), max_size=4),
    dtype=st.sampled_from([torch.float64, torch.float32, torch.int64, torch.bool]),
)
def test_whatever_numbers_come_no_relation_fails(seed, shape, dtype):
    generator = torch.Generator().manual_seed(seed)
    x, other, near = (ODD[torch.randint(len(ODD), shape, generator=generator)] for _ in range(3))
    x, other = (
        value.nan_to_num(0, 9, -9).clamp(-9, 9).to(dtype) if dtype in (torch.int64, torch.bool) else value.to(dtype)
        for value in (x, other)
    )
    mask = torch.rand(shape[:2], generator=generator) < 0.5
    pair = Pair(x, other, 1e-6, {"`x`": near, "`mask`": mask, "`b`": near.flatten()[:1]}, {"result 2 of 2": near})
    for relation in RELATIONS:
        found = relation(pair)
        assert found is None or isinstance(found.sentence, str)


def test_a_case_of_zeros_speaks_against_nothing():
    x, none = numbers(1, 5, 4), torch.full((3, 3), 1 / 3, dtype=torch.float64)
    told = said((x, x.flip(0)), (none, torch.zeros_like(none)))
    assert told[0] == "the values are right, but reversed along axis 0"
    assert told[1].startswith("9 of 9 values are off")
