"""Hidden tests of `ssm_scan`: what is read when, and what one impulse leaves behind."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import linear_time as reference


@exercise(
    reference.ssm_scan,
    hints=(
        "How many numbers does the state of one text hold, and how many come out at each step?",
        "Send in a single 1 and then zeros. What comes out should be the kernel, from its first number on. For the "
        "worked example, 1, 0, 2, 0 gives 2, 1, 4.5 and 2.25.",
        "Begin with a state of zeros for each text, and write a single step, from the inputs of one position, (B,). "
        "Which axis must they get before they meet b_bar?",
    ),
    tolerance=1e-4,
    calls=(
        "ssm_scan(tensor([0.5]), tensor([1.]), tensor([1.]), tensor([[4., 0., 0.]]))",
        "ssm_scan(tensor([0.]), tensor([2.]), tensor([3.]), tensor([[1., 2.]]))",
        "ssm_scan(tensor([1.]), tensor([1.]), tensor([1.]), tensor([[1., 2., 3.]]))",
        "ssm_scan(tensor([1., 0.]), tensor([1., 1.]), tensor([1., 10.]), tensor([[1., 2.]]))",
        "ssm_scan(tensor([0.5]), tensor([1.]), tensor([1.]), tensor([[0., 0.]]))",
        "ssm_scan(tensor([1.]), tensor([1.]), tensor([2.]), tensor([[0., 0., 5.]]))",
    ),
)
def ssm_scan(rng):
    """Decays between 0 and 1; an impulse; one state, one step, one text; powers that come to nothing."""

    def system(N, dtype=torch.float64):
        return rng.uniform(N, low=0.2, high=0.95, dtype=dtype), rng.normal(N, dtype=dtype), rng.normal(N, dtype=dtype)

    yield call("a small batch", *system(5), rng.normal(2, 7), public=True, weight=2.0)
    yield call("more texts than states", *system(3), rng.normal(11, 5))
    yield call("one text", *system(7), rng.normal(1, 13), weight=2.0)
    yield call("one state", *system(1), rng.normal(3, 5))
    yield call("a single step", *system(5), rng.normal(3, 1), weight=0.5)
    impulse = torch.zeros(2, 11).double()
    impulse[:, 2] = 1
    yield call("one impulse", *system(3), impulse)
    yield call("every size the same", *system(5), rng.normal(5, 5))
    a_bar, b_bar, c = system(3)
    a_bar[1] = 0.2  # 0.2 to the 601st is 0 in float64, so nobody can divide by it
    yield call("a text of 601 steps", a_bar, b_bar, c, rng.normal(2, 601), grad=False, weight=0.5)
    yield call("float32", *system(5, torch.float32), rng.normal(3, 7, dtype=torch.float32), public=True)
    scattered = [noncontiguous(each) for each in (*system(7), rng.normal(3, 5))]
    yield call("memory that is not contiguous", *scattered, public=True)


def _run(a_bar, b_bar, c, x, reads=lambda before, h, c: h @ c):
    h, ys = torch.zeros(len(x), len(a_bar), dtype=x.dtype), []
    for x_t in x.unbind(1):
        before, h = h, a_bar * h + b_bar * x_t[:, None]
        ys.append(reads(before, h, c))
    return torch.stack(ys, 1)


@ssm_scan.misconception("Send in a single 1. At which step does anything come out? Which state does y_t read?")
def reads_the_old_state(a_bar, b_bar, c, x):
    h, ys = torch.zeros(len(x), len(a_bar), dtype=x.dtype), []
    for x_t in x.unbind(1):
        ys.append(h @ c)
        h = a_bar * h + b_bar * x_t[:, None]
    return torch.stack(ys, 1)


ssm_scan.mistakes(
    "Send in a single 1 and then zeros. Compare the second number that comes out with c · (a_bar b_bar).",
    state_not_carried=lambda a_bar, b_bar, c, x: x * (c * b_bar).sum(),
    nothing_fades=lambda a_bar, b_bar, c, x: _run(torch.ones_like(a_bar), b_bar, c, x) + 0 * a_bar.sum(),
)
ssm_scan.mistakes(
    "Double b_bar. What should become of y?",
    b_left_out=lambda a_bar, b_bar, c, x: _run(a_bar, torch.ones_like(b_bar), c, x) + 0 * b_bar.sum(),
)


@ssm_scan.misconception(
    "Send in a single 1 in the middle. Does anything come out before it? A convolution meets the newest input with K_0."
)
def kernel_turned_round(a_bar, b_bar, c, x):
    T = x.shape[1]
    kernel = (c * b_bar) @ a_bar[:, None] ** torch.arange(T)
    lag = (torch.arange(T)[None] - torch.arange(T)[:, None]).clamp(min=0)
    return x @ kernel[lag].tril()


ssm_scan.mistakes(
    "Send in a single 1. The first number that comes out is c · b_bar. What do you add to it?",
    input_added=lambda a_bar, b_bar, c, x: _run(a_bar, b_bar, c, x) + x,
)


@ssm_scan.misconception(
    "Send in a single 1. Is the first number c · b_bar, or twice that?",
    convention="twice the real part, as in S4D, where states are complex",
)
def twice_the_sum(a_bar, b_bar, c, x):
    return 2 * _run(a_bar, b_bar, c, x)


ssm_scan.mistakes(
    "Is y a sum over the states or their mean? Take two states that are the same.",
    mean_over_states=lambda a_bar, b_bar, c, x: _run(a_bar, b_bar, c / len(c), x),
)
