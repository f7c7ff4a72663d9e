"""The reference against torch's own functions and layers, values and gradients, and against laws of its own."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F

from course.reference.bahdanau_attention import (
    AttentionSeq2Seq,
    additive_scores,
    alignment_error_rate,
    attend,
    dot_scores,
    general_scores,
    shift_right,
)
from tests.reference.numbers import close, close_gradients, noise

SIZES = [(2, 3, 5, 7, 11), (1, 1, 1, 1, 1), (5, 1, 2, 3, 7), (3, 13, 1, 2, 1), (2, 5, 7, 1, 3)]
"""B, S, Q, K, A: distinct primes, and the corners where a dimension is one."""
DTYPES = [torch.float32, torch.float64]
sizes = st.integers(1, 6)
few = settings(max_examples=40)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "S", "Q", "K", "A"), SIZES)
def test_additive_scores_are_bahdanaus_equation_for_each_place(B, S, Q, K, A, dtype):
    leaves = [noise(*shape, seed=k, dtype=dtype) for k, shape in enumerate([(B, Q), (B, S, K), (A, Q), (A, K), (A,)])]
    query, keys, W_q, W_k, v = leaves
    ours = additive_scores(*leaves)
    rows = [[v.dot(torch.tanh(W_q.mv(query[b]) + W_k.mv(keys[b, j]))) for j in range(S)] for b in range(B)]
    theirs = torch.stack([torch.stack(row) for row in rows])
    assert ours.dtype == dtype
    close(ours, theirs)
    close_gradients(ours, theirs, leaves)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "S", "Q", "K", "A"), SIZES)
def test_general_scores_are_torchs_bilinear_form(B, S, Q, K, A, dtype):
    leaves = [noise(B, Q, dtype=dtype), noise(B, S, K, dtype=dtype), noise(Q, K, seed=3, dtype=dtype)]
    query, keys, W = leaves
    theirs = F.bilinear(query[:, None].expand(B, S, Q).contiguous(), keys, W[None])[..., 0]
    ours = general_scores(*leaves)
    close(ours, theirs)
    close_gradients(ours, theirs, leaves)
    if Q == K:
        close(general_scores(query, keys, torch.eye(Q, dtype=dtype)), dot_scores(query, keys))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "S", "D"), [(2, 3, 5), (1, 1, 1), (3, 13, 2), (5, 7, 1)])
def test_dot_scores_attended_are_torchs_attention_without_its_scale(B, S, D, dtype):
    query, keys, values = (noise(*shape, seed=k, dtype=dtype) for k, shape in enumerate([(B, D), (B, S, D), (B, S, D)]))
    mask = torch.rand(B, S, generator=torch.Generator().manual_seed(1)) < 0.6
    mask[:, -1] = True
    ours, weights = attend(dot_scores(query, keys), values, mask)
    theirs = F.scaled_dot_product_attention(query[:, None], keys, values, attn_mask=mask[:, None], scale=1.0)[:, 0]
    close(ours, theirs)
    close_gradients(ours, theirs, [query, keys, values])
    assert weights.dtype == dtype and not weights[~mask].any()
    close(weights.sum(1), torch.ones(B, dtype=dtype))


@few
@given(sizes, sizes, sizes, st.integers(0, 10_000))
def test_what_lies_behind_the_mask_counts_for_nothing(B, S, D, seed):
    scores, values = noise(B, S, seed=seed).detach(), noise(B, S, D, seed=seed).detach()
    mask = torch.rand(B, S, generator=torch.Generator().manual_seed(seed)) < 0.5
    found = attend(scores, values, mask)
    other = attend(torch.where(mask, scores, scores + 1e6), torch.where(mask[:, :, None], values, -3.0), mask)
    for a, b in zip(found, other, strict=True):
        close(a, b)
    close(found[1].sum(1), mask.any(1).double())


def test_nothing_allowed_is_nothing_and_harmless_on_the_way_back():
    scores, values = noise(3, 5), noise(3, 5, 2)
    mask = torch.tensor([[True] * 5, [False] * 5, [True] + [False] * 4])
    context, weights = attend(scores, values, mask)
    assert not context[1].any() and not weights[1].any()
    gradients = torch.autograd.grad(context.sum() + (weights * noise(3, 5, seed=4)).sum(), [scores, values])
    assert all(gradient.isfinite().all() and not gradient[1].any() for gradient in gradients)


def test_shift_right():
    targets = torch.tensor([[7, 5, 2], [4, 2, 0]])
    assert shift_right(targets, 1).tolist() == [[1, 7, 5], [1, 4, 2]]
    assert targets.tolist() == [[7, 5, 2], [4, 2, 0]]
    assert shift_right(targets[:, :1].int(), 9).dtype == torch.int32


def test_alignment_errors_are_counted_over_real_tokens():
    weights = torch.eye(3)[torch.tensor([[0, 1, 2, 2], [2, 2, 0, 0]])]
    gold = torch.tensor([[0, 1, 1, 2], [2, 1, 0, 0]])
    assert alignment_error_rate(weights, gold, torch.tensor([3, 2])) == pytest.approx(2 / 5)
    assert alignment_error_rate(weights, gold, torch.tensor([4, 4])) == pytest.approx(2 / 8)


def translator(attention=5, **settings) -> AttentionSeq2Seq:
    torch.manual_seed(0)
    return AttentionSeq2Seq(13, 5, 6, 8, attention, **settings)


def sentences(n=7, S=6, seed=1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, 13, (n, S), generator=generator), torch.randint(1, S + 1, (n,), generator=generator)


@pytest.mark.parametrize("attention", [0, 5])
def test_padding_and_company_change_nothing(attention):
    model, (src, lengths) = translator(attention), sentences()
    tgt = torch.randint(3, 5, (7, 4))
    logits = model(src, lengths, tgt)
    refilled = torch.where(torch.arange(6) < lengths[:, None], src, 3)
    torch.testing.assert_close(model(refilled, lengths, tgt), logits)
    for b, n in enumerate(lengths.tolist()):
        alone = model(src[b : b + 1, :n], lengths[b : b + 1], tgt[b : b + 1])
        torch.testing.assert_close(alone[0], logits[b], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("attention", [0, 5])
def test_greedy_decoding_follows_the_logits_and_ends_once(attention):
    model, (src, lengths) = translator(attention), sentences(40)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
        model.to_tokens.bias[model.eos] += 3
    ids, weights = model.decode_greedy(src, lengths, 9)
    assert weights.shape == (*ids.shape, 6)
    ended = (ids == model.eos).cumsum(1) - (ids == model.eos).long() > 0
    assert not ids[ended].any() and (ids == model.eos).any()
    best = model(src, lengths, ids).argmax(-1)
    assert torch.equal(best[~ended], ids[~ended])
    if attention:
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[:, :, 0]))
        assert not weights[(torch.arange(6) >= lengths[:, None])[:, None].expand_as(weights)].any()


def test_the_encoder_is_torchs_bidirectional_layer():
    model, (src, _) = translator(), sentences()
    full = torch.full((7,), 6)
    keys, mask, last = model.encode(src, full)
    states, ends = model.encoder(model.embed_src(src))
    torch.testing.assert_close(keys, states)
    torch.testing.assert_close(last, torch.cat([states[:, -1, :4], states[:, 0, 4:]], 1))
    assert mask.all() and isinstance(model.encoder, nn.GRU) and ends.shape[0] == 2


@pytest.mark.parametrize(
    ("function", "shapes"),
    [
        (additive_scores, [(2, 3), (2, 5, 7), (11, 3), (11, 5), (11,)]),
        (additive_scores, [(2, 3), (3, 5, 7), (11, 3), (11, 7), (11,)]),
        (dot_scores, [(2, 3), (2, 5, 7)]),
        (general_scores, [(2, 3), (2, 5, 7), (7, 3)]),
        (attend, [(2, 5), (2, 3, 7), (2, 5)]),
    ],
)
def test_impossible_shapes_are_refused(function, shapes):
    with pytest.raises(ValueError, match=r"\("):
        function(*(torch.ones(shape) for shape in shapes))


def test_impossible_targets_and_alignments_are_refused():
    with pytest.raises(ValueError, match="targets"):
        shift_right(torch.zeros(3, 0, dtype=torch.long), 1)
    with pytest.raises(ValueError, match="gold"):
        alignment_error_rate(torch.ones(2, 3, 4), torch.zeros(2, 4), torch.tensor([1, 2]))
    with pytest.raises(ValueError, match="real"):
        alignment_error_rate(torch.ones(2, 3, 4), torch.zeros(2, 3), torch.tensor([0, 0]))
