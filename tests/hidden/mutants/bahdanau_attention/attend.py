"""Wrong answers to `attend` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.bahdanau_attention import attend


def b_last(scores, values, mask):
    return values[:, -1], attend(scores, values, mask)[1]


def b_no_mask_in_the_context(scores, values, mask):
    return attend(scores, values, torch.ones_like(mask))[0], attend(scores, values, mask)[1]


def scores_returned_for_weights(scores, values, mask):
    return attend(scores, values, mask)[0], scores


def log_weights_returned(scores, values, mask):
    context, weights = attend(scores, values, mask)
    return context, weights.clamp(min=1e-30).log()


def values_without_a_gradient(scores, values, mask):
    return attend(scores, values.detach(), mask)


def a_column_too_many(scores, values, mask):
    context, weights = attend(scores, values, mask)
    return context.unsqueeze(1), weights


def masked_in_place(scores, values, mask):
    with torch.no_grad():
        scores.masked_fill_(~mask, torch.finfo(scores.dtype).min)
    return attend(scores * 1, values, mask)


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


def scaled_by_the_width_of_the_values(scores, values, mask):
    weights = torch.softmax((scores / values.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf), -1).nan_to_num()
    return torch.einsum("bs,bsd->bd", weights, values), weights


def shares_by_sigmoid(scores, values, mask):
    weights = torch.sigmoid(scores) * mask
    return torch.einsum("bs,bsd->bd", weights, values), weights


def uniform_where_allowed(scores, values, mask):
    return attend(0 * scores, values, mask)


def the_hottest(scores, values, mask):
    return attend(2 * scores, values, mask)


MUTANTS = [
    b_last,
    b_no_mask_in_the_context,
    scores_returned_for_weights,
    log_weights_returned,
    values_without_a_gradient,
    a_column_too_many,
    masked_in_place,
    filled_with_minus_ten_thousand,
    counted_instead_of_masked,
    divided_again_after_the_softmax,
    replaced_in_the_context_alone,
    scaled_by_the_width_of_the_values,
    shares_by_sigmoid,
    uniform_where_allowed,
    the_hottest,
]
