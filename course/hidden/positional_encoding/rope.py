"""Hidden tests of `rope`: pairs of numbers rotated by the position."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.positional_encoding.scaffold import frequencies_of, within
from course.reference import positional_encoding as reference


@exercise(
    reference.rope,
    hints=(
        "Is every vector as long after the rotation as before? What happens to the vectors of position 0?",
        "Rotate one q to positions 3 and 7, and one k to 1 and 5. Are the two dot products equal?",
        "Begin with a width of 2 and one word at position 1. There (1, 0) should become (cos 1, sin 1) = (0.540, "
        "0.841). For more pairs, make a table of angles (T, d/2), and take the first numbers of all pairs as one "
        "tensor and the second numbers as another.",
    ),
    calls=(
        "rope(tensor([[[[1., 0.]]]]))",
        "rope(tensor([[[[1., 2.]]]]), positions=tensor([0]))",
        "rope(tensor([[[[0., 0.], [0., 0.]]]]))",
        "rope(ones(1, 1, 2, 3))",
        "rope(numbers(2, 3, 5, 4)).shape",
        "rope(tensor([[[[3., 4.], [3., 4.]]]])).norm(dim=-1)",
    ),
)
def rope(rng):
    """B, h, T and D all different. Positions of the caller's own, another base, float32, one position, one pair."""

    def words(*shape, dtype=torch.float64):
        return rng.normal(*shape, dtype=dtype)

    yield call("a small batch", words(2, 3, 5, 14), public=True, weight=2.0, tolerance=within(5))
    yield call("two numbers a word", words(1, 1, 7, 2), public=True, tolerance=within(7))
    places = torch.tensor([4, 11, 0, 7, 7])
    yield call("given positions", words(3, 2, 5, 6), places, weight=2.0, tolerance=within(11))
    between = rng.uniform(3, high=9.0)
    yield call("positions that are not whole numbers", words(2, 3, 3, 6), between, grad=False, tolerance=within(9))
    yield call("base 100", words(2, 3, 7, 10), base=100.0, tolerance=within(7))
    yield call("positions and base", words(3, 1, 2, 6), torch.tensor([3, 29]), 50.0, tolerance=within(29))
    yield call("one word, far along", words(2, 5, 1, 6), torch.tensor([4023]), tolerance=within(4023), public=True)
    yield call("as many heads as words", words(2, 5, 5, 6), tolerance=within(5))
    yield call("as many words as numbers", words(1, 2, 10, 10), tolerance=within(10))
    yield call("float32", words(2, 3, 5, 6, dtype=torch.float32), tolerance=1e-4, public=True)
    yield call("memory that is not contiguous", noncontiguous(words(3, 2, 5, 10)), tolerance=within(5), public=True)
    yield call("an odd width", words(2, 3, 5, 7), public=True, raises="ValueError", weight=0.5)


def _first_ones_first(D):
    """The columns of D numbers, the first of every pair before the second of every pair."""
    return torch.cat([torch.arange(0, D, 2), torch.arange(1, D, 2)])


@rope.misconception(
    "Let x be 1 in column 0 and 0 elsewhere, at position 1. Which two columns of your result are not 0? "
    "Here neighbours form a pair.",
    convention="half-split pairs, as in GPT-NeoX and LLaMA",
)
def half_split_pairs(x, positions=None, base=10000.0):
    columns = _first_ones_first(x.shape[-1])
    return reference.rope(x[..., columns.argsort()], positions, base)[..., columns]


@rope.misconception(
    "Position 0 is not rotated at all. Do its vectors stay the same, with every number in its own column?",
    convention="pairs read as neighbours and written as halves",
)
def columns_come_out_sorted(x, positions=None, base=10000.0):
    return reference.rope(x, positions, base)[..., _first_ones_first(x.shape[-1])]


@rope.misconception("Rotate (1, 0) by one radian. Should it point to (0.54, 0.84) or to (0.54, -0.84)?")
def turned_backwards(x, positions=None, base=10000.0):
    return reference.rope(x, -torch.arange(x.shape[-2]) if positions is None else -positions, base)


@rope.misconception("Which position is not rotated at all? Compare the first word before and after.")
def places_from_one(x, positions=None, base=10000.0):
    return reference.rope(x, torch.arange(1, x.shape[-2] + 1) if positions is None else positions, base)


@rope.misconception("Which axis of (B, h, T, D) is time? A head has no position in the sentence.")
def turned_by_the_head(x, positions=None, base=10000.0):
    return reference.rope(x.transpose(1, 2), base=base).transpose(1, 2)


@rope.misconception(
    "How much slower should each pair turn than the one before? Compare with the table of `sinusoidal`."
)
def exponent_i_over_D(x, positions=None, base=10000.0):
    return reference.rope(x, positions, base**0.5)


def _cos_and_sin(x, positions, base):
    """Cosine and sine of every position's angle in every pair, (T, D/2) each."""
    places = torch.arange(x.shape[-2]) if positions is None else positions
    angles = places.double()[:, None] * frequencies_of(x.shape[-1], base)
    return angles.cos().to(x.dtype), angles.sin().to(x.dtype)


def _as_pairs(a, b):
    return torch.stack([a, b], -1).flatten(-2)


@rope.misconception("Rotate (1, 0) and print the first number before you compute the second. Is it still what it was?")
def second_number_from_the_turned_first(x, positions=None, base=10000.0):
    cos, sin = _cos_and_sin(x, positions, base)
    a, b = x[..., 0::2], x[..., 1::2]
    a = a * cos - b * sin
    return _as_pairs(a, a * sin + b * cos)


@rope.misconception("Rotate x = 0. What should come out, and what does?")
def waves_added(x, positions=None, base=10000.0):
    cos, sin = _cos_and_sin(x, positions, base)
    return x + _as_pairs(sin, cos)
