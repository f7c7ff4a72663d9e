"""A low-rank update on a frozen weight computes what topic 12's layer does."""

from __future__ import annotations

import copy

import torch
from torch import nn

from course import blocks
from course.reference.lora import LoRALinear


def test_an_update_of_a_weight_is_that_of_topic_twelve():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3)).double()
    whole, x = copy.deepcopy(model), torch.randn(11, 5).double()
    assert blocks.add_low_rank(model, 2, 6.0, ("2",)) is model
    torch.testing.assert_close(model(x), whole(x))
    theirs = LoRALinear(whole[2], 2, 6.0)
    update = model[2].parametrizations["weight"][0]
    assert {p for p in model.parameters() if p.requires_grad} == {update.up, update.down}
    with torch.no_grad():
        update.up.normal_()
        theirs.A.copy_(update.down)
        theirs.B.copy_(update.up)
    torch.testing.assert_close(model(x), theirs(torch.tanh(whole[0](x))))
