"""Hidden tests of `alibi_bias`: the cost of distance for each head, and no future."""

import math

import torch

from course.exercise import call, exercise
from course.hidden.positional_encoding.scaffold import within
from course.reference import positional_encoding as reference


@exercise(
    reference.alibi_bias,
    hints=(
        "Write down head 1 of alibi_bias(8, 3) by hand, with slope 1/2, three queries and three keys.",
        "Which key has the lowest bias for the last query? What may a query know about the keys after it?",
        "Begin with one table (T, T) that says how far back each key stands from each query, and print it. Where is "
        "it negative? Then print your slopes for two heads, which should be 2^(-4) and 2^(-8). Which shape must they "
        "have to meet the table?",
    ),
    calls=(
        "alibi_bias(1, 2)",
        "alibi_bias(2, 1)",
        "alibi_bias(1, 3) * 256",
        "alibi_bias(2, 2) * 256",
        "alibi_bias(8, 2)[0]",
        "alibi_bias(8, 3)[0]",
    ),
)
def alibi_bias(rng):
    """Eight heads as in the paper, then other numbers of heads. h and T always differ, and are once exchanged."""

    def bias(h, T, **options):
        return call(f"{h} heads, {T} positions", h, T, tolerance=within(T), **options)

    yield bias(8, 5, public=True, weight=2.0)
    yield bias(2, 3, public=True)
    yield bias(2, 7)
    yield bias(3, 5)
    yield bias(4, 11)
    yield bias(1, 2, weight=0.5)
    yield bias(5, 1, weight=0.5).counts_with("8 heads, 5 positions")
    yield bias(rng.choice([6, 12]), rng.choice([7, 13]))


def _slopes(h):
    return 2.0 ** (-8 * torch.arange(1, h + 1).double() / h)


def _distance(T):
    return (torch.arange(T)[:, None] - torch.arange(T)).double()


def _alibi(slopes, T, beyond=-torch.inf):
    distance = _distance(T)
    return (-slopes[:, None, None] * distance).masked_fill(distance < 0, beyond)


@alibi_bias.misconception("Look at the row of the last query. Does it favour the nearest key or the farthest?")
def far_keys_favoured(n_heads, T):
    return _alibi(-_slopes(n_heads), T)


@alibi_bias.misconception(
    "What does the first query see of the words after it? After softmax their weight should be exactly 0."
)
def symmetric(n_heads, T):
    return -_slopes(n_heads)[:, None, None] * _distance(T).abs()


@alibi_bias.misconception(
    "Entries above the diagonal belong to the future. Put your row 0 through softmax. Is their weight exactly 0?"
)
def zeros_for_the_future(n_heads, T):
    return _alibi(_slopes(n_heads), T, beyond=0.0)


@alibi_bias.misconception(
    "Put your row 0 through softmax. The last word gets the largest weight. Should the first query see it at all?"
)
def future_rewarded(n_heads, T):
    return -_slopes(n_heads)[:, None, None] * _distance(T)


@alibi_bias.misconception(
    "Softmax makes the same of it, because shifting a row changes nothing. But the exercise asks for the "
    "distance itself. What is your bias for the key at the query's own position?",
    convention="slope times the key's position, as in BLOOM",
)
def by_the_place_of_the_key(n_heads, T):
    places = torch.arange(T).double()
    return (_slopes(n_heads)[:, None, None] * places).expand(-1, T, -1).masked_fill(_distance(T) < 0, -torch.inf)


@alibi_bias.misconception("What is your first slope for eight heads? The heads are counted from 1.")
def heads_from_zero(n_heads, T):
    return _alibi(2.0 ** (-8 * torch.arange(n_heads).double() / n_heads), T)


@alibi_bias.misconception(
    "Your slopes fit eight heads. Print them for two heads. The last one should be 2^(-8) there, too."
)
def always_halved(n_heads, T):
    return _alibi(2.0 ** -torch.arange(1, n_heads + 1).double(), T)


@alibi_bias.misconception(
    "Print your slopes for three heads, and compute 2^(-8i / h) by hand. One formula holds for every "
    "number of heads here.",
    convention="slopes borrowed from the next power of two, as in the paper's code",
)
def borrowed_slopes(n_heads, T):
    nearest = 2 ** math.floor(math.log2(n_heads))
    slopes = torch.cat([_slopes(nearest), _slopes(2 * nearest)[0::2][: n_heads - nearest]])
    return _alibi(slopes, T)
