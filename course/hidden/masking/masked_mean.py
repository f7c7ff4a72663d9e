"""Hidden tests of `masked_mean`: a mean over the real words alone, and zeros for a sentence of none."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.masking.scaffold import real_words
from course.reference import masking as reference


@exercise(
    reference.masked_mean,
    hints=(
        "What do you divide by for a sentence of three words in a batch of width seven?",
        "Embed a sentence alone, then beside a longer one. Is its mean the same? What is 0 / 0, and what should come "
        "out for a sentence of no words?",
        "Begin with the two parts of a mean, the sum of the real words and their number. Write down the shape of "
        "each. Which axis does the mask lack to meet x (B, T, D)?",
    ),
    calls=(
        "masked_mean(tensor([[[2.], [4.]]]), tensor([[True, True]]))",
        "masked_mean(tensor([[[2.], [4.]]]), tensor([[True, False]]))",
        "masked_mean(tensor([[[2.], [4.]]]), tensor([[False, False]]))",
        "masked_mean(tensor([[[2., 1.], [4., 1.], [9., 9.]]]), tensor([[True, True, False]]))",
        "masked_mean(tensor([[[6.]], [[8.]]]), tensor([[True], [True]]))",
        "masked_mean(zeros(1, 2, 1), tensor([[True, False]]))",
    ),
)
def masked_mean(rng):
    """Noise behind the mask, a full sentence, one of a single word, masks with gaps, and a sentence of no words."""
    B, T, D = 3, 5, 7
    yield call("three ragged sentences", rng.normal(B, T, D), real_words([2, 5, 1], T), public=True)
    yield call("a sentence of no words", rng.normal(2, 3, 5), real_words([0, 2], 3), public=True)
    gaps = (rng.uniform(2, 7) < 0.5).index_fill_(1, torch.tensor([0]), False).index_fill_(1, torch.tensor([6]), True)
    yield call("gaps in the middle", rng.normal(2, 7, 3), gaps, weight=2.0)
    yield call("as many sentences as words", rng.normal(3, 3, 5), real_words([1, 3, 2], 3))
    yield call("room to spare", rng.normal(2, 11, 3), real_words([3, 2], 11), weight=2.0)
    nearly, huge = real_words([3, 5], 5), 1e6
    yield call("huge numbers behind the mask", rng.normal(2, 5, 3) + huge * ~nearly[..., None], nearly)
    ragged = real_words([4, 1, 5], 5)
    yield call("words with zeros in them", rng.normal(3, 5, 2).relu(), ragged)
    yield call("one sentence, one word, one number", rng.normal(1, 1, 1), torch.ones(1, 1, dtype=torch.bool))
    yield call("nothing at all", rng.normal(2, 3, 2), torch.zeros(2, 3, dtype=torch.bool), grad=False).counts_with(
        "three ragged sentences"
    )
    yield call("float32", rng.normal(3, 5, 2, dtype=torch.float32), real_words([4, 1, 5], 5))
    yield call("memory that is not contiguous", noncontiguous(rng.normal(2, 5, 3)), real_words([2, 5], 5), public=True)


def _sum(x, mask):
    return (x * mask[..., None]).sum(1)


@masked_mean.misconception("Embed a sentence alone and next to a long one. Does the padding take part in the mean?")
def pads_take_part(x, mask):
    return x.mean(1)


@masked_mean.misconception("Your sum is right. By what number of words do you divide it for a short sentence?")
def divided_by_the_width(x, mask):
    return _sum(x, mask) / x.shape[1]


@masked_mean.misconception(
    "Average a sentence alone, then in a batch of ten. By how many words do you divide each time?"
)
def divided_by_the_words_of_the_batch(x, mask):
    return _sum(x, mask) / mask.sum().clamp(min=1)


@masked_mean.misconception("Write every word of a sentence twice. Should its mean double as well?")
def sum_for_mean(x, mask):
    return _sum(x, mask)


@masked_mean.misconception("Set a number of a real word to 0, as a ReLU would. By how many do you divide then?")
def counts_what_is_not_zero(x, mask):
    kept = x * mask[..., None]
    return kept.sum(1) / (kept != 0).sum(1).clamp(min=1)


@masked_mean.misconception("Take a sentence of no words. Which number do you divide by which?")
def nan_for_nobody(x, mask):
    return _sum(x, mask) / mask.sum(1, keepdim=True)


@masked_mean.misconception("Which words does your mean take, those with True or the others?")
def mean_of_the_pads(x, mask):
    return reference.masked_mean(x, ~mask)
