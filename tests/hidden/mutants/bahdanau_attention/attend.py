"""Wrong answers to `attend`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bahdanau_attention import attend

# -- first attempts ----------------------------------------------------------------------------------------------------


def _weights(scores, mask):
    return torch.softmax(scores.masked_fill(~mask, -1e9), -1) * mask


def masked_after_the_softmax(scores, values, mask):
    weights = torch.softmax(scores, -1) * mask
    return (weights[:, :, None] * values).sum(1), weights


def minus_infinity(scores, values, mask):
    weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), -1)
    return (weights[:, :, None] * values).sum(1), weights


def mask_the_other_way_round(scores, values, mask):
    weights = torch.softmax(scores.masked_fill(mask, float("-inf")), -1)
    return (weights[:, :, None] * values).sum(1), weights


def scores_times_mask(scores, values, mask):
    weights = torch.softmax(scores * mask, -1)
    return (weights[:, :, None] * values).sum(1), weights


def by_hand(scores, values, mask):
    exponentials = scores.exp() * mask
    weights = exponentials / exponentials.sum(-1, keepdim=True)
    return (weights[:, :, None] * values).sum(1), weights


def weights_of_every_sentence(scores, values, mask):
    return _weights(scores, mask) @ values, _weights(scores, mask)


def no_new_axis(scores, values, mask):
    return (_weights(scores, mask) * values).sum(1), _weights(scores, mask)


def summed_over_the_width(scores, values, mask):
    return (_weights(scores, mask)[:, :, None] * values).sum(-1), _weights(scores, mask)


FIRST_ATTEMPTS = {
    masked_after_the_softmax: "Where has the rest gone?",
    minus_infinity: "Print the weights of a sentence with no allowed position.",
    mask_the_other_way_round: "Do the words get them, or the padding?",
    scores_times_mask: "Print exp of the number that you put behind the mask.",
    by_hand: "What is exp(1000), and what is 0 divided by 0?",
    weights_of_every_sentence: "Count the axes of your context that count sentences.",
    no_new_axis: "Which axes meet, and which one is missing?",
    summed_over_the_width: "Along which axis does your sum run?",
}

# -- others ------------------------------------------------------------------------------------------------------------


def filled_with_minus_ten_thousand(scores, values, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -1e4), -1) * mask
    return torch.einsum("bs,bsd->bd", weights, values), weights


def counted_instead_of_masked(scores, values, mask):
    return attend(scores, values, torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True))


def divided_again_after_the_softmax(scores, values, mask):
    kept = torch.softmax(scores, -1) * mask
    weights = kept / kept.sum(-1, keepdim=True).clamp(min=1e-12)
    return torch.einsum("bs,bsd->bd", weights, values), weights


def replaced_in_the_context_alone(scores, values, mask):
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), -1)
    return torch.einsum("bs,bsd->bd", weights, values).nan_to_num(), weights


MUTANTS = [
    filled_with_minus_ten_thousand,
    counted_instead_of_masked,
    divided_again_after_the_softmax,
    replaced_in_the_context_alone,
]
