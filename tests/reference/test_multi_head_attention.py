"""The reference against torch's own layer, values and gradients, masks and none, and against what heads promise."""

from __future__ import annotations

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course.data import relations
from course.reference.multi_head_attention import (
    MultiHeadAttention,
    merge_heads,
    multi_head_attention,
    multi_head_parameters,
    relations_by_hand,
    split_heads,
)
from course.reference.self_attention import attention_cost, self_attention
from tests.reference import numbers
from tests.reference.numbers import gradients

noise = partial(numbers.noise, requires_grad=False)

SIZES = [(2, 3, 5, 2, 7), (1, 1, 1, 1, 1), (3, 1, 13, 5, 1), (2, 11, 1, 3, 2), (5, 7, 2, 1, 11), (2, 3, 3, 8, 8)]
"""B, T, S, h, d: distinct primes, and the corners where a dimension is one."""
DTYPES = [torch.float32, torch.float64]
sizes = st.integers(1, 6)


def torch_layer(D: int, heads: int, dtype: torch.dtype, bias: bool = True) -> nn.MultiheadAttention:
    """torch's layer with noise in every parameter: its own biases would be zero."""
    layer = nn.MultiheadAttention(D, heads, bias=bias, batch_first=True, dtype=dtype)
    with torch.no_grad():
        for number, parameter in enumerate(layer.parameters()):
            parameter.copy_(noise(*parameter.shape, seed=number, dtype=dtype) / D**0.5)
    return layer


# -- splitting and merging -------------------------------------------------------------------------------------------


def test_head_i_owns_the_ith_share_of_every_word():
    x = noise(2, 3, 10)
    heads = split_heads(x, 5)
    assert heads.shape == (2, 5, 3, 2)
    for i in range(5):
        torch.testing.assert_close(heads[:, i], x[..., 2 * i : 2 * i + 2])


@settings(max_examples=40)
@given(B=sizes, T=sizes, heads=sizes, d=sizes)
def test_merging_undoes_splitting(B, T, heads, d):
    x = noise(B, T, heads * d)
    assert torch.equal(merge_heads(split_heads(x, heads)), x)
    parts = noise(B, heads, T, d)
    assert torch.equal(split_heads(merge_heads(parts), heads), parts)


def test_both_take_memory_that_is_not_contiguous():
    x = noise(6, 3, 2).permute(2, 1, 0)
    assert torch.equal(merge_heads(split_heads(x, 3)), x)


# -- attention -------------------------------------------------------------------------------------------------------


def masks(B: int, T: int, S: int, heads: int) -> list[torch.Tensor | None]:
    """None, a mask for all, one for each sentence's keys, one for every head; the first key is always allowed."""
    shapes = [(T, S), (B, 1, 1, S), (B, heads, T, S)]
    found: list[torch.Tensor | None] = [None]
    for number, shape in enumerate(shapes):
        allowed = noise(*shape, seed=20 + number) > 0
        allowed[..., 0] = True
        found.append(allowed)
    return found


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "T", "S", "heads", "d"), SIZES)
def test_the_layer_agrees_with_torch(B, T, S, heads, d, dtype, bias):
    D = heads * d
    theirs = torch_layer(D, heads, dtype, bias)
    ours = MultiHeadAttention(D, heads, bias).to(dtype)
    assert ours.load_torch(theirs.state_dict()) is ours
    for allowed in masks(B, T, S, heads):
        x_q, x_kv = noise(B, T, D, seed=7, dtype=dtype), noise(B, S, D, seed=8, dtype=dtype)
        blocked = None
        if allowed is not None:
            blocked = ~allowed.expand(B, heads, T, S).reshape(B * heads, T, S)
        results = []
        for layer in (
            lambda q, kv, allowed=allowed: ours(q, kv, allowed),
            lambda q, kv, blocked=blocked: theirs(q, kv, kv, attn_mask=blocked, average_attn_weights=False),
        ):
            q, kv = x_q.clone().requires_grad_(), x_kv.clone().requires_grad_()
            out, weights = layer(q, kv)
            results.append((out, weights, *gradients(out, [q, kv])))
        within = 1e-4 if dtype is torch.float32 else 1e-9
        torch.testing.assert_close(results[0], results[1], rtol=within, atol=within)


def test_the_layers_parameters_get_torchs_gradients():
    theirs, ours = torch_layer(6, 3, torch.float64), MultiHeadAttention(6, 3).double()
    ours.load_torch(theirs.state_dict())
    x = noise(2, 5, 6)
    one = gradients(ours(x, x)[0], list(ours.parameters()))  # W_q, W_k, W_v, W_o: weight and bias each
    other = gradients(theirs(x, x, x)[0], [parameter for _, parameter in theirs.named_parameters()])
    in_weight, in_bias, out_weight, out_bias = other
    torch.testing.assert_close((torch.cat(one[0:6:2]), torch.cat(one[1:6:2])), (in_weight, in_bias))
    torch.testing.assert_close((one[6], one[7]), (out_weight, out_bias))


def test_loading_copies():
    theirs, ours = torch_layer(4, 2, torch.float32), MultiHeadAttention(4, 2)
    ours.load_torch(theirs.state_dict())
    x = noise(1, 3, 4, dtype=torch.float32)
    before = ours(x, x)[0]
    with torch.no_grad():
        theirs.in_proj_weight.zero_()
    torch.testing.assert_close(ours(x, x)[0], before)


def test_function_and_layer_are_the_same():
    layer = MultiHeadAttention(6, 2, bias=False).double()
    x_q, x_kv = noise(3, 5, 6), noise(3, 7, 6, seed=1)
    matrices = [W.weight for W in (layer.W_q, layer.W_k, layer.W_v, layer.W_o)]
    torch.testing.assert_close(multi_head_attention(x_q, x_kv, *matrices, 2), layer(x_q, x_kv))


def test_one_head_is_self_attention():
    x, W = noise(2, 5, 3), noise(4, 3, 3, seed=1)
    out, _ = multi_head_attention(x, x, *W, n_heads=1)
    torch.testing.assert_close(out, self_attention(x, *W[:3]) @ W[3].T)


def test_a_row_with_nothing_allowed_gives_zeros_in_the_gradient_too():
    x = noise(2, 3, 4).requires_grad_()
    mask = torch.ones(2, 1, 3, 3, dtype=torch.bool)
    mask[1, :, 2] = False
    out, weights = multi_head_attention(x, x, *noise(4, 4, 4, seed=1), n_heads=2, mask=mask)
    assert (out[1, 2] == 0).all() and (weights[1, :, 2] == 0).all()
    (gradient,) = torch.autograd.grad(out.sum(), x)
    assert gradient.isfinite().all()


def test_what_lies_behind_a_mask_does_not_matter():
    x, W = noise(2, 5, 6), noise(4, 6, 6, seed=1)
    mask = torch.arange(5) < torch.tensor([3, 4])[:, None, None, None]
    loud = torch.where(mask[:, 0, 0, :, None], x, 1e6)
    for one, other in zip(
        multi_head_attention(x, x, *W, 3, mask), multi_head_attention(x, loud, *W, 3, mask), strict=True
    ):
        torch.testing.assert_close(one, other)


@pytest.mark.parametrize("heads", [4, 5, 0])
def test_heads_must_divide_the_width(heads):
    for attempt in (
        lambda: split_heads(noise(1, 2, 6), heads),
        lambda: multi_head_attention(noise(1, 2, 6), noise(1, 2, 6), *noise(4, 6, 6), heads),
        lambda: MultiHeadAttention(6, heads),
        lambda: multi_head_parameters(6, heads, True),
    ):
        with pytest.raises(ValueError, match=f"{heads} heads cannot share a width of 6"):
            attempt()


# -- what it costs ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("D", "heads"), [(6, 1), (6, 2), (6, 6), (35, 7)])
def test_parameters_are_counted_as_torch_has_them(D, heads, bias):
    theirs = nn.MultiheadAttention(D, heads, bias=bias)
    assert multi_head_parameters(D, heads, bias) == sum(p.numel() for p in theirs.parameters())
    assert multi_head_parameters(D, heads, bias) == sum(
        p.numel() for p in MultiHeadAttention(D, heads, bias).parameters()
    )


def test_the_papers_layer():
    """Width 512: the same number of parameters with any number of heads, and the price of one head of full width."""
    assert {multi_head_parameters(512, heads, False) for heads in (1, 2, 4, 8, 16, 32)} == {4 * 512**2}
    whole = attention_cost(70, 512)["self_attention"]
    assert all(heads * attention_cost(70, 512 // heads)["self_attention"] == whole for heads in (1, 8, 64))


# -- the task --------------------------------------------------------------------------------------------------------


def test_two_heads_chosen_by_hand_answer_everything():
    *asked, answers = relations.draw(200, torch.Generator().manual_seed(1))
    assert torch.equal(relations_by_hand(*asked).argmax(-1), answers)
