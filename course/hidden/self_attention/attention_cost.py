"""Hidden tests of `attention_cost`."""

from course.exercise import call, exercise
from course.reference import self_attention as reference


@exercise(
    reference.attention_cost,
    hints=(
        "How many pairs of words does self-attention compare, and how many steps does a recurrent layer take? What "
        "does one pair cost in multiplications, and what does one step?",
        "Begin with three words of two numbers, for which the table gives 18 and 12. Compute both for n = 3 "
        "and d = 2 in a cell, and mind how Python writes a power. The docstring has the names to return them under.",
    ),
    calls=(
        "attention_cost(1, 5)",
        "attention_cost(5, 1)",
        "attention_cost(3, 3)",
        "attention_cost(2, 10)",
        "attention_cost(10, 2)",
        "attention_cost(1, 1)",
    ),
)
def attention_cost(rng):
    """Table 1 for a sentence and for a book, and where the two meet."""
    yield call("a sentence of 70 words, width 512", 70, 512, public=True)
    yield call("a long text, narrow words", 5003, 61)
    yield call("as many words as dimensions", 97, 97)
    yield call("a single word", 1, 89)
    yield call("words of one number", 83, 1)
    n, d = (int(number) for number in rng.integers(100, 1000, 2))
    yield call("some words of some width", n, d)


def _costs(attention, recurrent):
    return {"self_attention": attention, "recurrent": recurrent}


attention_cost.mistakes(
    "One comparison of two words is a dot product. How many multiplications does that take?",
    pairs_without_width=lambda n, d: _costs(n * n, n * d * d),
)
attention_cost.mistakes(
    "A recurrent step multiplies a state of d numbers by W_h. How many multiplications is one matrix times one vector?",
    step_without_matrix=lambda n, d: _costs(n * n * d, n * d),
)
attention_cost.mistakes(
    "The table in the lecture leaves constant factors out. What is left without them?",
    constants_kept=lambda n, d: _costs(2 * n * n * d, 2 * n * d * d),
)
attention_cost.mistakes(
    "Print 3^2 in Python. Is it nine?",
    carets_for_powers=lambda n, d: _costs(n ^ 2 * d, n * d ^ 2),
)
attention_cost.mistakes(
    "Double the number of words. Which of the two costs should become four times as large, and which one does?",
    exchanged=lambda n, d: _costs(n * d * d, n * n * d),
)
attention_cost.mistakes(
    "The projections to q, k and v cost too, but this table leaves them out. The next exercise counts them.",
    projections_counted=lambda n, d: _costs(n * n * d + 3 * n * d * d, n * d * d),
)
attention_cost.mistakes(
    "A word also attends to itself, and both i → j and j → i get a score. How many scores are that for three words?",
    pairs_counted_once=lambda n, d: _costs(n * (n - 1) // 2 * d, n * d * d),
)
