"""Hidden tests of `shift_matrix`: the rotation that moves the table by an offset."""

import torch

from course.exercise import call, exercise
from course.hidden.positional_encoding.scaffold import frequencies_of, within
from course.reference import positional_encoding as reference


@exercise(
    reference.shift_matrix,
    hints=(
        "By what angle does pair i turn in k positions? Does that depend on the position where it starts?",
        "Compute shift_matrix(1, 6) @ sinusoidal(9, 6)[4]. Which row of the table should that be, and which one is it?",
        "Begin with D = 2, on paper. One hand shows (sin t, cos t). Write sin(t + k) and cos(t + k) with the addition"
        " formulas, and read off what stands before sin t and before cos t. Then build this one block before you put "
        "several on a diagonal.",
    ),
    calls=(
        "shift_matrix(0, 2)",
        "shift_matrix(0, 4)",
        "shift_matrix(7, 6).shape",
        "shift_matrix(3, 2) @ tensor([0., 1.]) @ tensor([0., 1.])",
        "(shift_matrix(1, 2) @ shift_matrix(-1, 2)).round(decimals=3)",
        "shift_matrix(1, 2)",
    ),
)
def shift_matrix(rng):
    """Forward, backward, not at all, far, one pair alone, and an odd width."""

    def shift(offset, d, **options):
        return call(f"offset {offset}, width {d}", offset, d, tolerance=within(abs(offset)), **options)

    yield shift(rng.choice(range(2, 7)), 2 * rng.choice([3, 4, 5, 6]), public=True, weight=2.0)
    yield shift(1, 2 * rng.choice(range(5, 14)), public=True)
    yield shift(-rng.choice(range(2, 9)), 2 * rng.choice(range(4, 9)), weight=2.0)
    yield shift(rng.choice(range(37, 60)), 2 * rng.choice([6, 7, 8]))
    yield shift(0, 2 * rng.choice(range(2, 8)), weight=0.5)
    yield shift(rng.choice(range(3, 13)), 2)
    yield shift(rng.choice(range(7, 19)), 2 * rng.choice(range(4, 12)))
    yield call(
        "an odd width", rng.choice([1, 2, 3]), rng.choice([5, 7, 9, 11]), public=True, raises="ValueError", weight=0.5
    )


@shift_matrix.misconception(
    "Multiply shift_matrix(1, 6) by row 4 of the table. Do you get row 5, or row 3? On which side is the vector?"
)
def turned_the_wrong_way(offset, d_model):
    return reference.shift_matrix(-offset, d_model)


@shift_matrix.misconception(
    "Multiply your matrix by a row of your own table. Do you get the next row? Yours fits a table with "
    "all sines first.",
    convention="all sines first, then all cosines",
)
def for_concatenated_halves(offset, d_model):
    by_pairs = reference.shift_matrix(offset, d_model).unflatten(1, (-1, 2)).unflatten(0, (-1, 2))
    return by_pairs.permute(1, 0, 3, 2).reshape(d_model, d_model)


def _turns(angles, sign=-1):
    """A block (cos, sin; sign · sin, cos) for each angle."""
    return [torch.stack([torch.stack([t.cos(), t.sin()]), torch.stack([sign * t.sin(), t.cos()])]) for t in angles]


@shift_matrix.misconception(
    "Print the angles by which your matrix turns each pair. Each pair of the table has a speed of its own."
)
def one_angle_for_all(offset, d_model):
    return torch.block_diag(*_turns(offset * torch.ones_like(frequencies_of(d_model))))


@shift_matrix.misconception(
    "Move the vector of position 4 by one. The numbers change, but not their columns. What turns, and by how much?"
)
def columns_rolled(offset, d_model):
    frequencies_of(d_model)
    return torch.eye(d_model).roll(offset, 0)


@shift_matrix.misconception(
    "Is M times its transpose the identity? Check the sign of each of the four numbers in a pair."
)
def a_sign_missing(offset, d_model):
    return torch.block_diag(*_turns(offset * frequencies_of(d_model), sign=1))


@shift_matrix.misconception(
    "Compare your pairs with those of the table. By which factor does each turn slower than the one before?"
)
def other_speeds_than_the_table(offset, d_model):
    return torch.block_diag(*_turns(offset * frequencies_of(d_model) ** 0.5))


@shift_matrix.misconception(
    "Print shift_matrix(1, 6). In which row does the block of each pair begin, and do two of them meet?"
)
def blocks_overlap(offset, d_model):
    matrix = torch.zeros(d_model, d_model, dtype=torch.float64)
    for i, block in enumerate(_turns(offset * frequencies_of(d_model))):
        matrix[i : i + 2, i : i + 2] = block
    return matrix
