"""Hidden tests of `attend`."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.bahdanau_attention.scaffold import MEET_AT_THE_END
from course.reference import bahdanau_attention as reference


@exercise(
    reference.attend,
    shown=(1,),
    hints=(
        "What should the weights of a short sentence add up to? Does the mask act before the softmax, or after it?",
        "Give softmax the scores 1, 2 and x. For which x is the third weight exactly 0, and not just small?",
        "Give softmax a row in which every score is minus infinity. What does it return, and what should your function "
        "return?",
        "Begin with the weights alone, and print them beside the mask. Once each row adds up to 1, write the shapes "
        "(B, S) and (B, S, D) below each other. Which axis do the weights need, and which one disappears in the sum?",
    ),
    calls=(
        "attend(zeros(1, 2), tensor([[[2.], [4.]]]), tensor([[True, True]]))",
        "attend(zeros(1, 2), tensor([[[2.], [4.]]]), tensor([[True, False]]))",
        "attend(zeros(1, 2), tensor([[[2.], [4.]]]), tensor([[False, False]]))",
        "attend(tensor([[0., 100.]]), tensor([[[2.], [4.]]]), tensor([[True, False]]))",
        "attend(tensor([[0., 100.]]), tensor([[[2.], [4.]]]), tensor([[True, True]]))",
        "attend(tensor([[5., 5.]]), tensor([[[1., 0.], [0., 1.]]]), tensor([[True, True]]))",
    ),
)
def attend(rng):
    """Ragged masks with holes, with large scores behind them, and a sentence of which nothing is allowed."""

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
    yield call("all scores far above zero", *_shifted_scores(inputs(2, 7, 5), 1e3), grad=False, public=True)
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


def _soft(scores, mask):
    return _filled(scores, ~mask, torch.finfo(scores.dtype).min) * mask


def _filled(scores, where, number=-torch.inf):
    """Softmax over these scores, with a number in place of the masked ones."""
    return torch.softmax(scores.masked_fill(where, number), -1)


attend.mistakes(
    "Print the weights beside the mask. Do the words get them, or the padding?",
    mask_inverted_with_minus_infinity=lambda scores, values, mask: _mean(_filled(scores, mask), values),
)
attend.mistakes(
    "Sum the weights of the shortest sentence. Where has the rest gone?",
    masked_after_the_softmax=lambda scores, values, mask: _mean(torch.softmax(scores, -1) * mask, values),
)
attend.mistakes(
    "Print exp of the number that you put behind the mask. Is it 0?",
    masked_with_zero=lambda scores, values, mask: _mean(_filled(scores, ~mask, 0.0), values),
)
attend.mistakes(
    "Put a hundred behind the mask. Does the context move?",
    mask_forgotten=lambda scores, values, mask: _mean(torch.softmax(scores, -1), values),
)
attend.mistakes(
    "Print the weights of a sentence with no allowed position. What are they?",
    not_a_number_where_nothing_is_allowed=lambda scores, values, mask: _mean(_filled(scores, ~mask), values),
)


@attend.misconception(
    "The values are right. Call .sum().backward() where nothing is allowed, and print the gradients. Where was the NaN "
    "before you replaced it?"
)
def replaced_in_the_end(scores, values, mask):
    context, weights = _mean(_filled(scores, ~mask), values)
    return context.nan_to_num(), weights.nan_to_num()


attend.mistakes(
    "Count the axes of your context that count sentences. A sentence's weights belong to its own values alone. Which "
    "axis do the weights need for that?",
    weights_of_every_sentence=lambda scores, values, mask: (_soft(scores, mask) @ values, _soft(scores, mask)),
)
attend.mistakes(
    MEET_AT_THE_END,
    weights_without_an_axis=lambda scores, values, mask: ((_soft(scores, mask) * values).sum(1), _soft(scores, mask)),
)
attend.mistakes(
    "A context has D numbers, like a value. Along which axis does your sum run?",
    summed_over_the_width=lambda scores, values, mask: (
        (_soft(scores, mask)[:, :, None] * values).sum(-1),
        _soft(scores, mask),
    ),
)
attend.mistakes(
    "Two things are left. What is exp(1000), and what is 0 divided by 0?",
    shares_of_exponentials=lambda scores, values, mask: _mean(
        scores.exp() * mask / (scores.exp() * mask).sum(-1, keepdim=True), values
    ),
)
