"""Hidden tests of `layer_norm`: the axis, the variance, where eps stands, gamma and beta."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import encoder_decoder as reference

BUILT_IN_NORMS = (
    *("F.layer_norm", "nn.LayerNorm", "torch.layer_norm", "torch.native_layer_norm"),
    *("F.group_norm", "nn.GroupNorm", "torch.group_norm", "F.instance_norm", "torch.instance_norm"),
    *("F.batch_norm", "torch.batch_norm", "nn.InstanceNorm1d", "nn.BatchNorm1d"),
)


@exercise(
    reference.layer_norm,
    hints=(
        "Which numbers go into the mean of one word? For x of (B, T, D), how many means are there?",
        "Add 100 to all numbers of one word. Should its new vector change? Should that of its neighbour?",
        "Begin with gamma of ones and beta of zeros, and the word 1, 3, 5, 7 of the text. Print what each of its "
        "three steps gives, and compare. Is your variance 5? Then look at the shape of your mean for x (B, T, D). "
        "Does x minus the mean subtract from each word its own?",
    ),
    forbidden=BUILT_IN_NORMS,
    calls=(
        "layer_norm(tensor([1., 3.]), ones(2), zeros(2))",
        "layer_norm(tensor([5., 5.]), ones(2), zeros(2))",
        "layer_norm(tensor([5., 5.]), ones(2), tensor([2., 3.]))",
        "layer_norm(tensor([1., 3.]), tensor([10., 10.]), zeros(2))",
        "layer_norm(tensor([1., 3.]), zeros(2), tensor([4., 6.]))",
        "layer_norm(tensor([[1., 3.], [100., 300.]]), ones(2), zeros(2))",
    ),
)
def layer_norm(rng):
    """B, T and D differ. An eps so large that its place shows, a word of equal numbers, and one number alone."""

    def inputs(*shape, dtype=torch.float64):
        return 2 * rng.normal(*shape, dtype=dtype) + 1, *(rng.normal(shape[-1], dtype=dtype) for _ in range(2))

    yield call("a small batch", *inputs(2, 3, 7), public=True, weight=2.0)
    yield call("a large eps", *inputs(3, 2, 5), eps=0.5, public=True)
    yield call("words without a batch", *inputs(5, 3))
    yield call("one word", *inputs(11))
    yield call("two numbers a word", *inputs(3, 5, 2), weight=2.0)
    x, gamma, beta = inputs(2, 5, 7, dtype=torch.float32)
    yield call("float32 around two thousand", 2 * x + 2000, gamma, beta, tolerance=2e-3, grad=False, public=True)
    yield call("a word of equal numbers", torch.full((2, 1, 5), 3.0).double(), rng.normal(5), rng.normal(5), grad=False)
    yield call("float32", *inputs(2, 3, 5, dtype=torch.float32))
    yield call("memory that is not contiguous", *(noncontiguous(tensor) for tensor in inputs(3, 2, 5)), public=True)


def _normed(x, gamma, beta, eps, dim=-1, correction=0):
    centred = x - x.mean(dim, keepdim=True)
    return gamma * centred / (x.var(dim, correction=correction, keepdim=True) + eps).sqrt() + beta


@layer_norm.misconception(
    "Take gamma of ones and beta of zeros, and print the mean of one word of your result. Is it 0?"
)
def over_the_words(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, eps, dim=-2 if x.dim() > 1 else -1)


layer_norm.mistakes(
    "Add another sentence to the batch. Should it change the mean of your words?",
    over_the_batch=lambda x, gamma, beta, eps=1e-5: _normed(x, gamma, beta, eps, dim=0),
)


@layer_norm.misconception("Is your variance of the numbers 0 and 2 equal to 1 or to 2? What do you divide by?")
def unbiased_variance(x, gamma, beta, eps=1e-5):
    return _normed(x, gamma, beta, eps, correction=1 if x.shape[-1] > 1 else 0)


@layer_norm.misconception("Set eps to 0.5. What exactly does the formula take the root of?")
def eps_outside_the_root(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.var(-1, correction=0, keepdim=True).sqrt() + eps) + beta


@layer_norm.misconception(
    "Two things differ a little. Compute x.std(-1) of (0, 2) by hand. Then set eps to 0.5. Where does it stand?",
    convention="unbiased deviation with eps added to it, as in the Annotated Transformer",
)
def unbiased_and_eps_outside(x, gamma, beta, eps=1e-5):
    deviation = x.var(-1, correction=1 if x.shape[-1] > 1 else 0, keepdim=True).sqrt()
    return gamma * (x - x.mean(-1, keepdim=True)) / (deviation + eps) + beta


layer_norm.mistakes(
    "Call it with eps = 0.5. Does the result change? Print what you divide by for a word of equal numbers.",
    the_usual_eps_whatever_was_given=lambda x, gamma, beta, eps=1e-5: _normed(x, gamma, beta, 1e-5),
    no_eps=lambda x, gamma, beta, eps=1e-5: _normed(x, gamma, beta, 0.0),
)


@layer_norm.misconception(
    "Print the mean of a word of your result. Many newer models use a norm that leaves the mean. Ours does not.",
    convention="RMSNorm, which leaves the mean where it is",
)
def root_mean_square(x, gamma, beta, eps=1e-5):
    return gamma * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + beta
