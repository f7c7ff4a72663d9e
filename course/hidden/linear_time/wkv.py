"""Hidden tests of `wkv`: what fades, whose bonus it is, and keys of any size."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import linear_time as reference


@exercise(
    reference.wkv,
    hints=(
        "Keep two sums, one with the values and one without. What fades, and what is added?",
        "Compute the worked example by hand: 4, 7, 2.222, 4.842. Where does yours first differ?",
        "For large keys, keep the largest exponent so far beside the sums, and keep them divided by its exponential.",
        "Begin with small keys, two sums of zeros and a loop over the tokens. Does a token come into the sums before "
        "its output is computed, or after?",
    ),
    tolerance=1e-4,
    calls=(
        "wkv(zeros(1, 2, 1), tensor([[[2.], [4.]]]), zeros(1), zeros(1))",
        "wkv(zeros(1, 2, 1), tensor([[[2.], [4.]]]), zeros(1), tensor([100.]))",
        "wkv(zeros(1, 2, 1), tensor([[[2.], [4.]]]), zeros(1), tensor([-100.]))",
        "wkv(zeros(1, 3, 1), tensor([[[2.], [4.], [6.]]]), tensor([100.]), tensor([-50.]))",
        "wkv(tensor([[[100.], [0.]]]), tensor([[[2.], [4.]]]), zeros(1), zeros(1))",
        "wkv(zeros(1, 3, 1), tensor([[[3.], [3.], [9.]]]), zeros(1), zeros(1))",
    ),
)
def wkv(rng):
    """All sizes apart; decays of 0; keys that overflow, up and down; a single token.

    An answer may compute in float32 inside, as the released code does.
    """

    def inputs(B, T, D, size=1.0, dtype=torch.float64):
        k, v = size * rng.normal(B, T, D, dtype=dtype), rng.normal(B, T, D, dtype=dtype)
        return k, v, rng.uniform(D, low=0.1, high=1.5, dtype=dtype), rng.normal(D, dtype=dtype)

    yield call("a small batch", *inputs(2, 5, 3), public=True, weight=2.0)
    yield call("a longer text", *inputs(1, 19, 2), weight=2.0)
    yield call("one channel", *inputs(3, 7, 1))
    yield call("a single token", *inputs(3, 1, 5), weight=0.5).counts_with("a small batch")
    k, v, w, u = inputs(2, 7, 5)
    w[1:3] = 0
    yield call("channels that never forget", k, v, w, u)
    yield call("keys of hundreds", *inputs(2, 7, 3, size=150.0), public=True)
    k, v, w, u = inputs(2, 8, 3)
    k = k + torch.tensor([-1000.0, 1000.0, 0.0, -1000.0, -900.0, 1000.0, 0.0, -1000.0])[:, None]
    yield call("keys of thousands, up and down", k, v, w, u, grad=False, public=True, tolerance=1e-3)
    yield call("every size the same", *inputs(5, 5, 5))
    yield call("float32", *inputs(2, 7, 5, size=30.0, dtype=torch.float32), public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, inputs(3, 7, 5)), public=True)


def _averaged(exponents, v):
    """Weighted means of values from exponents (B, T, T, D) of what a position sees, -inf where it sees nothing."""
    return (exponents.softmax(2) * v[:, None]).sum(2)


def _exponents(k, w, u, lag=-1, bonus=True):
    T = k.shape[1]
    distance = torch.arange(T)[:, None] - torch.arange(T)[None]  # t - i
    faded = k[:, None] - (distance + lag).clamp(min=0)[..., None] * w
    now = k[:, None] + (u if bonus else 0 * u)
    seen = torch.where((distance > 0)[..., None], faded, now)
    return seen.masked_fill((distance < 0)[..., None], -torch.inf)


@wkv.misconception("Try keys of 1,000. What is exp(1000) on a computer, and what comes of one infinity over another?")
def no_running_maximum(k, v, w, u):
    total, count, outs = torch.zeros_like(k[:, 0]), torch.zeros_like(k[:, 0]), []
    for k_t, v_t in zip(k.unbind(1), v.unbind(1)):
        now = (u + k_t).exp()
        outs.append((total + now * v_t) / (count + now))
        total = (-w).exp() * total + k_t.exp() * v_t
        count = (-w).exp() * count + k_t.exp()
    return torch.stack(outs, 1)


@wkv.misconception(
    "Let the first keys be -1000 and a later one 1000. What is left of the first weights when you subtract 1000?"
)
def one_maximum_for_the_text(k, v, w, u):
    return no_running_maximum(k - k.amax(1, keepdim=True), v, w, u)


wkv.mistakes(
    "Set u to 5. The present token should outweigh the others. Does anything change? What is added to every "
    "exponent is divided out.",
    bonus_left_out=lambda k, v, w, u: _averaged(_exponents(k, w, u, bonus=False), v),
)


wkv.mistakes(
    "After the first token of the worked example, your sum of weights should be 1. Is it, or is the bonus still in it?",
    bonus_kept_in_the_state=lambda k, v, w, u: _averaged(_exponents(k, w, u, lag=0, bonus=False), v),
)


@wkv.misconception(
    "Read the second output of the worked example, 7. Has the token just before faded when it is first read?"
)
def last_token_fades_too(k, v, w, u):
    return _averaged(_exponents(k, w, u, lag=0), v)


@wkv.misconception(
    "Set w to 0. Nothing should fade. Does it, in yours?", convention="`time_decay`, the logarithm of w, as in weights"
)
def logarithm_for_the_decay(k, v, w, u):
    return _averaged(_exponents(k, w.exp(), u), v)


@wkv.misconception("Make all values 1. A weighted mean of ones is one. What comes out?")
def not_normalised(k, v, w, u):
    return (_exponents(k, w, u).exp() * v[:, None]).sum(2)


wkv.mistakes(
    "Change the last value. Does the last output move, and how much? The present token takes part.",
    present_token_left_out=lambda k, v, w, u: torch.cat(
        [v[:, :1], _averaged(_exponents(k, w, u), v)[:, 1:] * 0 + _past_only(k, v, w)], 1
    ) + 0 * u,
)  # fmt: skip


def _past_only(k, v, w):
    """What positions from 1 on see of the positions before them alone."""
    T = k.shape[1]
    distance = torch.arange(T)[:, None] - torch.arange(T)[None]
    faded = (k[:, None] - (distance - 1).clamp(min=0)[..., None] * w).masked_fill((distance < 1)[..., None], -torch.inf)
    return _averaged(faded[:, 1:], v)
