"""Messages of the laws of policies about outputs that are no policy."""

from __future__ import annotations

import pytest
import torch

from course.exercise.laws import broken
from course.exercise.script import LawUse

IDS = torch.tensor([[0, 0], [0, 1]])
HALF = torch.tensor([0.5, 0.5], dtype=torch.float64).log()


@pytest.mark.parametrize(
    ("logits", "said"),
    [
        (torch.zeros(2, 2, 3), "add up to 0.667"),
        (torch.full((2, 2, 2), torch.nan), "scores are NaN"),
        (torch.zeros(2, 2), "expected logits for answers"),
        (torch.zeros(2, 2, 1), "2 classes or more"),
    ],
)
def test_what_is_no_policy_is_said_to_be_none(logits, said):
    for use in (
        LawUse("divergence_at_most", {"ids": IDS, "log_best": HALF, "bar": 99.0}),
        LawUse("nearer_to_best", {"ids": IDS, "log_best": HALF, "than": HALF}),
    ):
        assert said in broken(use, {"out": logits})


def test_an_answer_that_is_never_said_costs_nothing():
    logits = torch.tensor([0.0, -torch.inf]).expand(2, 2, 2)
    use = LawUse("divergence_at_most", {"ids": IDS, "log_best": HALF, "bar": 0.7})
    assert not broken(use, {"out": logits})
    assert "0.693" in broken(LawUse(use.name, {**use.params, "bar": 0.6}), {"out": logits})
