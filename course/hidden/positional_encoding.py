"""Examiner's notes on positional encoding: the table, its shift, a learned one, RoPE, ALiBi, what they are good for.

Answers make their own constants, often in float32, so tolerances grow with the largest position. Offsets, widths and
lengths differ; a width of two hides a wrong exponent, so it never stands alone.
"""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from course.data import order
from course.exercise import build, call, exercise, given_model, noncontiguous, stand_in
from course.reference import positional_encoding as reference


def _within(largest_position):
    """rtol = atol for an answer that makes its own angles: float32 rounds t w_i in proportion to t."""
    return 1e-5 * (1 + largest_position)


# -- the table -------------------------------------------------------------------------------------------------------


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


def _frequencies(d, base=10000.0):
    if d % 2:
        raise ValueError(f"{d} is odd")
    return base ** (-torch.arange(0, d, 2).double() / d)


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


# -- the shift -------------------------------------------------------------------------------------------------------


@exercise(
    reference.shift_matrix,
    hints=(
        "Begin with D = 2: a hand that shows (sin t, cos t). Write sin(t + k) and cos(t + k) with what it shows at t.",
        "Multiply: shift_matrix(1, 6) @ sinusoidal(9, 6)[4]. Which row should that be, and which one is it?",
        "One offset, but every pair turns by its own angle. How much does pair i turn in k places?",
    ),
)
def shift_matrix(rng):
    """Forward, backward, not at all, far; one pair alone; an odd width."""

    def shift(offset, d, **options):
        return call(f"{offset} places on, width {d}", offset, d, tolerance=_within(abs(offset)), **options)

    yield shift(rng.choice(range(2, 7)), 2 * rng.choice([3, 4, 5, 6]), public=True, weight=2.0)
    yield shift(1, 2 * rng.choice(range(5, 14)), public=True)
    yield shift(-rng.choice(range(2, 9)), 2 * rng.choice(range(4, 9)), weight=2.0)
    yield shift(rng.choice(range(37, 60)), 2 * rng.choice([6, 7, 8]))
    yield shift(0, 2 * rng.choice(range(2, 8)), weight=0.5)
    yield shift(rng.choice(range(3, 13)), 2)
    yield shift(rng.choice(range(7, 19)), 2 * rng.choice(range(4, 12)))
    yield call("an odd width", rng.choice([1, 2, 3]), rng.choice([5, 7, 9, 11]), raises="ValueError", weight=0.5)


@shift_matrix.misconception(
    "Multiply shift_matrix(1, 6) by row 4 of the table: row 5, or row 3? Mind on which side the vector stands."
)
def turned_the_wrong_way(offset, d_model):
    return reference.shift_matrix(-offset, d_model)


@shift_matrix.misconception(
    "Your matrix fits a table with all sines first. Multiply it by a row of your own table: does the next one come?",
    convention="all sines first, then all cosines",
)
def for_concatenated_halves(offset, d_model):
    by_pairs = reference.shift_matrix(offset, d_model).unflatten(1, (-1, 2)).unflatten(0, (-1, 2))
    return by_pairs.permute(1, 0, 3, 2).reshape(d_model, d_model)


@shift_matrix.misconception("Each pair has a speed of its own. Does yours turn them all alike?")
def one_angle_for_all(offset, d_model):
    turn = reference.shift_matrix(offset, 2)
    if d_model % 2:
        raise ValueError("odd")
    return torch.block_diag(*[turn] * (d_model // 2))


@shift_matrix.misconception(
    "Move the vector of place 4 by one: the numbers change, they do not change columns. What turns, and by how much?"
)
def columns_rolled(offset, d_model):
    _frequencies(d_model)
    return torch.eye(d_model).roll(offset, 0)


@shift_matrix.misconception(
    "Is M times its transpose the identity? Check the sign of each of the four numbers in a pair."
)
def a_sign_missing(offset, d_model):
    return _blocks(offset, d_model, ((1, 1), (1, 1)))


@shift_matrix.misconception(
    "A rotation has determinant 1. What is yours? Check the sign of each of the four numbers in a pair."
)
def mirrored(offset, d_model):
    return _blocks(offset, d_model, ((1, 1), (1, -1)))


@shift_matrix.misconception(
    "What is left of a vector's length after your matrix? Each pair mixes its sine and its cosine."
)
def cosines_only(offset, d_model):
    return _blocks(offset, d_model, ((1, 0), (0, 1)))


@shift_matrix.misconception("Ask for an offset of -3. Does your matrix take place 5 back to place 2?")
def offset_without_its_sign(offset, d_model):
    return reference.shift_matrix(abs(offset), d_model)


@shift_matrix.misconception("Does an offset of 0 leave the vectors where they are?")
def one_place_too_far(offset, d_model):
    return reference.shift_matrix(offset + 1, d_model)


@shift_matrix.misconception(
    "Compare your pairs with those of the table: by which factor does each turn slower than the one before?"
)
def other_speeds_than_the_table(offset, d_model):
    return _turns(offset * _frequencies(d_model) ** 0.5)


@shift_matrix.misconception(
    "Compare your pairs with those of the table: by which factor does each turn slower than the one before?"
)
def speeds_of_every_second_pair(offset, d_model):
    return _turns(offset * _frequencies(d_model) ** 2)


@shift_matrix.misconception("Ask for an offset of 1 and for one of 5. Do you get the same matrix?")
def offset_ignored(offset, d_model):
    return reference.shift_matrix(1, d_model)


@shift_matrix.misconception(
    "Print shift_matrix(1, 6): in which row does each pair's block begin, and do two of them meet?"
)
def blocks_overlap(offset, d_model):
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i, angle in enumerate(offset * _frequencies(d_model)):
        matrix[i : i + 2, i : i + 2] = _turns(angle[None])
    return matrix


@shift_matrix.misconception("Ask for a width of 7. Which column is left without its partner?")
def odd_widths_ignored(offset, d_model):
    return reference.shift_matrix(offset, d_model + d_model % 2)[:d_model, :d_model]


def _turns(angles, signs=((1, 1), (-1, 1))):
    (a, b), (c, d) = signs
    return torch.block_diag(
        *(
            torch.stack([torch.stack([a * t.cos(), b * t.sin()]), torch.stack([c * t.sin(), d * t.cos()])])
            for t in angles
        )
    )


def _blocks(offset, d_model, signs):
    return _turns(offset * _frequencies(d_model), signs)


# -- the requirements ------------------------------------------------------------------------------------------------


@exercise(
    reference.order_properties,
    hints=(
        "Measure one property at a time: print it for `sinusoidal` and for a table of torch.randn.",
        "Unique is about any two places, not about neighbours. Deterministic needs two calls.",
        "Relative: A @ M comes nearest to B for M = torch.linalg.pinv(A) @ B. How near? Over how many places?",
    ),
)
def order_properties(rng):
    """Encodings that clearly have or lack each property. Where one map exists the columns are independent, so that any
    way of looking for it finds it.
    """
    n, d = 23, 4
    periods = torch.tensor([5.3, 17.9, 61.0])
    table = rng.uniform(31, 6, low=-1.0)

    yield _measured("waves of several lengths", stand_in("waves", periods=periods), n, d, public=True, has_all=True)
    yield _measured("the number of the place", stand_in("counted", step=1.0), n, d, public=True)
    eight = torch.tensor([8.0, 8.0 / 3], dtype=torch.float64)
    yield _measured("a wave of eight places", stand_in("waves", periods=eight, repeat=8), n, d, public=True)
    yield _measured("the place divided by the length", stand_in("counted", step=1.0, of_length=True), n, d)
    yield _measured("numbers below zero", stand_in("counted", step=-1.0), n, d)
    yield _measured("the number beside a one", stand_in("counted_beside_one"), n, 2)
    yield _measured("binary digits", stand_in("binary"), n, 6, public=True)
    thirty = torch.tensor([30.0, 10.0], dtype=torch.float64)
    yield _measured("a wave of thirty places", stand_in("waves", periods=thirty, repeat=30), n, d, has_all=True)
    yield _measured(
        "powers of numbers below one",
        stand_in("powers", factors=torch.tensor([0.95, 0.9, 0.8, 0.5])),
        n,
        d,
        has_all=True,
    )
    yield _measured("a table of random vectors", stand_in("place_table", table=table), 29, 6)
    yield _measured("dice", stand_in("dice"), n, d)
    yield _measured("three waves", stand_in("waves", periods=periods), 31, 6, has_all=True)
    twice = rng.uniform(31, 6, low=-1.0)
    twice[17] = twice[5]
    yield _measured("a table with two equal rows", stand_in("place_table", table=twice), 29, 6)
    calm = rng.uniform(n - 2, d, low=-1.0)
    yield _measured("dice for the last two places", stand_in("dice", calm=calm), n, d)
    high = rng.uniform(4 * n, d, low=-1.0)
    high[11, 3], high[2 * n - 5, 2] = 20.0, 400.0  # one among the n places, and a larger one beyond them
    yield _measured("few numbers, and they are large", stand_in("place_table", table=high), n, d)
    yield from _maps_of_a_part(rng)


def _maps_of_a_part(rng):
    """One map for some columns, for the first places, or backwards only, and one that forgets where it began."""
    angles = 0.54 * torch.arange(96).double()[:, None]  # no place within 34 comes near another
    wave = torch.cat([angles.cos(), angles.sin()], 1)  # (96, 2): its map is a turn
    beside = torch.cat([wave[:31], rng.uniform(31, 4, low=-1.0)], 1)
    yield _measured("a wave beside random numbers", stand_in("place_table", table=beside), 29, 6)
    stumbling = torch.cat([wave[:17], wave[20:34]])
    yield _measured("a wave that stumbles", stand_in("place_table", table=stumbling), 29, 2)
    begun = torch.eye(96, 1, dtype=torch.float64)  # a mark for the beginning: no matrix brings it back
    yield _measured(
        "a wave with a beginning", stand_in("place_table", table=torch.cat([begun, wave], 1)), 29, 3, has_all=True
    )
    ended = torch.cat([begun.flip(0), wave], 1)[-29:]  # backwards there is a map, and forwards nobody knows the end
    yield _measured("a wave with an end", stand_in("place_table", table=ended), 29, 3)


def _measured(title, encoding, n, d, has_all=False, **options):
    """Who says the same of every encoding has measured nothing: one that has all counts with one that has not."""
    case = call(title, encoding, n, d, **options)
    return case.counts_with("a table of random vectors" if has_all else "three waves")


def _with(encode, n, d, **other):
    """The right answers, some of them replaced by functions of the rows."""
    rows = encode(n, d)
    return reference.order_properties(encode, n, d) | {name: measure(rows) for name, measure in other.items()}


def _best_map_fits(earlier, later):
    return torch.allclose(earlier @ torch.linalg.pinv(earlier) @ later, later, atol=1e-4)


@order_properties.misconception(
    "A clock shows different times at 1 and at 2, and the same at 1 and at 13. Which pairs of places do you compare?"
)
def only_neighbours_compared(encode, n, d):
    return _with(encode, n, d, unique=lambda rows: bool((rows[1:] - rows[:-1]).abs().amax(1).min() > 1e-4))


@order_properties.misconception(
    "Two places that are alike need not stand side by side, and neither need be the first. Which pairs do you compare?"
)
def only_compared_with_the_first(encode, n, d):
    return _with(encode, n, d, unique=lambda rows: bool((rows[1:] - rows[0]).abs().amax(1).min() > 1e-4))


@order_properties.misconception(
    "Print the pairs of places that you find alike. What do all these pairs have in common?"
)
def compared_with_the_place_itself(encode, n, d):
    return _with(encode, n, d, unique=lambda rows: bool((rows[:, None] - rows).abs().amax(2).min() > 1e-4))


@order_properties.misconception("Which number of a vector is compared? Two places may share one and differ in another.")
def unique_in_the_first_column(encode, n, d):
    return _with(encode, n, d, unique=lambda rows: len(rows[:, 0].round(decimals=4).unique()) == n)


@order_properties.misconception("Is a value of -1000 small? Bounded means in both directions.")
def bounded_above_only(encode, n, d):
    return _with(encode, n, d, bounded=lambda rows: bool(rows.max() < 3))


@order_properties.misconception(
    "1,000,000 is finite. Is an encoding that counts bounded, for a text as long as you like?"
)
def bounded_means_finite(encode, n, d):
    return _with(encode, n, d, bounded=lambda rows: bool(rows.isfinite().all()))


@order_properties.misconception(
    "Print the two answers that you compare, for dice. Why are they the same: is it one answer twice, or one seed?"
)
def compared_with_itself(encode, n, d):
    return _with(encode, n, d, deterministic=lambda rows: torch.equal(rows, rows))


@order_properties.misconception(
    "A longer run has the right shape. Does it begin with the same vectors? Try the place divided by the length."
)
def any_length_by_shape(encode, n, d):
    try:
        longer = encode(2 * n, d).shape == (2 * n, d)
    except ValueError:
        longer = False
    return _with(encode, n, d, any_length=lambda rows: longer)


@order_properties.misconception(
    "A map with a constant added takes 4 to 5. What takes it there by multiplication alone, and 5 to 6 as well?"
)
def a_constant_allowed(encode, n, d):
    def fits(rows):
        return _best_map_fits(torch.cat([rows[:-1], torch.ones(len(rows) - 1, 1, dtype=rows.dtype)], 1), rows[1:])

    return _with(encode, n, d, relative=fits)


@order_properties.misconception(
    "With as many places as columns some matrix always fits. Over how many places do you look for one?"
)
def too_few_places_for_a_map(encode, n, d):
    return _with(encode, n, d, relative=lambda rows: n < d or _always_fits(rows, d))


def _always_fits(rows, d):
    few = rows[: d + 1]
    return _best_map_fits(few[:-1], few[1:]) or bool(torch.linalg.matrix_rank(few[:-1]) == d)


@order_properties.misconception(
    "Print the shape of your matrix. Is it n × n? Then it mixes places, and nearly any table can be mixed from itself."
)
def a_map_that_mixes_places(encode, n, d):
    def fits(rows):
        mixed = rows[1:] @ torch.linalg.pinv(rows[:-1]) @ rows[:-1]
        return torch.allclose(mixed, rows[1:], atol=1e-4)

    return _with(encode, n, d, relative=fits)


@order_properties.misconception(
    "Steps of equal length are not one map: a walk with equal steps may turn anywhere. Find the matrix itself."
)
def relative_means_equal_steps(encode, n, d):
    def equal_steps(rows):
        steps = (rows[1:] - rows[:-1]).norm(dim=1)
        return torch.allclose(steps, steps[:1], atol=1e-3)

    return _with(encode, n, d, relative=equal_steps)


@order_properties.misconception(
    "Is it the difference of neighbours that stays the same? A clock's hand makes the same turn at every step, and its "
    "differences point elsewhere each time. Find the matrix itself."
)
def relative_means_one_difference(encode, n, d):
    def one_difference(rows):
        steps = rows[1:] - rows[:-1]
        return torch.allclose(steps, steps[:1].expand_as(steps), atol=1e-4)

    return _with(encode, n, d, relative=one_difference)


@order_properties.misconception(
    "That lengths and dot products stay as they are is true of waves, and is not what is asked. Do the powers of 0.9 "
    "have one matrix that goes from each place to the next?"
)
def relative_means_equal_products(encode, n, d):
    def equal_products(rows):
        products = rows @ rows.T
        return all(bool(products.diagonal(k).max() - products.diagonal(k).min() < 1e-4) for k in range(n))

    return _with(encode, n, d, relative=equal_products)


@order_properties.misconception(
    "Your matrix takes you from one place to a neighbour: to the next one, or back? Try it on places 0 and 1."
)
def a_map_that_goes_back(encode, n, d):
    return _with(encode, n, d, relative=lambda rows: _best_map_fits(rows[1:], rows[:-1]))


@order_properties.misconception(
    "One large number among many small ones: does your measure notice it, wherever it stands? Of how many values does "
    "the property speak?"
)
def bounded_on_average(encode, n, d):
    return _with(encode, n, d, bounded=lambda rows: bool(rows.abs().mean() < 3))


@order_properties.misconception(
    "How much of the two answers do you compare? An encoding may be the same at its first place and not at its last."
)
def deterministic_at_the_first_place(encode, n, d):
    right = reference.order_properties(encode, n, d)
    return right | {"deterministic": torch.equal(encode(n, d)[0], encode(n, d)[0])}


# -- learned positions -----------------------------------------------------------------------------------------------


ADDED, OWN = "the marks are added to the words", "a vector of its own for every place"
"""The cases that neither a constant passes nor who returns the words; what marks must not do counts with the second."""


@exercise(
    reference.LearnedPositions,
    hints=(
        "Which shape has a table with a vector for each place? Which of its rows does a text of T words need?",
        "Give two equal sentences in one batch. Should they get the same marks? Do they?",
        "List model.parameters(): an optimizer changes what it finds there, and nothing else.",
    ),
)
def LearnedPositions(rng):
    """Judged by what it does: the shape of the table is the student's own. Numbers come from the judge."""

    def zeros(*shape):
        return torch.zeros(*shape)

    def filled(title, max_len, width, **options):
        made = build(title, max_len, width, **options).fill(rng)
        return made if title in (ADDED, OWN) else made.counts_with(OWN)

    places = rng.choice(range(11, 60))
    x = rng.normal(2, 5, 3, dtype=torch.float32)  # not two numbers wide: a LayerNorm would leave only their signs
    yield (
        filled(ADDED, 7, 3, public=True, weight=2.0)
        .call(x)
        .call(zeros(2, 5, 3), into="marks")
        .call(-x, into="other")
        .law("shape_is", shape=(2, 5, 3), meaning="words (B, T, D), as many numbers each as before")
        .law("different", to="other", because="two different texts get the same: is anything of the words left?")
        .law("exceeds_by", to="marks", value=x, because="x + marks is not what comes out for x: what is done to x?")
        .law("exceeds", of="marks", value=0.0, because="nothing is added to words of zeros: where are the marks?")
        .laws_only()
    )
    yield (
        filled(OWN, places, 3, public=True)
        .call(zeros(1, places, 3))
        .law("shape_is", shape=(1, places, 3))
        .law("slices_differ", dim=1, because="two places get the same vector")
        .laws_only()
    )
    yield (
        filled("every number of a vector is its own", 11, 5)
        .call(zeros(1, 11, 5))
        .law("slices_differ", dim=2, because="two numbers of a vector are the same in every place: how many numbers "
             "does a place have of its own?")
        .laws_only()
    )  # fmt: skip
    yield (
        filled("a table, and no line", 3, 5)
        .call(zeros(1, 3, 5))
        .law("combination_is_not_zero", weights=torch.tensor([1.0, -2.0, 1.0]), because="place 1 lies midway between "
             "places 0 and 2: do the marks follow from the number of the place, or can each be learned by itself?")
        .laws_only()
    )  # fmt: skip
    yield (
        filled("words and marks, and no chance", 7, 5)
        .train()
        .call(zeros(3, 7, 5))
        .call(zeros(3, 7, 5), into="again")
        .law("repeats", to="again", because="in training, the same words get other marks the second time: what is in "
             "it besides x and the table?")
        .laws_only()
    )  # fmt: skip
    yield (
        filled("two equal sentences", 7, 3, public=True, weight=2.0)
        .call(zeros(5, 7, 3))
        .law("shape_is", shape=(5, 7, 3))
        .law("slices_agree", dim=0, because="equal sentences get different vectors: which axis is time?")
        .laws_only()
    )
    yield (
        filled("a short text begins like a long one", 13, 3)
        .call(zeros(1, 13, 3), into="long")
        .call(zeros(1, 5, 3), into="short")
        .law("shape_is", of="short", shape=(1, 5, 3))
        .law("begins_with", of="long", to="short", dim=1, because="place 0 has another vector in a shorter text")
        .laws_only()
    )
    yield (
        filled("an optimizer finds the table", 5, 3)
        .call(zeros(2, 5, 3))
        .gradients(wrt="parameters")
        .law("every_parameter_learns")
        .law(
            "every_token_learns", tokens=5, because="some places of the table get no gradient: which ones never learn?"
        )
        .laws_only()
    )
    below = rng.normal(2, 3, 5, dtype=torch.float32).requires_grad_()
    yield (
        filled("the words below learn, too", 7, 5)
        .call(below)
        .gradients()
        .law("input_is_reached", because="no gradient flows back to x: how would the words below learn?")
        .laws_only()
        .counts_with(OWN)
    )
    yield (
        build("as it starts", 7, 5)
        .call(zeros(1, 7, 5))
        .law("slices_differ", dim=1, because="all places start with the same vector", within=1e-9)
        .laws_only()
        .counts_with(OWN)
    )
    yield build("more words than places", 5, 3, raises="ValueError").call(zeros(2, 7, 3))


class _Table(nn.Module):
    def __init__(self, max_len, d_model):
        super().__init__()
        self.positions = nn.Parameter(0.02 * torch.randn(max_len, d_model))

    def check(self, x):
        if x.shape[1] > len(self.positions):
            raise ValueError("too long")

    def forward(self, x):
        self.check(x)
        return x + self.marks(x)

    def marks(self, x):
        return self.positions[: x.shape[1]]


@LearnedPositions.misconception("Backpropagate through your layer. What is x.grad, and who below waits for it?")
class CutsOffTheWords(_Table):
    def forward(self, x):
        return super().forward(x.detach())


@LearnedPositions.misconception("Give two equal sentences in one batch: they get different marks. Which axis is time?")
class IndexedByTheBatch(_Table):
    def marks(self, x):
        return self.positions[torch.arange(len(x)) % len(self.positions), None]


@LearnedPositions.misconception(
    "Does anything learn? List the model's parameters, each with its .grad after a backward pass: an optimizer changes "
    "only what stands there and has one."
)
class NotAParameter(_Table):
    def __init__(self, max_len, d_model):
        nn.Module.__init__(self)
        self.register_buffer("positions", 0.02 * torch.randn(max_len, d_model))


@LearnedPositions.misconception("What does your table hold before training? Places that start alike look alike.")
class StartsFromZeros(_Table):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        nn.init.zeros_(self.positions)


@LearnedPositions.misconception("How many vectors does your table hold? Ask for the marks of two different places.")
class OneVectorForAll(_Table):
    def __init__(self, max_len, d_model):
        super().__init__(max_len, d_model)
        self.max_len, self.positions = max_len, nn.Parameter(0.02 * torch.randn(d_model))

    def check(self, x):
        if x.shape[1] > self.max_len:
            raise ValueError("too long")

    def marks(self, x):
        return self.positions


@LearnedPositions.misconception(
    "Nobody has learned anything about place 20 of a table of 16. Which error does the docstring promise?"
)
class NoErrorBeyondTheTable(_Table):
    def check(self, x):
        pass

    def marks(self, x):
        return self.positions[torch.arange(x.shape[1]) % len(self.positions)]


@LearnedPositions.misconception("Give it two different sentences: is anything of the words left in the result?")
class OnlyTheMarks(_Table):
    def forward(self, x):
        self.check(x)
        return self.marks(x).expand_as(x)


@LearnedPositions.misconception("Give it two different sentences: is anything of the words left in the result?")
class OnlyTheMarksOfOneSentence(_Table):
    def forward(self, x):
        self.check(x)
        return self.marks(x)


@LearnedPositions.misconception(
    "Give it one sentence of five words. How many rows of your table are read? Which axis is time?"
)
class CountsTheSentences(_Table):
    def marks(self, x):
        return self.positions[: len(x)]


@LearnedPositions.misconception(
    "A text of five words and a table of seven places: which of its rows does the text need?"
)
class AlwaysAddsTheWholeTable(_Table):
    def check(self, x):
        pass

    def marks(self, x):
        return self.positions


@LearnedPositions.misconception("What comes out for words of zeros? A mark that multiplies says nothing about them.")
class Multiplied(_Table):
    def forward(self, x):
        self.check(x)
        return x * self.marks(x)


@LearnedPositions.misconception("Does place 0 of a short text get the same vector as place 0 of a long one?")
class CountedFromTheEnd(_Table):
    def marks(self, x):
        return self.positions[len(self.positions) - x.shape[1] :]


# -- RoPE ------------------------------------------------------------------------------------------------------------


@exercise(
    reference.rope,
    hints=(
        "Begin with D = 2, one word at place 1: (1, 0) should become (cos 1, sin 1) = (0.540, 0.841).",
        "Is every vector as long as before? And the vectors of place 0: do they stay as they are?",
        "Rotate one q at places 3 and 7, one k at 1 and 5. The two dot products should agree to the last digits.",
    ),
)
def rope(rng):
    """B, h, T and D all different; positions of the caller's own, another base; float32, one place, one pair."""

    def words(*shape, dtype=torch.float64):
        return rng.normal(*shape, dtype=dtype)

    yield call("a small batch", words(2, 3, 5, 14), public=True, weight=2.0, tolerance=_within(5))
    yield call("two numbers a word", words(1, 1, 7, 2), public=True, tolerance=_within(7))
    places = torch.tensor([4, 11, 0, 7, 7])
    yield call("places of its own", words(3, 2, 5, 6), places, weight=2.0, tolerance=_within(11))
    between = rng.uniform(3, high=9.0)
    yield call("places between the places", words(2, 3, 3, 6), between, grad=False, tolerance=_within(9))
    yield call("base 100", words(2, 3, 7, 10), base=100.0, tolerance=_within(7))
    yield call("places and base", words(3, 1, 2, 6), torch.tensor([3, 29]), 50.0, tolerance=_within(29))
    yield call("one word, far along", words(2, 5, 1, 6), torch.tensor([23]), tolerance=_within(23))
    yield call("as many heads as words", words(2, 5, 5, 6), tolerance=_within(5))
    yield call("as many words as numbers", words(1, 2, 10, 10), tolerance=_within(10))
    yield call("float32", words(2, 3, 5, 6, dtype=torch.float32), tolerance=1e-4, public=True)
    yield call("memory that is not contiguous", noncontiguous(words(3, 2, 5, 10)), tolerance=_within(5), public=True)
    yield call("an odd width", words(2, 3, 5, 7), raises="ValueError", weight=0.5)


def _turn(x, positions, base, *, split, join, exponent=1.0, direction=1):
    """RoPE with its choices laid open; positions may have more axes than one."""
    cos, sin = _cos_and_sin(x, positions, base, exponent, direction)
    a, b = split(x)
    return join(a * cos - b * sin, a * sin + b * cos)


def _cos_and_sin(x, positions, base, exponent=1.0, direction=1):
    """Of every place's angle in every pair, (T, D/2)."""
    T, D = x.shape[-2:]
    frequencies = _frequencies(D, base) ** exponent
    if positions is None:
        positions = torch.arange(T)
    angles = direction * positions.double()[..., None] * frequencies
    return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def _pairs(x):
    return x[..., 0::2], x[..., 1::2]


def _halves(x):
    return x.chunk(2, dim=-1)


def _as_pairs(a, b):
    return torch.stack([a, b], -1).flatten(-2)


def _as_halves(a, b):
    return torch.cat([a, b], -1)


@rope.misconception(
    "A rotation of pairs, but of which? Yours pairs column i with i + D/2; RoFormer pairs neighbours.",
    convention="half-split pairs, as in GPT-NeoX and LLaMA",
)
def half_split_pairs(x, positions=None, base=10000.0):
    return _turn(x, positions, base, split=_halves, join=_as_halves)


@rope.misconception(
    "Place 0 is not turned at all. Do its vectors come out as they went in, every number in its own column?",
    convention="pairs read as neighbours and written as halves",
)
def columns_come_out_sorted(x, positions=None, base=10000.0):
    return _turn(x, positions, base, split=_pairs, join=_as_halves)


@rope.misconception("Turn (1, 0) by one radian: where should it point, to (0.54, 0.84) or to (0.54, -0.84)?")
def turned_backwards(x, positions=None, base=10000.0):
    return _turn(x, positions, base, split=_pairs, join=_as_pairs, direction=-1)


@rope.misconception("Which place is not turned at all? Compare the first word before and after.")
def places_from_one(x, positions=None, base=10000.0):
    return reference.rope(x, torch.arange(1, x.shape[-2] + 1) if positions is None else positions, base)


@rope.misconception("Give it places of your own, such as 7 and 3. Does the result change?")
def given_places_ignored(x, positions=None, base=10000.0):
    return reference.rope(x, None, base)


@rope.misconception("Give it base=100. Does the result change?")
def given_base_ignored(x, positions=None, base=10000.0):
    return reference.rope(x, positions)


@rope.misconception("Which axis of (B, h, T, D) is time? A head has no place in the sentence.")
def turned_by_the_head(x, positions=None, base=10000.0):
    places = torch.arange(x.shape[1])[:, None].expand(x.shape[1], x.shape[2])
    return _turn(x, places, base, split=_pairs, join=_as_pairs)


@rope.misconception(
    "How much slower should each pair turn than the one before? Compare with the table of `sinusoidal`."
)
def exponent_i_over_D(x, positions=None, base=10000.0):
    return _turn(x, positions, base, split=_pairs, join=_as_pairs, exponent=0.5)


@rope.misconception(
    "All pairs of yours turn at the same speed. After six places every one of them is back: is that wise?"
)
def one_speed_for_all(x, positions=None, base=10000.0):
    return _turn(x, positions, base, split=_pairs, join=_as_pairs, exponent=0.0)


@rope.misconception("Which pair turns fastest in yours, the first or the last?")
def speeds_in_reverse(x, positions=None, base=10000.0):
    return _turn(x, positions, base, split=_pairs, join=_as_pairs, exponent=-1.0)


@rope.misconception(
    "How much slower should each pair turn than the one before? Is the i of the formula a pair's number, or a column's?"
)
def exponent_4i_over_D(x, positions=None, base=10000.0):
    return _turn(x, positions, base, split=_pairs, join=_as_pairs, exponent=2.0)


@rope.misconception(
    "Place 0 is not turned at all. Do its vectors come out as they went in, every number in its own column?"
)
def halves_read_and_neighbours_written(x, positions=None, base=10000.0):
    return _turn(x, positions, base, split=_halves, join=_as_pairs)


@rope.misconception(
    "When you compute the second number of a pair, is the first one still what it was, or is it turned already?"
)
def second_number_from_the_turned_first(x, positions=None, base=10000.0):
    a, b = _pairs(x)
    cos, sin = _cos_and_sin(x, positions, base)
    a = a * cos - b * sin
    return _as_pairs(a, a * sin + b * cos)


@rope.misconception("What is the angle of place 0? What are the cosine and the sine of that, and what do they do to x?")
def cosine_and_sine_exchanged(x, positions=None, base=10000.0):
    (a, b), (cos, sin) = _pairs(x), _cos_and_sin(x, positions, base)
    return _as_pairs(a * sin - b * cos, a * cos + b * sin)


@rope.misconception("Does x = 0 stay 0? RoPE turns words, and adds nothing to them.")
def waves_added(x, positions=None, base=10000.0):
    cos, sin = _cos_and_sin(x, positions, base)
    return x + _as_pairs(sin, cos)


@rope.misconception(
    "Is a vector as long after it as before? A turned number is made of two: of itself, and of its partner in the pair."
)
def waves_multiplied(x, positions=None, base=10000.0):
    cos, sin = _cos_and_sin(x, positions, base)
    return x * _as_pairs(sin, cos)


@rope.misconception("Is a vector as long after it as before? And does x = 0 stay 0? RoPE turns, it does not add.")
def added_instead_of_turned(x, positions=None, base=10000.0):
    return x + _turn(torch.ones_like(x), positions, base, split=_pairs, join=_as_pairs)


@rope.misconception(
    "Are vectors as long as before? The partner of a number and its angle must come from the same pair."
)
def pairs_and_angles_mixed(x, positions=None, base=10000.0):
    cos, sin = (each.repeat_interleave(2, dim=-1) for each in _cos_and_sin(x, positions, base))
    a, b = _halves(x)
    return x * cos + _as_halves(-b, a) * sin


@rope.misconception(
    "Are vectors as long as before? The partner of a number and its angle must come from the same pair."
)
def angles_of_halves_for_pairs(x, positions=None, base=10000.0):
    cos, sin = (torch.cat([half, half], -1) for half in _cos_and_sin(x, positions, base))
    a, b = _pairs(x)
    return x * cos + _as_pairs(-b, a) * sin


@rope.misconception("Is a vector as long after it as before? Check the sign of the four products in a pair.")
def sign_lost(x, positions=None, base=10000.0):
    (a, b), (cos, sin) = _pairs(x), _cos_and_sin(x, positions, base)
    return _as_pairs(a * cos + b * sin, a * sin + b * cos)


@rope.misconception("Are all vectors what they were? Then nothing says where a word stands.")
def nothing_turned(x, positions=None, base=10000.0):
    _frequencies(x.shape[-1])
    return x.clone()


# -- ALiBi -----------------------------------------------------------------------------------------------------------


@exercise(
    reference.alibi_bias,
    hints=(
        "Write down head 1 of alibi_bias(8, 3) by hand: slope 1/2, three queries, three keys.",
        "Which key is punished most for the last query? And what may a query know about the keys after it?",
        "Print your slopes for two heads: 2^(-4) and 2^(-8).",
    ),
)
def alibi_bias(rng):
    """Eight heads as in the paper, then other numbers of heads; h and T never the same, and once exchanged."""

    def bias(h, T, **options):
        return call(f"{h} heads, {T} places", h, T, tolerance=_within(T), **options)

    yield bias(8, 5, public=True, weight=2.0)
    yield bias(2, 3, public=True)
    yield bias(2, 7)
    yield bias(3, 5)
    yield bias(4, 11)
    yield bias(1, 2, weight=0.5)
    yield bias(5, 1, weight=0.5).counts_with("8 heads, 5 places")
    yield bias(rng.choice([6, 12]), rng.choice([7, 13]))


def _slopes(h):
    return 2.0 ** (-8 * torch.arange(1, h + 1).double() / h)


def _distance(T):
    return (torch.arange(T)[:, None] - torch.arange(T)).double()


def _alibi(slopes, T, beyond=-math.inf):
    distance = _distance(T)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, beyond)


@alibi_bias.misconception("Which key is favoured by the last query: the nearest or the farthest? Look at its row.")
def far_keys_favoured(n_heads, T):
    return _alibi(-_slopes(n_heads), T)


@alibi_bias.misconception(
    "What does the first query see of the words after it? After softmax their weight should be exactly 0."
)
def symmetric(n_heads, T):
    return -_slopes(n_heads)[:, None, None] * _distance(T).abs()


@alibi_bias.misconception("Entries above the diagonal are the future. exp(0) = 1: does a zero hide it?")
def zeros_for_the_future(n_heads, T):
    return _alibi(_slopes(n_heads), T, beyond=0.0)


@alibi_bias.misconception(
    "The farther a word lies in the future, the more your query likes it. Should it see it at all?"
)
def future_rewarded(n_heads, T):
    return -_slopes(n_heads)[:, None, None] * _distance(T)


@alibi_bias.misconception("Row t, column s: for the first query only one key is left. Which row of yours has only one?")
def queries_and_keys_exchanged(n_heads, T):
    return _alibi(_slopes(n_heads), T).mT


@alibi_bias.misconception("How far is a word from itself? What does that cost, and may a query look at its own place?")
def own_place_hidden(n_heads, T):
    return _alibi(_slopes(n_heads), T).masked_fill(torch.eye(T, dtype=torch.bool), -math.inf)


@alibi_bias.misconception("How far is a word from itself, and what does that cost in yours?")
def distance_from_one(n_heads, T):
    return _alibi(_slopes(n_heads), T) - _slopes(n_heads)[:, None, None]


@alibi_bias.misconception(
    "After softmax this is the same, since a row may be shifted; here the distance itself is asked for. What does the "
    "key at the query's own place cost in yours?",
    convention="slope times the key's place, as in BLOOM",
)
def by_the_place_of_the_key(n_heads, T):
    places = torch.arange(T).double()
    return (_slopes(n_heads)[:, None, None] * places).expand(-1, T, -1).masked_fill(_distance(T) < 0, -math.inf)


@alibi_bias.misconception(
    "Are the rows of yours alike? What a key costs depends on who asks, and the future is hidden from whom?"
)
def the_same_row_for_every_query(n_heads, T):
    return (_slopes(n_heads)[:, None, None] * torch.arange(T).double()).expand(-1, T, -1).clone()


@alibi_bias.misconception("What is 0 · ∞? Print what you add where a key is no future.")
def zero_times_infinity_is_not_a_number(n_heads, T):
    return -_slopes(n_heads)[:, None, None] * _distance(T) + (_distance(T) < 0) * -math.inf


@alibi_bias.misconception("What is your first slope for eight heads? The heads are counted from 1.")
def heads_from_zero(n_heads, T):
    return _alibi(2.0 ** (-8 * torch.arange(n_heads).double() / n_heads), T)


@alibi_bias.misconception("Divide each slope by the one before: for eight heads the quotient is always 1/2. And yours?")
def slopes_in_equal_steps(n_heads, T):
    return _alibi(_slopes(n_heads)[-1] * torch.arange(1, n_heads + 1).double(), T)


@alibi_bias.misconception("Your slopes fit eight heads. For two heads the last one is 2^(-8), too: what is the first?")
def always_halved(n_heads, T):
    return _alibi(2.0 ** -torch.arange(1, n_heads + 1).double(), T)


@alibi_bias.misconception("What is your first slope for eight heads? Powers of which number are meant?")
def powers_of_e(n_heads, T):
    return _alibi(torch.exp(-8 * torch.arange(1, n_heads + 1).double() / n_heads), T)


@alibi_bias.misconception("Does every head of yours look equally far? The slopes should differ, that is the point.")
def one_slope_for_all(n_heads, T):
    return _alibi(_slopes(n_heads)[:1].expand(n_heads), T)


@alibi_bias.misconception("Which head looks farthest, the first or the last? The first slope is the steepest.")
def heads_in_reverse(n_heads, T):
    return _alibi(_slopes(n_heads).flip(0), T)


@alibi_bias.misconception(
    "Every number of heads follows the one formula here, also when it is no power of two.",
    convention="slopes borrowed from the next power of two, as in the paper's code",
)
def borrowed_slopes(n_heads, T):
    nearest = 2 ** math.floor(math.log2(n_heads))
    slopes = torch.cat([_slopes(nearest), _slopes(2 * nearest)[0::2][: n_heads - nearest]])
    return _alibi(slopes, T)


@alibi_bias.misconception("A very large number is still a number. What does the exercise ask for above the diagonal?")
def a_large_number_for_infinity(n_heads, T):
    return _alibi(_slopes(n_heads), T, beyond=-1e9)


# -- the task --------------------------------------------------------------------------------------------------------


@exercise(
    reference.echo_by_hand,
    hints=(
        "Draw the attention weights of one list. Where is the line of ones, and where should it be?",
        "Accuracy at length 16 is near 16 %: that is naming a letter that stands in the list. What tells places apart?",
        "Right at 16 letters and wrong at 32? Which encoding never says where a word stands, only how far off?",
    ),
)
def positional_encoding_task(rng):
    """The judge's own lists, at the trained length and beyond, then lists that tell one wrong echo from another.

    RoPE in one wide head, forty seeds: 100 % at 16, 32 and 64 letters. Learned or sinusoidal positions: 100 %, then
    about 47 % and 25 %. No positions: 16 %. (tests/training/test_positional_encoding_task.py)
    """

    def asked(title, ids, bar, because="", **options):
        targets = order.targets(ids).flatten()
        return (
            given_model(title, **options)
            .call(ids, into="logits")
            .law("accuracy_at_least", of="logits", targets=targets, bar=bar, because=because)
            .laws_only()
        )

    def letters(n, length):
        return rng.integers(0, len(order.LETTERS), n, length)

    def repeating(period):
        alphabets = torch.stack([rng.permutation(len(order.LETTERS))[:period] for _ in range(50)])
        return alphabets[:, torch.arange(order.LENGTH) % period]

    yield asked("lists of 16 letters, 99 % right", letters(100, 16), 0.99, public=True, weight=2.0)
    others = asked("other lists of 16 letters, 99 % right", letters(500, 16), 0.99, weight=2.0)
    yield others
    yield others.judged_again("better than no positions: 50 % right", bar=0.5, weight=2.0)
    yield asked("lists of 32 letters, 90 % right", letters(200, 32), 0.9, weight=2.0)
    yield asked("lists of 64 letters, 80 % right", letters(100, 64), 0.8)
    apart = {"weight": 0.25, "public": True}
    yield asked("one letter all along", repeating(1), 0.9, "the only letter of a list is not said", **apart)
    yield asked("two letters in turn", repeating(2), 0.9, "a b a b …: the other letter is not said", **apart)
    by_threes = repeating(2)[:, :2].repeat_interleave(3, dim=1).repeat(1, 2)  # a a a b b b a a a b b b
    yield asked("two letters, three by three", by_threes, 0.9, "a a a b b b …: the other letter is not said", **apart)
    yield asked("three letters in turn", repeating(3), 0.9, "a b c a b c …: its own letter is not said", **apart)
    ids = letters(50, 16)
    neighbours = given_model("not the letter one place back", public=True, weight=0.1).call(ids, into="logits")
    for title, by in (("not the letter one place back", 1), ("not the letter one place ahead", -1)):
        said = ids.roll(by, 1)
        said[:, 0 if by > 0 else -1] = -100
        yield (
            (neighbours if by > 0 else neighbours.judged_again(title, weight=0.1))
            .law("log_loss_at_least", of="logits", targets=said, known=torch.zeros(50), margin=1.0,
                 because="it is a neighbour's letter that is said")
            .laws_only()
            .counts_with("one letter all along")
        )  # fmt: skip


def _said(ids, places):
    """Says the letters that stand at `places` (T,), wrapped around, and is sure of it."""
    return 20.0 * F.one_hot(ids[:, places % ids.shape[1]], len(order.LETTERS)).float()


@positional_encoding_task.misconception(
    "Your model names letters of the list, and not those it should. Does its answer change when you shuffle the list? "
    "If so: from how many places back is the letter that it says?"
)
def names_a_frequent_letter(ids):
    counts = F.one_hot(ids, len(order.LETTERS)).float().sum(1, keepdim=True)
    return counts.expand(-1, ids.shape[1], -1)


@positional_encoding_task.misconception(
    "Your model knows which letters are in the list, and not where. Shuffle the list: does its answer change?"
)
def names_another_letter_of_the_list(ids):
    """What a model without positions learns: any letter but the one at this place is as likely as it is frequent."""
    heard = F.one_hot(ids, len(order.LETTERS)).float()
    return heard.sum(1, keepdim=True) - heard


@positional_encoding_task.misconception("Your model says the letter it has just heard. Where does each place look?")
def says_it_at_once(ids):
    return _said(ids, torch.arange(ids.shape[1]))


@positional_encoding_task.misconception("Your model says the letter one place back. Three are asked for.")
def echoes_the_neighbour(ids):
    return _said(ids, torch.arange(ids.shape[1]) - 1)


@positional_encoding_task.misconception(
    "Your model says the letter one place *ahead*. Write a row of ids and one of targets below each other."
)
def says_the_next_letter(ids):
    return _said(ids, torch.arange(ids.shape[1]) + 1)


@positional_encoding_task.misconception(
    "The nearer a letter, the louder your model hears it. Draw the attention weights of one place: does any distance "
    "stand out?"
)
def hears_the_near_ones_louder(ids):
    T = ids.shape[1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    loudness = torch.where(back > 0, 2.0 ** (2 - back), 0.0)
    return loudness @ F.one_hot(ids, len(order.LETTERS)).float()


@positional_encoding_task.misconception("Your echo comes before the call: it says what is heard three places *later*.")
def looks_ahead(ids):
    places = torch.arange(ids.shape[1]) + order.DELAY
    last = ids.shape[1] - 1
    return _said(ids, torch.where(places > last, places - 2 * order.DELAY, places))


@positional_encoding_task.misconception(
    "All is right up to the length that was trained, and not beyond. What does your encoding say of a place never met?"
)
def knows_only_the_trained_places(ids):
    right = _said(ids, torch.arange(ids.shape[1]) - order.DELAY)
    known = torch.arange(ids.shape[1]) < order.LENGTH
    return torch.where(known[:, None], right, _said(ids, torch.zeros(ids.shape[1], dtype=torch.long)))


@positional_encoding_task.misconception(
    "In a list of one and the same letter it does not even say that one. Does the loss fall, or does it jump about? Do "
    "the parameters move in a step, and how far?"
)
def never_trained(ids):
    return torch.linspace(1.0, 0.0, len(order.LETTERS)).expand(*ids.shape, -1)
