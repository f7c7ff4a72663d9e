"""Hidden tests of `clip_grad_norm`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import rnn as reference


@exercise(
    reference.clip_grad_norm,
    hints=(
        "Clip [3, 0] and [0, 4] together at 1. Their common norm is 5: what should come out of each?",
        "Clip something that is already short. Does it come back as it was?",
        "The direction must not change. How many different factors does your list get?",
    ),
    forbidden=(
        "nn.utils.clip_grad_norm_",
        "nn.utils.clip_grad_norm",
        "nn.utils.clip_grad_value_",
        "nn.utils.get_total_norm",
        "nn.utils.clip_grads_with_norm_",
    ),
    tolerance=1e-5,  # torch adds 1e-6 to the norm before it divides
)
def clip_grad_norm(rng):
    """Long and short, of many shapes, together."""

    def grads(*shapes, scale=1.0, dtype=torch.float64):
        return [scale * rng.normal(*shape, dtype=dtype) for shape in shapes]

    yield call(
        "three, four, five",
        [torch.tensor([3.0, 0.0]).double(), torch.tensor([[0.0, -4.0]]).double()],
        1.0,
        public=True,
        grad=False,
    )
    yield call("short already", grads((2, 3), (5,), scale=0.1), 7.0, public=True, grad=False)
    twos = torch.tensor([2.0, -2.0]).double()  # four of them are four long
    yield call("short, but not its square", [twos, twos[:, None]], 6.0, grad=False)
    yield call("long", grads((5, 3), (5, 5), (5,), scale=20.0), 2.5, grad=False)
    yield call("one long, one short", [*grads((3, 2), scale=30.0), *grads((7,), scale=0.01)], 3.0, grad=False)
    yield call("a single tensor", grads((3, 5)), 0.5, grad=False)
    zeros = call("nothing but zeros", [torch.zeros(2, 3).double(), torch.zeros(3).double()], 1.0, grad=False)
    yield zeros.counts_with("three, four, five")
    yield call("float32", grads((5, 3), (2,), dtype=torch.float32), 0.7, grad=False, public=True)
    yield call(
        "memory that is not contiguous", [noncontiguous(g) for g in grads((3, 5), (2, 7))], 0.9, grad=False, public=True
    )


def _norm(grads):
    return sum(float((g**2).sum()) for g in grads) ** 0.5


def _scaled(grads, factor):
    return [g * factor for g in grads]


@clip_grad_norm.misconception(
    "Clip [3, 0] and [0, 4] together. How many norms do you compute, and how many factors come of them?"
)
def each_tensor_for_itself(grads, max_norm):
    return [g * min(1.0, max_norm / max(_norm([g]), 1e-12)) for g in grads], _norm(grads)


@clip_grad_norm.misconception(
    "Does your result still point in the same direction? Compare the ratios of its numbers before and after."
)
def by_value(grads, max_norm):
    return [g.clamp(-max_norm, max_norm) for g in grads], _norm(grads)


@clip_grad_norm.misconception("Clip a gradient that is already short. Is it still that short?")
def always_to_the_full_length(grads, max_norm):
    return _scaled(grads, max_norm / max(_norm(grads), 1e-12)), _norm(grads)


@clip_grad_norm.misconception("What is the length of (3, 4)? Seven is the way along the streets.")
def sum_of_absolute_values(grads, max_norm):
    total = sum(float(g.abs().sum()) for g in grads)
    return _scaled(grads, min(1.0, max_norm / max(total, 1e-12))), total


@clip_grad_norm.misconception(
    "A matrix has 3 and 4 on its diagonal, and zeros. How long are its numbers as one row, and what does yours say?"
)
def largest_singular_values(grads, max_norm):
    total = sum(float(torch.linalg.norm(g, 2)) ** 2 for g in grads) ** 0.5
    return _scaled(grads, min(1.0, max_norm / max(total, 1e-12))), total


@clip_grad_norm.misconception("What is the length of (3, 4)? If 25 comes out, one step is missing.")
def square_of_the_norm(grads, max_norm):
    total = _norm(grads) ** 2
    return _scaled(grads, min(1.0, max_norm / max(total, 1e-12))), total


@clip_grad_norm.misconception(
    "The gradients are right. Which norm is returned: the one before clipping or the one after?"
)
def norm_after(grads, max_norm):
    clipped, _ = reference.clip_grad_norm(grads, max_norm)
    return clipped, _norm(clipped)


@clip_grad_norm.misconception(
    "Is the length of the whole the sum of the lengths of its parts? Take two perpendicular parts, 3 and 4."
)
def sum_of_the_norms(grads, max_norm):
    total = sum(_norm([g]) for g in grads)
    return _scaled(grads, min(1.0, max_norm / max(total, 1e-12))), total


@clip_grad_norm.misconception(
    "Short gradients are left alone: good. And long ones: by which factor do they get shorter? Clip (3, 4) at 2."
)
def divided_by_the_norm_only(grads, max_norm):
    total = _norm(grads)
    return (_scaled(grads, 1 / total) if total > max_norm else list(grads)), total


@clip_grad_norm.misconception("Print the two numbers that you compare before you clip. Is each of them a length?")
def compares_the_square(grads, max_norm):
    total = _norm(grads)
    return (_scaled(grads, max_norm / total) if total**2 > max_norm else list(grads)), total
