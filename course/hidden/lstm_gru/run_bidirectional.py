"""Hidden tests of `run_bidirectional`: what each cell has read, and where its states stand."""

import torch

from course.exercise import call, exercise, noncontiguous, stand_in
from course.hidden.lstm_gru.scaffold import weights
from course.reference import lstm_gru as reference


@exercise(
    reference.run_bidirectional,
    hints=(
        "Take cells that add up what they read. At t, what should each half of your result be the sum of?",
        "How many tokens has the backward cell read at t = 0, and how many at the last t? Which of its states does its "
        "loop make first?",
        "Begin with the forward half alone. Start from h0_f, walk along the positions, and collect the states in a "
        "list. Print the shape that they make together, which should be (B, T, H). Then say at each step of the "
        "other loop where its state belongs.",
    ),
    calls=(
        (
            "cell = lambda x, h: x + h; run_bidirectional(cell, cell, tensor([[[1.], [2.], [3.]]]), zeros(1, "
            "1), zeros(1, 1))"
        ),
        (
            "cell = lambda x, h: x; run_bidirectional(cell, cell, tensor([[[1.], [2.], [3.]]]), zeros(1, 1), "
            "zeros(1, 1))"
        ),
        (
            "keep = lambda x, h: h; run_bidirectional(keep, keep, tensor([[[1.], [2.]]]), tensor([[7.]]), "
            "tensor([[8.]]))"
        ),
        ("cell = lambda x, h: x + h; run_bidirectional(cell, cell, tensor([[[1.]]]), zeros(1, 1), tensor([[10.]]))"),
        ("cell = lambda x, h: x + h; run_bidirectional(cell, cell, tensor([[[2.], [2.]]]), zeros(1, 1), zeros(1, 1))"),
        ("cell = lambda x, h: x + h; run_bidirectional(cell, cell, tensor([[[0.], [0.]]]), zeros(1, 1), zeros(1, 1))"),
    ),
)
def run_bidirectional(rng):
    """Running sums show what was read, and Elman's cells show in which order. The two directions are never alike."""

    def summing(D, H, dtype=torch.float64):
        return stand_in("adding_cell", W=rng.normal(H, D, dtype=dtype))

    def squashing(D, H, dtype=torch.float64):
        W_x, W_h, b = weights(rng, 1, D, H, dtype)
        return stand_in("squashing_cell", W_x=W_x, W_h=W_h, b=b)

    def keeping(D, H):
        return stand_in("keeping_cell", W_x=rng.normal(H, D), V_x=rng.normal(H, D))

    def inputs(B, T, D, H, dtype=torch.float64):
        return rng.normal(B, T, D, dtype=dtype), rng.normal(B, H, dtype=dtype), rng.normal(B, H, dtype=dtype)

    yield call("cells that add up", summing(3, 5), summing(3, 5), *inputs(2, 7, 3, 5), public=True)
    yield call("cells that squash", squashing(3, 2), squashing(3, 2), *inputs(3, 5, 3, 2), public=True, weight=2.0)
    yield call("a gate in each", keeping(2, 3), keeping(2, 3), *inputs(2, 11, 2, 3))
    yield call("two kinds of cell", squashing(5, 3), summing(5, 3), *inputs(2, 7, 5, 3))
    yield call("as long as wide", squashing(5, 5), squashing(5, 5), *inputs(5, 5, 5, 5))
    yield call("a single step", squashing(3, 5), squashing(3, 5), *inputs(2, 1, 3, 5))
    yield call("a batch of one", keeping(3, 2), squashing(3, 2), *inputs(1, 7, 3, 2))
    yield call("one unit", squashing(2, 1), squashing(2, 1), *inputs(3, 5, 2, 1))
    f32 = torch.float32
    yield call("float32", squashing(3, 5, f32), squashing(3, 5, f32), *inputs(2, 7, 3, 5, f32), public=True)
    values = (noncontiguous(value) for value in inputs(3, 5, 2, 7))
    yield call("memory that is not contiguous", squashing(2, 7), keeping(2, 7), *values, public=True)


def _run(cell, xs, h):
    return torch.stack([h := cell(x, h) for x in xs.unbind(1)], 1)


@run_bidirectional.misconception(
    "At t = 0 the backward cell has read everything. At which position of your result is that state?"
)
def not_put_back_in_order(cell_f, cell_b, xs, h0_f, h0_b):
    return torch.cat([_run(cell_f, xs, h0_f), _run(cell_b, xs.flip(1), h0_b)], -1)


def _beside(backward):
    """The right forward half, and another one beside it."""
    return lambda cell_f, cell_b, xs, h0_f, h0_b: torch.cat(
        [_run(cell_f, xs, h0_f), backward(cell_f, cell_b, xs, h0_f, h0_b)], -1
    )


run_bidirectional.mistakes(
    "At the last t the backward cell has read one token. How many has yours?",
    both_read_forward=_beside(lambda cell_f, cell_b, xs, h0_f, h0_b: _run(cell_b, xs, h0_b)),
)
run_bidirectional.mistakes(
    "The two directions have two cells. Do you call each of them?",
    the_same_cell_twice=_beside(lambda cell_f, cell_b, xs, h0_f, h0_b: _run(cell_f, xs.flip(1), h0_b).flip(1)),
)
run_bidirectional.mistakes(
    "The backward cell knows nothing of the forward one. From which state does it start?",
    starts_where_the_other_ended=_beside(
        lambda cell_f, cell_b, xs, h0_f, h0_b: _run(cell_b, xs.flip(1), _run(cell_f, xs, h0_f)[:, -1]).flip(1)
    ),
)
run_bidirectional.mistakes(
    "Count the states of each half. Which token has your backward cell never read?",
    first_token_never_read=_beside(
        lambda cell_f, cell_b, xs, h0_f, h0_b: _run(cell_b, xs[:, 1:].flip(1), h0_b).flip(1)
    ),
)


@run_bidirectional.misconception(
    "Print the state that you keep for t = 0 beside h0_f. Has the cell read a token by then?"
)
def states_before_the_token(cell_f, cell_b, xs, h0_f, h0_b):
    read = reference.run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b)
    forward, backward = read.chunk(2, -1)
    before = torch.cat([h0_f[:, None], forward[:, :-1]], 1), torch.cat([backward[:, 1:], h0_b[:, None]], 1)
    return torch.cat(before, -1)


@run_bidirectional.misconception("How many states does each of your cells make, and how many do you return?")
def last_states_alone(cell_f, cell_b, xs, h0_f, h0_b):
    forward, backward = reference.run_bidirectional(cell_f, cell_b, xs, h0_f, h0_b).chunk(2, -1)
    return torch.cat([forward[:, -1], backward[:, 0]], -1)


@run_bidirectional.misconception("xs is (B, T, D). What does a loop over xs hand to your cell, and what should it be?")
def batch_for_time(cell_f, cell_b, xs, h0_f, h0_b):
    return reference.run_bidirectional(cell_f, cell_b, xs.transpose(0, 1), h0_f, h0_b)
