"""Laws hold for right answers and break for wrong ones. A right sampler hardly ever breaks a law of chance."""

from __future__ import annotations

import math
from inspect import signature
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.exercise.laws import EXPECTED, LAWS, broken, counts, examined
from course.exercise.script import LawUse
from course.exercise.values import Other, plain

from .forged import twisted

HALF = torch.tensor([0.5, 0.5], dtype=torch.float64)
SCORES, TWICE, FIRST_TWO = torch.tensor([[0.0, 2, 2, 2]]), torch.tensor([[0.5, 0.5]]), torch.tensor([[1, 2]])
LAST_TWO = {EXPECTED: {"out": (TWICE, torch.tensor([[3, 2]]))}}
TEXTS = [[(1,), (2,)], [(9,)]]
TRUE_PAIRS = ([((1,), (2,))], torch.tensor([1]))

CASES = [
    (
        "answers_right",
        {"tokens": "0123=;", "end": 5, "targets": torch.tensor([2, 13]), "bar": 0.9},
        {"out": torch.tensor([[4, 0, 4, 2, 5], [4, 1, 3, 5, 5]])},
        {"out": torch.tensor([[4, 2, 4, 0, 5], [4, 1, 3, 0, 5]])},
    ),
    (
        "tokens_there",
        {"place": 1, "probabilities": torch.tensor([0.5, 0.5]), "draws": 50},
        {"out": (torch.arange(100).view(50, 2) // 2 % 2, torch.ones(50, 2) > 0, torch.zeros(50, 2))},
        {"out": (torch.zeros(50, 2).long(), torch.ones(50, 2) > 0, torch.zeros(50, 2))},
    ),
    (
        "written_by",
        {"scores": torch.zeros(1, 2), "prompts": torch.tensor([[1]]), "end": 1},
        {
            "out": (
                torch.tensor([[1, 0, 1]]),
                torch.tensor([[False, True, True]]),
                torch.tensor([[0, -0.6931, -0.6931]]),
            )
        },
        {"out": (torch.tensor([[1, 0, 1]]), torch.tensor([[False, True, False]]), torch.tensor([[0, -0.6931, 0]]))},
    ),
    ("equal", {"to": "b"}, {"out": torch.ones(3), "b": torch.ones(3)}, {"out": torch.ones(3), "b": torch.zeros(3)}),
    ("repeats", {"to": "b"}, {"out": torch.ones(3), "b": torch.ones(3)}, {"out": torch.ones(3), "b": torch.zeros(3)}),
    ("different", {"to": "b"}, {"out": torch.ones(3), "b": torch.zeros(3)}, {"out": 1.0, "b": 1.0}),
    ("entry_close", {"key": "E", "value": 2.0, "within": 0.1}, {"out": {"E": 2.05}}, {"out": {"E": 2.2}}),
    ("entry_positive", {"key": "A"}, {"out": {"A": 0.1}}, {"out": {"A": -0.1}}),
    ("entry_apart", {"key": "E", "values": [9.0, 3.0], "within": 0.1}, {"out": {"E": 2.0}}, {"out": {"E": 2.8}}),
    (
        "comes_back",
        {"W": torch.tensor([[2.0, -2.0], [0.0, 0.0]]), "levels": torch.linspace(-1, 1, 16), "block": 2},
        {"out": (torch.tensor([[240], [99]], dtype=torch.uint8), torch.tensor([2.0, 0.0]))},
        {"out": (torch.tensor([[241], [99]], dtype=torch.uint8), torch.tensor([2.0, 0.0]))},
    ),
    (
        "comes_back",
        {"W": torch.zeros(1, 2), "levels": torch.linspace(-1, 1, 16), "block": 2},
        {"out": (torch.tensor([[7]], dtype=torch.uint8), torch.zeros(1))},
        {"out": (torch.tensor([[7]], dtype=torch.uint8), torch.ones(1))},
    ),
    ("close_to", {"value": torch.tensor([2.0])}, {"out": torch.tensor([2.0])}, {"out": torch.tensor([2.1])}),
    ("slices_vary", {}, {"out": torch.eye(2)}, {"out": torch.ones(2, 3)}),
    ("rows_follow", {"rows": torch.tensor([1, 0, 1])}, {"out": torch.eye(2)[[0, 1, 0]]}, {"out": torch.ones(3, 2)}),
    ("rows_follow", {"rows": torch.tensor([1, 0, 1])}, {"out": torch.eye(2)[[0, 1, 0]]}, {"out": torch.eye(3)}),
    ("rows_follow", {"rows": torch.tensor([1, 0])}, {"out": torch.eye(2)}, {"out": torch.eye(2)[[0, 1, 0]]}),
    *(
        ("chooses_the_best", {"scores": SCORES}, {"out": (TWICE, FIRST_TWO), **LAST_TWO}, {"out": bad, **LAST_TWO})
        for bad in (
            (TWICE, torch.tensor([[1, 1]])),
            (TWICE, torch.tensor([[1, 0]])),
            (TWICE, torch.tensor([[0, 1]])),
            (TWICE + 0.1, FIRST_TWO),
        )
    ),
    (
        "one_pair_for_each_neighbour",
        {"documents": TEXTS},
        {"out": TRUE_PAIRS},
        {"out": ([((1,), (2,))], torch.ones(2).long())},
    ),
    ("next_ones_are_next", {"documents": TEXTS}, {"out": TRUE_PAIRS}, {"out": ([((1,), (9,))], torch.tensor([1]))}),
    ("others_are_not_next", {"documents": TEXTS}, {"out": TRUE_PAIRS}, {"out": ([((1,), (2,))], torch.tensor([0]))}),
    ("others_are_strangers", {"documents": TEXTS}, {"out": TRUE_PAIRS}, {"out": ([((1,), (1,))], torch.tensor([0]))}),
    (
        "every_stranger_comes",
        {"documents": TEXTS},
        {"out": [TRUE_PAIRS, ([((1,), (9,))], torch.tensor([0]))]},
        {"out": [TRUE_PAIRS]},
    ),
    (
        "labels_are_tossed",
        {"group": 1},
        {
            "out": ([((1,), (2,))] * 100, torch.arange(100) % 2),
            EXPECTED: {"out": ([((1,), (2,))] * 100, torch.arange(100) % 2)},
        },
        {
            "out": ([((1,), (2,))] * 100, torch.ones(100).long()),
            EXPECTED: {"out": ([((1,), (2,))] * 100, torch.arange(100) % 2)},
        },
    ),
    ("sums_to_one", {}, {"out": HALF}, {"out": HALF * 1.01}),
    ("bounded", {"low": 0.0, "high": 1.0}, {"out": HALF}, {"out": -HALF}),
    ("positive", {}, {"out": HALF}, {"out": torch.zeros(2)}),
    ("finite", {}, {"out": HALF}, {"out": HALF / 0}),
    ("shape_is", {"shape": (2,)}, {"out": HALF}, {"out": HALF[None]}),
    ("whole_numbers", {}, {"out": torch.tensor([1])}, {"out": HALF}),
    ("argmax_is", {"index": 1}, {"out": torch.tensor([0.1, 0.9])}, {"out": torch.tensor([0.9, 0.1])}),
    ("at_most", {"value": 1.0}, {"out": 1.0}, {"out": 1.1}),
    ("exceeds", {"value": 5.0}, {"out": torch.tensor([1.0, -6.0])}, {"out": torch.tensor([1.0, -4.0])}),
    (
        "same_rows",
        {"to": "b"},
        {"out": torch.ones(3, 1), "b": torch.ones(3)},
        {"out": torch.zeros(3, 1), "b": torch.ones(3)},
    ),
    (
        "same_rows",
        {"to": "b"},
        {"out": torch.tensor([[74.0, 0.5]]), "b": torch.tensor([74.0, 0.5 + 1.8e-5])},  # rounded at 74
        {"out": torch.tensor([[0.7, 0.5]]), "b": torch.tensor([0.7, 0.5 + 2.8e-5])},
    ),
    (
        "explains",
        {"scores": torch.tensor([1.0, 3.0]), "bar": 0.9},
        {"out": torch.tensor([1.1, 2.9])},
        {"out": torch.tensor([3.0, 1.0])},
    ),
    (
        "explains",
        {"scores": torch.tensor([1.0, 3.0]), "bar": 0.9},
        {"out": torch.tensor([1.1, 2.9])},
        {"out": torch.tensor([2.0, 4.0])},
    ),
    (
        "explains",
        {"scores": torch.tensor([1.0, 3.0]), "bar": 0.9, "up_to_a_constant": True},
        {"out": torch.tensor([2.0, 4.0])},
        {"out": torch.tensor([2.0, 2.0])},
    ),
    (
        "offset_at_most",
        {"scores": torch.tensor([1.0, 3.0]), "most": 0.2},
        {"out": torch.tensor([2.0, 2.1])},
        {"out": torch.tensor([0.5, 3.0])},
    ),
    (
        "nearer",
        {"scores": torch.tensor([1.0, 3.0]), "than": torch.tensor([3.0, 1.0])},
        {"out": torch.tensor([1.0, 2.0])},
        {"out": torch.tensor([2.0, 1.0])},
    ),
    (
        "accepted_share_at_least",
        {"tokens": torch.tensor([[[0, 1]]]), "p": torch.tensor([[[0.5, 0.5]]]), "bar": 0.8},
        {"out": torch.zeros(1, 1, 2)},
        {"out": torch.tensor([[[5.0, 0.0]]])},
    ),
    (
        "accepted_rather_than",
        {
            "tokens": torch.tensor([[[0]]]),
            "p": torch.tensor([[[0.9]]]),
            "other": torch.tensor([[[1]]]),
            "other_p": torch.tensor([[[0.9]]]),
        },
        {"out": torch.tensor([[[1.0, 0.0]]])},
        {"out": torch.tensor([[[0.0, 1.0]]])},
    ),
    ("no_surer_than", {"bar": 0.6}, {"out": torch.zeros(1, 2, 2)}, {"out": torch.tensor([[[9.0, 0.0]]])}),
    (
        "divergence_at_most",
        {"ids": torch.tensor([[0, 0], [0, 1]]), "log_best": HALF.log(), "bar": 0.1},
        {"out": torch.zeros(2, 2, 2)},
        {"out": torch.tensor([3.0, 0.0]).expand(2, 2, 2)},
    ),
    (
        "nearer_to_best",
        {
            "ids": torch.tensor([[0, 0], [0, 1]]),
            "log_best": HALF.log(),
            "than": torch.tensor([0.9, 0.1]).double().log(),
        },
        {"out": torch.zeros(2, 2, 2)},
        {"out": torch.tensor([2.0, 0.0]).expand(2, 2, 2)},
    ),
    (
        "not_reached",
        {"places": [1]},
        {"gradients of out": [torch.ones(2), None]},
        {"gradients of out": [torch.ones(2), torch.ones(2)]},
    ),
    ("larger_at", {"index": 0, "than": 1}, {"out": torch.tensor([[2.0, 1.0]])}, {"out": torch.tensor([[1.0, 2.0]])}),
    ("no_longer_than", {"longest": 2}, {"out": torch.tensor([[1, 2]])}, {"out": torch.tensor([[1, 2, 3]])}),
    (
        "combination_is_not_zero",
        {"weights": torch.tensor([1.0, -1.0])},
        {"out": torch.tensor([[1.0, 2.0], [1.0, 3.0]])},
        {"out": torch.tensor([[1.0, 2.0], [1.0, 2.0]])},
    ),
    (
        "every_token_learns",
        {"tokens": 2},
        {"gradients of out": {"w": torch.eye(2), "b": torch.zeros(3)}},
        {"gradients of out": {"w": torch.tensor([[1.0, 0.0], [1.0, 0.0]]), "b": torch.ones(3)}},
    ),
    (
        "some_table_learns_every_token",
        {"tokens": 2},
        {"gradients of out": {"w": torch.tensor([[1.0, 0.0], [0.0, 0.0]]), "out": torch.ones(3, 2)}},
        {"gradients of out": {"w": torch.tensor([[1.0, 0.0], [0.0, 0.0]]), "out": torch.ones(3, 3)}},
    ),
    (
        "every_block_learns",
        {"rows": 2},
        {"gradients of out": {"w": torch.tensor([1.0, 0.0, 0.0, 1.0]), "b": torch.zeros(3)}},
        {"gradients of out": {"w": torch.tensor([1.0, 1.0, 0.0, 0.0]), "b": torch.ones(3)}},
    ),
    ("some_below_zero", {}, {"out": torch.tensor([3.0, -0.1])}, {"out": torch.tensor([3.0, 0.0])}),
    (
        "something_learns",
        {},
        {"gradients of out": {"w": torch.zeros(2), "b": torch.ones(1)}},
        {"gradients of out": {"w": torch.zeros(2), "b": None}},
    ),
    (
        "learns_by_place",
        {"places": [3, 4]},
        {"gradients of out": {"w": torch.zeros(2, 3), "b": None}},
        {"gradients of out": {"w": torch.zeros(2, 5), "b": None}},
    ),
    ("dtype_is", {"dtype": "float64"}, {"out": HALF}, {"out": HALF.float()}),
    (
        "learns_at_least",
        {"numbers": 5},
        {"gradients of out": {"w": torch.ones(2, 2), "b": torch.zeros(1)}},
        {"gradients of out": {"w": torch.ones(2, 2), "b": None}},
    ),
    (
        "every_parameter_learns",
        {},
        {"gradients of out": {"w": torch.ones(2)}},
        {"gradients of out": {"w": torch.ones(2), "b": torch.zeros(2)}},
    ),
    (
        "frequencies",
        {"probabilities": HALF, "draws": 400},
        {"out": torch.tensor([0, 1] * 200)},
        {"out": torch.tensor([0] * 400)},
    ),
    (
        "tossed_one_by_one",
        {"p": 0.5},
        {"out": torch.randint(0, 2, (100, 5), generator=torch.Generator().manual_seed(1))},
        {"out": torch.tensor([0, 0, 0, 1, 1]).expand(100, 5)},
    ),
    (
        "accuracy_at_least",
        {"targets": torch.tensor([0, 1]), "bar": 0.9},
        {"out": torch.eye(2)},
        {"out": 1 - torch.eye(2)},
    ),
    (
        "perplexity_at_most",
        {"targets": torch.tensor([0, 1]), "bar": 1.5},
        {"out": torch.tensor([[0.9, 0.1], [0.2, 0.8]])},
        {"out": torch.tensor([[0.5, 0.5], [0.5, 0.5]])},
    ),
    (
        "perplexity_within",
        {"targets": torch.tensor([0, 1]), "factor": 1.2},
        {"out": torch.tensor([[0.9, 0.1], [0.2, 0.8]]), EXPECTED: {"out": torch.tensor([[0.9, 0.1], [0.1, 0.9]])}},
        {"out": torch.tensor([[0.5, 0.5], [0.5, 0.5]]), EXPECTED: {"out": torch.tensor([[0.9, 0.1], [0.1, 0.9]])}},
    ),
    (
        "written_at_least",
        {"targets": torch.tensor([[1, 2], [3, -1], [-1, -1]]), "bar": 0.9, "pad": -1},
        {"out": [[1, 2], [3], []]},
        {"out": [[1, 2], [3, 3], []]},
    ),
    ("never_written", {"token": 0}, {"out": [[1, 2], [], [3]]}, {"out": [[1, 2], [], [3, 0]]}),
    ("mostly_as_long", {"low": 1, "high": 2}, {"out": [[1, 2], [], [3]]}, {"out": [[], [1, 2, 3], [3]]}),
    (
        "rows_as_expected",
        {"rows": [0, 2], "of": "grads"},
        {"grads": [torch.tensor([1.0, math.nan, 3.0])], EXPECTED: {"grads": [torch.tensor([1.0, 0.0, 3.0])]}},
        {"grads": [torch.tensor([1.0, 0.0, math.nan])], EXPECTED: {"grads": [torch.tensor([1.0, 0.0, 3.0])]}},
    ),
    (
        "one_label_a_type",
        {"words": torch.tensor([4, 2, 4])},
        {"out": torch.tensor([1, 0, 1])},
        {"out": torch.tensor([1, 0, 0])},
    ),
    (
        "labels_of_types",
        {"words": torch.tensor([4, 2, 4]), "probabilities": torch.tensor([0.5, 0.5])},
        {"out": torch.tensor([[0, 1, 0], [1, 0, 1]]).repeat(500, 1)},
        {"out": torch.tensor([[0, 1, 0]]).repeat(500, 1)},
    ),
    (
        "directions_found",
        {"directions": torch.eye(2), "bar": 0.9},
        {"W_dec": torch.eye(2), "out": (torch.ones(3, 2), torch.ones(3, 2))},
        {"W_dec": torch.eye(2), "out": (torch.ones(3, 2), torch.tensor([[1.0, 0.0]]))},
    ),
    (
        "directions_found",
        {"directions": torch.eye(2), "bar": 0.9, "vectors": torch.ones(3, 2)},
        {"W_dec": torch.eye(2), "out": (torch.ones(3, 2), torch.ones(3, 2))},
        {"W_dec": torch.eye(2), "out": (-torch.ones(3, 2), torch.ones(3, 2))},
    ),
]


@pytest.mark.parametrize(("name", "params", "good", "bad"), CASES, ids=[case[0] for case in CASES])
def test_laws_hold_and_break(name, params, good, bad):
    use = LawUse(name, params)
    assert broken(use, good) == ""
    sentence = broken(use, bad)
    assert sentence and not sentence[0].isupper()


@pytest.mark.parametrize(("name", "params"), [case[:2] for case in CASES], ids=[case[0] for case in CASES])
@pytest.mark.parametrize("nonsense", [None, "x", Other("Thing"), [torch.ones(2), torch.ones(3)], {}])
def test_nonsense_breaks_a_law_and_never_raises(name, params, nonsense):
    if name != "different":
        assert broken(LawUse(name, params), {"out": nonsense, "b": torch.ones(3), "gradients of out": nonsense})


@pytest.mark.parametrize(("name", "params", "good"), [case[:3] for case in CASES], ids=[case[0] for case in CASES])
@given(data=st.data())
@settings(max_examples=20, derandomize=True)
def test_no_law_raises_for_anything_the_wire_accepts(name, params, good, data):
    found = {key: value if key == EXPECTED else plain(data.draw(twisted(value))) for key, value in good.items()}
    assert isinstance(broken(LawUse(name, params), found), str)
    counts(LawUse(name, params), found)


def test_what_is_no_tensor_is_called_by_its_name():
    use = LawUse("is_a_tensor")
    assert not broken(use, {"out": HALF}) and not broken(use, {"out": [HALF, torch.ones(3)]})
    assert "got a list" in broken(use, {"out": [HALF.tolist(), HALF.tolist()]})
    assert "got a numpy array" in broken(use, {"out": HALF.numpy()})
    assert "an object of type Thing" in broken(use, {"out": Other("Thing")})
    assert "got None" in broken(use, {"out": None})


def test_a_shape_is_told_beside_what_its_axes_mean():
    use = LawUse("shape_is", {"shape": (5, 7), "meaning": "logits (B, classes)"})
    assert broken(use, {"out": torch.ones(5, 8)}) == (
        "expected the shape (5, 7), got (5, 8). The task asks for logits (B, classes)"
    )
    assert broken(use, {"out": {}}).endswith("which is a dict. The task asks for logits (B, classes)")


def test_no_sentence_holds_a_name_that_students_have_not_seen():
    apart = LawUse("same_rows", {"of": "company", "to": "alone", "because": "apart"})
    assert broken(apart, {"company": {}, "alone": torch.ones(2)}) == (
        "the check cannot read your result, which is a dict. Compare it with what the task asks for"
    )
    learns = LawUse("every_parameter_learns", {"of": "gradients of company"})
    assert broken(learns, {"gradients of company": 7}).startswith("the check cannot read the gradient, which is")
    reached = LawUse("not_reached", {"places": [0], "of": "gradients of company"})
    assert broken(reached, {"gradients of company": None}) == "no gradient flows back from the result"


def test_what_was_given_is_reached_by_any_gradient():
    reached = LawUse("input_is_reached")
    assert not broken(reached, {"gradients of out": [torch.tensor([0.0, 1.0])]})
    for nothing in ([torch.zeros(2)], [None], [], None):
        assert broken(reached, {"gradients of out": nothing})


def test_one_tensor_is_told_from_a_tuple_of_two():
    sentence = broken(LawUse("has_parts", {"count": 2}), {"out": torch.zeros(2, 7)})
    assert sentence.startswith("expected a tuple of 2 tensors, got a tensor of shape (2, 7)")


def test_a_reason_replaces_the_sentence():
    for name, params, _, bad in CASES:
        if not name.startswith("perplexity"):
            assert broken(LawUse(name, {**params, "because": "said so"}), bad) == "said so"


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 400))
@settings(max_examples=100, derandomize=True)
def test_a_right_sampler_keeps_the_law(seed, k, n):
    generator = torch.Generator().manual_seed(seed)
    p = torch.rand(k, generator=generator, dtype=torch.float64) ** 3 + 1e-6
    p = p / p.sum()
    drawn = torch.multinomial(p, n, replacement=True, generator=generator)
    assert broken(LawUse("frequencies", {"probabilities": p, "draws": n}), {"out": drawn}) == ""


def test_chains_are_counted_by_the_token_before():
    use = LawUse("frequencies", {"probabilities": torch.full((3, 3), 1 / 3), "draws": 4, "start": 2})
    table = counts(use, {"out": torch.tensor([[0, 1], [0, 0]])})
    assert table.tolist() == [[1, 1, 0], [0, 0, 0], [2, 0, 0]]


def test_what_was_impossible_and_came_breaks_the_law():
    p = torch.tensor([1.0, 0.0])
    assert broken(LawUse("frequencies", {"probabilities": p, "draws": 3}), {"out": torch.tensor([0, 0, 1])})


def test_nothing_drawn_follows_no_distribution():
    use = LawUse("frequencies", {"probabilities": HALF, "draws": 400})
    for few in ([], [0, 1], [0, 1] * 199):
        assert "too few samples" in broken(use, {"out": torch.tensor(few).long()})
    assert "too many samples" in broken(use, {"out": torch.tensor([0, 1] * 201)})
    assert not broken(use, {"out": torch.tensor([0, 1] * 200)})


def test_as_much_is_tossed_as_by_the_reference():
    use = LawUse("tossed_one_by_one", {"p": 0.5})
    tosses = {"out": torch.randint(0, 2, (100, 5), generator=torch.Generator().manual_seed(1))}
    assert broken(use, {"out": torch.zeros(0).long()})
    assert broken(use, {"out": tosses["out"][:1], EXPECTED: tosses})
    assert not broken(use, {"out": tosses["out"].flip(0), EXPECTED: tosses})


def test_laws_of_chance_know_how_much_is_asked_for():
    for name, law in LAWS.items():
        assert law.counts is None or law.relative or "draws" in signature(law.holds).parameters, name


def test_perplexity_is_of_distributions_over_the_vocabulary_and_nothing_else():
    targets, even = torch.tensor([0, 1]), torch.full((2, 3), 1 / 3)
    use = LawUse("perplexity_within", {"targets": targets, "factor": 1.2})
    assert not broken(use, {"out": even, EXPECTED: {"out": even}})
    generous = torch.tensor([[1.0, 1.0, -1.0]]).expand(2, 3)
    assert "not probability" in broken(use, {"out": generous, EXPECTED: {"out": even}})
    more = torch.tensor([[0.5, 0.5, 0.0, 0.0]]).expand(2, 4)
    assert "over 3 tokens" in broken(use, {"out": more, EXPECTED: {"out": even}})


def test_many_slices_are_compared_one_by_one_and_far_too_many_not_at_all():
    use, many = LawUse("slices_differ"), torch.arange(2000.0)[:, None].expand(2000, 64).contiguous()
    assert not broken(use, {"out": many})
    many[1999] = many[3]
    assert "should differ" in broken(use, {"out": many})
    assert "far more" in broken(use, {"out": torch.arange(10_000.0)[:, None]})


def test_tokens_that_learn_beside_a_parameter_without_a_gradient():
    every, some = LawUse("every_token_learns", {"tokens": 2}), LawUse("every_row_learns", {"rows": 2, "used": [0, 1]})
    for use in (every, some):
        assert not broken(use, {"gradients of out": {"w": torch.eye(2), "frozen": None}})
        assert "no gradient" in broken(use, {"gradients of out": {"w": torch.diag(torch.ones(1), 1), "frozen": None}})
        assert "no gradient" in broken(use, {"gradients of out": {"frozen": None}})


def test_what_is_frozen_or_left_over_need_not_learn():
    gradients = {"w": torch.ones(2), "table": None, "old": None}
    outputs = {"gradients of out": gradients, "what learns": {"w": 2, "old": 3}}
    assert "no gradient reaches old" in broken(use("every_parameter_learns", learning="what learns"), outputs)
    del gradients["old"]
    assert not broken(use("every_parameter_learns", learning="what learns"), outputs)
    assert not broken(use("every_parameter_learns", unused=True), outputs)
    assert "table" in broken(use("every_parameter_learns"), outputs)
    assert "w" in broken(use("every_parameter_learns", unused=True), {"gradients of out": {"w": torch.zeros(2)}})
    assert not broken(use("every_block_learns", rows=2), outputs)


def test_every_law_is_examined():
    tests = "".join(path.read_text("utf-8") for path in Path(__file__).parent.glob("*.py"))
    assert not [name for name in LAWS if f'"{name}"' not in tests]


def use(name, **params):
    return LawUse(name, params)


def test_laws_of_marks_and_places():
    table = torch.arange(6.0).view(1, 3, 2)
    outputs = {"out": torch.ones(2, 3, 2) + table, "marks": table.expand(2, 3, 2), "short": table[:, :2]}
    assert not broken(use("exceeds_by", to="marks", value=torch.ones(2, 3, 2)), outputs)
    assert broken(use("exceeds_by", to="marks", value=torch.zeros(2, 3, 2)), outputs)
    assert not broken(use("begins_with", of="marks", to="short", dim=1), {**outputs, "marks": table})
    assert broken(use("begins_with", of="marks", to="short", dim=1), {**outputs, "marks": table.flip(1)})
    assert not broken(use("slices_differ", of="marks", dim=1), outputs)
    assert broken(use("slices_differ", of="marks", dim=0), outputs)
    assert not broken(use("slices_agree", of="marks", dim=0), outputs)
    assert broken(use("slices_agree", of="marks", dim=1), outputs)


def test_accuracy_does_not_count_targets_below_zero():
    outputs = {"out": torch.eye(3).expand(2, 3, 3)}
    targets = torch.tensor([-100, 1, 2, -100, 1, 0])
    assert not broken(use("accuracy_at_least", targets=targets, bar=0.75), outputs)
    assert "75.0%" in broken(use("accuracy_at_least", targets=targets, bar=0.76), outputs)


def test_accuracy_over_several_splits_is_their_mean():
    outputs = {"one": torch.eye(2), "other": torch.eye(2)}
    over = use("accuracy_at_least", of=["one", "other"], targets=[torch.tensor([0, 1]), torch.tensor([0, 0])], bar=0.76)
    assert "75.0%" in broken(over, outputs)
    assert not broken(use("accuracy_at_least", **{**over.params, "bar": 0.75}), outputs)


@pytest.mark.parametrize("name", ["accuracy_at_least", "log_loss_at_most", "log_loss_at_least", "no_better_than"])
def test_scores_that_are_lost_or_too_few_are_told_so(name):
    bars = {"accuracy_at_least": {"bar": 0.5}, "no_better_than": {"best": torch.zeros(2)}}
    law = use(name, targets=torch.tensor([0, 2]), **bars.get(name, {"known": torch.zeros(2), "margin": 0.1}))
    diverged, narrow = {"out": torch.full((2, 3), math.nan)}, {"out": torch.ones(2, 2)}
    assert "6 of 6 scores are NaN" in broken(law, diverged) and examined(law, diverged) is None
    assert "(2, 2)" in broken(law, narrow) and "expected scores for" in broken(law, narrow)
