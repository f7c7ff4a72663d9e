"""Hidden tests of `order_properties`: five properties of an encoding, measured."""

import torch

from course.exercise import call, exercise, stand_in
from course.reference import positional_encoding as reference


@exercise(
    reference.order_properties,
    hints=(
        "Which tables must you ask `encode` for to decide each property? One table is enough for some of them. For "
        "which is it not?",
        "Print each property for `sinusoidal` and for a table of torch.randn. Unique is about any two positions, not "
        "about neighbours alone. Deterministic needs two calls.",
        "For relative, M = torch.linalg.pinv(A) @ B brings A @ M nearest to B. How near is it? Over how many "
        "positions?",
        "Begin by calling `encode` once, and return a dictionary of five times False. Replace one value after "
        "another, and test each before the next. `bounded` is the easiest, and `any_length` has to survive an error.",
    ),
    calls=(
        "encode = lambda n, d: zeros(n, d); order_properties(encode, 6, 2)",
        "encode = lambda n, d: arange(n)[:, None] * ones(1, d); order_properties(encode, 6, 2)",
        (
            "encode = lambda n, d: torch.cat([arange(n)[:, None] / n, ones(n, d - 1)], "
            "1); order_properties(encode, 6, 2)"
        ),
        "encode = lambda n, d: torch.rand(n, d); order_properties(encode, 6, 2)",
        (
            "encode = lambda n, d: torch.stack([torch.sin(arange(n) / 3), torch.cos(arange(n) / 3)], "
            "1); order_properties(encode, 6, 2)"
        ),
        "encode = lambda n, d: torch.stack([(-1.) ** arange(n), ones(n)], 1); order_properties(encode, 6, 2)",
    ),
)
def order_properties(rng):
    """Encodings that clearly have or lack each property. Where one map exists the columns are independent, so that any
    way of looking for it finds it.
    """
    n, d = 23, 4
    periods = torch.tensor([5.3, 17.9, 61.0])
    table = rng.uniform(31, 6, low=-1.0)

    yield _measured(
        "sinusoids of several wavelengths", stand_in("sinusoids", periods=periods), n, d, public=True, has_all=True
    )
    yield _measured("the number of the position", stand_in("counted", step=1.0), n, d, public=True)
    eight = torch.tensor([8.0, 8.0 / 3], dtype=torch.float64)
    yield _measured(
        "a sinusoid with a period of eight", stand_in("sinusoids", periods=eight, repeat=8), n, d, public=True
    )
    yield _measured("the position divided by the length", stand_in("counted", step=1.0, of_length=True), n, d)
    yield _measured("numbers below zero", stand_in("counted", step=-1.0), n, d)
    yield _measured("the number beside a one", stand_in("counted_beside_one"), n, 2)
    yield _measured("binary digits", stand_in("binary"), n, 6, public=True)
    thirty = torch.tensor([30.0, 10.0], dtype=torch.float64)
    yield _measured(
        "a sinusoid with a period of thirty", stand_in("sinusoids", periods=thirty, repeat=30), n, d, has_all=True
    )
    shrinking = stand_in("powers", factors=torch.tensor([0.95, 0.9, 0.8, 0.5]))
    yield _measured("powers of numbers below one", shrinking, n, d, has_all=True)
    yield _measured("a table of random vectors", stand_in("place_table", table=table), 29, 6)
    yield _measured("random numbers", stand_in("random_rows"), n, d)
    yield _measured("three sinusoids", stand_in("sinusoids", periods=periods), 31, 6, has_all=True)
    twice = rng.uniform(31, 6, low=-1.0)
    twice[17] = twice[5]
    yield _measured("a table with two equal rows", stand_in("place_table", table=twice), 29, 6)
    first = rng.uniform(n - 2, d, low=-1.0)
    yield _measured("random numbers for the last two positions", stand_in("random_rows", first_rows=first), n, d)
    high = rng.uniform(4 * n, d, low=-1.0)
    high[11, 3], high[2 * n - 5, 2] = 20.0, 400.0  # one among the n positions, and a larger one beyond them
    yield _measured("few numbers, and they are large", stand_in("place_table", table=high), n, d)
    yield from _maps_of_a_part(rng)


def _maps_of_a_part(rng):
    """One map for some columns, for the first positions, or backwards only, and one that forgets where it began."""
    angles = 0.54 * torch.arange(96).double()[:, None]  # no place within 34 comes near another
    circle = torch.cat([angles.cos(), angles.sin()], 1)  # (96, 2): its map is a turn
    beside = torch.cat([circle[:31], rng.uniform(31, 4, low=-1.0)], 1)
    yield _measured("a sinusoid beside random numbers", stand_in("place_table", table=beside), 29, 6)
    stumbling = torch.cat([circle[:17], circle[20:34]])
    yield _measured("a sinusoid that skips positions", stand_in("place_table", table=stumbling), 29, 2)
    begun = torch.eye(96, 1, dtype=torch.float64)  # a mark for the beginning: no matrix brings it back
    begins = stand_in("place_table", table=torch.cat([begun, circle], 1))
    yield _measured("a sinusoid beside a mark at the beginning", begins, 29, 3, has_all=True)
    ended = torch.cat([begun.flip(0), circle], 1)[-29:]  # backwards there is a map, and forwards nobody knows the end
    yield _measured("a sinusoid beside a mark at the end", stand_in("place_table", table=ended), 29, 3)


def _measured(title, encoding, n, d, has_all=False, **options):
    """An encoding with all properties counts with one that lacks some, because a constant measures nothing."""
    case = call(title, encoding, n, d, **options)
    return case.counts_with("a table of random vectors" if has_all else "three sinusoids")


def _with(encode, n, d, **other):
    """The right answers, some of them replaced by functions of the rows."""
    rows = encode(n, d)
    return reference.order_properties(encode, n, d) | {name: measure(rows) for name, measure in other.items()}


def _best_map_fits(earlier, later):
    return torch.allclose(earlier @ torch.linalg.pinv(earlier) @ later, later, atol=1e-4)


@order_properties.misconception(
    "A clock shows different times at 1 and at 2, and the same at 1 and at 13. Which pairs of positions do you compare?"
)
def only_neighbours_compared(encode, n, d):
    return _with(encode, n, d, unique=lambda rows: bool((rows[1:] - rows[:-1]).abs().amax(1).min() > 1e-4))


@order_properties.misconception(
    "Print the pairs of positions that you find alike. What do all these pairs have in common?"
)
def compared_with_the_place_itself(encode, n, d):
    return _with(encode, n, d, unique=lambda rows: bool((rows[:, None] - rows).abs().amax(2).min() > 1e-4))


@order_properties.misconception(
    "Print the largest number of an encoding that counts, for texts of 10, 1,000 and 1,000,000 words. Is it bounded?"
)
def bounded_means_finite(encode, n, d):
    return _with(encode, n, d, bounded=lambda rows: bool(rows.isfinite().all()))


@order_properties.misconception(
    "Print the two results that you compare for an encoding by torch.rand. Are they one result used twice?"
)
def compared_with_itself(encode, n, d):
    return _with(encode, n, d, deterministic=lambda rows: torch.equal(rows, rows))


@order_properties.misconception(
    "The table for 2n positions has the right shape. Are its first n rows the same? Try the position "
    "divided by the length."
)
def any_length_by_shape(encode, n, d):
    try:
        longer = encode(2 * n, d).shape == (2 * n, d)
    except ValueError:
        longer = False
    return _with(encode, n, d, any_length=lambda rows: longer)


@order_properties.misconception(
    "Let an encoding count 4, 5, 6. Adding 1 takes each to the next. Does multiplication by one matrix do that, too?"
)
def a_constant_allowed(encode, n, d):
    def fits(rows):
        return _best_map_fits(torch.cat([rows[:-1], torch.ones(len(rows) - 1, 1, dtype=rows.dtype)], 1), rows[1:])

    return _with(encode, n, d, relative=fits)


@order_properties.misconception(
    "Print the shape of your matrix. Is it n × n? Such a matrix mixes positions, and it fits almost any table."
)
def a_map_that_mixes_places(encode, n, d):
    return _with(encode, n, d, relative=lambda rows: _best_map_fits(rows[:-1].T, rows[1:].T))


@order_properties.misconception(
    "Print the differences of neighbours for a clock's hand. It makes the same turn at every step, but "
    "do its differences stay the same? The property asks for a matrix."
)
def relative_means_one_difference(encode, n, d):
    def one_difference(rows):
        steps = rows[1:] - rows[:-1]
        return torch.allclose(steps, steps[:1].expand_as(steps), atol=1e-4)

    return _with(encode, n, d, relative=one_difference)
