"""Hidden tests of `clip_grad_norm`: one norm and one factor for all gradients."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import rnn as reference


@exercise(
    reference.clip_grad_norm,
    hints=(
        "The direction must not change. How many different factors may your list get?",
        "Clip [3, 0] and [0, 4] together at 1. Their common norm is 5. What should come out of each, and what if "
        "you clip at 7?",
        "Begin with the norm alone. For the two gradients of the text, (2, 0) and (1, 2), it is 3. Then ask by "
        "what you multiply to get from a length of 3 to 1.5, and when nothing has to be done.",
    ),
    forbidden=(
        *("nn.utils.clip_grad_norm_", "nn.utils.clip_grad_norm"),
        *("nn.utils.get_total_norm", "nn.utils.clip_grads_with_norm_"),
    ),
    tolerance=1e-5,  # torch adds 1e-6 to the norm before it divides,
    calls=(
        "clip_grad_norm([tensor([3., 4.])], 1.)",
        "clip_grad_norm([tensor([3., 4.])], 10.)",
        "clip_grad_norm([tensor([3.]), tensor([4.])], 2.5)",
        "clip_grad_norm([tensor([0., 0.])], 1.)",
        "clip_grad_norm([tensor([3., 4.])], 5.)",
        "clip_grad_norm([tensor([1.]), tensor([0.])], 2.)",
    ),
)
def clip_grad_norm(rng):
    """Long and short gradients, of many shapes, together."""

    def grads(*shapes, scale=1.0, dtype=torch.float64):
        return [scale * rng.normal(*shape, dtype=dtype) for shape in shapes]

    three, four = torch.tensor([3.0, 0.0]).double(), torch.tensor([[0.0, -4.0]]).double()
    yield call("three, four, five", [three, four], 1.0, public=True, grad=False)
    yield call("short already", grads((2, 3), (5,), scale=0.1), 7.0, public=True, grad=False)
    twos = torch.tensor([2.0, -2.0]).double()  # four of them are four long
    yield call("short, but not its square", [twos, twos[:, None]], 6.0, grad=False)
    yield call("long", grads((5, 3), (5, 5), (5,), scale=20.0), 2.5, grad=False)
    yield call("one long, one short", [*grads((3, 2), scale=30.0), *grads((7,), scale=0.01)], 3.0, grad=False)
    yield call("a single tensor", grads((3, 5)), 0.5, grad=False)
    zeros = call("nothing but zeros", [torch.zeros(2, 3).double(), torch.zeros(3).double()], 1.0, grad=False)
    yield zeros.counts_with("three, four, five")
    yield call("float32", grads((5, 3), (2,), dtype=torch.float32), 0.7, grad=False, public=True)
    strided = [noncontiguous(g) for g in grads((3, 5), (2, 7))]
    yield call("memory that is not contiguous", strided, 0.9, grad=False, public=True)
    yield call("shorter than one, and still too long", grads((2, 3), scale=0.1), 0.05, grad=False)


def _norm(grads):
    return sum(float((g**2).sum()) for g in grads) ** 0.5


@clip_grad_norm.misconception("Clip [3, 0] and [0, 4] together. How many norms do you compute, and how many factors?")
def each_tensor_for_itself(grads, max_norm):
    return [g * min(1.0, max_norm / max(_norm([g]), 1e-12)) for g in grads], _norm(grads)


clip_grad_norm.mistakes(
    "Does your result still point in the same direction? Compare the ratios of its numbers before and after.",
    by_value=lambda grads, max_norm: ([g.clamp(-max_norm, max_norm) for g in grads], _norm(grads)),
)


def _scaled(factor=lambda norm, most: min(1.0, most / max(norm, 1e-12)), norm=_norm, said=None):
    """The right scaling with another factor, another norm, or another norm returned as the one before."""

    def clip(grads, max_norm):
        clipped = [g * factor(norm(grads), max_norm) for g in grads]
        return clipped, said(clipped) if said else norm(grads)

    return clip


clip_grad_norm.mistakes(
    "Clip a gradient that is already short. Is it still that short?",
    always_to_the_full_length=_scaled(lambda norm, most: most / max(norm, 1e-12)),
)
clip_grad_norm.mistakes(
    "What is the length of (3, 4), and what does your function say? Which step is missing?",
    square_of_the_norm=_scaled(norm=lambda grads: _norm(grads) ** 2),
)
clip_grad_norm.mistakes(
    "Is the length of the whole the sum of the lengths of its parts? Take two perpendicular parts, 3 and 4.",
    sum_of_the_norms=_scaled(norm=lambda grads: sum(_norm([g]) for g in grads)),
)
clip_grad_norm.mistakes(
    "The gradients have different shapes, so they do not fit into one tensor. Which single number of each of them do "
    "you need for the common norm?",
    stacked=_scaled(norm=lambda grads: float(torch.stack(grads).norm())),
)
clip_grad_norm.mistakes(
    "How many results does the docstring name? Print the type of what you return, and of what is in it.",
    gradients_alone=lambda grads, max_norm: _scaled()(grads, max_norm)[0],
)
clip_grad_norm.mistakes(
    "The gradients are right. Which norm do you return, the one before clipping or the one after?",
    norm_after=_scaled(said=_norm),
)
