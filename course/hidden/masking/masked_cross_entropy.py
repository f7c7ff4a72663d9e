"""Hidden tests of `masked_cross_entropy`: one mean over all real tokens of a batch."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.masking.scaffold import real_words
from course.reference import masking as reference


@exercise(
    reference.masked_cross_entropy,
    hints=(
        "Take a batch with one sentence of 2 words and one of 8. How much does each word count?",
        "Pad the batch by 20 more columns. Should the loss change? Does yours?",
        "Begin with one loss for each position, (B, T). Which of the V log-probabilities at a position is its loss "
        "made of? Then count how many of the losses belong to real tokens, before you take the mean.",
    ),
    calls=(
        "masked_cross_entropy(zeros(1, 2, 2), tensor([[0, 1]]), tensor([[True, True]]))",
        "masked_cross_entropy(tensor([[[100., 0.], [0., 0.]]]), tensor([[0, 1]]), tensor([[True, False]]))",
        "masked_cross_entropy(tensor([[[100., 0.], [0., 0.]]]), tensor([[1, 1]]), tensor([[True, False]]))",
        "masked_cross_entropy(tensor([[[100., 0.], [100., 0.]]]), tensor([[0, 1]]), tensor([[True, True]]))",
        "masked_cross_entropy(tensor([[[0., 0.], [100., 0.]]]), tensor([[0, 1]]), tensor([[False, True]]))",
        "masked_cross_entropy(zeros(2, 1, 4), tensor([[0], [3]]), tensor([[True], [True]]))",
    ),
)
def masked_cross_entropy(rng):
    """B, T, V distinct, noise and any word behind the mask, word 0 among the real ones, a sentence without words."""

    def batch(lengths, T, V, **options):
        B = len(lengths)
        dtype = options.pop("dtype", torch.float64)
        targets = rng.integers(0, V, B, T)
        targets[:, 0] = 0  # word 0 is a word like any other
        return rng.normal(B, T, V, dtype=dtype), targets, real_words(lengths, T)

    yield call("three ragged sentences", *batch([2, 5, 1], 5, 7), public=True, weight=2.0)
    yield call("two sentences and room to spare", *batch([3, 1], 7, 5), public=True)
    yield call("as many sentences as words, as words in the vocabulary", *batch([1, 3, 2], 3, 3))
    yield call("a sentence of no words", *batch([0, 4, 2], 5, 3))
    yield call("full sentences", *batch([5, 5], 5, 11), weight=0.5)
    yield call("one token", *batch([1], 1, 3), weight=0.5)
    logits, targets, _ = batch([1, 1, 1], 7, 5)
    yield call("gaps in the middle", logits, targets, rng.uniform(3, 7) < 0.5, weight=2.0)
    logits, targets, mask = batch([2, 6, 3], 7, 5)
    yield call("huge logits behind the mask", torch.where(mask[..., None], logits, 1e4 * logits), targets, mask)
    spread = 1e4 * torch.tensor([-1.0, 1.0, 0.0, 0.5, -0.5], dtype=torch.float64).expand(2, 3, 5)
    yield call("logits of ±10,000", spread.clone(), rng.integers(0, 5, 2, 3), real_words([2, 3], 3), grad=False)
    yield call("float32", *batch([7, 2, 4], 7, 3, dtype=torch.float32))
    logits, targets, mask = batch([1, 3], 5, 7)
    yield call("memory that is not contiguous", noncontiguous(logits), targets, mask, public=True)


def _each(logits, targets):
    """-log p of every token, (B, T)."""
    return logits.logsumexp(-1) - logits.gather(-1, targets[..., None]).squeeze(-1)


@masked_cross_entropy.misconception(
    "Pad the batch by 20 columns. Should the loss change? Which losses of padding are in your sum?"
)
def pads_are_counted(logits, targets, mask):
    return _each(logits, targets).mean()


@masked_cross_entropy.misconception(
    "Padding adds nothing to your sum, but the loss shrinks when you pad by 20 columns. What do you divide by?"
)
def divided_by_all_places(logits, targets, mask):
    return (_each(logits, targets) * mask).mean()


@masked_cross_entropy.misconception(
    "Take one sentence of 2 words and one of 8. Does each word count the same, or each sentence?"
)
def mean_of_sentence_means(logits, targets, mask):
    sums, counts = (_each(logits, targets) * mask).sum(1), mask.sum(1)
    return (sums / counts.clamp(min=1))[counts > 0].mean()


@masked_cross_entropy.misconception(
    "What is the cross-entropy of V equal logits? Logits of zero are a guess, and a guess has a loss."
)
def logits_zeroed(logits, targets, mask):
    return _each(logits * mask[..., None], targets).mean()


@masked_cross_entropy.misconception(
    "Put word 0 among the real words and change its logits. Does the loss move? Here the mask alone says what is "
    "padding."
)
def word_zero_taken_for_padding(logits, targets, mask):
    return _each(logits, targets)[mask & (targets != 0)].mean()


@masked_cross_entropy.misconception(
    "Check one (b, t) by hand. (B, T, V) and (B, V, T) hold the same numbers in different orders. Does view "
    "reorder them?"
)
def viewed_for_transposed(logits, targets, mask):
    B, T, V = logits.shape
    return _each(logits.reshape(B, V, T).mT, targets)[mask].mean()


@masked_cross_entropy.misconception(
    "Try logits of ten thousand. How large is their exponential? What is the logarithm of a probability rounded to 0?"
)
def infinite_for_large_logits(logits, targets, mask):
    return -logits[mask].softmax(-1).gather(-1, targets[mask][:, None]).log().mean()


@masked_cross_entropy.misconception(
    "Give it a perfect prediction, with one logit of 100. Is the loss near 0? How often is softmax taken?"
)
def softmax_twice(logits, targets, mask):
    return _each(logits.softmax(-1), targets)[mask].mean()
