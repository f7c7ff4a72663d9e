"""Hidden tests of `transition_matrix`."""

from __future__ import annotations

import torch
from torch import Tensor

from course.exercise import call, exercise, noncontiguous
from course.reference import markov_ngrams as reference


@exercise(
    reference.transition_matrix,
    hints=(
        "Take the text 0, 1, 0, 2 and fill a 3 × 3 table by hand. Then sum each of your rows.",
        "Which tokens of the text are followed by another one? Count them: is it all T of them?",
        "Look at the row of a token that never occurs, with alpha = 0 and with alpha = 1.",
    ),
)
def transition_matrix(rng):
    """Tokens never met, the last token met nowhere else, the shortest texts, alpha a fraction and above one."""
    text = torch.cat([rng.integers(0, 4, 29), torch.tensor([0, 0, 0, 1, 2, 0, 3])])
    yield call("counts alone", text, 5, public=True)
    yield call("a little added to each count", text, 7, alpha=0.3, public=True)
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


def _rows_to_one(counts: Tensor) -> Tensor:
    totals = counts.sum(1, keepdim=True)
    return torch.where(totals > 0, counts / totals, 1 / len(counts))


@transition_matrix.misconception("After q comes u. In which row, and in which column, did you write that down?")
def transposed(ids, vocab_size, alpha=0.0):
    return _rows_to_one(_pair_counts(ids, vocab_size) + alpha).T


@transition_matrix.misconception(
    "Sum your rows, then your columns. Which of the two answers the question: what comes next?"
)
def columns_normalised(ids, vocab_size, alpha=0.0):
    return _rows_to_one((_pair_counts(ids, vocab_size) + alpha).T).T


@transition_matrix.misconception("Sum each of your rows. What should come out, however long the text is?")
def counts_alone(ids, vocab_size, alpha=0.0):
    return _pair_counts(ids, vocab_size) + alpha


@transition_matrix.misconception(
    "Sum all of your matrix. How many distributions does it hold, and how much should each sum to?"
)
def whole_table_normalised(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size) + alpha
    return counts / counts.sum() if counts.sum() > 0 else torch.full_like(counts, 1 / vocab_size)


@transition_matrix.misconception(
    "Sum a row with alpha = 1, and again with alpha = 10. To what was alpha added: to counts, or to probabilities?"
)
def alpha_after_dividing(ids, vocab_size, alpha=0.0):
    return _rows_to_one(_pair_counts(ids, vocab_size)) + alpha


@transition_matrix.misconception(
    "You added alpha to the numerator. How many numerators does a row have? Sum one row to see."
)
def alpha_once_in_the_sum(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size)
    totals = counts.sum(1, keepdim=True) + alpha
    return torch.where(totals > 0, (counts + alpha) / totals, 1 / vocab_size)


@transition_matrix.misconception(
    "Is a pair that was never read still impossible when alpha is large? Look at the zeros."
)
def alpha_for_seen_pairs_only(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size)
    return _rows_to_one(torch.where(counts > 0, counts + alpha, 0))


@transition_matrix.misconception(
    "What does your matrix say after a token that never occurred? What would you bet, knowing nothing?"
)
def unseen_rows_zero(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size) + alpha
    return counts / counts.sum(1, keepdim=True).clamp(min=1e-12)


@transition_matrix.misconception(
    "After 0 came 1 three times and 2 once. Is 1 three times as likely in your row? What turns your counts into shares?"
)
def softmax_of_counts(ids, vocab_size, alpha=0.0):
    return torch.softmax(_pair_counts(ids, vocab_size) + alpha, 1)


@transition_matrix.misconception("After q comes u. Does your table say as well that q comes after u?")
def pairs_counted_both_ways(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size)
    return _rows_to_one(counts + counts.T + alpha)


@transition_matrix.misconception(
    "Print the row of a token that was never followed by anything. Which row is asked for there, and is it yours?"
)
def unseen_rows_like_the_text(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size)
    shares = torch.bincount(ids, minlength=vocab_size) / max(len(ids), 1)
    return torch.where(counts.sum(1, keepdim=True) > 0, _rows_to_one(counts + alpha), shares)


DIVIDED_BY_OTHERS = (
    "Sum each of your rows. Then print the shape of the sums beside that of the table: by which sum is entry [0, 1] "
    "divided?"
)
"""The hint to whose sums of rows lie along the columns."""


@transition_matrix.misconception(DIVIDED_BY_OTHERS)
def divided_by_the_sums_of_other_rows(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size) + alpha
    totals = counts.sum(1)
    return torch.where(totals > 0, counts / totals, 1 / vocab_size)


@transition_matrix.misconception(DIVIDED_BY_OTHERS)
def divided_by_the_sums_of_other_rows_and_by_zero(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size) + alpha
    return counts / counts.sum(1)


@transition_matrix.misconception("How many pairs has the text 0, 1? Print what your table holds after reading it.")
def last_pair_lost(ids, vocab_size, alpha=0.0):
    return _rows_to_one(_pair_counts(ids[:-1], vocab_size) + alpha)


@transition_matrix.misconception(
    "Are all rows of your table the same? Count one single pair and print the table: how many places have changed?"
)
def one_row_for_all(ids, vocab_size, alpha=0.0):
    return _rows_to_one((_pair_counts(ids, vocab_size).sum(0) + alpha).expand(vocab_size, -1))


@transition_matrix.misconception("Is there a NaN in your matrix? In which rows, and what do their counts sum to?")
def unseen_rows_nan(ids, vocab_size, alpha=0.0):
    counts = _pair_counts(ids, vocab_size) + alpha
    return counts / counts.sum(1, keepdim=True)


@transition_matrix.misconception(
    "How often is the very last token of the text followed by something? Sum the row of that token."
)
def divides_by_all_occurrences(ids, vocab_size, alpha=0.0):
    totals = torch.bincount(ids, minlength=vocab_size)[:, None] + alpha * vocab_size
    return torch.where(totals > 0, (_pair_counts(ids, vocab_size) + alpha) / totals, 1 / vocab_size)


@transition_matrix.misconception("The text ends with its last token. What does your table say comes after it?")
def ends_meet(ids, vocab_size, alpha=0.0):
    return _rows_to_one(_pair_counts(torch.cat([ids, ids[:1]]), vocab_size) + alpha)


@transition_matrix.misconception(
    "A pair read twenty times and a pair read once: do they have the same probability in your matrix?"
)
def seen_or_not(ids, vocab_size, alpha=0.0):
    return _rows_to_one(_pair_counts(ids, vocab_size).clamp(max=1) + alpha)
