"""The reference against torch's own layer, values and gradients, and against the laws attention obeys."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F
from torch.utils.flop_counter import FlopCounterMode

from course.reference.self_attention import (
    attention_cost,
    attention_for_one,
    crossover_length,
    is_permutation_equivariant,
    recall_by_hand,
    scaled_dot_product_attention,
    self_attention,
    softmax,
)
from tests.reference.numbers import gradients, noise

SIZES = [(2, 3, 5, 7, 11), (1, 1, 1, 1, 1), (3, 1, 13, 2, 1), (2, 11, 1, 3, 5), (5, 7, 2, 64, 3)]
"""B, T, S, D, Dv: distinct primes, and the corners where a dimension is one."""

DTYPES = [torch.float32, torch.float64]
sizes = st.integers(1, 7)
slow_torch = settings(max_examples=40)


# --- softmax ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2, -1, -2])
def test_softmax_agrees_with_torch_in_values_and_gradients(dim, dtype):
    x = noise(3, 5, 2, dtype=dtype)
    ours, theirs = softmax(x, dim), torch.softmax(x, dim)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradients(ours, [x]), gradients(theirs, [x]))


def test_softmax_survives_huge_logits():
    x = torch.tensor([[1e4, 1e4 - 1.0, -1e4], [-1e4, -1e4, -1e4]], dtype=torch.float64)
    torch.testing.assert_close(softmax(x, dim=-1), torch.softmax(x, dim=-1))


def test_softmax_gives_no_weight_to_minus_infinity():
    x = torch.tensor([[-math.inf, 3.0, -math.inf]], requires_grad=True)
    weights = softmax(x, dim=-1)
    assert weights.tolist() == [[0.0, 1.0, 0.0]]
    assert torch.autograd.grad(weights[0, 1], x)[0].tolist() == [[0.0, 0.0, 0.0]]


def test_softmax_takes_non_contiguous_input():
    x = noise(5, 3).T
    torch.testing.assert_close(softmax(x, dim=0), torch.softmax(x, dim=0))


@slow_torch
@given(rows=sizes, columns=sizes, shift=st.floats(-500, 500), seed=st.integers(0, 99))
def test_softmax_is_a_distribution_and_ignores_a_shift(rows, columns, shift, seed):
    x = noise(rows, columns, seed=seed).detach()
    weights = softmax(x, dim=1)
    torch.testing.assert_close(weights.sum(1), torch.ones(rows, dtype=x.dtype))
    torch.testing.assert_close(softmax(x + shift, dim=1), weights, rtol=1e-9, atol=1e-12)


# --- attention -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("B, T, S, D, Dv", SIZES)
def test_attention_agrees_with_torch_in_values_and_gradients(B, T, S, D, Dv, dtype):
    q, k, v = (
        noise(B, T, D, seed=1, dtype=dtype),
        noise(B, S, D, seed=2, dtype=dtype),
        noise(B, S, Dv, seed=3, dtype=dtype),
    )
    ours, _ = scaled_dot_product_attention(q, k, v)
    theirs = F.scaled_dot_product_attention(q, k, v)
    assert ours.dtype == dtype
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradients(ours, [q, k, v]), gradients(theirs, [q, k, v]), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("B, T, S, D, Dv", SIZES)
def test_the_weights_are_torchs_softmax_of_the_scaled_scores(B, T, S, D, Dv):
    q, k, v = noise(B, T, D, seed=1), noise(B, S, D, seed=2), noise(B, S, Dv, seed=3)
    output, weights = scaled_dot_product_attention(q, k, v)
    assert weights.shape == (B, T, S)
    torch.testing.assert_close(weights, torch.softmax(torch.einsum("btd,bsd->bts", q, k) * D**-0.5, dim=2))
    torch.testing.assert_close(output, torch.einsum("bts,bsd->btd", weights, v))


@pytest.mark.parametrize("B, T, S, D, Dv", SIZES)
def test_one_word_at_a_time_is_all_words_at_once(B, T, S, D, Dv):
    q, k, v = noise(B, T, D, seed=1), noise(B, S, D, seed=2), noise(B, S, Dv, seed=3)
    output, _ = scaled_dot_product_attention(q, k, v)
    one_by_one = [[attention_for_one(q[b, i], k[b], v[b]) for i in range(T)] for b in range(B)]
    torch.testing.assert_close(torch.stack([torch.stack(row) for row in one_by_one]), output)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("B, T, D_in, D, Dv", SIZES)
def test_self_attention_agrees_with_torchs_linear_and_attention(B, T, D_in, D, Dv, dtype):
    x = noise(B, T, D_in, seed=1, dtype=dtype)
    weights = [noise(width, D_in, seed=2 + i, dtype=dtype) for i, width in enumerate((D, D, Dv))]
    ours = self_attention(x, *weights)
    theirs = F.scaled_dot_product_attention(*(F.linear(x, W) for W in weights))
    assert ours.shape == (B, T, Dv) and ours.dtype == dtype
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(gradients(ours, [x, *weights]), gradients(theirs, [x, *weights]), rtol=1e-3, atol=1e-4)


def test_self_attention_is_torchs_multihead_attention_with_one_head():
    B, T, D = 2, 5, 7
    layer = nn.MultiheadAttention(D, num_heads=1, bias=False, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.out_proj.weight.copy_(torch.eye(D))
    x = noise(B, T, D, seed=4)
    torch.testing.assert_close(self_attention(x, *layer.in_proj_weight.chunk(3)), layer(x, x, x)[0])


@slow_torch
@given(B=sizes, T=sizes, S=sizes, D=sizes, seed=st.integers(0, 99))
def test_outputs_are_averages_of_values(B, T, S, D, seed):
    q, k, v = noise(B, T, D, seed=seed), noise(B, S, D, seed=seed + 1), noise(B, S, 3, seed=seed + 2)
    output, weights = scaled_dot_product_attention(q, k, v)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(B, T, dtype=q.dtype))
    assert (output <= v.amax(1, keepdim=True) + 1e-12).all() and (output >= v.amin(1, keepdim=True) - 1e-12).all()


@slow_torch
@given(T=sizes, D=sizes, seed=st.integers(0, 99))
def test_self_attention_is_permutation_equivariant(T, D, seed):
    x = noise(2, T, D, seed=seed).detach()
    W = [noise(3, D, seed=seed + i).detach() for i in (1, 2, 3)]
    order = torch.randperm(T, generator=torch.Generator().manual_seed(seed))
    assert is_permutation_equivariant(lambda words: self_attention(words, *W), x, order)


def test_a_score_of_unit_noise_has_variance_one():
    """The lecture's training trick #3: variance D before the division, 1 after, at every width."""
    for D in (4, 64, 1024):
        q, k = noise(2000, D, seed=1).detach(), noise(2000, D, seed=2).detach()
        scores = (q * k).sum(-1)
        assert scores.var().item() == pytest.approx(D, rel=0.15)
        assert (scores / math.sqrt(D)).var().item() == pytest.approx(1.0, rel=0.15)


def test_inputs_are_left_as_they_were():
    q, k, v = noise(2, 3, 7, seed=1), noise(2, 5, 7, seed=2), noise(2, 5, 11, seed=3)
    before = [tensor.detach().clone() for tensor in (q, k, v)]
    scaled_dot_product_attention(q, k, v)
    assert all(torch.equal(tensor.detach(), copy) for tensor, copy in zip((q, k, v), before, strict=True))


@pytest.mark.parametrize(
    "shapes", [((2, 3, 7), (2, 5, 6), (2, 5, 4)), ((2, 3, 7), (2, 5, 7), (2, 4, 4)), ((3, 7), (5, 7), (5, 4))]
)
def test_impossible_shapes_are_named(shapes):
    with pytest.raises(ValueError, match=r"\(.*\)"):
        scaled_dot_product_attention(*(torch.zeros(shape) for shape in shapes))


def test_impossible_shapes_for_one_word_and_for_weights_are_named():
    with pytest.raises(ValueError, match=r"\(3,\).*\(5, 2\)"):
        attention_for_one(torch.zeros(3), torch.zeros(5, 2), torch.zeros(5, 4))
    with pytest.raises(ValueError, match=r"\(1, 3\)"):
        attention_for_one(torch.zeros(1, 3), torch.zeros(5, 3), torch.zeros(5, 4))
    with pytest.raises(ValueError, match=r"W_v.*\(3, 6\)"):
        self_attention(torch.zeros(2, 5, 7), torch.zeros(3, 7), torch.zeros(3, 7), torch.zeros(3, 6))


# --- costs and order -------------------------------------------------------------------------------------------------


def test_table_1_of_the_paper():
    """n = 70, d = 512: a sentence of the translation data; n = 1024, d = 64: a long text in a narrow layer."""
    assert attention_cost(70, 512) == {"self_attention": 70 * 70 * 512, "recurrent": 70 * 512 * 512}
    assert attention_cost(70, 512)["self_attention"] < attention_cost(70, 512)["recurrent"]
    assert attention_cost(1024, 64)["self_attention"] > attention_cost(1024, 64)["recurrent"]


@pytest.mark.parametrize("d", [1, 2, 8])
def test_torchs_own_layers_cost_the_same_at_the_crossover(d):
    """torch counts what its encoder layer multiplies, and what its LSTM cell and a feed-forward network do."""
    attention = nn.TransformerEncoderLayer(d, 1, 4 * d, batch_first=True)
    cell = nn.LSTMCell(d, d)
    feed_forward = nn.Sequential(nn.Linear(d, 4 * d), nn.ReLU(), nn.Linear(4 * d, d))

    def recurrent(words):
        state = None
        for word in words.unbind(1):
            state = cell(word, state)
        feed_forward(words)

    def is_dearer(n):
        words = torch.zeros(1, n, d)
        return _flops(attention, words) - _flops(recurrent, words)

    n = crossover_length(d)
    assert isinstance(n, float) and n.is_integer()
    assert is_dearer(int(n)) == 0 < is_dearer(int(n) + 1)


def _flops(layer, words):
    with FlopCounterMode(display=False) as counter:
        layer(words)
    return counter.get_total_flops()


def test_what_is_equivariant_and_what_is_not():
    x, order = noise(2, 5, 3).detach(), torch.tensor([3, 0, 4, 1, 2])
    assert is_permutation_equivariant(torch.tanh, x, order)
    assert is_permutation_equivariant(lambda words: words - words.mean(1, keepdim=True), x, order)
    assert not is_permutation_equivariant(lambda words: words.cumsum(1), x, order)
    assert not is_permutation_equivariant(lambda words: words + torch.arange(5)[:, None], x, order)
    assert not is_permutation_equivariant(
        lambda words: words.mean(1, keepdim=True) + 0 * words[:, :1] - words.flip(1), x, order
    )
    assert not is_permutation_equivariant(lambda words: words + 1e-3 * torch.arange(5)[:, None], x, order)
    assert is_permutation_equivariant(lambda words: words + 1e-6 * torch.arange(5)[:, None], x, order)


def test_no_permutation_is_refused():
    with pytest.raises(ValueError, match="no permutation"):
        is_permutation_equivariant(torch.tanh, torch.zeros(1, 3, 2), torch.tensor([0, 0, 2]))


def test_weights_chosen_by_hand_recall_every_pair():
    from course.data import recall

    keys, values, query, answer = recall.draw(500, torch.Generator().manual_seed(1), slots=20)
    assert torch.equal(recall_by_hand(keys, values, query).argmax(-1), answer)
