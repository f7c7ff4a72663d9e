"""Hidden tests of `selective_scan`: what Δ multiplies, and which state is read."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import linear_time as reference


@exercise(
    reference.selective_scan,
    hints=(
        "The state is (B, D, N). Write the shape of each factor of one step beside it, with 1 where it does not vary.",
        "Set delta of a token to 0. The state should pass it unchanged, and nothing of x should be written.",
        "Compute the worked example: x = (4, 9, 9, 2) with delta = (ln 2, 0, 0, ln 2) gives 4, 4, 4, 4.",
        "Begin with your ssm_scan, as a loop over the tokens. Which of its numbers now come from the token itself, and "
        "which axis does the state get besides? With one channel, and delta, B and C the same for every token, both "
        "must agree.",
    ),
    tolerance=1e-4,
    calls=(
        "selective_scan(tensor([[[1.], [2.]]]), ones(1, 2, 1), zeros(1, 1), ones(1, 2, 1), ones(1, 2, 1))",
        "selective_scan(tensor([[[1.], [2.]]]), zeros(1, 2, 1), zeros(1, 1), ones(1, 2, 1), ones(1, 2, 1))",
        "selective_scan(tensor([[[1.], [2.]]]), ones(1, 2, 1), tensor([[-100.]]), ones(1, 2, 1), ones(1, 2, 1))",
        ("selective_scan(tensor([[[1.], [2.]]]), ones(1, 2, 1), zeros(1, 1), tensor([[[1.], [0.]]]), ones(1, 2, 1))"),
        ("selective_scan(tensor([[[1.], [2.]]]), ones(1, 2, 1), zeros(1, 1), ones(1, 2, 1), tensor([[[0.], [1.]]]))"),
        ("selective_scan(tensor([[[1.], [2.]]]), tensor([[[1.], [3.]]]), zeros(1, 1), ones(1, 2, 1), ones(1, 2, 1))"),
    ),
)
def selective_scan(rng):
    """All sizes apart; a delta of 0 beside a huge x; a text whose decays multiply to nothing.

    An answer may compute in float32 inside, as Mamba's code does.
    """

    def inputs(B, T, D, N, dtype=torch.float64, longest=1.5):
        x, delta = rng.normal(B, T, D, dtype=dtype), rng.uniform(B, T, D, low=0.05, high=longest, dtype=dtype)
        A = -rng.uniform(D, N, low=0.2, high=2.0, dtype=dtype)
        return x, delta, A, rng.normal(B, T, N, dtype=dtype), rng.normal(B, T, N, dtype=dtype)

    yield call("a small batch", *inputs(2, 5, 7, 3), public=True, weight=2.0)
    yield call("more states than channels", *inputs(3, 7, 2, 5), weight=2.0)
    yield call("one channel with one state", *inputs(2, 11, 1, 1))
    yield call("a single token", *inputs(3, 1, 5, 2), weight=0.5)
    yield call("every size the same", *inputs(5, 5, 5, 5))
    x, delta, *rest = inputs(2, 7, 3, 5)
    delta[:, 3], x[:, 3] = 0, 1000 * x[:, 3]
    yield call("a token with delta 0", x, delta, *rest)
    long = inputs(1, 67, 2, 3, longest=20.0)
    yield call("a long text whose decays multiply to nothing", *long, public=True)
    yield call("float32", *inputs(2, 7, 5, 3, dtype=torch.float32), public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, inputs(3, 5, 7, 2)), public=True)


def _run(x, delta, A, kept, written, C, before=False):
    """States from what is kept of them and what is written, both (B, T, D, N)."""
    h, ys = torch.zeros(len(x), *A.shape, dtype=x.dtype), []
    for kept_t, written_t, C_t in zip(kept.unbind(1), written.unbind(1), C.unbind(1)):
        old, h = h, kept_t * h + written_t
        ys.append(((old if before else h) * C_t[:, None]).sum(-1))
    return torch.stack(ys, 1)


def _kept(delta, A):
    return (delta[..., None] * A).exp()


def _written(x, B):
    return x[..., None] * B[:, :, None]


@selective_scan.misconception(
    "`discretise` was exact, and this scan is not. Mamba's code multiplies B by delta alone. Take delta = ln 2, "
    "A = -1, B = 1, x = 1. Is 0.693 written, or 0.5?",
    convention="zero-order hold for B as well, as in the paper's equation 4",
)
def zero_order_hold_for_B(x, delta, A, B, C):
    h, ys = torch.zeros(len(x), *A.shape, dtype=x.dtype), []
    for x_t, delta_t, B_t, C_t in zip(x.unbind(1), delta.unbind(1), B.unbind(1), C.unbind(1)):
        kept = (delta_t[..., None] * A).exp()
        h = kept * h + (kept - 1) / A * B_t[:, None] * x_t[..., None]
        ys.append((h * C_t[:, None]).sum(-1))
    return torch.stack(ys, 1)


selective_scan.mistakes(
    "Set delta to 0 at one token. How much of its x is written into your state?",
    B_not_times_delta=lambda x, delta, A, B, C: _run(x, delta, A, _kept(delta, A), _written(x, B), C),
)
selective_scan.mistakes(
    "Delta is above 0 as it comes. Set it to 0 at one token: does your state pass it unchanged?",
    softplus_twice=lambda x, delta, A, B, C: reference.selective_scan(x, F.softplus(delta), A, B, C),
)
selective_scan.mistakes(
    "A comes below 0, ready for use, and not as its logarithm. Take delta = 1 and A = -1. Which share of the state is "
    "kept?",
    A_taken_for_its_logarithm=lambda x, delta, A, B, C: reference.selective_scan(x, delta, -A.exp(), B, C),
)
selective_scan.mistakes(
    "Set delta to 0 at one token. Which share of the state should be kept there, and which is?",
    decay_without_delta=lambda x, delta, A, B, C: _run(
        x, delta, A, A.exp().expand(*delta.shape, A.shape[1]), _written(delta * x, B), C
    ),
)
selective_scan.mistakes(
    "Give it a text of one token. What should come out, and what does? Which state does y_t read?",
    reads_the_old_state=lambda x, delta, A, B, C: _run(
        x, delta, A, _kept(delta, A), _written(delta * x, B), C, before=True
    ),
)


@selective_scan.misconception(
    "Take a long text with large steps. Print the smallest product of decays. What happens when you divide by it?"
)
def divides_by_the_products(x, delta, A, B, C):
    products = (delta.cumsum(1)[..., None] * A).exp()
    written = (delta * x)[..., None] * B[:, :, None]
    return (products * (written / products).cumsum(1) * C[:, :, None]).sum(-1)


selective_scan.mistakes(
    "Set C to 0. Then nothing is read. What comes out?",
    input_added=lambda x, delta, A, B, C: reference.selective_scan(x, delta, A, B, C) + x,
)
