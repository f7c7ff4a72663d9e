"""Hidden tests of `bptt`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.rnn.scaffold import BUILT_IN, _inputs
from course.reference import rnn as reference

AUTOGRAD = (
    *("torch.autograd.grad", "torch.autograd.backward", "Tensor.backward", "torch.enable_grad"),
    *("torch.func.grad", "torch.func.vjp", "torch.func.jvp", "torch.func.jacrev", "torch.func.jacfwd"),
    *("torch.func.linearize", "torch.autograd.forward_ad.make_dual"),
)


@exercise(
    reference.bptt,
    hints=(
        "Do T = 1 on paper and compare, then T = 2. The first T at which it goes wrong tells you where to look.",
        "Name the three states that meet at step t: which one does tanh' need, and which one did W_h read?",
        "Shapes: delta is (B, H). Which product of it makes an (H, H), and which one a (B, H)? For the second there "
        "are two candidates, and a W_h that is not symmetric tells them apart.",
    ),
    forbidden=(*BUILT_IN, *AUTOGRAD),
)
def bptt(rng):
    """Under no_grad. One step isolates the formulas, two the order, thirteen the sums."""

    def case(title, B, T, D, H, dtype=torch.float64, size=1.0, **settings):
        xs, h0, W_x, W_h, b = _inputs(rng, B, T, D, H, dtype)
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
    tensors = (*_inputs(rng, 2, 5, 3, 7), rng.normal(2, 7))
    yield call(
        "memory that is not contiguous", *map(noncontiguous, tensors), grad=False, public=True
    ).without_autograd()


def _walk_back(
    xs, h0, W_x, W_h, b, grad_h_T, *, slope=None, read=None, first=None, back=None, meets=None, steps=None, adds=True,
    short=False, forward=False,
):  # fmt: skip
    """The right algorithm with one piece exchanged.

    `slope` is tanh', `read` the states that W_h read, `first` the one before all, `back` the step to the state before;
    `meets` is made of grad_h_T and of what comes back at each step behind the first. `steps` are walked, `forward` in
    the order of time, sums are not added up without `adds`, and a `short` walk leaves out the last product.
    """
    hs, _ = reference.rnn_forward(xs, h0, W_x, W_h, b)
    before = torch.cat([first(hs, h0) if first else h0[:, None], hs[:, :-1]], 1)
    before = read(hs) if read else before
    found = {"W_x": torch.zeros_like(W_x), "W_h": torch.zeros_like(W_h), "b": torch.zeros_like(b)}
    grad_h, times = grad_h_T, range(xs.shape[1]) if forward else reversed(range(xs.shape[1]))
    for turn, t in enumerate(list(times)[:steps]):
        grad_h = meets(grad_h_T, grad_h) if meets and turn else grad_h
        a = xs[:, t] @ W_x.T + before[:, t] @ W_h.T + b
        delta = (slope(hs[:, t], a, before[:, t]) if slope else 1 - hs[:, t] ** 2) * grad_h
        step = {"W_x": delta.T @ xs[:, t], "W_h": delta.T @ before[:, t], "b": delta.sum(0)}
        found = {name: found[name] * adds + step[name] for name in found}
        grad_h = back(delta, W_h) if back else delta @ W_h
    return {**found, "h0": delta if short else grad_h}


@bptt.misconception(
    "With one step it is right. How many steps does the gradient of your W_x add up: does x_1 ever appear?"
)
def one_step_only(*inputs):
    return _walk_back(*inputs, steps=1)


@bptt.misconception(
    "tanh' can be written with what goes into tanh or with what comes out. Which of the two goes with 1 - (...)²?"
)
def slope_of_the_input(*inputs):
    return _walk_back(*inputs, slope=lambda h, a, before: 1 - a**2)


@bptt.misconception("Saturate a unit: h is near 1, and its slope near 0. Is yours? Follow h from tanh to the square.")
def slope_of_tanh_of_the_output(*inputs):
    return _walk_back(*inputs, slope=lambda h, a, before: 1 - h.tanh() ** 2)


@bptt.misconception(
    "Take T = 1, and an h0 of zeros: your slope is 1, whatever x is. Which state does a step begin with, and which end?"
)
def slope_at_the_state_before(*inputs):
    return _walk_back(*inputs, slope=lambda h, a, before: 1 - before**2)


@bptt.misconception(
    "Take T = 2, and print what your delta is made of at each step. What has come back from the step behind?"
)
def the_same_gradient_at_every_step(*inputs):
    return _walk_back(*inputs, meets=lambda end, back: end)


AT_THE_END = "At how many of the states does a loss stand here? Take T = 2, and print what arrives at each of them."
"""The hint to who lets the loss in at every step."""


@bptt.misconception(AT_THE_END)
def a_loss_at_every_step(*inputs):
    return _walk_back(*inputs, meets=lambda end, back: end + back)


@bptt.misconception(AT_THE_END)
def a_loss_at_every_step_and_at_h0(*inputs):
    found = a_loss_at_every_step(*inputs)
    return {**found, "h0": found["h0"] + inputs[-1]}


@bptt.misconception("Print t at every turn of your loop. At which state does the gradient arrive first?")
def walks_forward(*inputs):
    return _walk_back(*inputs, forward=True)


@bptt.misconception("Where is the slope of tanh in your way back? Saturate a unit: its gradient should vanish.")
def no_slope(*inputs):
    return _walk_back(*inputs, slope=lambda h, a, before: torch.ones_like(h))


@bptt.misconception(
    "Forward, h meets W_h.T. What does the gradient meet on its way back? Try a W_h that is not symmetric."
)
def W_h_not_turned_around(*inputs):
    return _walk_back(*inputs, back=lambda d, W: d @ W.T)


@bptt.misconception("Look at the gradient of W_h with T = 1: which state did W_h read in that step, h_0 or h_1?")
def state_after_the_step(*inputs):
    return _walk_back(*inputs, read=lambda hs: hs)


@bptt.misconception("Print the index of the state before the step, for the first step. What is hs[:, -1]?")
def index_minus_one(*inputs):
    return _walk_back(*inputs, first=lambda hs, h0: hs[:, -1:])


@bptt.misconception("Which state did the first step start from? It need not be zero.")
def first_state_taken_for_zero(*inputs):
    return _walk_back(*inputs, first=lambda hs, h0: 0 * h0[:, None])


@bptt.misconception("Your gradient of h0 stops in front of the last matrix: is it dL/da_1 or dL/dh_0?")
def h0_short_of_a_step(*inputs):
    return _walk_back(*inputs, short=True)


@bptt.misconception(
    "Repeat each sequence of a batch: should the gradients double or stay? The loss is a sum over the batch."
)
def mean_over_the_batch(*inputs):
    right = _walk_back(*inputs)
    return {name: value if name == "h0" else value / len(inputs[0]) for name, value in right.items()}


@bptt.misconception(
    "The weights were used at every step. Is each step's share added, or does the next one overwrite it?"
)
def overwritten_instead_of_added(*inputs):
    return _walk_back(*inputs, adds=False)
