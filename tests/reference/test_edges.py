"""References at their edges: NaN and infinity where nobody looks, half precision, batches of nothing, two devices."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional as F

from course.exercise.stand_ins import make, stand_in
from course.reference.bahdanau_attention import attend
from course.reference.encoder_decoder import decode_beam, decode_greedy, label_smoothing_loss, layer_norm
from course.reference.masking import causal_mask, combine_masks, masked_mean, masked_softmax
from course.reference.multi_head_attention import MultiHeadAttention, multi_head_attention
from course.reference.rnn import clip_grad_norm
from tests.reference.numbers import close, gradients, noise


@pytest.mark.parametrize("behind", [math.inf, -math.inf, math.nan])
def test_scores_of_nobody_have_weights_and_gradients_of_zero(behind):
    scores = torch.full((2, 3), behind, dtype=torch.float64, requires_grad=True)
    weights = masked_softmax(scores, torch.zeros(2, 3, dtype=torch.bool))
    assert not weights.any() and not gradients(weights, [scores])[0].any()


def test_half_precision_does_not_overflow_on_the_way():
    words = 60_000 * noise(2, 3, 8, dtype=torch.float64, requires_grad=False).clamp(-1, 1)
    half, mask = words.half(), torch.ones(2, 3, dtype=torch.bool)
    ones, zeros = torch.ones(8), torch.zeros(8)
    for ours, exact in (
        (masked_mean(half, mask), half.double().mean(1)),
        (layer_norm(half, ones.half(), zeros.half()), F.layer_norm(half.double(), (8,), ones.double(), zeros.double())),
    ):
        assert ours.dtype == torch.float16
        torch.testing.assert_close(ours, exact.half(), rtol=1e-2, atol=1e-2)


def test_a_target_behind_the_mask_need_not_be_a_word():
    logits, targets = noise(2, 3, 5), torch.tensor([[4, 0, 2], [1, 3, 0]])
    mask = torch.tensor([[True, True, False], [True, False, False]])
    ignored = targets.masked_fill(~mask, -100)
    loss = label_smoothing_loss(logits, ignored, 0.1, mask)
    close(loss, F.cross_entropy(logits.flatten(0, 1), ignored.flatten(), label_smoothing=0.1))


def test_a_norm_that_is_nan_makes_nan_of_all_gradients():
    clipped, total = clip_grad_norm([torch.tensor([1.0, math.nan]), torch.tensor([2.0])], 1.0)
    assert math.isnan(total) and all(grad.isnan().all() for grad in clipped)


def test_an_empty_batch_is_decoded_to_no_sentences():
    model = make(stand_in("oracle", scores=torch.zeros(2, 4, 3, 5), pad=0, sos=1, eos=2))
    nobody = torch.zeros(0, 3, dtype=torch.long)
    for ids in (decode_greedy(model, nobody), decode_beam(model, nobody, 2)):
        assert len(ids) == 0 and ids.ndim == 2 and ids.dtype == torch.long


def test_masks_are_combined_where_the_padding_is():
    padding = torch.ones(2, 3, dtype=torch.bool, device="meta")
    assert combine_masks(padding, causal_mask(3)).device == padding.device


MASK = torch.tensor([[True, True, False], [False, True, False]])


def attended(x):
    return attend(noise(2, 3).masked_fill(~MASK, x[0, 2, 0].item()), x, MASK)


def in_heads(x):
    return multi_head_attention(noise(2, 5, 4), x, *(noise(4, 4, seed=s) for s in range(4)), 2, MASK[:, None, None])


def in_a_layer(x):
    torch.manual_seed(0)
    return MultiHeadAttention(4, 2).double()(noise(2, 5, 4), x, MASK[:, None, None])


@pytest.mark.parametrize("attention", [attended, in_heads, in_a_layer])
def test_nan_behind_a_mask_reaches_neither_outputs_nor_gradients(attention):
    clean = noise(2, 3, 4)
    spoilt = clean.detach().masked_fill(~MASK[..., None], math.nan).requires_grad_()
    for ours, right in zip(attention(spoilt), attention(clean), strict=True):
        close(ours, right)
    grads = (torch.autograd.grad(attention(x)[0].sum(), x)[0] for x in (spoilt, clean))
    close(*grads)
