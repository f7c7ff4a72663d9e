"""The block of several heads is torch's own layer, and knows of places only what it is told."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from course import blocks


def pair(width=6, heads=3):
    """Our block and torch's layer with the same weights."""
    ours, theirs = blocks.MultiHeadAttention(width, heads), nn.MultiheadAttention(width, heads, batch_first=True)
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_()
        for i, layer in enumerate((ours.W_q, ours.W_k, ours.W_v)):
            layer.weight.copy_(theirs.in_proj_weight.chunk(3)[i])
            layer.bias.copy_(theirs.in_proj_bias.chunk(3)[i])
        ours.W_o.load_state_dict(theirs.out_proj.state_dict())
    return ours.double(), theirs.double()


def test_it_agrees_with_torch():
    torch.manual_seed(0)
    ours, theirs = pair()
    x_q, x_kv = torch.randn(2, 5, 6).double(), torch.randn(2, 7, 6).double()
    mask = torch.rand(5, 7) > 0.3
    mask[:, 0] = True
    for allowed in (None, mask):
        blocked = None if allowed is None else ~allowed
        expected = theirs(x_q, x_kv, x_kv, attn_mask=blocked, average_attn_weights=False)
        torch.testing.assert_close(ours(x_q, x_kv, allowed), expected)


def test_a_row_with_nothing_allowed_gives_zeros_and_no_nan_in_the_gradient():
    layer = blocks.MultiHeadAttention(4, 2, bias=False)
    x = torch.randn(2, 3, 4, requires_grad=True)
    mask = torch.ones(2, 1, 3, 3, dtype=torch.bool)
    mask[1, :, 2] = False
    for bias in (None, torch.zeros(2, 3, 3)):
        out, weights = layer(x, x, mask, score_bias=bias)
        assert (out[1, 2] == 0).all() and (weights[1, :, 2] == 0).all()
        (gradient,) = torch.autograd.grad(out.sum(), x)
        assert gradient.isfinite().all()


def test_a_bias_is_added_to_the_scores_and_goes_together_with_a_mask():
    layer = blocks.MultiHeadAttention(4, 2)
    x = torch.randn(1, 3, 4)
    future = torch.zeros(2, 3, 3).masked_fill(torch.ones(3, 3).triu(1).bool(), -math.inf)
    below = torch.ones(3, 3).tril().bool()
    torch.testing.assert_close(layer(x, x, score_bias=future), layer(x, x, below))
    torch.testing.assert_close(layer(x, x, below, score_bias=torch.zeros(2, 3, 3)), layer(x, x, below))
    plain, shifted = layer(x, x)[1], layer(x, x, score_bias=torch.tensor([[2.0, 1.0, 1.0]]).log())[1]
    ratio = (shifted[..., 0] / shifted[..., 1]) / (plain[..., 0] / plain[..., 1])
    torch.testing.assert_close(ratio, torch.full_like(ratio, 2.0))


def test_queries_and_keys_are_rotated_and_values_are_not():
    layer = blocks.MultiHeadAttention(4, 2)
    x, seen = torch.randn(1, 3, 4), []
    out, weights = layer(x, x, rotate=lambda heads: seen.append(heads.shape) or -heads)
    assert seen == [(1, 2, 3, 2), (1, 2, 3, 2)]
    torch.testing.assert_close((out, weights), layer(x, x))


def test_heads_share_the_width_equally():
    for heads in (3, 0, -2):
        with pytest.raises(ValueError, match=f"{heads} heads cannot share a width of 4"):
            blocks.MultiHeadAttention(4, heads)
