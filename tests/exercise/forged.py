"""Hypothesis strategies for everything that the wire format accepts in place of an honest recording."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from course.exercise.recording import Raised, Recording
from course.exercise.values import DTYPES, Generator, Other, Ref, StandIn

NUMBERS = st.sampled_from([0.0, 1.0, -1.0, 3.0, 255.0, 1e17, 1e300, float("nan"), float("inf"), -float("inf")])


@st.composite
def tensors(draw: st.DrawFn, shape: tuple[int, ...] | None = None) -> Any:
    """Draw a tensor or a numpy array, of the given shape or of any, also empty or without axes."""
    if shape is None:
        shape = tuple(draw(st.lists(st.integers(0, 3), max_size=5)))
    dtype = draw(st.sampled_from(list(DTYPES.values())))
    tensor = torch.full(shape, draw(NUMBERS), dtype=torch.float64).to(dtype)
    if dtype != torch.bfloat16 and draw(st.booleans()) and draw(st.booleans()):
        return tensor.numpy()
    return tensor.requires_grad_(tensor.is_floating_point() and draw(st.booleans()))


LEAVES = st.one_of(
    tensors(),
    NUMBERS,
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.sampled_from([10**3000, -(10**3000), 2**63, "", "x", "²", "\0", Other("T"), Generator(3), Ref("out")]),
    st.just(StandIn("affine", {"weight": torch.ones(2, 2)})),
)
KEYS = st.one_of(
    NUMBERS, st.none(), st.integers(-9, 9), st.text(max_size=3), tensors(), st.tuples(st.integers(), LEAVES)
)


def _keyed(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for dicts and counters with unusual keys."""
    pairs = st.lists(st.tuples(KEYS, inner), max_size=3)

    def made(kind: type, pairs: list[tuple[Any, Any]]) -> Any:
        try:
            return kind(dict(pairs))
        except TypeError:  # a key that none can be
            return {}

    return st.builds(made, st.sampled_from([dict, Counter]), pairs)


ANYTHING = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple), _keyed(inner)),
    max_leaves=6,
)


@st.composite
def twisted(draw: st.DrawFn, value: Any) -> Any:
    """Draw a copy of a value in which some parts are replaced."""
    kind = draw(st.integers(0, 5))
    if kind == 0:
        return draw(ANYTHING)
    if isinstance(value, Tensor) and kind < 3:
        return draw(tensors(tuple(value.shape)))
    if isinstance(value, dict):
        return type(value)({key: draw(twisted(item)) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return type(value)(draw(twisted(item)) for item in value)
    return value


WORDS = st.sampled_from(["", "out", "model", "out: 0", "out: ²", "out: x[1]", "model: 99", ": ", "ValueError", "\0"])
RAISED = st.builds(Raised, st.lists(WORDS, max_size=2).map(tuple), WORDS, WORDS, WORDS)


@st.composite
def recordings(draw: st.DrawFn, true: Recording) -> Recording:
    """Draw a copy of the `true` recording in which some parts are replaced."""
    outputs = {name: draw(twisted(value)) for name, value in true.outputs.items() if draw(st.integers(0, 9))}
    raised = draw(RAISED) if not draw(st.integers(0, 5)) else true.raised
    mutated = draw(st.lists(WORDS, max_size=2).map(tuple)) if not draw(st.integers(0, 5)) else true.mutated
    return Recording(outputs, raised, mutated)
