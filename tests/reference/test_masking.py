"""The reference of topic 09: torch's own masked attention and loss, BERT's shares, leaks found and not invented."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course import blocks
from course.exercise import stand_ins
from course.reference.masking import (
    causal_mask,
    combine_masks,
    leaks_future,
    masked_cross_entropy,
    masked_mean,
    masked_softmax,
    mlm_corrupt,
    padding_mask,
)
from tests.reference.numbers import gradients, noise

DTYPES = [torch.float64, torch.float32]
SIZES = [(2, 3, 5, 7), (1, 1, 1, 1), (3, 2, 1, 11), (5, 1, 7, 2)]
"""B, h, T, D: distinct primes, and corners where a dimension is one."""
slow_torch = settings(max_examples=40)


def ragged(B, T):
    """Lengths from 1 to T, the longest among them."""
    return torch.tensor([1 + (T - 1 + 2 * b) % T for b in range(B)])


# --- masks -----------------------------------------------------------------------------------------------------------


def test_masks_by_hand():
    assert padding_mask(torch.tensor([2, 0, 3]), 3).tolist() == [[True, True, False], [False] * 3, [True] * 3]
    assert causal_mask(3).tolist() == [[True, False, False], [True, True, False], [True] * 3]
    both = combine_masks(padding_mask(torch.tensor([2, 3]), 3), causal_mask(3))
    assert both.shape == (2, 1, 3, 3) and both.dtype == torch.bool
    assert both[0, 0].tolist() == [[True, False, False], [True, True, False], [True, True, False]]
    assert combine_masks(padding_mask(torch.tensor([2, 3]), 3)).tolist() == [[[[True, True, False]]], [[[True] * 3]]]


def test_impossible_masks_are_refused_with_their_shapes():
    with pytest.raises(ValueError, match="7 words does not fit into 5"):
        padding_mask(torch.tensor([2, 7]), 5)
    with pytest.raises(ValueError, match=r"\(2, 5\).*\(3, 4\)"):
        combine_masks(torch.ones(2, 5, dtype=torch.bool), torch.ones(3, 4, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"\(2, 5\)"):
        masked_softmax(noise(3, 5), torch.ones(2, 3, 5, dtype=torch.bool)[:, 0])
    with pytest.raises(ValueError, match=r"\(2, 3, 5\).*\(3, 2\)"):
        masked_mean(noise(2, 3, 5), torch.ones(3, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"\(2, 3, 5\).*\(2, 2\)"):
        masked_cross_entropy(noise(2, 3, 5), torch.zeros(2, 2, dtype=torch.long), torch.ones(2, 3, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"\(2, 3\).*\(3,\)"):
        mlm_corrupt(torch.zeros(2, 3).long(), torch.zeros(3).bool(), 5, 5, torch.Generator())


def test_torch_adds_what_we_call_causal():
    added = nn.Transformer.generate_square_subsequent_mask(7)
    assert torch.equal(added == 0, causal_mask(7))


# --- softmax ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("sizes", SIZES)
def test_attention_with_masks_agrees_with_torch_in_values_and_gradients(sizes, dtype):
    B, h, T, D = sizes
    q, k, v = (noise(B, h, T, D, seed=s, dtype=dtype) for s in range(3))
    mask = combine_masks(padding_mask(ragged(B, T), T), causal_mask(T))
    ours = masked_softmax(q @ k.mT / D**0.5, mask) @ v
    theirs = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradients(ours, [q, k, v]), gradients(theirs, [q, k, v]))
    causal = masked_softmax(q @ k.mT / D**0.5, causal_mask(T)) @ v
    torch.testing.assert_close(causal, F.scaled_dot_product_attention(q, k, v, is_causal=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("dim", [0, 1, 2, -1])
def test_softmax_where_something_is_allowed_is_that_of_the_rest(dim, dtype):
    x = noise(3, 5, 7, dtype=dtype)
    mask = torch.rand(3, 5, 7, generator=torch.Generator().manual_seed(1)) < 0.5
    mask.select(dim, 0).fill_(True)
    ours, theirs = masked_softmax(x, mask, dim), x.masked_fill(~mask, -math.inf).softmax(dim)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradients(ours, [x]), gradients(theirs, [x]))


def test_nothing_allowed_gives_zeros_and_a_gradient_of_zeros():
    x = noise(2, 3)
    weights = masked_softmax(x, torch.tensor([[True, False, True], [False, False, False]]))
    (gradient,) = gradients(weights, [x])
    assert weights[1].tolist() == [0.0] * 3 and gradient[1].tolist() == [0.0] * 3
    assert weights[0, 1] == 0 and gradient[0, 1] == 0 and bool(torch.isfinite(gradient).all())


@slow_torch
@given(seed=st.integers(0, 500), behind=st.sampled_from([0.0, 1e4, -1e4, 1e30]))
def test_what_lies_behind_the_mask_is_never_seen(seed, behind):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(3, 5, generator=generator, dtype=torch.float64)
    mask = torch.rand(3, 5, generator=generator) < 0.5
    other = torch.where(mask, x, behind)
    assert torch.equal(masked_softmax(x, mask), masked_softmax(other, mask))
    assert torch.equal(masked_mean(x[..., None], mask), masked_mean(other[..., None], mask))
    total = masked_softmax(x, mask).sum(-1)
    torch.testing.assert_close(total, mask.any(-1).double())


def test_the_block_does_the_same_with_a_row_of_nobody():
    attend = blocks.MultiHeadAttention(6, 2).double()
    x = noise(2, 5, 6)
    mask = combine_masks(padding_mask(torch.tensor([0, 3]), 5), causal_mask(5))
    _, weights = attend(x, x, mask)
    q, k = (W(x).unflatten(-1, (2, 3)).movedim(2, 1) for W in (attend.W_q, attend.W_k))
    torch.testing.assert_close(weights, masked_softmax(q @ k.mT / 3**0.5, mask))


# --- means and losses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_mean_of_a_sentence_does_not_depend_on_its_neighbours(dtype):
    x, lengths = noise(3, 7, 5, dtype=dtype), [2, 7, 1]
    ours = masked_mean(x, padding_mask(torch.tensor(lengths), 7))
    theirs = torch.stack([x[b, :n].mean(0) for b, n in enumerate(lengths)])
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradients(ours, [x]), gradients(theirs, [x]))
    assert masked_mean(x, torch.zeros(3, 7, dtype=torch.bool)).tolist() == [[0.0] * 5] * 3


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "T", "V"), [(3, 5, 7), (1, 1, 2), (7, 2, 3), (2, 11, 13)])
def test_the_loss_agrees_with_torch_and_ignore_index(B, T, V, dtype):
    logits = noise(B, T, V, dtype=dtype)
    targets = torch.randint(V, (B, T), generator=torch.Generator().manual_seed(2))
    mask = padding_mask(ragged(B, T), T)
    ours = masked_cross_entropy(logits, targets, mask)
    theirs = F.cross_entropy(logits.flatten(0, 1), targets.masked_fill(~mask, -100).flatten())
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradients(ours, [logits]), gradients(theirs, [logits]))


def test_the_loss_survives_huge_logits():
    logits = torch.tensor([[[1e4, -1e4, 0.0], [1e30, 1.0, 2.0]]], dtype=torch.float64)
    mask = torch.tensor([[True, False]])
    assert masked_cross_entropy(logits, torch.tensor([[2, 1]]), mask) == pytest.approx(1e4)


# --- BERT's game -----------------------------------------------------------------------------------------------------


def test_eighty_ten_ten():
    ids = torch.randint(1, 1000, (400, 500), generator=torch.Generator().manual_seed(3))
    special = ids % 7 == 0
    inputs, labels = mlm_corrupt(ids, special, 1000, 0, torch.Generator().manual_seed(4))
    asked = labels != -100
    assert torch.equal(labels[asked], ids[asked]) and torch.equal(inputs[~asked], ids[~asked])
    assert not (asked & special).any()
    assert asked[~special].double().mean() == pytest.approx(0.15, abs=0.003)
    masked, same = inputs[asked] == 0, inputs[asked] == ids[asked]
    assert masked.double().mean() == pytest.approx(0.8, abs=0.01)
    assert same.double().mean() == pytest.approx(0.1, abs=0.01)
    assert (~masked & ~same).double().mean() == pytest.approx(0.1, abs=0.01)


@pytest.mark.parametrize("shape", [(), (5,), (2, 3, 7), (0, 4)])
@pytest.mark.parametrize("p", [0.0, 1.0])
def test_any_shape_and_the_extremes(shape, p):
    ids = torch.ones(shape, dtype=torch.long)
    _, labels = mlm_corrupt(ids, torch.zeros(shape, dtype=torch.bool), 3, 3, torch.Generator().manual_seed(0), p)
    assert torch.equal(labels, ids if p else torch.full(shape, -100))


def test_coins_are_thrown_on_the_generators_device_and_used_where_the_ids_are():
    ids, special = torch.zeros(2, 3, dtype=torch.long, device="meta"), torch.zeros(2, 3).bool().to("meta")
    inputs, labels = mlm_corrupt(ids, special, 5, 5, torch.Generator().manual_seed(0))
    assert inputs.device.type == labels.device.type == "meta"


# --- leaks -----------------------------------------------------------------------------------------------------------


class Reader(nn.Module):
    """One layer of torch's own, with or without its mask."""

    def __init__(self, causal, norm=None):
        super().__init__()
        self.words = nn.Embedding(11, 8)
        self.layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True, norm_first=True)
        self.causal = causal
        self.norm = norm

    def forward(self, ids):
        x = self.words(ids)
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1]) if self.causal else None
        y = self.layer(x, src_mask=mask)
        return y if self.norm is None else y - self.norm * y.mean(1, keepdim=True)


@pytest.mark.parametrize(("causal", "norm", "leaks"), [(True, None, False), (False, None, True), (True, 0.01, True)])
def test_leaks_in_torchs_own_layer_are_found(causal, norm, leaks):
    torch.manual_seed(0)
    ids = torch.randint(11, (3, 7), generator=torch.Generator().manual_seed(5))
    with torch.no_grad():
        assert leaks_future(Reader(causal, norm).eval(), ids) is leaks


@pytest.mark.parametrize(
    ("name", "parameters", "leaks"),
    [
        ("mean_so_far", {}, False),
        ("mean_of_all", {}, True),
        ("mean_of_all", {"size": 1e-8}, False),
        ("looking_ahead", {"by": -2}, False),
        ("looking_ahead", {"by": 3}, True),
        ("peeking_at", {"place": 0, "seen": 6}, True),
        ("balanced_peek", {}, True),
    ],
)
def test_leaks_of_every_kind_are_found(name, parameters, leaks):
    ids = torch.stack([torch.randperm(7, generator=torch.Generator().manual_seed(s)) for s in range(2)])
    model = stand_ins.MAKERS[name](noise(7, 5).detach(), **parameters)
    assert leaks_future(model, ids) is leaks


def test_a_text_without_two_different_words_betrays_nothing():
    for ids in (torch.full((2, 5), 3), torch.zeros(0, 5, dtype=torch.long)):
        with pytest.raises(ValueError, match="no two different tokens"):
            leaks_future(lambda ids: ids.double(), ids)
    assert not leaks_future(lambda ids: ids.double(), torch.full((2, 1), 3))


def test_ids_are_left_alone_and_no_other_words_are_used():
    seen = []
    ids = torch.tensor([[3, 9, 3, 9, 9]])
    leaks_future(lambda ids: (seen.append(ids), torch.zeros(1, 5, 2))[1], ids)
    assert ids.tolist() == [[3, 9, 3, 9, 9]] and all(set(tried.flatten().tolist()) <= {3, 9} for tried in seen)
