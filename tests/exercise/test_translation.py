"""Laws of translation: sentences up to their end, exact matches, BLEU, unrolled models, and masks."""

from __future__ import annotations

import math

import pytest
import torch

from course.exercise import given_model
from course.exercise.laws import broken
from course.exercise.runner import run
from course.exercise.script import LawUse
from course.exercise.translation import bleu, exact_match, sentences


def test_a_sentence_ends_at_its_first_eos():
    assert sentences(torch.tensor([[3, 4, 2, 7], [2, 2, 2, 2], [5, 6, 7, 8]]), eos=2) == [[3, 4], [], [5, 6, 7, 8]]


def test_bleu_by_hand():
    assert bleu([[1, 2, 3, 4, 5]], [[1, 2, 3, 4, 5]]) == pytest.approx(1.0)
    assert bleu([[1, 2, 3, 4]], [[1, 2, 3, 4, 5]]) == pytest.approx(math.exp(1 - 5 / 4))
    assert bleu([[1, 2, 3, 4, 9]], [[1, 2, 3, 4, 5]]) == pytest.approx((4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25)
    assert bleu([[1, 1, 1, 1, 1]], [[1, 2, 3, 4, 5]]) == 0.0
    assert bleu([[]], [[1, 2, 3, 4]]) == 0.0
    assert exact_match([[1, 2], [3]], [[1, 2], [4]]) == 0.5


def law(name, outputs, **params):
    return broken(LawUse(name, params), outputs)


def test_laws_of_translation():
    targets, said = torch.tensor([[5, 6, 2], [7, 2, 0]]), torch.tensor([[5, 6, 2, 9], [7, 7, 2, 2]])
    assert not law("exact_match_at_least", {"out": said}, targets=targets, bar=0.5, eos=2)
    assert "50.0%" in law("exact_match_at_least", {"out": said}, targets=targets, bar=0.6, eos=2)
    assert law("mostly_unlike", {"out": said}, targets=targets, share=0.5, eos=2)
    assert "BLEU is 0.000" in law("bleu_at_least", {"out": said}, targets=targets, bar=0.1, eos=2)
    assert not law("says", {"out": said}, word=9, share=0.5) and law("says", {"out": said}, word=9, share=0.6)


def test_laws_of_masks():
    below = torch.ones(3, 3).tril().bool()
    where = torch.ones(2, 1, 3, 3, dtype=torch.bool).tril()
    assert not law("mask_is", {"out": {"self": below}}, key="self", allowed=True, where=where)
    assert law("mask_is", {"out": {"self": ~below}}, key="self", allowed=True, where=where)
    assert "does not broadcast" in law("mask_fits", {"out": {"self": below[None].expand(2, 3, 3)}}, key="self",
                                       shape=(2, 1, 3, 3))  # fmt: skip
    assert "True and False" in law("mask_is_boolean", {"out": {"self": below.float()}}, key="self")
    assert not law("none_at", {"out": {"cross": None}}, key="cross") and law(
        "none_at", {"out": {"cross": 1}}, key="cross"
    )


def test_a_model_is_unrolled_over_its_own_words():
    """Unroll a model whose next word is the sum of the source and of its words so far, modulo 7."""

    def model(src, said):
        total = (src.sum(1, keepdim=True) + said.cumsum(1)) % 7
        return torch.nn.functional.one_hot(total, 7).double()

    case = given_model("sums").unroll(torch.tensor([[1, 1], [0, 3]]), torch.tensor([[1], [1]]), steps=4)
    recording = run(case.script(), model)
    assert recording.raised is None
    assert recording.outputs["out"].tolist() == [[3, 6, 5, 3], [4, 1, 2, 4]]
