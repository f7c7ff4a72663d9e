"""Hidden tests of `masked_softmax`: weights along an axis, nothing for hidden keys, and zeros for empty rows."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.hidden.masking.scaffold import real_words
from course.reference import masking as reference


@exercise(
    reference.masked_softmax,
    hints=(
        "Take the scores [1, 2, 3] and hide the last one. Which weights should the first two get, and what is their "
        "sum?",
        "What is exp of the value you put on hidden scores? Try scores of size 100, too, above zero and below.",
        "Give it a row with nothing allowed and call .sum().backward(). Print the weights and the gradient.",
        "Begin with rows that allow something. Which score has an exponential of exactly 0? Then find the rows that "
        "allow nothing, as a boolean tensor of their own. Softmax should never meet a row of nothing but hidden "
        "scores, so what can it meet there in its place?",
    ),
    calls=(
        "masked_softmax(zeros(1, 2), tensor([[True, True]]))",
        "masked_softmax(zeros(1, 2), tensor([[True, False]]))",
        "masked_softmax(zeros(1, 2), tensor([[False, False]]))",
        "masked_softmax(tensor([[0., 100.]]), tensor([[True, True]]))",
        "masked_softmax(zeros(2, 2), tensor([[True, False]]))",
        "masked_softmax(tensor([[1000., 1000.]]), tensor([[True, True]]))",
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
    yield call("a mask for the batch", rng.normal(B, h, T, S), real_words([7, 3], S)[:, None, None], weight=2.0)
    yield call("a causal mask for all heads", rng.normal(B, h, T, T), causal)
    yield call("along the first axis", rng.normal(T, S), some(S, T).T, dim=0)
    middle = some(B, S, T).mT
    middle[1, :, 2] = False
    yield call("along an axis in the middle", rng.normal(B, T, S), middle, dim=1)
    yield call("everything allowed", rng.normal(2, 3), torch.ones(2, 3, dtype=torch.bool), weight=0.5)
    yield call("one allowed", rng.normal(3, 5), F.one_hot(torch.tensor([4, 0, 2]), 5).bool(), weight=0.5)
    empty = some(3, 5)
    empty[1] = False
    yield call("an empty row among others", rng.normal(3, 5), empty, weight=2.0)
    nothing = call("nothing allowed anywhere", rng.normal(2, 3), torch.zeros(2, 3, dtype=torch.bool), grad=False)
    yield nothing.counts_with("three rows")
    yield call("an empty sentence, along the middle", rng.normal(2, 5, 3), real_words([3, 0], 5)[..., None], dim=1)
    mask = some(5, 7, share=0.5)
    mask[2] = False
    noise = torch.where(mask, 0.0, 1e4 * (1 + rng.uniform(5, 7)))
    yield call("huge scores behind the mask", rng.normal(5, 7) + noise, mask, weight=2.0)
    yield call("all scores far below zero", rng.normal(3, 5) - 1e4, some(3, 5), public=True)
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


@masked_softmax.misconception(
    "Print the weights of the hidden words. What is exp(0)? A score of 0 is a score like any other."
)
def filled_with_zero(scores, mask, dim=-1):
    return scores.masked_fill(~mask, 0.0).softmax(dim)


@masked_softmax.misconception(
    "Print a row with nothing allowed. All its scores are equally low. What does softmax make of equal scores?"
)
def uniform_over_nothing(scores, mask, dim=-1):
    return scores.masked_fill(~mask, -1e9).softmax(dim)


@masked_softmax.misconception("Rows with an allowed key are right. Now take a row of nothing but -inf. What is 0 / 0?")
def nan_over_nothing(scores, mask, dim=-1):
    return scores.masked_fill(~mask, -torch.inf).softmax(dim)


@masked_softmax.misconception(
    "Rows with an allowed key are right. In a row with nothing allowed, which number do you divide by which?"
)
def divided_by_nothing(scores, mask, dim=-1):
    left = scores.softmax(dim) * mask
    return left / left.sum(dim, keepdim=True)


@masked_softmax.misconception(
    "Your values are right. Call .sum().backward() for a row with nothing allowed, and print the gradient of the "
    "scores."
)
def nan_in_the_gradient(scores, mask, dim=-1):
    weights = (scores + torch.zeros_like(scores).masked_fill(~mask, -torch.inf)).softmax(dim)
    return torch.where(mask.any(dim, keepdim=True), weights, 0.0)


@masked_softmax.misconception(
    "Add up a row of your weights. Is the sum 1? Which words were in the sum that softmax divided by?"
)
def hidden_after_softmax(scores, mask, dim=-1):
    return scores.softmax(dim) * mask


@masked_softmax.misconception("What is 0 times infinity? Print the scores just before the softmax.")
def zero_times_infinity(scores, mask, dim=-1):
    return (scores + (~mask).to(scores.dtype) * -torch.inf).softmax(dim)


@masked_softmax.misconception(
    "Print the weights beside the mask. True means allowed here. Which words get the weight in yours?",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def mask_read_the_other_way(scores, mask, dim=-1):
    return reference.masked_softmax(scores, ~mask, dim)
