"""The layer of an encoder is torch's own, with weights one can look at."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course import blocks


def pair(norm, width=6, heads=3, hidden=11):
    """Our layer and torch's with the same weights, in double precision, without dropout."""
    ours = blocks.EncoderLayer(width, heads, hidden, dropout=0.0, norm=norm)
    theirs = nn.TransformerEncoderLayer(width, heads, hidden, dropout=0.0, batch_first=True, norm_first=norm == "pre")
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_()
        for i, layer in enumerate((ours.self_attention.W_q, ours.self_attention.W_k, ours.self_attention.W_v)):
            layer.weight.copy_(theirs.self_attn.in_proj_weight.chunk(3)[i])
            layer.bias.copy_(theirs.self_attn.in_proj_bias.chunk(3)[i])
        ours.self_attention.W_o.load_state_dict(theirs.self_attn.out_proj.state_dict())
        for mine, other in ((ours.up, theirs.linear1), (ours.down, theirs.linear2)):
            mine.load_state_dict(other.state_dict())
        for mine, other in ((ours.norm1, theirs.norm1), (ours.norm2, theirs.norm2)):
            mine.load_state_dict(other.state_dict())
    return ours.double(), theirs.double()


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_it_agrees_with_torch(norm):
    torch.manual_seed(0)
    ours, theirs = pair(norm)
    x = torch.randn(2, 5, 6).double()
    below = torch.ones(5, 5).tril().bool()
    torch.testing.assert_close(ours(x), theirs(x))
    torch.testing.assert_close(ours(x, below), theirs(x, src_mask=~below))


def test_the_weights_of_the_last_call_can_be_looked_at():
    layer = blocks.EncoderLayer(6, 3, 11)
    assert layer.weights is None
    layer(torch.randn(2, 5, 6), torch.ones(5, 5).tril().bool())
    assert layer.weights.shape == (2, 3, 5, 5) and not layer.weights.requires_grad
    torch.testing.assert_close(layer.weights.sum(-1), torch.ones(2, 3, 5))
    assert (layer.weights.triu(1) == 0).all()


def test_dropout_is_for_training_only():
    layer, x = blocks.EncoderLayer(6, 3, 11, dropout=0.5), torch.randn(2, 5, 6)
    assert not torch.equal(layer(x), layer(x))
    layer.eval()
    assert torch.equal(layer(x), layer(x))


def test_another_norm_is_refused():
    with pytest.raises(ValueError, match="'post' or 'pre', not 'middle'"):
        blocks.EncoderLayer(6, 3, 11, norm="middle")
