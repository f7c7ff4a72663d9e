"""Hidden tests of `causal_mask`: each word sees itself and what came before."""

import torch

from course.exercise import call, exercise
from course.reference import masking as reference


@exercise(
    reference.causal_mask,
    hints=(
        "Write the 3 × 3 table by hand: a row for each word that looks, a column for each word that is looked at.",
        "What may the first word look at? And the last one? Check the two corner rows of your table.",
        "Read row t as a sentence: word t may look at words 0 to ?.",
    ),
)
def causal_mask(rng):
    """Small enough to read, one word alone, and a size nobody has tried."""
    yield call("four words", 4, public=True)
    yield call("one word", 1).counts_with("four words")
    yield call("two words", 2)
    yield call("seven words", 7)
    yield call("a longer text", rng.choice([11, 13, 17, 19]), weight=2.0)


@causal_mask.misconception("What may the first word look at in your table? It should at least see itself.")
def diagonal_hidden(T):
    return torch.ones(T, T, dtype=torch.bool).tril(-1)


@causal_mask.misconception("Read row 0 of your table aloud: who may look at whom? And the last row?")
def the_future_instead(T):
    return torch.ones(T, T, dtype=torch.bool).triu()


@causal_mask.misconception(
    "The right triangle with True and False exchanged: yours marks what is forbidden.",
    convention="True where attention is forbidden, as in nn.MultiheadAttention",
)
def inverted_triangle(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


@causal_mask.misconception(
    "Look at row 0: word 0 sees word 1, the very word it is to guess. How many True has the first row?"
)
def one_word_ahead(T):
    return torch.ones(T, T, dtype=torch.bool).tril(1)


@causal_mask.misconception(
    "A table to be *added* to the scores. Here a mask says True or False, and masked_softmax does the rest.",
    convention="0 and -inf to be added, as in nn.Transformer.generate_square_subsequent_mask",
)
def to_be_added(T):
    return torch.full((T, T), -torch.inf).triu(1)
