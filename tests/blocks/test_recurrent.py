"""Topic 03's network as later notebooks get it computes what topic 03's reference computes."""

from __future__ import annotations

import torch

from course import blocks
from course.reference.rnn import ElmanClassifier


def test_the_block_is_the_reference():
    block, reference = blocks.ElmanClassifier(10, 7, 3).double(), ElmanClassifier(10, 7, 3).double()
    with torch.no_grad():
        block.rnn.weight_ih_l0.copy_(reference.from_input.weight)
        block.rnn.weight_hh_l0.copy_(reference.from_state.weight)
        block.rnn.bias_ih_l0.copy_(reference.from_input.bias)
        block.rnn.bias_hh_l0.zero_()
        block.to_classes.load_state_dict(reference.to_classes.state_dict())
    ids, lengths = torch.randint(10, (5, 6), generator=torch.Generator().manual_seed(0)), torch.tensor([6, 1, 3, 5, 2])
    torch.testing.assert_close(block(ids, lengths), reference(ids, lengths))
