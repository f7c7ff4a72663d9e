"""Hidden tests of `prefix_scan`: any length, any sign, zeros, and no loop over positions."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import linear_time as reference

THOUSAND, LONG = 1000, 1031
MOST = 600
"""Operations for a thousand positions: sixty for each of ten passes. A loop needs two for each position."""


@exercise(
    reference.prefix_scan,
    hints=(
        "Join two steps by hand: h = a h + b, then h = a' h + b'. Which factor and which summand have both together?",
        "After the pass with shift 1, position t holds two steps. Which one must it be joined with in the next pass?",
        "Write the worked example beside your passes: both a and b change in each of them.",
        "Begin with a single pass, with shift 1. Which positions have a neighbour before them, and what stays as it "
        "was at the others? Print a and b after it, beside the worked example.",
    ),
    forbidden=("torch.associative_scan",),
    tolerance=1e-4,
    calls=(
        "prefix_scan(ones(1, 3, 1), tensor([[[1.], [2.], [3.]]]))",
        "prefix_scan(zeros(1, 3, 1), tensor([[[1.], [2.], [3.]]]))",
        "prefix_scan(tensor([[[9.], [0.], [2.]]]), tensor([[[1.], [1.], [1.]]]))",
        "prefix_scan(ones(1, 1, 1), tensor([[[4.]]]))",
        "prefix_scan(ones(1, 5, 1), ones(1, 5, 1)).flatten()",
        "prefix_scan(tensor([[[2.], [2.], [2.], [2.]]]), tensor([[[1.], [0.], [0.], [0.]]])).flatten()",
    ),
)
def prefix_scan(rng):
    """Lengths that are no powers of two, and one that is; factors of any sign, and zeros; operations counted.

    Factors below 1 in size multiply to nothing over a long text, so the longest one has factors of 1 and -1.
    """

    def inputs(B, T, N, dtype=torch.float64):
        return rng.uniform(B, T, N, low=-1.2, high=1.2, dtype=dtype), rng.normal(B, T, N, dtype=dtype)

    yield call("five positions", *inputs(2, 5, 3), public=True, weight=2.0)
    yield call("eight positions", *inputs(3, 8, 2), public=True)
    yield call("thirteen positions", *inputs(2, 13, 5), weight=2.0)
    yield call("a hundred positions", *inputs(1, 100, 3))
    signs = 2.0 * rng.integers(0, 2, 1, LONG, 2).double() - 1
    yield call(f"{LONG} positions where nothing fades", signs, rng.normal(1, LONG, 2), grad=False)
    yield call("a single position", *inputs(3, 1, 2), weight=0.5).counts_with("five positions")
    yield call("two positions", *inputs(3, 2, 5), weight=0.5)
    a, b = inputs(2, 11, 3)
    a[:, 2], a[:, 7, 1] = 0, 0
    yield call("factors of 0", a, b, public=True)
    yield call("float32", *inputs(2, 7, 3, dtype=torch.float32), public=True)
    yield call("inputs that must stay", *inputs(2, 6, 3), grad=False, public=True, weight=0.5)
    yield call("memory that is not contiguous", *map(noncontiguous, inputs(3, 7, 2)), public=True)
    many = call("a thousand positions", *inputs(1, THOUSAND, 2), grad=False, public=True)
    yield many
    few = f"it takes more than {MOST} operations of torch for {THOUSAND} positions: is there a loop over positions?"
    counted = call("no loop over positions", *inputs(1, THOUSAND, 2), grad=False, public=True, weight=8.0)
    counted = counted.counts_operations().laws_only().counts_with("five positions", "a thousand positions")
    yield counted.law("at_most", of="operations", value=MOST, because=few)


@prefix_scan.misconception(
    "Count your operations for a thousand positions. Ten passes are enough, when each one joins all positions at once."
)
def a_loop_over_places(a, b):
    h, states = torch.zeros_like(b[:, 0]), []
    for a_t, b_t in zip(a.unbind(1), b.unbind(1)):
        h = a_t * h + b_t
        states.append(h)
    return torch.stack(states, 1)


@prefix_scan.misconception(
    "Try 5 positions and then 8. For which lengths is the last position right? How many passes do you make, and how "
    "many does it take until position 4 has seen position 0?"
)
def too_few_passes(a, b):
    T = a.shape[1]
    for i in range(T.bit_length() - 1):
        s = 2**i
        b = torch.cat([b[:, :s], b[:, s:] + a[:, s:] * b[:, :-s]], 1)
        a = torch.cat([a[:, :s], a[:, s:] * a[:, :-s]], 1)
    return b


@prefix_scan.misconception("Two steps become one. With which factor does the joined step multiply what came before?")
def factors_not_joined(a, b):
    s = 1
    while s < a.shape[1]:
        b = torch.cat([b[:, :s], b[:, s:] + a[:, s:] * b[:, :-s]], 1)
        s *= 2
    return b


@prefix_scan.misconception("Of two steps, the later one multiplies what the earlier one left. Whose factor is it?")
def factor_of_the_earlier_step(a, b):
    s = 1
    while s < a.shape[1]:
        b = torch.cat([b[:, :s], b[:, s:] + a[:, :-s] * b[:, :-s]], 1)
        a = torch.cat([a[:, :s], a[:, s:] * a[:, :-s]], 1)
        s *= 2
    return b


@prefix_scan.misconception(
    "Which a does your new b need, the one of this pass or of the next? Follow the worked example through two passes."
)
def factors_joined_too_early(a, b):
    s = 1
    while s < a.shape[1]:
        a = torch.cat([a[:, :s], a[:, s:] * a[:, :-s]], 1)
        b = torch.cat([b[:, :s], b[:, s:] + a[:, s:] * b[:, :-s]], 1)
        s *= 2
    return b


@prefix_scan.misconception("Set one factor to 0. What do you divide by behind it?")
def divides_by_the_products(a, b):
    products = a.cumprod(1)
    return products * (b / products).cumsum(1)


@prefix_scan.misconception("Print a and b before and after the call. They are the caller's.")
def writes_into_its_inputs(a, b):
    s = 1
    while s < a.shape[1]:
        b[:, s:] += a[:, s:] * b[:, :-s]
        a[:, s:] *= a[:, :-s].clone()
        s *= 2
    return b


@prefix_scan.misconception("After one pass, how many steps does the last position hold? And how many should it hold?")
def one_pass_only(a, b):
    return torch.cat([b[:, :1], b[:, 1:] + a[:, 1:] * b[:, :-1]], 1)
