"""Hidden tests of `sample_text`: a walk through a transition matrix that follows P and the generator."""

import torch

from course.exercise import Rng, build, call, draws, exercise, noncontiguous
from course.reference import markov_ngrams as reference

ANEW = "Does chance decide at all, or does your function set its seed again each time?"


@exercise(
    reference.sample_text,
    hints=(
        "Build a P in which 1 always follows 0, 2 follows 1, and 0 follows 2. Write down the text of four tokens "
        "that begins after 0. Which row of P did you read for each of them?",
        "Draw one token from a single row of P. Print what comes out, its shape and its type. How does it tell you "
        "which row comes next?",
        "Begin with two variables, the token that came last and an empty list. Write the lines that add one token "
        "to the list, and run them three times by hand. Only then put them into a loop.",
    ),
    calls=(
        "sample_text(tensor([[0., 1.], [1., 0.]]), 0, 4, gen(0))",
        "sample_text(tensor([[0., 1.], [0., 1.]]), 0, 3, gen(0))",
        "sample_text(tensor([[0., 1., 0.], [0., 0., 1.], [1., 0., 0.]]), 0, 4, gen(0))",
        "sample_text(tensor([[1., 0.], [1., 0.]]), 0, 3, gen(0))",
        "sample_text(tensor([[0., 1.], [1., 0.]]), 1, 1, gen(0))",
        "sample_text(tensor([[0., 1.], [1., 0.]]), 1, 0, gen(0))",
    ),
)
def sample_text(rng):
    """A walk without chance first, then samples: frequencies by previous token, and use of the generator."""
    cycle = torch.eye(5, dtype=torch.float64)[rng.permutation(5)]
    yield call(
        "a walk without chance", torch.eye(3, dtype=torch.float64).roll(1, 1), 0, 7, rng.generator(), public=True
    )
    yield call("a permutation, not contiguous", noncontiguous(cycle), 3, 11, rng.generator(), public=True)
    yield call("one step", torch.eye(3, dtype=torch.float64).roll(1, 1), 1, 1, rng.generator())
    yield _tallied("many short walks", 40, 15, rng, public=True)
    yield _tallied("longer walks", 30, 89, rng, weight=2.0)
    even = torch.full((97, 97), 1 / 97)  # so many that two seeds do not throw alike by chance
    throws, others = rng.generator(), rng.generator()
    anew = f"two texts drawn one after the other from one generator are the same. {ANEW}"
    same = "the same seed wrote two different texts. Does every random number come from `generator`?"
    yield (
        build("the generator decides", even, 0, 41, throws, public=True, weight=2.0)
        .call(even, 0, 41, throws, on="answer", into="again")
        .call(even, 0, 41, others, on="answer", into="other")
        .draws(2, even, 0, 41, rng.generator(), into="in a row")
        .laws_only()
        .law("equal", of="model", to="again", because=same)
        .law(
            "different",
            of="model",
            to="other",
            because="two seeds wrote the same text. Where do your random numbers come from?",
        )
        .law("slices_differ", of="in a row", because=anew)
    )


def _tallied(title: str, n: int, length: int, rng: Rng, public: bool = False, weight: float = 1.0):
    """n walks through a matrix with rows far apart, one of its entries zero; tallied by previous token."""
    rows = torch.tensor([[0.05, 0.75, 0.2], [0.8, 0.0, 0.2], [0.08, 0.12, 0.8]], dtype=torch.float64)
    P = rows + rng.uniform(3, 3, high=0.02) * (rows > 0)
    P = P / P.sum(1, keepdim=True)
    start = int(rng.integers(0, 3, 1))
    case = draws(title, n, P, start, length, rng.generator(), public=public, weight=weight)
    return (
        case.law("shape_is", shape=(n, length), because="each text should hold `length` tokens, without the start")
        .law("whole_numbers", because="tokens are whole numbers, so return a LongTensor")
        .law("slices_vary", because=f"{n} texts drawn one after the other from one generator are the same. {ANEW}")
        .law("frequencies", probabilities=P, draws=n * length, start=start)
    )


@sample_text.misconception(
    "Sample a thousand times from a row of 0.6, 0.3 and 0.1. How often should the second token come?"
)
def always_the_likeliest(P, start, length, generator):
    certain = torch.eye(len(P), dtype=P.dtype)[P.argmax(1)]
    return reference.sample_text(certain, start, length, generator)


@sample_text.misconception("Which row of P is used for the second token of the text? Which one should be?")
def from_the_starts_row(P, start, length, generator):
    return torch.multinomial(P[start], length, replacement=True, generator=generator)


@sample_text.misconception(
    "P says how likely each *next* token is after each *previous* one. Do you look along a row or down a column?"
)
def down_the_columns(P, start, length, generator):
    return reference.sample_text(P.T, start, length, generator)


@sample_text.misconception(
    "Sum a row of P. Then print the probabilities that you sample from. How likely is a token there if P gives it 0.9?"
)
def softmax_of_the_row(P, start, length, generator):
    return reference.sample_text(P.softmax(1), start, length, generator)


@sample_text.misconception("The text begins after `start`. Print your first token. Is it sampled?")
def start_included(P, start, length, generator):
    return torch.cat([torch.tensor([start]), reference.sample_text(P, start, length - 1, generator)])


@sample_text.misconception("Call it with two different seeds. Do you get two different texts?")
def a_seed_of_its_own(P, start, length, generator):
    return reference.sample_text(P, start, length, torch.Generator().manual_seed(0))


@sample_text.misconception("Sample two texts in a row from one generator. Are they the same, and should they be?")
def begins_the_generator_anew(P, start, length, generator):
    return reference.sample_text(P, start, length, torch.Generator().manual_seed(generator.initial_seed()))
