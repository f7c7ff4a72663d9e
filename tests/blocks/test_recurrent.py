"""Networks to compare with: topic 03's computes what its reference does, the other what its cell does."""

from __future__ import annotations

import torch

from course import blocks
from course.reference.lstm_gru import gated_cell
from course.reference.rnn import ElmanClassifier


def test_the_block_is_the_reference():
    block, reference = blocks.ElmanClassifier(10, 7, 3).double(), ElmanClassifier(10, 7, 3).double()
    with torch.no_grad():
        block.rnn.weight_ih_l0.copy_(reference.from_input.weight)
        block.rnn.weight_hh_l0.copy_(reference.from_state.weight)
        block.rnn.bias_ih_l0.copy_(reference.from_input.bias)
        block.rnn.bias_hh_l0.zero_()
        block.readout.load_state_dict(reference.to_classes.state_dict())
    ids, lengths = torch.randint(10, (5, 6), generator=torch.Generator().manual_seed(0)), torch.tensor([6, 1, 3, 5, 2])
    torch.testing.assert_close(block(ids, lengths), reference(ids, lengths))


def test_one_gate_runs_the_cell_it_is_given_to_the_last_real_token():
    model = blocks.OneGate(gated_cell, 10, 7, 3)
    ids, lengths = torch.randint(10, (5, 6), generator=torch.Generator().manual_seed(0)), torch.tensor([6, 1, 3, 5, 2])
    logits = model(ids, lengths)
    for row, length in enumerate(lengths.tolist()):
        h = torch.zeros(1, 7)
        for token in ids[row, :length]:
            h = gated_cell(torch.nn.functional.one_hot(token, 10)[None].float(), h, *model.weights)
        torch.testing.assert_close(logits[row], model.readout(h)[0])
    assert set(dict(model.named_parameters())) >= {f"weights.{k}" for k in range(6)}
