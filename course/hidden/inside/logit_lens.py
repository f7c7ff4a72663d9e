"""Hidden tests of `logit_lens`: the model's last norm on each layer by itself, then the output matrix."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import inside as reference


@exercise(
    reference.logit_lens,
    hints=(
        "What does the model do with the stream behind its last layer, before it has logits? Do the same to any layer.",
        "Multiply the stream by 10. Should the logits change? Do yours?",
        "Begin with the stream (3, 4) and gamma of ones. What is it behind the norm? Which product makes a number for "
        "each row of `W_U` of it?",
    ),
    calls=(
        "logit_lens(tensor([2., 2.]), ones(2), tensor([[1., 0.], [0., 3.]]), eps=0.)",
        "logit_lens(tensor([2., -2.]), tensor([1., 5.]), tensor([[1., 0.], [0., 1.]]), eps=0.)",
        "logit_lens(tensor([0., 0.]), ones(2), tensor([[1., 0.], [0., 3.]]))",
        "logit_lens(tensor([[1., 1.], [50., 50.]]), ones(2), tensor([[1., 1.]]), eps=0.)",
        "logit_lens(numbers(3, 5, 2), ones(2), numbers(7, 2)).shape",
    ),
)
def logit_lens(rng):
    """A stream of one layer and of several, whose sizes differ widely; eps once so large that its place shows."""

    def inputs(*shape, V=11, dtype=torch.float64):
        D = shape[-1]
        return 2 * rng.normal(*shape, dtype=dtype) + 1, 1 + rng.normal(D, dtype=dtype), rng.normal(V, D, dtype=dtype)

    yield call("a text", *inputs(2, 3, 7), public=True, weight=2.0)
    stream, gamma, W_U = inputs(3, 2, 5, 7)
    scale = torch.tensor([0.1, 1.0, 20.0]).double()[:, None, None, None]
    yield call("three layers, each larger than the last", scale * stream, gamma, W_U, public=True, weight=2.0)
    yield call("a single place", *inputs(5, V=3))
    yield call("a large eps", *inputs(3, 2, 5), eps=0.5, public=True)
    yield call("float32", *inputs(2, 5, 3, dtype=torch.float32), public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, inputs(3, 2, 5)), public=True)


def _normed(stream, eps):
    return stream * (stream.square().mean(-1, keepdim=True) + eps).rsqrt()


logit_lens.mistakes(
    "Multiply the stream by 10. The model's last norm would not notice. Do your logits?",
    no_norm=lambda stream, gamma, W_U, eps=1e-6: stream @ W_U.T,
    gamma_without_a_norm=lambda stream, gamma, W_U, eps=1e-6: (gamma * stream) @ W_U.T,
)
logit_lens.mistakes(
    "Take gamma of zeros. What should be left of the logits?",
    gamma_forgotten=lambda stream, gamma, W_U, eps=1e-6: _normed(stream, eps) @ W_U.T,
)
logit_lens.mistakes(
    "Take a stream of equal numbers, (2, 2). What do you read in it? The norm of a GPT leaves the mean where it is.",
    mean_taken_off=lambda stream, gamma, W_U, eps=1e-6: reference.logit_lens(
        stream - stream.mean(-1, keepdim=True), gamma, W_U, eps
    ),
)
logit_lens.mistakes(
    "Read one layer alone, then the same layer among others. Do its logits change? Whose size divides it?",
    scale_of_the_last_layer=lambda stream, gamma, W_U, eps=1e-6: (
        (gamma * stream * (stream.reshape(-1, *stream.shape[-3:])[-1].square().mean(-1, keepdim=True) + eps).rsqrt())
        @ W_U.T
    ),
)
logit_lens.mistakes(
    "Print the sum of your result along the vocabulary. Are these logits?",
    probabilities=lambda *given, **options: reference.logit_lens(*given, **options).softmax(-1),
)
