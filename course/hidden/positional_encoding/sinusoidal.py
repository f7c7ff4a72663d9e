"""Hidden tests of `sinusoidal`."""

from __future__ import annotations

import math

import torch

from course.exercise import call, exercise
from course.hidden.positional_encoding.scaffold import _frequencies, _within
from course.reference import positional_encoding as reference


@exercise(
    reference.sinusoidal,
    hints=(
        "Print row 0 of your table, and say why it must look like that. Then columns 0 and 1: how long is a full turn?",
        "Columns 2i and 2i + 1 hold one angle. Is the sum of their squares 1 in every row?",
        "How long is a full turn in the last pair of sinusoidal(1000, 8)? It should be a bit over 6,000 places.",
    ),
    forbidden=("blocks.waves",),
)
def sinusoidal(rng):
    """A narrow table and a wide one, a long one; one pair alone; an odd width."""

    def table(n, d, **options):
        return call(f"{n} places, width {d}", n, d, tolerance=_within(n), **options)

    yield table(rng.choice(range(5, 10)), 2 * rng.choice([5, 7, 8, 9]), public=True, weight=2.0)
    yield table(rng.choice(range(11, 19)), rng.choice([4, 6, 8]), public=True)
    yield table(rng.choice([3, 4]), 2 * rng.choice(range(11, 18)), weight=2.0)
    yield table(rng.choice(range(101, 121)), 2 * rng.choice([6, 7, 8]))
    yield table(1, 2 * rng.choice(range(3, 9)), weight=0.5)
    yield table(rng.choice(range(5, 13)), 2, weight=0.5)
    yield table(rng.choice(range(19, 41)), 2 * rng.choice(range(5, 12)))
    yield call("an odd width", rng.choice([2, 3, 4]), rng.choice([5, 7, 9, 11]), raises="ValueError", weight=0.5)


def _table(n, frequencies, first=0):
    """Interleaved sines and cosines, odd widths refused by the caller."""
    angles = (first + torch.arange(n).double())[:, None] * frequencies
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@sinusoidal.misconception(
    "The right numbers in another layout. Which column stands beside sin t: its own cosine, or the next sine?",
    convention="all sines first, then all cosines, as in tensor2tensor",
)
def concatenated_halves(n_positions, d_model):
    angles = torch.arange(n_positions).double()[:, None] * _frequencies(d_model)
    return torch.cat([angles.sin(), angles.cos()], dim=1)


@sinusoidal.misconception(
    "What does the formula say about place 0: which columns are 0 there, and which are 1?",
    convention="the cosine before the sine",
)
def cosine_first(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model)).unflatten(1, (-1, 2)).flip(2).flatten(1)


@sinusoidal.misconception(
    "How fast does your first pair turn? At place 1 its sine should be sin 1 = 0.841.",
    convention="pairs counted from i = 1",
)
def pairs_counted_from_one(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model) * 10000.0 ** (-2 / d_model))


@sinusoidal.misconception(
    "How slow is your slowest pair? With D = 4 its angle at place 1 should be 0.01, not 0.0001.",
    convention="exponents i / (D/2 - 1), as in tensor2tensor",
)
def exponent_reaches_one(n_positions, d_model):
    frequencies = _frequencies(d_model)
    return _table(n_positions, 10000.0 ** (-torch.arange(len(frequencies)).double() / max(len(frequencies) - 1, 1)))


@sinusoidal.misconception("Print row 0. All angles of place 0 are the same: which?")
def starts_at_one(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model), first=1)


@sinusoidal.misconception(
    "Pair i holds columns 2i and 2i + 1. For D = 10, by which factor does each pair turn slower than the one before?"
)
def exponent_i_for_2i(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model) ** 0.5)


@sinusoidal.misconception(
    "Is the exponent 2i with i the number of the pair, or with i the number of the column? Look at columns 2 and 3."
)
def exponent_doubled(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model) ** 2)


@sinusoidal.misconception("Do the columns of a pair hold the same angle? Add the squares of columns 2 and 3.")
def cosine_of_the_next_angle(n_positions, d_model):
    _frequencies(d_model)
    angles = torch.arange(n_positions).double()[:, None] * 10000.0 ** (-torch.arange(d_model).double() / d_model)
    return torch.where(torch.arange(d_model) % 2 == 0, angles.sin(), angles.cos())


@sinusoidal.misconception(
    "Do the columns of a pair hold the same angle? Add the squares of columns 2 and 3. And is the i of the formula the "
    "number of a pair, or of a column?"
)
def exponents_of_the_column_and_the_next(n_positions, d_model):
    _frequencies(d_model)
    angles = torch.arange(n_positions).double()[:, None] * 10000.0 ** (-2 * torch.arange(d_model).double() / d_model)
    return torch.where(torch.arange(d_model) % 2 == 0, angles.sin(), angles.cos())


@sinusoidal.misconception("How many columns hold a sine in your table, and how many a cosine? Row 0 shows it.")
def sines_only(n_positions, d_model):
    angles = torch.arange(n_positions).double()[:, None] * _frequencies(d_model)
    return torch.stack([angles.sin(), angles.sin()], -1).flatten(1)


@sinusoidal.misconception("After how many places is your first pair back where it started? It should be 2π, about 6.")
def degrees(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model) * math.pi / 180)


@sinusoidal.misconception(
    "After how many places is your first pair back where it started? Is there a 2π in the formula?"
)
def whole_turns(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model) * 2 * math.pi)


@sinusoidal.misconception("How slow is the slowest pair? Count the zeros in the number that the formula raises.")
def base_one_thousand(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model, 1000.0))


@sinusoidal.misconception("How slow is the slowest pair? Count the zeros in the number that the formula raises.")
def base_one_hundred_thousand(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model, 100000.0))


@sinusoidal.misconception("Which pair turns fastest in your table, the first or the last?")
def fast_pairs_last_in_single_precision(n_positions, d_model):
    # so fast that the rounding of torch's default type shows: the same mistake as below, with other numbers
    _frequencies(d_model)
    angles = torch.arange(n_positions)[:, None] * 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.stack([angles.sin(), angles.cos()], -1).flatten(1)


@sinusoidal.misconception("Which pair turns fastest in your table, the first or the last?")
def fast_pairs_last(n_positions, d_model):
    return _table(n_positions, 1 / _frequencies(d_model))


@sinusoidal.misconception("Make a table of 10 places and one of 20. Do the first ten rows agree?")
def divided_by_the_length(n_positions, d_model):
    return _table(n_positions, _frequencies(d_model) / n_positions)


@sinusoidal.misconception(
    "How many different speeds are there in your table? If you divide with //: what does it throw away?"
)
def whole_number_division(n_positions, d_model):
    return _table(n_positions, torch.ones_like(_frequencies(d_model)))


@sinusoidal.misconception(
    "Ask for a width of 5. Which column is left without its partner? The docstring says what should happen."
)
def odd_widths_cut(n_positions, d_model):
    return reference.sinusoidal(n_positions, d_model + d_model % 2)[:, :d_model]
