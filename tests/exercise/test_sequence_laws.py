"""Laws of sequences generated token by token: each holds for right answers and breaks for its mistake."""

from __future__ import annotations

import pytest
import torch

from course.exercise.laws import broken
from course.exercise.script import LawUse

IDS = torch.tensor([[3, 2, 0], [4, 3, 2]])
LOGITS = torch.nn.functional.one_hot(IDS, 5).double()
LENGTHS = torch.tensor([2, 3])
WEIGHTS = torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]]).unsqueeze(1).expand(2, 3, 3)
WORDS = torch.tensor([[0, 0, -1], [0, 1, 1]])
CHANGED = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
NEVER = torch.tensor([[3, 2], [4, 4]])
ALIGN = {"words": WORDS, "gold": torch.tensor([[0, 0], [1, 1]]), "places": [0, 2], "bar": 1.0}
CASES = [
    ("equal_up_to", {"to": "b", "dim": 1, "count": 2}, {"out": CHANGED, "b": CHANGED + torch.tensor([0.0, 0.0, 1.0])},
     {"out": CHANGED, "b": CHANGED + torch.tensor([0.0, 1.0, 0.0])}),
    ("differ_at", {"to": "b", "dim": 1, "place": 1}, {"out": CHANGED, "b": CHANGED + torch.tensor([0.0, 1.0, 0.0])},
     {"out": CHANGED, "b": CHANGED + torch.tensor([1.0, 0.0, 1.0])}),
    ("every_row_learns", {"rows": 3, "used": [0, 2]}, {"gradients of out": {"w": torch.tensor([[1.0], [0.0], [1.0]])}},
     {"gradients of out": {"w": torch.tensor([[1.0], [1.0], [0.0]])}}),
    ("every_row_learns", {"rows": 2, "used": [1], "least": 0.1}, {"gradients of out": {"w": torch.ones(2)}},
     {"gradients of out": {"w": torch.tensor([1.0, 0.01])}}),
    ("padded_behind", {"eos": 2, "pad": 0}, {"out": IDS}, {"out": torch.tensor([[3, 2, 4]])}),
    ("long_enough", {"eos": 2, "longest": 3}, {"out": IDS}, {"out": NEVER}),
    ("long_enough", {"eos": 2, "longest": 2}, {"out": NEVER}, {"out": IDS}),
    ("a_row_for_each", {"ids": "i"}, {"out": LOGITS, "i": IDS}, {"out": LOGITS.transpose(0, 1), "i": IDS}),
    ("has_parts", {"count": 2}, {"out": (IDS, WEIGHTS)}, {"out": IDS}),
    ("has_parts", {"count": 2}, {"out": [IDS, WEIGHTS]}, {"out": (IDS.tolist(), WEIGHTS)}),
    ("has_parts", {"count": 2, "each": True}, {"out": [(IDS, IDS)] * 3}, {"out": [(IDS, IDS), (IDS, IDS, IDS)]}),
    ("has_parts", {"count": 2, "each": True}, {"out": [(IDS, IDS)] * 3}, {"out": IDS}),
    ("keeps_its_eos", {"logits": "l", "eos": 2, "pad": 0}, {"out": IDS, "l": LOGITS},
     {"out": IDS.masked_fill(IDS == 2, 0), "l": LOGITS}),
    ("follows_its_logits", {"logits": "l", "eos": 2}, {"out": IDS, "l": LOGITS}, {"out": IDS, "l": LOGITS.flip(2)}),
    ("weighs_real_places", {"ids": "i", "eos": 2, "lengths": LENGTHS}, {"out": WEIGHTS, "i": IDS},
     {"out": WEIGHTS.flip(2), "i": IDS}),
    ("weighs_real_places", {"ids": "i", "eos": 2, "lengths": LENGTHS}, {"out": WEIGHTS, "i": IDS},
     {"out": WEIGHTS[:, :2], "i": IDS}),
    ("same_whoever_is_first", {"to": "b", "pad": 0},
     {"out": [(IDS, 0), (IDS.flip(0), 0)], "b": [(IDS[:1], 0), (IDS[1:], 0)]},
     {"out": [(IDS, 0), (IDS, 0)], "b": [(IDS[:1], 0), (IDS[1:], 0)]}),
    ("written_at_least", {"targets": IDS, "bar": 1.0, "pad": 0}, {"out": torch.cat([IDS, 0 * IDS], 1)},
     {"out": torch.tensor([[3, 2, 0], [4, 2, 3]])}),
    ("aligned_at_least", ALIGN, {"out": WEIGHTS}, {"out": torch.eye(3)[torch.tensor([[0, 0, 0], [0, 0, 0]])]}),
    ("aligned_at_least", ALIGN, {"out": WEIGHTS}, {"out": 0 * WEIGHTS}),
    ("aligned_at_least", ALIGN, {"out": WEIGHTS}, {"out": WEIGHTS[:, :2]}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "params", "right", "wrong"), CASES)
def test_each_law_holds_and_breaks(name, params, right, wrong):
    use = LawUse(name, params)
    assert broken(use, right) == ""
    assert len(broken(use, wrong)) > 10


def test_what_is_no_tensor_is_said_to_be_none():
    assert "returned None" in broken(LawUse("padded_behind", {"eos": 2, "pad": 0}), {"out": None})
