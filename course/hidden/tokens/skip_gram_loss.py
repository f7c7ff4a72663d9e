"""Hidden tests of `skip_gram_loss`: a pair that was seen, told from pairs with noise."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import tokens as reference


@exercise(
    reference.skip_gram_loss,
    hints=(
        "Which of the two tables gives the vector of the centre, and which those of the context and of the noise?",
        "With all vectors zero each pair costs log 2, whichever kind it is. How many pairs has an example?",
        "Take the worked example. Its three terms are 0.127, 1.313 and 0.693. Print yours.",
        "Begin with the vectors, and print their shapes: (B, D) for the centres and for the contexts, (B, k, D) for "
        "the noise. Which axis must the centres get before they meet the noise?",
    ),
    forbidden=("F.binary_cross_entropy_with_logits", "nn.BCEWithLogitsLoss", "F.binary_cross_entropy", "nn.BCELoss"),
    calls=(
        "skip_gram_loss(zeros(2, 1), zeros(2, 1), tensor([0]), tensor([1]), tensor([[0]]))",
        "skip_gram_loss(zeros(2, 1), zeros(2, 1), tensor([0]), tensor([1]), tensor([[0, 0, 0]]))",
        ("skip_gram_loss(tensor([[1.], [0.]]), tensor([[-100.], [100.]]), tensor([0]), tensor([1]), tensor([[0]]))"),
        ("skip_gram_loss(tensor([[1.], [0.]]), tensor([[-100.], [100.]]), tensor([0]), tensor([0]), tensor([[0]]))"),
        ("skip_gram_loss(tensor([[1.], [0.]]), tensor([[-100.], [100.]]), tensor([0]), tensor([1]), tensor([[1]]))"),
        ("skip_gram_loss(tensor([[1.], [0.]]), tensor([[-100.], [100.]]), tensor([1]), tensor([1]), tensor([[0]]))"),
    ),
)
def skip_gram_loss(rng):
    """Values and gradients of both tables; B, k, V and D distinct, then equal; scores of ±1,000."""

    def case(title, B, k, V, D, dtype=torch.float64, **options):
        tables = [rng.normal(V, D, dtype=dtype) for _ in range(2)]
        return call(title, *tables, *_ids(rng, B, k, V), **options)

    yield case("a small batch", 3, 2, 7, 5, public=True, weight=2.0)
    one = torch.tensor([0])
    E = torch.tensor([[1.0, 0.0], [3.0, 1.0], [0.0, 2.0]]).double()
    O = torch.tensor([[2.0, 0.0], [1.0, 1.0], [0.0, -1.0]]).double()
    yield call("the worked example", E, O, one, one, torch.tensor([[1, 2]]), public=True)
    two = torch.tensor([1])
    yield call("a batch of one, its context among the noise", E, O, two, two, torch.tensor([[0, 1, 0]]), public=True)
    yield case("one word of noise", 5, 1, 7, 3, public=True)
    yield case("as many of everything", 5, 5, 5, 5, weight=2.0)
    yield case("a larger batch", 41, 7, 13, 3, weight=2.0)
    yield case("float32", 11, 3, 5, 2, dtype=torch.float32, public=True)
    strided = [noncontiguous(rng.normal(7, 3)) for _ in range(2)]
    yield call("memory that is not contiguous", *strided, *_ids(rng, 5, 2, 7), public=True)
    large = 1e3 * torch.tensor([[1.0], [-1.0], [0.5]]).double()
    ids = torch.tensor([0, 1, 2, 0]), torch.tensor([0, 0, 1, 1]), torch.tensor([[1, 2], [1, 0], [0, 2], [0, 0]])
    yield call("scores of ±1,000", torch.ones_like(large).double(), large, *ids, public=True)


def _ids(rng, B, k, V):
    return rng.integers(0, V, B), rng.integers(0, V, B), rng.integers(0, V, B, k)


def _scores(E, O, centre, context, negative):
    e = E[centre]
    return (e * O[context]).sum(-1), (O[negative] * e[:, None]).sum(-1)


def _cost(seen, noise):
    return -(F.logsigmoid(seen) + F.logsigmoid(-noise).sum(-1)).mean()


@skip_gram_loss.misconception("With all vectors zero and k words of noise, the loss is (1 + k) log 2. What is yours?")
def mean_over_the_noise(E, O, centre, context, negative):
    seen, noise = _scores(E, O, centre, context, negative)
    return -(F.logsigmoid(seen) + F.logsigmoid(-noise).mean(-1)).mean()


@skip_gram_loss.misconception(
    "Take noise scores of 5 and −5. Each is a pair of its own. What is the sum of their costs?"
)
def scores_summed_before_the_sigmoid(E, O, centre, context, negative):
    seen, noise = _scores(E, O, centre, context, negative)
    return _cost(seen, noise.sum(-1, keepdim=True))


@skip_gram_loss.misconception("Raise the score of a pair with noise. Should the loss rise or fall? Does yours?")
def noise_taken_for_seen(E, O, centre, context, negative):
    seen, noise = _scores(E, O, centre, context, negative)
    return _cost(seen, -noise)


skip_gram_loss.mistakes(
    "Change O and leave E as it is. Which terms of your loss move? A word as a context has a vector of its own.",
    one_table_for_both=lambda E, O, centre, context, negative: _cost(*_scores(E, E, centre, context, negative)),
)
skip_gram_loss.mistakes(
    "From which table does the centre get its vector? And the context?",
    tables_exchanged=lambda E, O, centre, context, negative: _cost(*_scores(O, E, centre, context, negative)),
)


@skip_gram_loss.misconception(
    "Which word meets the noise, the centre or the context? In the formula each score has the same e in it."
)
def noise_against_the_context(E, O, centre, context, negative):
    seen, _ = _scores(E, O, centre, context, negative)
    return _cost(seen, (O[negative] * O[context][:, None]).sum(-1))


@skip_gram_loss.misconception("What are the sigmoid of −1,000 and its logarithm, on a computer? Print both.")
def logarithm_of_zero(E, O, centre, context, negative):
    seen, noise = _scores(E, O, centre, context, negative)
    return -(seen.sigmoid().log() + (-noise).sigmoid().log().sum(-1)).mean()


@skip_gram_loss.misconception(
    "A score of −1,000 for a pair that was seen costs 1,000. What is the most that yours costs?"
)
def a_little_added_before_the_logarithm(E, O, centre, context, negative):
    seen, noise = _scores(E, O, centre, context, negative)
    return -((seen.sigmoid() + 1e-10).log() + ((-noise).sigmoid() + 1e-10).log().sum(-1)).mean()
