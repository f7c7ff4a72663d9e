"""Hidden tests of `rms_norm`: no mean is taken off, eps stands under the root, every token by itself."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import gpt as reference

BFLOAT16_TOLERANCE = 0.05
"""rtol = atol: some roundings of 2^-9 each, wherever they are made."""


@exercise(
    reference.rms_norm,
    hints=(
        "Take gamma of ones and the token (3, 4). Its mean square is 12.5. What should the squares of your result be "
        "on average?",
        "Add 100 to every number of a token. Does your result still look as before? LayerNorm's would.",
        "Take a token of zeros and eps = 0.25. What do you divide by?",
        "Begin with the mean square of each token, for x of shape (2, 3, 5). Which shape must it keep so that x can be "
        "divided by its root?",
    ),
    forbidden=("F.rms_norm", "nn.RMSNorm", "torch.rms_norm", "F.layer_norm", "nn.LayerNorm"),
    calls=(
        "rms_norm(tensor([2., 2.]), ones(2), eps=0.)",
        "rms_norm(tensor([3., -3.]), tensor([1., 5.]), eps=0.)",
        "rms_norm(tensor([0., 0.]), ones(2))",
        "rms_norm(tensor([-7., -7.]), ones(2), eps=0.)",
        "rms_norm(tensor([[2., 2.], [200., 200.]]), ones(2), eps=0.)",
        "rms_norm(tensor([1., 1.]), ones(2), eps=3.)",
    ),
)
def rms_norm(rng):
    """All axes differ; eps once so large that its place shows; a token of zeros; one number alone; three dtypes."""

    def inputs(*shape, dtype=torch.float64):
        return 2 * rng.normal(*shape, dtype=dtype) + 1, rng.normal(shape[-1], dtype=dtype)

    yield call("a small batch", *inputs(2, 3, 7), public=True, weight=2.0)
    yield call("a large eps", *inputs(3, 2, 5), eps=0.5, public=True)
    yield call("tokens without a batch", *inputs(5, 3))
    yield call("one token", *inputs(11))
    yield call("heads of tokens", *inputs(2, 3, 5, 7))
    yield call("tokens of one number", *inputs(3, 5, 1), weight=0.5).counts_with("a small batch")
    zeros, gamma = torch.zeros(2, 3, 5).double(), rng.normal(5)
    yield call("tokens of zeros", zeros, gamma, grad=False, weight=0.5).counts_with("a small batch")
    yield call("float32", *inputs(2, 5, 3, dtype=torch.float32), public=True)
    half = call("bfloat16", *inputs(3, 2, 7, dtype=torch.bfloat16), grad=False, public=True, weight=0.5,
                tolerance=BFLOAT16_TOLERANCE)  # fmt: skip
    yield half.counts_with("a small batch")
    yield call("memory that is not contiguous", *(noncontiguous(tensor) for tensor in inputs(3, 2, 5)), public=True)


def _divided(x, gamma, root):
    return gamma * x / root


def _mean_square(x):
    return x.square().mean(-1, keepdim=True)


rms_norm.mistakes(
    "Take a token of equal numbers, (2, 2, 2). What comes out? RMSNorm leaves the mean where it is.",
    mean_taken_off=lambda x, gamma, eps=1e-6: reference.rms_norm(x - x.mean(-1, keepdim=True), gamma, eps),
)
rms_norm.mistakes(
    "Take eps = 0.5 and compare by hand. Is eps added to the mean square, or to its root?",
    eps_outside_the_root=lambda x, gamma, eps=1e-6: _divided(x, gamma, _mean_square(x).sqrt() + eps),
)
rms_norm.mistakes(
    "Take the token (3, 4), once with eps = 0.000001 and once with eps = 0.5. Should the two results be the same?",
    eps_ignored=lambda x, gamma, eps=1e-6: gamma * x.shape[-1] ** 0.5 * F.normalize(x, dim=-1),
)
rms_norm.mistakes(
    "Take gamma of ones. Is the mean square of a token of your result 1? How many numbers does a mean divide by?",
    sum_for_mean=lambda x, gamma, eps=1e-6: _divided(x, gamma, (x.square().sum(-1, keepdim=True) + eps).sqrt()),
)
rms_norm.mistakes(
    "Multiply x by 10. The result should stay as it is. Does yours?",
    root_forgotten=lambda x, gamma, eps=1e-6: _divided(x, gamma, _mean_square(x) + eps),
)
rms_norm.mistakes(
    "Change one token. Do its neighbours change? Which axis does each mean run along?",
    one_mean_over_everything=lambda x, gamma, eps=1e-6: _divided(x, gamma, (x.square().mean() + eps).sqrt()),
)


@rms_norm.misconception(
    "Take gamma of zeros. What should be left of a token?", convention="a scale of 1 + gamma, as in Gemma"
)
def one_plus_gamma(x, gamma, eps=1e-6):
    return reference.rms_norm(x, 1 + gamma, eps)
