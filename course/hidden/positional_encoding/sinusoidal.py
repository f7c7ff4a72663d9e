"""Hidden tests of `sinusoidal`: the table of sines and cosines."""

import torch

from course.exercise import call, exercise
from course.hidden.positional_encoding.scaffold import frequencies_of, within
from course.reference import positional_encoding as reference


@exercise(
    reference.sinusoidal,
    hints=(
        "Which angle has the hand of pair i at position t? Write down rows 0 and 1 by hand for a width of 4, and "
        "compare with the table in the text.",
        "Columns 2i and 2i + 1 hold one angle. Is the sum of their squares 1 in every row? How long is a full turn in"
        " the last pair of sinusoidal(1000, 8)? It should be a bit over 6,000 positions.",
        "Begin with a table of angles, with a row for each position and a column for each pair. Print its shape, "
        "which is half as wide as the result. Then think how sines and cosines can take turns along a row.",
    ),
    forbidden=("blocks.sinusoids",),
    calls=(
        "sinusoidal(1, 4)",
        "sinusoidal(1, 2)",
        "sinusoidal(3, 4).shape",
        "sinusoidal(2, 6).shape",
        "sinusoidal(4, 2)[0]",
        "sinusoidal(2, 2)[1]",
    ),
)
def sinusoidal(rng):
    """A narrow table, a wide one, a long one, one pair alone, and an odd width."""

    def table(n, d, **options):
        return call(f"{n} positions, width {d}", n, d, tolerance=within(n), **options)

    yield table(rng.choice(range(5, 10)), 2 * rng.choice([5, 7, 8, 9]), public=True, weight=2.0)
    yield table(rng.choice(range(11, 19)), rng.choice([4, 6, 8]), public=True)
    yield table(rng.choice([3, 4]), 2 * rng.choice(range(11, 18)), weight=2.0)
    yield table(rng.choice(range(1101, 1121)), 4)
    yield table(1, 2 * rng.choice(range(3, 9)), weight=0.5)
    yield table(rng.choice(range(5, 13)), 2, weight=0.5)
    yield table(rng.choice(range(19, 41)), 2 * rng.choice(range(5, 12)))
    yield call(
        "an odd width", rng.choice([2, 3, 4]), rng.choice([5, 7, 9, 11]), public=True, raises="ValueError", weight=0.5
    )


def _table(n, frequencies, first=0):
    """Interleaved sines and cosines."""
    angles = (first + torch.arange(n).double())[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@sinusoidal.misconception(
    "The numbers are right, and the layout is another. Which column stands beside sin t, its own cosine "
    "or the next sine?",
    convention="all sines first, then all cosines, as in tensor2tensor",
)
def concatenated_halves(n_positions, d_model):
    return _table(n_positions, frequencies_of(d_model)).unflatten(1, (-1, 2)).mT.flatten(1)


@sinusoidal.misconception(
    "Which columns are 0 at position 0 by the formula, and which are 1?",
    convention="the cosine before the sine",
)
def cosine_first(n_positions, d_model):
    return _table(n_positions, frequencies_of(d_model)).unflatten(1, (-1, 2)).flip(2).flatten(1)


@sinusoidal.misconception(
    "How fast does your first pair turn? At position 1 its sine should be sin 1 = 0.841.",
    convention="pairs counted from i = 1",
)
def pairs_counted_from_one(n_positions, d_model):
    return _table(n_positions, frequencies_of(d_model) * 10000.0 ** (-2 / d_model))


@sinusoidal.misconception(
    "How slow is your slowest pair? With D = 4 its angle at position 1 should be 0.01, not 0.0001.",
    convention="exponents i / (D/2 - 1), as in tensor2tensor",
)
def exponent_reaches_one(n_positions, d_model):
    last = max(d_model // 2 - 1, 1)
    return _table(n_positions, frequencies_of(d_model) ** (d_model / 2 / last))


@sinusoidal.misconception("Print row 0. All angles of position 0 are the same. Which angle is it?")
def starts_at_one(n_positions, d_model):
    return _table(n_positions, frequencies_of(d_model), first=1)


@sinusoidal.misconception(
    "Pair i holds columns 2i and 2i + 1. For D = 10, by which factor does each pair turn slower than the one before?"
)
def exponent_i_for_2i(n_positions, d_model):
    return _table(n_positions, frequencies_of(d_model) ** 0.5)


def _exponent_of_the_column(n_positions, d_model):
    frequencies_of(d_model)
    columns = torch.arange(d_model).double()
    angles = torch.arange(n_positions).double()[:, None] * 10000.0 ** (-2 * columns / d_model)
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())


sinusoidal.mistakes(
    "Is the exponent 2i with i the number of the pair, or with i the number of the column? Look at columns 2 and 3.",
    exponent_doubled=lambda n_positions, d_model: _table(n_positions, frequencies_of(d_model) ** 2),
    exponent_of_the_column=_exponent_of_the_column,
)
