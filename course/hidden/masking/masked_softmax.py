"""Hidden tests of `masked_softmax`."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.hidden.masking.scaffold import INFINITE, _real
from course.reference import masking as reference


@exercise(
    reference.masked_softmax,
    hints=(
        "Scores [1, 2, 3], the last one hidden: which two numbers must come out, and what is their sum?",
        "What is exp of the value you put on hidden scores? Try scores of size 100, too.",
        "Give it a row with nothing allowed and call .sum().backward(). Print the weights and the gradient.",
    ),
)
def masked_softmax(rng):
    """Masks that broadcast in every way, rows with nothing, enormous noise behind the mask, axes before the last."""
    B, h, T, S = 2, 3, 5, 7

    def some(*shape, share=0.6):
        mask = rng.uniform(*shape) < share
        mask[..., 0] = True
        return mask

    first = rng.normal(3, 5)
    causal = torch.ones(5, 5, dtype=torch.bool).tril()
    yield call("three rows", first, some(3, 5), public=True)
    yield call(
        "a row with nothing allowed", rng.normal(2, 3), torch.tensor([[True, False, True], [False] * 3]), public=True
    )
    yield call("a mask for the batch", rng.normal(B, h, T, S), _real([7, 3], S)[:, None, None], weight=2.0)
    yield call("a causal mask for all heads", rng.normal(B, h, T, T), causal)
    yield call("along the first axis", rng.normal(T, S), some(S, T).T, dim=0)
    yield call("along an axis in the middle", rng.normal(B, T, S), some(B, S, T).mT, dim=1)
    yield call("everything allowed", rng.normal(2, 3), torch.ones(2, 3, dtype=torch.bool), weight=0.5)
    yield call("one allowed", rng.normal(3, 5), F.one_hot(torch.tensor([4, 0, 2]), 5).bool(), weight=0.5)
    empty = some(3, 5)
    empty[1] = False
    yield call("an empty row among others", rng.normal(3, 5), empty, weight=2.0)
    nothing = call("nothing allowed anywhere", rng.normal(2, 3), torch.zeros(2, 3, dtype=torch.bool), grad=False)
    yield nothing.counts_with("three rows")
    yield call("an empty sentence, along the middle", rng.normal(2, 5, 3), _real([3, 0], 5)[..., None], dim=1)
    mask = some(5, 7, share=0.5)
    mask[2] = False
    noise = torch.where(mask, 0.0, 1e4 * (1 + rng.uniform(5, 7)))
    yield call("huge scores behind the mask", rng.normal(5, 7) + noise, mask, weight=2.0)
    yield call("all scores far below zero", rng.normal(3, 5) - 1e4, some(3, 5))
    yield call("all scores far above zero", rng.normal(3, 5) + 1e3, some(3, 5))
    steps = torch.tensor([[0.0], [1e4], [-1e4]], dtype=torch.float64)
    yield call("rows far from one another", rng.normal(3, 5) + steps, some(3, 5))
    zeros = rng.normal(3, 5).masked_fill(torch.arange(5) < 2, 0.0)
    yield call("scores of exactly zero", zeros, some(3, 5))
    ladder = torch.tensor([[-40.0, 0.0, -30.0, 35.0, 20.0]], dtype=torch.float64)
    yield call("scores far apart", ladder, torch.tensor([[True, False, True, False, False]]))
    yield call("float32", rng.normal(3, 7, dtype=torch.float32), some(3, 7))
    memory = noncontiguous(rng.normal(2, 3, 5)), noncontiguous(some(3, 5))
    yield call("memory that is not contiguous", *memory, public=True)


def _filled(scores, mask, value, dim=-1):
    """Hidden scores replaced by a number, and softmax over all."""
    return scores.masked_fill(~mask, value).softmax(dim)


@masked_softmax.misconception(
    "A score of 0 is a score like others (and so is 1e-9): what is exp(0)? Print the weights of the hidden words."
)
def filled_with_zero(scores, mask, dim=-1):
    return _filled(scores, mask, 0.0, dim)


@masked_softmax.misconception(
    "In a row with nothing allowed, all your scores are equally low. What does softmax make of equal scores?"
)
def uniform_over_nothing(scores, mask, dim=-1):
    return _filled(scores, mask, -1e9, dim)


@masked_softmax.misconception(
    "All is right where something is allowed. What does softmax make of a row when the same number is taken off every "
    "score of it?"
)
def a_billion_taken_off(scores, mask, dim=-1):
    return (scores - 1e9 * (~mask).to(scores.dtype)).softmax(dim)


@masked_softmax.misconception(
    "All is right where something is allowed. And in a row of nothing but -inf: what is 0 / 0?"
)
def nan_over_nothing(scores, mask, dim=-1):
    return _filled(scores, mask, -INFINITE, dim)


def _divided_by_what_is_left(weigh):
    """Weights of what is hidden taken away, and the rest divided by its sum, even where that is nothing."""

    def weights(scores, mask, dim=-1):
        left = weigh(scores, dim) * mask
        return left / left.sum(dim, keepdim=True)

    return weights


for _name, _weigh in {
    "divided_by_nothing": torch.softmax,
    "exponentials_divided_by_nothing": lambda scores, dim: scores.exp(),
}.items():
    masked_softmax.misconception(
        "All is right where something is allowed. In a row with nothing allowed, which number is divided by which?",
        name=_name,
    )(_divided_by_what_is_left(_weigh))


@masked_softmax.misconception(
    "All is right where something is allowed. And in a row of nothing but -inf: what is 0 / 0?"
)
def nan_over_nothing_where_infinity_is_added(scores, mask, dim=-1):
    return (scores + torch.zeros_like(scores).masked_fill(~mask, -INFINITE)).softmax(dim)


@masked_softmax.misconception(
    "The values are right. Call .sum().backward() for a row with nothing allowed, and print the gradient of the scores."
)
def nan_in_the_gradient(scores, mask, dim=-1):
    weights = (scores + torch.zeros_like(scores).masked_fill(~mask, -INFINITE)).softmax(dim)
    return torch.where(mask.any(dim, keepdim=True), weights, 0.0)


@masked_softmax.misconception(
    "Softmax one row of scores alone, then beside a row that is 10,000 higher. Which maximum belongs to which row?"
)
def maximum_over_everything(scores, mask, dim=-1):
    scores = scores.masked_fill(~mask, -INFINITE)
    weights = (scores - scores.detach().max().clamp(min=-1e9)).exp()
    total = weights.sum(dim, keepdim=True)
    return weights / torch.where(mask.any(dim, keepdim=True), total, 1.0)


@masked_softmax.misconception(
    "Give a word that may be seen a score of exactly 0. How does your code know it from one that is hidden?"
)
def zero_taken_for_hidden(scores, mask, dim=-1):
    kept = scores * mask
    weights = kept.masked_fill(kept == 0, -1e30).softmax(dim)
    return torch.where(mask.any(dim, keepdim=True), weights, 0.0)


@masked_softmax.misconception("Adding 0 and 1 to the scores: whose weight grows, whose vanishes? Nobody's.")
def mask_added(scores, mask, dim=-1):
    return (scores + mask).softmax(dim)


@masked_softmax.misconception(
    "Add up a row of your weights. Softmax has divided by a sum in which the hidden words still count."
)
def hidden_after_softmax(scores, mask, dim=-1):
    return scores.softmax(dim) * mask


@masked_softmax.misconception(
    "Add up a row of your weights. Is a hidden word still among those that softmax shares the whole between?"
)
def filled_with_zero_and_hidden_after(scores, mask, dim=-1):
    return _filled(scores, mask, 0.0, dim) * mask


@masked_softmax.misconception("Scale all scores by 8: is -10 still far below them? How far down is certain?")
def filled_with_minus_ten(scores, mask, dim=-1):
    return _filled(scores, mask, -10.0, dim)


@masked_softmax.misconception(
    "Take 10,000 off every score: softmax gives the same weights. Is what you put on hidden scores still far below?"
)
def filled_with_minus_ten_thousand(scores, mask, dim=-1):
    return _filled(scores, mask, -1e4, dim)


@masked_softmax.misconception(
    "Empty rows are right. Take 10,000 off every score: is what you put on hidden scores still far below?"
)
def filled_with_minus_ten_thousand_and_emptied(scores, mask, dim=-1):
    return torch.where(mask.any(dim, keepdim=True), _filled(scores, mask, -1e4, dim), 0.0)


@masked_softmax.misconception(
    "Take 10,000 off every score and add up a row. Is what you put on hidden scores still far below the others?"
)
def filled_with_minus_ten_thousand_and_hidden_after(scores, mask, dim=-1):
    return _filled(scores, mask, -1e4, dim) * mask


@masked_softmax.misconception("What is 0 times infinity? Print the scores just before the softmax.")
def zero_times_infinity(scores, mask, dim=-1):
    return (scores + (~mask).to(scores.dtype) * -INFINITE).softmax(dim)


@masked_softmax.misconception(
    "Exactly the hidden words get the weights. In which convention do you read the mask? True means allowed here.",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def mask_read_the_other_way(scores, mask, dim=-1):
    return reference.masked_softmax(scores, ~mask, dim)


@masked_softmax.misconception(
    "You hide exactly the scores that the mask allows. Print masked_fill's result for one row."
)
def allowed_scores_hidden(scores, mask, dim=-1):
    return _filled(scores, ~mask, -INFINITE, dim)


@masked_softmax.misconception(
    "In yours the scores that the mask allows become very small. Print them before the softmax."
)
def allowed_scores_very_small(scores, mask, dim=-1):
    return _filled(scores, ~mask, -1e9, dim)


@masked_softmax.misconception("Ask for dim=0 or dim=1. Does the result change?")
def always_the_last_axis(scores, mask, dim=-1):
    return reference.masked_softmax(scores, mask)


@masked_softmax.misconception(
    "Put 10,000 behind the mask: how large is exp of the other scores beside it? By then, should it still take part?"
)
def maximum_of_the_hidden(scores, mask, dim=-1):
    e = (scores - scores.amax(dim, keepdim=True)).exp() * mask
    return e / e.sum(dim, keepdim=True).clamp(min=1e-300)


@masked_softmax.misconception("Try scores of 1000, and of -1000. How large may exp(x) get, and how small?")
def exponentials_unguarded(scores, mask, dim=-1):
    e = scores.exp() * mask
    return e / (e.sum(dim, keepdim=True) + 1e-9)
