"""Hidden tests of `perplexity`: one number for a text, from the log-probabilities of its tokens."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import markov_ngrams as reference


@exercise(
    reference.perplexity,
    hints=(
        "A perplexity is a number of equally likely tokens. What should it be if every token had the probability 1/10?",
        "Put the same text twice in a row. Its perplexity should not change. In which ways can you combine T "
        "logarithms so that this holds?",
        "Begin with the three logarithms of the table above. Compute the number in its last column from them. Then "
        "look for the function that undoes a natural logarithm.",
    ),
    calls=(
        "perplexity(tensor([0.5, 0.5]).log())",
        "perplexity(tensor([1., 1., 1.]).log())",
        "perplexity(tensor([0.25, 1.]).log())",
        "perplexity(tensor([0.25, 0.25, 0.25]).log())",
        "perplexity(tensor([0.5]).log())",
        "perplexity(tensor([0., 1.]).log())",
    ),
)
def perplexity(rng):
    """A uniform guess (whose answer is known), texts of several lengths, one impossible token.

    The longest text has a probability that no float can hold.
    """
    yield call("ten equally likely tokens", torch.full((7,), 0.1, dtype=torch.float64).log(), public=True)
    yield call("a short text", rng.uniform(5, low=0.02, high=0.9).log(), public=True)
    yield call("a longer text", rng.uniform(83, low=0.001, high=0.999).log())
    yield call("one token", torch.tensor([0.37], dtype=torch.float64).log())
    yield call("everything certain", torch.zeros(3, dtype=torch.float64)).counts_with("a short text")
    yield call(
        "float32, not contiguous", noncontiguous(rng.uniform(13, low=0.05, dtype=torch.float32).log()), public=True
    )
    yield call("an impossible token", torch.tensor([-0.3, -torch.inf, -1.2], dtype=torch.float64))
    yield call("a whole chapter", rng.uniform(3001, low=0.01, high=0.99).log())


@perplexity.misconception(
    "These logarithms are natural ones. Which base takes you back? Try a uniform guess over 10 tokens."
)
def base_two_for_e(log_probs):
    return float(2.0 ** (-log_probs.mean()))


@perplexity.misconception("Print the numbers that you are given. Are they probabilities, or already their logarithms?")
def logarithm_of_the_logarithms(log_probs):
    return float(torch.exp(-log_probs.log().mean()))


@perplexity.misconception("Put the same text twice in a row. Why does your perplexity change?")
def summed(log_probs):
    return float(torch.exp(-log_probs.sum()))


@perplexity.misconception("How probable is a text of 3,000 tokens as a whole? Print that number.")
def product_of_all(log_probs):
    return float(log_probs.exp().prod() ** (-1 / len(log_probs)))


@perplexity.misconception("Can a model be unsure among fewer than one token? Look at the sign of a log-probability.")
def sign_lost(log_probs):
    return float(torch.exp(log_probs.mean()))


@perplexity.misconception(
    "Take two tokens with the probabilities 0.5 and 0.001. Print the mean of the probabilities, and the mean of their "
    "logarithms. Which one does the formula use?"
)
def mean_of_probabilities(log_probs):
    return float(1 / log_probs.exp().mean())


@perplexity.misconception(
    "For two tokens of probability 1/2 and 1/8 you get 5. Work the formula out on paper. Which comes first, the mean "
    "or the exponential?"
)
def mean_of_perplexities(log_probs):
    return float(torch.exp(-log_probs).mean())
