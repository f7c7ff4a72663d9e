"""Hidden tests of `negative_samples`: words of noise, each in proportion to a power of its count."""

from __future__ import annotations

import torch

from course.exercise import build, call, draws, exercise
from course.reference import tokens as reference


@exercise(
    reference.negative_samples,
    hints=(
        "Take the counts 16, 81 and 1. What are they to the power 3/4, and which shares do these make?",
        "Draw ten thousand words and count them. Are the shares those that you computed? Are two rows of the result "
        "the same?",
        "Begin with the weights of the words, as floating-point numbers. `torch.multinomial` draws by weights that "
        "need not sum to one. How many words must it draw for your shape?",
    ),
    calls=(
        "negative_samples(tensor([0, 5, 0]), (2,), gen(0))",
        "negative_samples(tensor([7, 0]), (2, 2), gen(0))",
        "negative_samples(tensor([0, 0, 1]), (1, 3), gen(0))",
        "negative_samples(tensor([0, 5]), (4,), gen(0), power=1.)",
        "negative_samples(tensor([3, 2, 1]), (2, 5), gen(0)).shape",
        "negative_samples(tensor([0, 1]), (), gen(0))",
    ),
)
def negative_samples(rng):
    """Shares counted for two powers, a word that was never counted, rows on their own, and the generator."""
    counts = torch.tensor([16, 0, 81, 1, 256])
    yield _tallied("the shares, counted", counts, (400, 5), rng, public=True)
    many = rng.integers(1, 90, 7) ** 2
    yield _tallied("other counts", many, (3000, 7), rng, weight=2.0)
    yield _tallied("float counts", 3 * rng.uniform(5, low=0.01), (2500, 3), rng)
    yield _tallied("a power of a half", torch.tensor([900, 1, 100, 0, 25]), (2000, 5), rng, 0.5)
    yield _tallied("a power of one", torch.tensor([90, 1, 10, 0, 25]), (2000, 5), rng, 1.0)
    yield _tallied("one axis", torch.tensor([1, 625, 16]), (7000,), rng)
    yield _tallied("three axes", torch.tensor([625, 1, 0, 16]), (50, 11, 5), rng)
    even = torch.ones(97)  # so many that two rows do not agree by chance
    alike = "all rows are the same. How many words do you draw?"
    yield (
        draws("rows and calls differ", 3, even, (11, 23), rng.generator(), public=True, weight=2.0)
        .law("shape_is", shape=(3, 11, 23), because="the answer should have the shape that is asked for")
        .law("slices_differ", because="two calls in a row drew the same. Does your function set its seed again?")
        .law("slices_vary", dim=1, because=alike)
        .law("slices_vary", dim=2, because="all words of a row are the same. How many words do you draw?")
    )
    throws, others = rng.generator(), rng.generator()
    same = "the same seed drew different words. Does every random number come from `generator`?"
    other = "two seeds drew the same words. Where do your random numbers come from?"
    yield (
        build("the generator decides", even, (5, 13), throws)
        .call(even, (5, 13), throws, on="answer", into="again")
        .call(even, (5, 13), others, on="answer", into="other")
        .laws_only()
        .law("equal", of="model", to="again", because=same)
        .law("different", of="model", to="other", because=other)
        .counts_with("the shares, counted")
    )


def _tallied(title, counts, shape, rng, power=None, **options):
    """One call, without a power unless one is given, and its shares."""
    weights = counts.double() ** (0.75 if power is None else power)
    given = (counts, shape, rng.generator(), *(() if power is None else (power,)))
    size = torch.Size(shape).numel()
    return (
        call(title, *given, grad=False, **options)
        .law("shape_is", shape=shape, because="the answer should have the shape that is asked for")
        .law("whole_numbers", because="words are numbers of rows, so return a LongTensor")
        .law("frequencies", probabilities=weights / weights.sum(), draws=size)
        .laws_only()
    )


negative_samples.mistakes(
    "Counts of 16, 81 and 1 are 8, 27 and 1 to the power 3/4. Which shares do you draw with?",
    counts_as_they_are=lambda counts, shape, generator, power=0.75: reference.negative_samples(
        counts, shape, generator, 1.0
    ),
    power_never_used=lambda counts, shape, generator, power=0.75: reference.negative_samples(counts, shape, generator),
    square_root=lambda counts, shape, generator, power=0.75: reference.negative_samples(
        counts, shape, generator, 0.5 if power == 0.75 else power
    ),
)
negative_samples.mistakes(
    "Draw ten thousand words. Is the commonest word among them more often than the rarest?",
    uniform=lambda counts, shape, generator, power=0.75: torch.randint(len(counts), shape, generator=generator),
)
negative_samples.mistakes(
    "Draw ten thousand words. Does one come that was never counted?",
    softmax=lambda counts, shape, generator, power=0.75: reference.negative_samples(
        (counts.double() / counts.max()).exp(), shape, generator, power
    ),
    one_added=lambda counts, shape, generator, power=0.75: reference.negative_samples(
        counts + 1, shape, generator, power
    ),
)


@negative_samples.misconception("Print two rows of your answer. Each pair should be told from noise of its own.")
def one_row_for_the_batch(counts, shape, generator, power=0.75):
    return reference.negative_samples(counts, shape[-1:], generator, power).expand(shape).clone()


@negative_samples.misconception("Call it with two generators of different seeds. Do you get different words?")
def chance_of_its_own(counts, shape, generator, power=0.75):
    return reference.negative_samples(counts, shape, torch.Generator().manual_seed(0), power)
