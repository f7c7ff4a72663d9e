"""Hidden tests of `causal_mask`: each word sees itself and what came before."""

import torch

from course.exercise import call, exercise
from course.reference import masking as reference


@exercise(
    reference.causal_mask,
    hints=(
        "Write the 3 × 3 table by hand, with a row for each query and a column for each key.",
        "What may the first word look at, and what the last one? Check the first and the last row of your table.",
        "Begin with a boolean table that is True everywhere, and print it. Read row t as a sentence. Word t may look "
        "at words 0 to which? On which side of the diagonal does the rest lie?",
    ),
    calls=(
        "causal_mask(1)",
        "causal_mask(2)",
        "causal_mask(3)",
        "causal_mask(4)[0]",
        "causal_mask(4)[3]",
        "causal_mask(0).shape",
    ),
)
def causal_mask(rng):
    """Small enough to read, one word alone, and larger sizes."""
    yield call("four words", 4, public=True)
    yield call("one word", 1).counts_with("four words")
    yield call("two words", 2)
    yield call("seven words", 7)
    yield call("a longer text", rng.choice([11, 13, 17, 19]), weight=2.0)


@causal_mask.misconception("What may the first word look at in your table? It should at least see itself.")
def diagonal_hidden(T):
    return torch.ones(T, T, dtype=torch.bool).tril(-1)


@causal_mask.misconception("Read row 0 of your table aloud, then the last row. Which words does each allow?")
def the_future_instead(T):
    return torch.ones(T, T, dtype=torch.bool).triu()


@causal_mask.misconception(
    "Print row 0. In this course True means allowed, and word 0 may look at itself. Does your row say so?",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def inverted_triangle(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


@causal_mask.misconception(
    "In your row 0, word 0 sees word 1, which it has to predict. How many entries of row 0 should be True?"
)
def one_word_ahead(T):
    return torch.ones(T, T, dtype=torch.bool).tril(1)


@causal_mask.misconception(
    "Print the dtype of your mask. Yours can be added to scores. Here a mask is boolean, and masked_softmax does "
    "the rest.",
    convention="0 and -inf to be added, as in nn.Transformer.generate_square_subsequent_mask",
)
def to_be_added(T):
    return torch.full((T, T), -torch.inf).triu(1)
