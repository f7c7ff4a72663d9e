"""Hidden tests of `transition_matrix`: pair counts turned into rows that sum to one."""

import torch
from torch import Tensor

from course.exercise import call, exercise, noncontiguous
from course.reference import markov_ngrams as reference


@exercise(
    reference.transition_matrix,
    hints=(
        "Take the text 0, 1, 0, 2 and fill a 3 × 3 table of counts by hand. Which token chooses the row? What "
        "should a row sum to in the end?",
        "Look at the row of a token that nothing ever follows, with alpha = 0 and with alpha = 1. What do you "
        "divide there, and what do you want to see?",
        "Begin with a table of zeros, one row and one column for each token. Visit each pair of neighbours in the "
        "text once, and count it. Print this table and the sums of its rows for your text of four tokens before "
        "you divide.",
    ),
    calls=(
        "transition_matrix(tensor([0, 1, 0, 1, 0]), 2)",
        "transition_matrix(tensor([0, 0, 1, 0]), 2)",
        "transition_matrix(tensor([0, 1, 2]), 3)",
        "transition_matrix(tensor([0, 1]), 2, alpha=1.)",
        "transition_matrix(tensor([0, 0]), 2)",
        "transition_matrix(tensor([1, 0, 1]), 2)",
    ),
)
def transition_matrix(rng):
    """Tokens that never occur, a last token that occurs nowhere else, short texts, alpha a fraction and above one."""
    text = torch.cat([rng.integers(0, 4, 29), torch.tensor([0, 0, 0, 1, 2, 0, 3])])
    yield call("counts alone", text, 5, public=True)
    yield call("a little added to each count", text, 7, alpha=0.1, public=True)  # rows below 1
    yield call("the last token occurs nowhere else", torch.cat([rng.integers(0, 3, 19), torch.tensor([4])]), 5)
    yield call("much added", rng.integers(0, 11, 83), 11, alpha=2.5)
    yield call("not contiguous", noncontiguous(rng.integers(0, 5, 47)), 5, alpha=0.1, public=True)
    yield call("one token only", torch.tensor([2]), 5)
    yield call("no token at all", torch.tensor([], dtype=torch.long), 3)
    yield call("two tokens", torch.tensor([1, 0]), 3)


def _pair_counts(ids: Tensor, vocab_size: int) -> Tensor:
    counts = torch.zeros(vocab_size, vocab_size)
    for previous, following in zip(ids[:-1].tolist(), ids[1:].tolist()):
        counts[previous, following] += 1
    return counts


def _divided(weights: Tensor, totals: Tensor) -> Tensor:
    """Shares, and a uniform guess where nothing was counted."""
    return torch.where(totals > 0, weights / totals, 1 / len(weights))


@transition_matrix.misconception(
    "Sum your rows, then your columns. Which sums should be one, if the question is what comes next?"
)
def columns_normalised(ids, vocab_size, alpha=0.0):
    weights = _pair_counts(ids, vocab_size) + alpha
    return _divided(weights, weights.sum(0))


@transition_matrix.misconception(
    "Fill the table for the text 0, 1, 2. Which rows of yours are empty? What came before should choose the row."
)
def next_token_chooses_the_row(ids, vocab_size, alpha=0.0):
    return reference.transition_matrix(ids.flip(0), vocab_size, alpha)


@transition_matrix.misconception("Sum each row of your table. What should the probabilities of all next tokens sum to?")
def counts_not_divided(ids, vocab_size, alpha=0.0):
    return _pair_counts(ids, vocab_size) + alpha


@transition_matrix.misconception(
    "In the text 0, 1, 0, 1 the pair (0, 1) occurs twice. What does your table hold for it before you divide?"
)
def repeated_pairs_counted_once(ids, vocab_size, alpha=0.0):
    weights = (_pair_counts(ids, vocab_size) > 0) + alpha
    return _divided(weights, weights.sum(1, keepdim=True))


@transition_matrix.misconception(
    "Print the row of a token that never occurred. How likely is each next token if you know nothing?"
)
def unseen_rows_zero(ids, vocab_size, alpha=0.0):
    weights = _pair_counts(ids, vocab_size) + alpha
    return weights / weights.sum(1, keepdim=True).clamp(min=1e-12)


@transition_matrix.misconception(
    "Sum each of your rows. Then print the shape of the sums beside the shape of the table. By which sum do you divide "
    "entry [0, 1]?"
)
def divided_by_the_sums_of_other_rows(ids, vocab_size, alpha=0.0):
    weights = _pair_counts(ids, vocab_size) + alpha
    return _divided(weights, weights.sum(1))


@transition_matrix.misconception("Is there a NaN in your matrix? In which rows, and what do their counts sum to?")
def unseen_rows_nan(ids, vocab_size, alpha=0.0):
    weights = _pair_counts(ids, vocab_size) + alpha
    return weights / weights.sum(1, keepdim=True)


@transition_matrix.misconception(
    "How often does something follow the very last token of the text? Sum the row of that token."
)
def divides_by_all_occurrences(ids, vocab_size, alpha=0.0):
    occurrences = torch.bincount(ids, minlength=vocab_size)[:, None]
    return _divided(_pair_counts(ids, vocab_size) + alpha, occurrences + alpha * vocab_size)
