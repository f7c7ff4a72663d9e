"""Hidden tests of `crossover_length`."""

from course.exercise import call, exercise
from course.reference import self_attention as reference


@exercise(
    reference.crossover_length,
    hints=(
        "At the length that you look for, two totals are equal. Which parts of the table does each of them add up?",
        "Count each part for n = 5 and d = 2. Do your two totals agree with the text's 340 and 320?",
        "Begin on paper. Write the parts of one layer, an equals sign, and the parts of the other. Cross out what "
        "stands on both sides, and the factors that all parts share. One n is left. Try it in both totals for d = 10.",
    ),
    calls=(
        "crossover_length(1)",
        "crossover_length(2)",
        "crossover_length(8)",
        "crossover_length(64)",
        "crossover_length(10)",
    ),
)
def crossover_length(rng):
    """The balance of whole layers at several widths: n is twice the width."""
    yield call("width 64", 64, public=True)
    yield call("width 512", 512)
    yield call("width one", 1).counts_with("width 64")
    yield call("some width", int(rng.integers(100, 1000, 1)))


crossover_length.mistakes(
    "At n = d the two costs of the paper's table are equal. Put n = 2 and d = 2 into the totals of the whole layers.",
    papers_table=lambda d: float(d),
)
crossover_length.mistakes(
    "Count the parts of your attention layer for n = 3 and d = 2. The text has 48, 36 and 96. Which of yours is "
    "smaller?",
    projections_or_mixing_forgotten=lambda d: 4.0 * d,
    output_projection_forgotten=lambda d: 2.5 * d,
    feed_forward_forgotten_in_attention=lambda d: 6.0 * d,
)
crossover_length.mistakes(
    "A text has at least one word. Count the parts of your recurrent layer for n = 3 and d = 2. The text has 96 and "
    "96. Which of yours is smaller?",
    feed_forward_forgotten_in_recurrence=lambda d: -2.0 * d,
    two_matrices_for_eight=lambda d: -1.0 * d,
    one_matrix_for_each_gate=lambda d: 0.0 * d,
)
crossover_length.mistakes(
    "Put d = 10 and your n into both totals. Which layer is dearer there, and by how much?",
    squared=lambda d: float(d * d),
)
