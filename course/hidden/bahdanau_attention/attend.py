"""Hidden tests of `attend`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import bahdanau_attention as reference


@exercise(
    reference.attend,
    shown=(1,),
    hints=(
        "Print the weights of the shortest sentence, place by place, beside its mask. And their sum.",
        "What must a score be for softmax to make a zero of it, and not merely something small?",
        "What does softmax say of a row in which every score is minus infinity? What should your function say of it?",
    ),
)
def attend(rng):
    """Ragged masks with holes; the scores behind them are large; a sentence of which nothing is allowed."""

    def inputs(B, S, D, dtype=torch.float64, allowed=0.6):
        scores, values = 2 * rng.normal(B, S, dtype=dtype), rng.normal(B, S, D, dtype=dtype)
        mask = rng.uniform(B, S) < allowed
        mask[torch.arange(B), rng.integers(0, S, B)] = True
        return scores, values, mask

    def ragged(lengths, S, D, behind=9.0):
        mask = torch.arange(S) < torch.tensor(lengths)[:, None]
        scores = 2 * rng.normal(len(lengths), S)
        return torch.where(mask, scores, scores + behind), rng.normal(len(lengths), S, D), mask

    yield call("nothing masked", *inputs(2, 3, 5, allowed=1.1), public=True)
    yield call("sentences of several lengths", *ragged([7, 3, 1], 7, 2), public=True, weight=2.0)
    yield call("a sentence with nothing allowed", *ragged([3, 0, 5], 5, 7), public=True, weight=2.0)
    yield call("nothing allowed anywhere", *ragged([0, 0], 3, 5), grad=False).counts_with("nothing masked")
    yield call("a mask with holes", *inputs(5, 11, 3), public=True, weight=2.0)
    yield call("as many sentences as words", *inputs(5, 5, 2))
    yield call("a batch of one", *inputs(1, 7, 3), public=True)
    yield call("one word", *inputs(3, 1, 2))
    yield call("a huge score behind the mask", *ragged([2, 3, 5], 5, 3, behind=1e4), grad=False)
    yield call("all scores far below zero", *_shifted_scores(inputs(2, 7, 5), -1e4), grad=False)
    yield call("all scores far above zero", *_shifted_scores(inputs(2, 7, 5), 1e3), grad=False)
    yield call("float32", *inputs(2, 13, 7, torch.float32), public=True)
    yield call(
        "memory that is not contiguous",
        *(noncontiguous(value) for value in inputs(3, 5, 2)[:2]),
        _holes(3, 5),
        public=True,
    )


def _shifted_scores(inputs, shift):
    scores, values, mask = inputs
    return scores + shift, values, mask


def _holes(B, S):
    return noncontiguous_mask(torch.arange(B * S).view(B, S) % 3 != 1)


def noncontiguous_mask(mask):
    return mask.repeat_interleave(2, dim=1)[:, ::2]


def _mean(weights, values):
    return torch.einsum("bs,bsd->bd", weights, values), weights


def _soft(scores, mask, dim=-1):
    return torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), dim) * mask


@attend.misconception("Do the weights of one sentence sum to one? Try a batch of a single sentence.")
def softmax_over_the_batch(scores, values, mask):
    return _mean(_soft(scores, mask, dim=0), values)


@attend.misconception("Print the weights beside the mask. Who gets them, the words or the padding?")
def mask_inverted(scores, values, mask):
    return _mean(_soft(scores, ~mask), values)


@attend.misconception("Print the weights beside the mask. Who gets them, the words or the padding?")
def mask_inverted_with_a_small_number(scores, values, mask):
    return _mean(torch.softmax(scores.masked_fill(mask, torch.finfo(scores.dtype).min), -1), values)


@attend.misconception("Print the weights beside the mask. Who gets them, the words or the padding?")
def mask_inverted_with_minus_infinity(scores, values, mask):
    return _mean(torch.softmax(scores.masked_fill(mask, -torch.inf), -1), values)


@attend.misconception("Print the weights beside the mask. Who gets them, the words or the padding?")
def masked_with_a_large_number(scores, values, mask):
    return _mean(torch.softmax(scores.masked_fill(~mask, 1e9), -1), values)


@attend.misconception("Sum the weights of the shortest sentence. Where has the rest gone?")
def masked_after_the_softmax(scores, values, mask):
    return _mean(torch.softmax(scores, -1) * mask, values)


@attend.misconception("Sum the weights of the shortest sentence. Where has the rest gone?")
def masked_with_zero_and_once_more_after(scores, values, mask):
    return _mean(torch.softmax(scores.masked_fill(~mask, 0.0), -1) * mask, values)


@attend.misconception(
    "Print the weights beside a mask with a gap in the middle. Which places does yours take for the allowed ones?"
)
def counted_instead_of_masked(scores, values, mask):
    return _mean(_soft(scores, torch.arange(mask.shape[1]) < mask.sum(1, keepdim=True)), values)


@attend.misconception(
    "Put 10,000 behind the mask. What does the softmax over all places leave to the words, and can dividing repair it?"
)
def divided_again_after_the_softmax(scores, values, mask):
    kept = torch.softmax(scores, -1) * mask
    return _mean(kept / kept.sum(-1, keepdim=True).clamp(min=1e-12), values)


@attend.misconception("Print the weights beside the mask. Does padding still take a share, and who gets it?")
def values_masked_instead_of_scores(scores, values, mask):
    return _mean(torch.softmax(scores, -1), values * mask[:, :, None])


@attend.misconception("You add a mask of zeros and ones to the scores. Does anybody's weight vanish by that?")
def mask_added(scores, values, mask):
    return _mean(torch.softmax(scores + mask, -1), values)


@attend.misconception("What is exp of the number that you put behind the mask?")
def masked_with_zero(scores, values, mask):
    return _mean(torch.softmax(scores.masked_fill(~mask, 0.0), -1), values)


@attend.misconception("Put a hundred behind the mask. Does the context move?")
def mask_forgotten(scores, values, mask):
    return _mean(torch.softmax(scores, -1), values)


@attend.misconception("What comes out for a sentence of which nothing may be looked at? Print its weights.")
def not_a_number_where_nothing_is_allowed(scores, values, mask):
    return _mean(torch.softmax(scores.masked_fill(~mask, -torch.inf), -1), values)


@attend.misconception("What comes out for a sentence of which nothing may be looked at? Print its weights.")
def not_a_number_of_an_infinite_sum(scores, values, mask):
    return _mean(torch.softmax(scores + mask.to(scores.dtype).log(), -1), values)


@attend.misconception("Print what you add to the scores. What is zero times infinity?")
def zero_times_infinity(scores, values, mask):
    return _mean(torch.softmax(scores + (1 - mask.to(scores.dtype)) * -torch.inf, -1), values)


@attend.misconception(
    "The values are right. Call .sum().backward() where nothing is allowed, and print the gradients. Where was the NaN "
    "before you replaced it?"
)
def replaced_in_the_end(scores, values, mask):
    context, weights = not_a_number_where_nothing_is_allowed(scores, values, mask)
    return context.nan_to_num(), weights.nan_to_num()


@attend.misconception(
    "The values are right. Call .sum().backward() where nothing is allowed, and print the gradients. Where was the NaN "
    "before you replaced it?"
)
def replaced_after_an_infinite_sum(scores, values, mask):
    return _mean(torch.softmax(scores + mask.to(scores.dtype).log(), -1).nan_to_num(), values)


@attend.misconception("Nothing is allowed, and still something is looked at. How much weight should there be in all?")
def everything_allowed_where_nothing_is(scores, values, mask):
    return _mean(torch.softmax(scores.masked_fill(~mask & mask.any(-1, keepdim=True), -torch.inf), -1), values)


@attend.misconception("Nothing is allowed, and still something is looked at. How much weight should there be in all?")
def looks_everywhere_where_nothing_is_allowed(scores, values, mask):
    return _mean(torch.softmax(scores.masked_fill(~mask, torch.finfo(scores.dtype).min), -1), values)


@attend.misconception("Nothing is allowed, and still something is looked at. How much weight should there be in all?")
def only_the_context_is_zero_where_nothing_is_allowed(scores, values, mask):
    context, weights = looks_everywhere_where_nothing_is_allowed(scores, values, mask)
    return context * mask.any(1, keepdim=True), weights


@attend.misconception("Give two words the same weight. Does your context lie half-way between their values?")
def largest_for_sum(scores, values, mask):
    weights = _soft(scores, mask)
    return (weights[:, :, None] * values).amax(1), weights


@attend.misconception("If all values are the same vector, what should the context be? Check with longer sentences.")
def mean_for_sum(scores, values, mask):
    weights = _soft(scores, mask)
    return (weights[:, :, None] * values).mean(1), weights


@attend.misconception(
    "If all values are the same vector, what should the context be? Print what your values are multiplied with."
)
def scores_for_weights(scores, values, mask):
    return _mean(scores, values)[0], _soft(scores, mask)


@attend.misconception(
    "If all values are the same vector, what should the context be? Print what your values are multiplied with."
)
def masked_scores_for_weights(scores, values, mask):
    return _mean(scores * mask, values)[0], _soft(scores, mask)


@attend.misconception("Nudge the second-best score. A choice has no gradient; a mixture does.")
def only_the_best(scores, values, mask):
    best = _soft(scores, mask).argmax(-1, keepdim=True)
    return _mean(torch.zeros_like(scores).scatter(1, best, 1.0) * mask.any(1, keepdim=True), values)


@attend.misconception(
    "Make one score negative. Can a weight be? Then add five to all scores: should the weights change?"
)
def divided_by_their_sum(scores, values, mask):
    kept = scores * mask
    return _mean(kept / kept.sum(-1, keepdim=True), values)


@attend.misconception("Which of the two comes first in what you return, and which does the docstring name first?")
def weights_returned_first(scores, values, mask):
    context, weights = _mean(_soft(scores, mask), values)
    return weights, context


@attend.misconception("Shift all scores by a thousand. Nothing should change; what does exp make of a thousand?")
def exponentials_overflow(scores, values, mask):
    exponentials = scores.exp() * mask
    total = exponentials.sum(-1, keepdim=True)
    return _mean(exponentials / torch.where(mask.any(-1, keepdim=True), total, torch.ones_like(total)), values)


@attend.misconception("Shift all scores by a thousand. Nothing should change; what does exp make of a thousand?")
def exponentials_overflow_beside_a_small_number(scores, values, mask):
    exponentials = scores.exp() * mask
    return _mean(exponentials / (exponentials.sum(-1, keepdim=True) + 1e-9), values)


@attend.misconception("Put 100 behind the mask, then 10,000. How small is small enough to be nothing?")
def masked_with_a_small_number(scores, values, mask):
    return _mean(torch.softmax(torch.where(mask, scores, scores - 20.0), -1) * mask.any(1, keepdim=True), values)
