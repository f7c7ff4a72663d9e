"""Hidden tests of `bptt`: the gradients of all weights and of h0, by hand."""

from functools import partial

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.rnn.scaffold import inputs
from course.reference import rnn as reference

AUTOGRAD = (
    *("torch.autograd.grad", "torch.autograd.backward", "Tensor.backward", "torch.enable_grad"),
    *("torch.func.grad", "torch.func.vjp", "torch.func.jvp", "torch.func.jacrev", "torch.func.jacfwd"),
    *("torch.func.linearize", "torch.autograd.forward_ad.make_dual"),
)


@exercise(
    reference.bptt,
    hints=(
        "Name the three states that meet at step t. Which one does tanh' need, and which one did W_h read?",
        "delta has the shape (B, H). Which product of it makes an (H, H), and which one a (B, H)? For the second "
        "there are two candidates, and a W_h that is not symmetric tells them apart.",
        "Begin with the last step alone. Run forward, keep the states, and compute delta for that step. For the "
        "small cell of the text it is 0.868. Walk back to 0.182 by hand before you write a loop.",
    ),
    forbidden=AUTOGRAD,
    calls=(
        "bptt(zeros(1, 1, 1), zeros(1, 1), tensor([[1.]]), tensor([[2.]]), zeros(1), tensor([[3.]]))",
        "bptt(zeros(1, 2, 1), zeros(1, 1), tensor([[1.]]), tensor([[2.]]), zeros(1), tensor([[3.]]))",
        "bptt(zeros(1, 3, 1), zeros(1, 1), tensor([[1.]]), tensor([[2.]]), zeros(1), tensor([[1.]]))",
        "bptt(tensor([[[100.]]]), zeros(1, 1), tensor([[1.]]), tensor([[2.]]), zeros(1), tensor([[3.]]))",
        "bptt(zeros(1, 2, 1), zeros(1, 1), tensor([[1.]]), tensor([[0.]]), zeros(1), tensor([[3.]]))",
        "bptt(zeros(1, 2, 1), zeros(1, 1), tensor([[1.]]), tensor([[2.]]), zeros(1), tensor([[0.]]))",
    ),
)
def bptt(rng):
    """Under no_grad. One step isolates the formulas, two the order, thirteen the sums."""

    def case(title, B, T, D, H, dtype=torch.float64, size=1.0, **settings):
        xs, h0, W_x, W_h, b = inputs(rng, B, T, D, H, dtype)
        if size < 1.0:  # hardly bent, and turned by W_h: the gradient at h0 is still far from zero
            W_h = torch.linalg.qr(W_h).Q
        tensors = (size * xs, h0, W_x, W_h, size * b, rng.normal(B, H, dtype=dtype))
        return call(title, *tensors, grad=False, **settings).without_autograd()

    yield case("one step", 2, 1, 3, 5, public=True)
    yield case("two steps", 2, 2, 3, 5, public=True)
    yield case("seven steps", 3, 7, 2, 5, size=0.3, weight=2.0)
    yield case("thirteen steps", 2, 13, 5, 3, size=0.1, weight=2.0)
    yield case("one sequence", 1, 5, 3, 2, size=0.3)
    yield case("every size the same", 3, 3, 3, 3, size=0.5)
    yield case("float32", 2, 5, 3, 7, torch.float32, size=0.5)
    tensors = (*inputs(rng, 2, 5, 3, 7), rng.normal(2, 7))
    yield call(
        "memory that is not contiguous", *map(noncontiguous, tensors), grad=False, public=True
    ).without_autograd()


def walk_back(xs, h0, W_x, W_h, b, grad_h, *, slope=None, read=None, back=None, sums=None, steps=None, **how):
    """The right algorithm with one piece exchanged.

    `slope` is tanh', `read` gives the states that W_h read, `back` is the step to the state before, and `sums` makes
    the share of b from a delta. `steps` limits how many are walked, with `overwritten` a sum keeps only its last
    share, and `short_of_h0` stops at the delta of the first step.
    """
    hs, _ = reference.rnn_forward(xs, h0, W_x, W_h, b)
    before = read(hs) if read else torch.cat([h0[:, None], hs[:, :-1]], 1)
    found = {"W_x": torch.zeros_like(W_x), "W_h": torch.zeros_like(W_h), "b": torch.zeros_like(b)}
    for t in range(xs.shape[1])[::-1][:steps]:
        delta = (slope(hs[:, t], before[:, t]) if slope else 1 - hs[:, t] ** 2) * grad_h
        step = {"W_x": delta.T @ xs[:, t], "W_h": delta.T @ before[:, t], "b": sums(delta) if sums else delta.sum(0)}
        found = step if how.get("overwritten") else {name: found[name] + step[name] for name in found}
        grad_h = back(delta, W_h) if back else delta @ W_h
    return {**found, "h0": delta if how.get("short_of_h0") else grad_h}


bptt.mistakes(
    "Take T = 1 and an h0 of zeros. Then your slope is 1, whatever x is. Which state does a step begin with, and "
    "which one does it end with?",
    slope_at_the_state_before=partial(walk_back, slope=lambda h, before: 1 - before**2),
)
bptt.mistakes(
    "Saturate a unit. Its gradient should vanish. Which factor of your way back would make it vanish?",
    no_slope=partial(walk_back, slope=lambda h, before: torch.ones_like(h)),
)
bptt.mistakes(
    "Forward, h meets W_h.T. What does the gradient meet on its way back? Try a W_h that is not symmetric.",
    W_h_not_turned_around=partial(walk_back, back=lambda delta, W_h: delta @ W_h.T),
)
bptt.mistakes(
    "Look at the gradient of W_h with T = 1. Which state did W_h read in that step, h_0 or h_1?",
    state_after_the_step=partial(walk_back, read=lambda hs: hs),
    index_minus_one=partial(walk_back, read=lambda hs: hs.roll(1, 1)),
)
bptt.mistakes(
    "For the small cell of the text, the gradient of h_0 is 0.091. Which number of the walk back do you return?",
    delta_for_h0=partial(walk_back, short_of_h0=True),
)
bptt.mistakes(
    "Print the shape of b and the shape of its gradient. How many sequences share the bias?",
    bias_for_each_sequence=partial(walk_back, sums=lambda delta: delta),
)


@bptt.misconception(
    "Every step uses the same weights. Print the gradient of b after each step. Does it add up, or is it overwritten?"
)
def overwritten_instead_of_added(*inputs):
    return walk_back(*inputs, overwritten=True)
