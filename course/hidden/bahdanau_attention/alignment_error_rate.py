"""Hidden tests of `alignment_error_rate`."""

import torch

from course.exercise import call, exercise
from course.reference import bahdanau_attention as reference


@exercise(
    reference.alignment_error_rate,
    hints=(
        "Which tokens count, and which of them miss? Count by hand for the text's four tokens.",
        "What should the rate be if every token looks at the gold position? If none does? With longer padding?",
        "Begin with the position of each target token's largest weight. Its shape should be that of gold, (B, T). Then "
        "make a table (B, T) that is True for the real tokens, and print it. Two sums of such tables are left.",
    ),
    calls=(
        "alignment_error_rate(tensor([[[1., 0.], [0., 1.]]]), tensor([[0, 1]]), tensor([2]))",
        "alignment_error_rate(tensor([[[1., 0.], [1., 0.]]]), tensor([[0, 1]]), tensor([2]))",
        "alignment_error_rate(tensor([[[1., 0.], [1., 0.]]]), tensor([[0, 1]]), tensor([1]))",
        "alignment_error_rate(tensor([[[0., 1.], [0., 1.]]]), tensor([[0, 0]]), tensor([2]))",
        "alignment_error_rate(tensor([[[0.4, 0.6], [1., 0.]]]), tensor([[1, 1]]), tensor([1]))",
        (
            "alignment_error_rate(tensor([[[1., 0.], [1., 0.]], [[0., 1.], [1., 0.]]]), tensor([[0, 0], [1, "
            "1]]), tensor([2, 2]))"
        ),
    ),
)
def alignment_error_rate(rng):
    """Lengths from 1 to all. Hits are 30 % of the real tokens and 70 % of the padding, so any other count shows."""

    def inputs(B, T, S, lengths, hits=0.3, dtype=torch.float64):
        weights = torch.softmax(2 * rng.normal(B, T, S), -1).to(dtype)
        best, real = weights.argmax(-1), torch.arange(T) < torch.tensor(lengths)[:, None]
        places = (rng.uniform(B, T) + ~real).flatten().argsort().argsort().view(B, T)  # the real ones before the others
        hit = torch.where(real, places < round(hits * sum(lengths)), rng.uniform(B, T) < 1 - hits)
        gold = torch.where(hit, best, (best + rng.integers(1, S, B, T)) % S)
        return weights, gold, torch.tensor(lengths)

    yield call("a small batch", *inputs(3, 7, 5, [7, 2, 4]), public=True, weight=2.0)
    yield call("everything right", *inputs(2, 5, 3, [5, 3], hits=1.0), public=True).counts_with("a small batch")
    yield call("nothing right", *inputs(2, 5, 3, [5, 3], hits=0.0)).counts_with("a small batch")
    full = inputs(5, 11, 7, [11] * 5)
    yield call("no padding", *full)
    yield call("very different lengths", *inputs(5, 13, 7, [13, 1, 1, 2, 12]), public=True, weight=2.0)
    weights, gold, lengths = inputs(3, 11, 7, [2, 3, 5], hits=0.4)
    padded = torch.arange(11) >= lengths[:, None]
    yield call("padding that is all right", weights, torch.where(padded, weights.argmax(-1), gold), lengths)
    yield call("as many words as targets", *inputs(4, 7, 7, [7, 5, 3, 1]))
    yield call("a batch of one", *inputs(1, 5, 3, [4]))
    yield call("float32", *inputs(2, 7, 5, [3, 7], dtype=torch.float32))


def _hits(weights, gold, lengths):
    real = torch.arange(gold.shape[1]) < lengths[:, None]
    return ((weights.argmax(-1) == gold) & real).double(), real.double()


def _misses(weights, gold, lengths):
    hits, real = _hits(weights, gold, lengths)
    return real - hits


alignment_error_rate.mistakes(
    "What is your rate when every token looks where it should?",
    rate_of_hits=lambda weights, gold, lengths: 1 - reference.alignment_error_rate(weights, gold, lengths),
)
alignment_error_rate.mistakes(
    "Make the padding longer. Should the rate change?",
    pads_counted=lambda weights, gold, lengths: 1 - float((weights.argmax(-1) == gold).double().mean()),
)
alignment_error_rate.mistakes(
    "Count the real tokens of a batch of lengths 2 and 7. What do you divide by?",
    misses_over_everything=lambda weights, gold, lengths: float(_misses(weights, gold, lengths).mean()),
    misses_counted=lambda weights, gold, lengths: float(_misses(weights, gold, lengths).sum()),
)
alignment_error_rate.mistakes(
    "Print the shape of your positions beside that of gold. Which axis of the weights counts the source's positions?",
    largest_over_the_targets=lambda weights, gold, lengths: float((weights.argmax(1) != gold).double().mean()),
    largest_of_all=lambda weights, gold, lengths: float((weights.argmax() != gold).double().mean()),
)


@alignment_error_rate.misconception(
    "`lengths` is (B,), and the mask should be (B, T). Which axis is missing where you compare them with positions?"
)
def lengths_without_an_axis(weights, gold, lengths):
    real = torch.arange(gold.shape[1]) < lengths
    return float(((weights.argmax(-1) != gold) & real).sum()) / float(real.sum())


@alignment_error_rate.misconception(
    "Take a sentence of one token and one of thirteen. How much does each token count in your rate?"
)
def mean_of_the_sentences(weights, gold, lengths):
    hits, real = _hits(weights, gold, lengths)
    return 1 - float((hits.sum(1) / real.sum(1)).mean())
