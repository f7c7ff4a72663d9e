"""Hidden tests of `linear_attention_step`: both sums are carried, and the state that came is left alone."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.exercise import Ref, call, exercise, noncontiguous
from course.reference import linear_time as reference


@exercise(
    reference.linear_attention_step,
    hints=(
        "Two sums are carried. Which, and what does a new token add to each?",
        "Run the worked example: after the second token, S is (9, 6) and z is (3, 3). And yours?",
        "Keep the state that you handed in. Is it still the same after the call?",
        "Begin with the parts that this token adds, and print their shapes beside those of S and z. Does the query see "
        "the sums before the token is added, or after it?",
    ),
    tolerance=1e-4,
    calls=(
        "linear_attention_step((zeros(1, 1, 1), zeros(1, 1)), zeros(1, 1), zeros(1, 1), tensor([[5.]]))",
        "linear_attention_step((tensor([[[2.]]]), tensor([[1.]])), zeros(1, 1), zeros(1, 1), tensor([[4.]]))",
        ("linear_attention_step((tensor([[[2.]]]), tensor([[1.]])), zeros(1, 1), tensor([[-100.]]), tensor([[4.]]))"),
        "linear_attention_step((tensor([[[2.]]]), tensor([[1.]])), zeros(1, 1), tensor([[2.]]), tensor([[6.]]))",
        "linear_attention_step((tensor([[[2.]]]), tensor([[1.]])), tensor([[4.]]), zeros(1, 1), tensor([[4.]]))",
        (
            "linear_attention_step((zeros(2, 3, 4), zeros(2, 3)), numbers(2, 3), numbers(2, 3), numbers(2, "
            "4))[1][0].shape"
        ),
    ),
)
def linear_attention_step(rng):
    """States in the middle of a text and at its beginning; steps in a row; gradients through states; a tiny divisor."""

    def state(B, D, Dv, dtype=torch.float64):
        return rng.normal(B, D, Dv, dtype=dtype), rng.uniform(B, D, low=1.0, high=3.0, dtype=dtype)

    def token(B, D, Dv, dtype=torch.float64):
        return rng.normal(B, D, dtype=dtype), rng.normal(B, D, dtype=dtype), rng.normal(B, Dv, dtype=dtype)

    middle = "in the middle of a text"
    yield call(middle, state(2, 5, 3), *token(2, 5, 3), public=True, weight=2.0)
    yield call("values wider than keys", state(3, 4, 7), *token(3, 4, 7))
    yield call("every size the same", state(5, 5, 5), *token(5, 5, 5))
    empty = torch.zeros(2, 7, 3).double(), torch.zeros(2, 7).double()
    yield call("an empty state", empty, *token(2, 7, 3), weight=0.5).counts_with(middle)
    q, k = -rng.uniform(2, 2, 4, low=3.5, high=4.0)  # φ(q)·φ(k) is 0.0013 to 0.0037
    few = torch.zeros(2, 4, 3).double(), torch.zeros(2, 4).double()
    yield call("a query and a key far below 0", few, q, k, 10 * rng.normal(2, 3), tolerance=1e-3)
    row = call("three tokens in a row", state(2, 5, 3), *token(2, 5, 3), grad=False, carries=["state"], weight=2.0)
    row = row.call(Ref("state"), *token(2, 5, 3), on="answer", into="second", carries=["state"])
    yield row.call(Ref("state"), *token(2, 5, 3), on="answer", into="third", carries=["state"])
    yield call("a state that must stay", state(2, 4, 3), *token(2, 4, 3), grad=False, public=True, weight=0.5)
    yield call("float32", state(2, 7, 3, torch.float32), *token(2, 7, 3, torch.float32), public=True)
    scattered = tuple(map(noncontiguous, state(3, 5, 2))), *map(noncontiguous, token(3, 5, 2))
    yield call("memory that is not contiguous", *scattered, public=True)


def _read(q, S, z):
    return torch.einsum("bd,bde->be", q, S) / (q * z).sum(-1, keepdim=True)


def _written(state, k, v):
    S, z = state
    return S + k[:, :, None] * v[:, None], z + k


@linear_attention_step.misconception("Print z before and after the call. Which sum does it hold, and has it grown?")
def normaliser_not_carried(state, q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    S = state[0] + k[:, :, None] * v[:, None]
    z = state[1] + k
    return (q[:, :, None] * S).sum(1) / (q * z).sum(-1, keepdim=True), (S, state[1])


@linear_attention_step.misconception("Begin with an empty state. What does the first token see? It should see itself.")
def reads_before_it_writes(state, q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    return _read(q, *state), _written(state, k, v)


@linear_attention_step.misconception(
    "Print the state that you handed in, before and after the call. Two texts may go on from the same state."
)
def writes_into_the_state(state, q, k, v):
    S, z = state
    q, k = F.elu(q) + 1, F.elu(k) + 1
    with torch.no_grad():
        S += k[:, :, None] * v[:, None]
        z += k
    return _read(q, S, z), (S, z)


@linear_attention_step.misconception("Which of q and k goes through φ? Try a key of negative numbers.")
def feature_map_on_the_query_alone(state, q, k, v):
    q = F.elu(q) + 1
    return _read(q, *_written(state, k, v)), _written(state, k, v)


@linear_attention_step.misconception("Make z ten times as large. What should become of the output?")
def normaliser_missing(state, q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    S, z = _written(state, k, v)
    return torch.einsum("bd,bde->be", q, S), (S, z)


@linear_attention_step.misconception(
    "Let three tokens go by and ask for the gradient of the last output with respect to the first key. Is there one?"
)
def state_cut_off(state, q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    S, z = _written(state, k, v)
    return _read(q, S, z), (S.detach(), z.detach())


@linear_attention_step.misconception("Two things come back. Which one does the docstring name first?")
def state_first(state, q, k, v):
    q, k = F.elu(q) + 1, F.elu(k) + 1
    S, z = _written(state, k, v)
    return (S, z), _read(q, S, z)
