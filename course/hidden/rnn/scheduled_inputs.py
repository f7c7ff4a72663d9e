"""Hidden tests of `scheduled_inputs`: a coin of its own for every position of the table."""

import torch

from course.exercise import call, draws, exercise
from course.reference import rnn as reference


@exercise(
    reference.scheduled_inputs,
    hints=(
        "How many coins does a table of B times T tokens need? What should come out for p = 1, and for p = 0?",
        "Take targets of zeros and own of ones, and print a few rows at p = 0.5. Do rows or columns look alike?",
        "Begin with the coins alone. Draw one random number between 0 and 1 for each position, and print which "
        "share of them lies below 0.25. Then ask how a coin chooses between two tokens.",
    ),
    calls=(
        "scheduled_inputs(tensor([[1, 2]]), tensor([[8, 9]]), 1., gen(0))",
        "scheduled_inputs(tensor([[1, 2]]), tensor([[8, 9]]), 0., gen(0))",
        "scheduled_inputs(tensor([[1, 2]]), tensor([[1, 2]]), 0.5, gen(0))",
        "scheduled_inputs(tensor([[1], [2]]), tensor([[8], [9]]), 1., gen(0))",
        "scheduled_inputs(tensor([[0, 0, 0]]), tensor([[5, 5, 5]]), 0., gen(0))",
        "scheduled_inputs(tensor([[3, 3]]), tensor([[3, 3]]), 1., gen(0))",
    ),
)
def scheduled_inputs(rng):
    """Zeros and ones make the coins visible. Two long rows, or many short ones, show whose coin is whose."""

    def table(B, T):
        return torch.zeros(B, T, dtype=torch.long), torch.ones(B, T, dtype=torch.long)

    def tossed(title, n, B, T, p, **settings):
        """Tables of coins, n in a row. With ten or more, not all coins agree, nor all sentences, nor all positions."""
        case = draws(title, n, *table(B, T), p, rng.generator(), **settings)
        same = (
            f"{n} mixtures made one after the other with one generator are the same. Does yours set its seed again "
            "each time?",
            "the teacher has the same positions in every sentence. How many coins do you toss for the whole batch?",
            "every sentence is the teacher's as a whole or not at all. How many coins do you toss for one sentence?",
        )
        for dim, size in enumerate((n, B, T)):
            case = case.law("slices_vary", dim=dim, because=same[dim]) if size >= 10 else case
        return case

    def coins(title, n, B, T, p, **settings):
        share = torch.tensor([p, 1 - p], dtype=torch.float64)
        return tossed(title, n, B, T, p, **settings).law("frequencies", probabilities=share, draws=n * B * T)

    targets, own = rng.integers(0, 50, 40, 50), rng.integers(50, 99, 40, 50)
    yield call("p = 1: the teacher alone", targets, own, 1.0, rng.generator(), public=True).counts_with(
        "p = 0: its own alone"
    )
    yield call("p = 0: its own alone", targets, own, 0.0, rng.generator(), public=True).counts_with(
        "p = 1: the teacher alone"
    )
    yield coins("three quarters", 3, 30, 20, 0.75, public=True)
    yield coins("two sentences", 1, 2, 700, 0.25, weight=2.0)
    yield coins("sentences of one token", 2, 700, 1, 0.25)
    yield coins("one in ten", 3, 20, 30, 0.1)
    yield coins("six in a hundred", 3, 40, 50, 0.06)  # whoever tosses a die of ten sides has ten
    for title, sizes in (("five tokens, again and again", (1, 5)), ("five sentences of one token", (5, 1))):
        yield tossed(title, 250, *sizes, 0.4).law(
            "tossed_one_by_one", p=0.4, because="the number of teacher's tokens among five says too much about the "
                 "others. Does each position have a coin of its own? Count them, call by call"
        )  # fmt: skip
    generator = rng.generator()
    yield (
        call("the same generator, the same coins", *table(11, 13), 0.5, generator, public=True)
        .call(*table(11, 13), 0.5, generator, on="answer", into="again")
        .call(*table(11, 13), 0.5, rng.generator(), on="answer", into="other")
        .draws(2, *table(11, 13), 0.5, rng.generator(), into="in a row")
        .laws_only()
        .law("equal", to="again", because="the same generator gave two mixtures. Does every random number come from "
             "`generator`?")
        .law("different", to="other", because="two generators gave the same mixture of 143 tokens. Where do your "
             "random numbers come from?")
        .law("slices_differ", of="in a row", because="two mixtures made one after the other with one generator are "
             "the same. Does yours set its seed again each time?")
    )  # fmt: skip


@scheduled_inputs.misconception(
    "Print one sentence of zeros and ones at p = 0.5. Do teacher and model ever alternate within it?"
)
def one_coin_for_a_sentence(targets, own, p, generator):
    return torch.where(torch.rand(len(targets), 1, generator=generator) < p, targets, own)


@scheduled_inputs.misconception(
    "Print a batch of zeros and ones at p = 0.5. Do all sentences switch at the same positions?"
)
def one_coin_for_a_column(targets, own, p, generator):
    return torch.where(torch.rand(1, targets.shape[1], generator=generator) < p, targets, own)


scheduled_inputs.mistakes(
    "What comes out for p = 1? p is the probability of the teacher's token.",
    the_other_way_round=lambda targets, own, *others: reference.scheduled_inputs(own, targets, *others),
    half_and_half=lambda targets, own, p, generator: reference.scheduled_inputs(targets, own, 0.5, generator),
)
scheduled_inputs.mistakes(
    "Draw a thousand of your random numbers. Which share of them lies below 1, and which share below 0?",
    normal_for_uniform=lambda targets, own, p, generator: torch.where(
        torch.randn(targets.shape, generator=generator) < p, targets, own
    ),
)
scheduled_inputs.mistakes(
    "A token is the number of a word. Which word is three quarters of token 8 and a quarter of token 4? Count the "
    "coins that you toss.",
    shares_of_both=lambda targets, own, p, generator: p * targets + (1 - p) * own,
)
