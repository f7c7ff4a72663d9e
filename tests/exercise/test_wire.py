"""Values come back from the wire format unchanged, and invalid messages are refused with one clear error."""

from __future__ import annotations

import contextlib
import json
import math
import struct
from collections import Counter, deque

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.exercise.recording import Recording
from course.exercise.values import Generator, Malformed, Other, Ref, StandIn, decode, encode, plain
from course.exercise.wire import pack, unpack

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.binary(max_size=9),
    st.complex_numbers(allow_nan=False),
    st.fractions(),
)
KEYS = st.one_of(st.text(max_size=5), st.binary(max_size=3), st.tuples(st.text(max_size=3), st.integers()))
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.lists(inner, max_size=4).map(deque),
        st.frozensets(KEYS, max_size=1),
        st.dictionaries(KEYS, inner, max_size=4),
    ),
    max_leaves=20,
)


@given(VALUES)
def test_plain_values_survive_with_their_types(value):
    back = unpack(pack(value))
    assert back == value
    assert type(back) is type(value)
    assert repr(back) == repr(value)


@given(
    st.lists(st.integers(0, 5), max_size=4),
    st.sampled_from([torch.float64, torch.float32, torch.int64, torch.bool, torch.bfloat16]),
    st.integers(0, 2**31),
)
@settings(max_examples=50)
def test_tensors_survive(shape, dtype, seed):
    tensor = (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * 3).to(dtype)
    back = unpack(pack(tensor))
    assert back.dtype == dtype and back.shape == tensor.shape and torch.equal(back, tensor)


def test_facts_of_a_tensor_are_rebuilt():
    strided = torch.randn(3, 8)[:, ::2].T
    assert unpack(pack(strided)).stride() == strided.stride()
    assert unpack(pack(torch.ones(2, requires_grad=True))).requires_grad
    assert isinstance(unpack(pack(torch.nn.Parameter(torch.ones(2)))), torch.nn.Parameter)
    first, second = unpack(pack([strided, strided]))
    assert torch.equal(first, strided) and torch.equal(second, strided)


def test_words_and_described_values():
    assert math.isnan(unpack(pack(float("nan")))) and unpack(pack(-math.inf)) == -math.inf
    assert unpack(pack(Counter({("a", "b"): 2}))) == Counter({("a", "b"): 2})
    assert isinstance(unpack(pack(np.array(0.5))), np.ndarray)
    for described in (Generator(3), Ref("model"), StandIn("x", {"n": 1})):
        assert unpack(pack(described)) == described
    assert unpack(pack(object())) == Other("object")
    assert unpack(pack(lambda: 1)).type_name == "function"


def test_numpys_numbers_and_words_are_pythons():
    counts = unpack(pack(Counter({(np.str_("a"), np.int64(2)): np.int32(3)})))
    assert counts == Counter({("a", 2): 3}) and all(type(part) in (str, int) for key in counts for part in key)
    assert repr(unpack(pack([np.float32(0.5), np.bool_(True)]))) == "[0.5, True]"
    assert isinstance(unpack(pack(np.longdouble(1))), Other)


def test_hostile_objects_become_a_type_name():
    class Hostile(dict):
        def items(self):
            raise SystemError("no")

        def __len__(self):
            return 10**18

    assert unpack(pack(Hostile(a=1))) == {"a": 1}
    loop: list = []
    loop.append(loop)
    pack(loop)
    assert plain([[0] * 300_000])[0][-1] == Other("int, too large or too deep to send")


@given(st.binary(max_size=200))
def test_noise_is_refused(noise):
    with pytest.raises(Malformed):
        unpack(noise)


@given(st.integers(0, 400), st.integers(0, 255))
def test_a_broken_message_is_refused_or_read_but_never_raises_else(position, byte):
    message = bytearray(pack({"a": torch.ones(3), "b": [1, 2.5, "x"]}))
    message[position % len(message)] = byte
    with contextlib.suppress(Malformed):
        unpack(bytes(message))


def _message(header: object, body: bytes = b"\x08\x00\x00\x00\x00\x00\x00\x00{}      ") -> bytes:
    text = json.dumps(header).encode()
    return struct.pack(">QI", len(text) + len(body), len(text)) + text + body


def _tensors(shape: list[int], data: bytes = bytes(4)) -> bytes:
    """Return a safetensors file that claims a float32 tensor of `shape`, with `data`, which may be too short for it."""
    facts = json.dumps({"0": {"dtype": "F32", "shape": shape, "data_offsets": [0, len(data) * (0 not in shape)]}})
    return struct.pack("<Q", len(facts)) + facts.encode() + data * (0 not in shape)


@pytest.mark.parametrize(
    "message",
    [
        struct.pack(">QI", 2**60, 10),
        struct.pack(">QI", 10, 2**31),
        _message({"tree": ["tensor", 0, {}], "count": 10**9}),
        _message({"tree": ["tensor", -1, {}], "count": 0}),
        _message({"tree": ["tensor", 3, {}], "count": 0}),
        _message({"tree": ["none"], "count": -1}),
        _message({"tree": ["__class__"], "count": 0}),
        _message({"tree": ["value", ["none"]], "count": 0}),
        _message({"tree": ["int", "9" * 10_000], "count": 0}),
        _message({"tree": ["dict", [[["list", []], ["none"]]]], "count": 0}),
        _message({"tree": None, "count": 0}),
        _message({"tree": ["_init__"], "count": 0}),
        _message({"tree": ["tensor", 0, []], "count": 1}, _tensors([1])),
        _message({"tree": ["tensor", 0, {}], "count": 1}, _tensors([0, 2**40])),
        _message({"tree": ["list", [["tensor", 0, {}]] * 4], "count": 1}, _tensors([2**25], bytes(2**27))),
        _message({"tree": ["none"], "count": 1}, _tensors([0] * 1000)),
        _message({"tree": [[]] * 600_000, "count": 0}),
        _message([1, 2]),
        _message({"tree": ["none"], "count": 0}, b"\xff" * 40),
        _message({"tree": ["none"], "count": 0}, struct.pack("<Q", 2**40) + b"{}"),
    ],
)
def test_forged_messages_are_refused(message):
    with pytest.raises(Malformed):
        unpack(message)


def test_tensors_ask_for_no_more_than_the_reader_gives():
    tree, tensors = encode([shared := torch.zeros(100), shared, shared])
    assert len(decode(tree, tensors, most=1200)) == 3
    with pytest.raises(Malformed, match="more than 1199 bytes"):
        decode(tree, tensors, most=1199)
    gaps = ["tensor", 0, {"strides": [8]}]
    assert decode(gaps, [torch.zeros(10)], most=40 + 4 * 73).stride() == (8,)
    with pytest.raises(Malformed):
        decode(gaps, [torch.zeros(10)], most=4 * 73)


def test_half_a_character_becomes_one_that_can_be_written():
    assert unpack(pack(["\ud800"])) == ["?"]


def test_deep_nesting_is_refused():
    for depth in (60, 100_000):
        tree = '["list", [' * depth + '["none"]' + "]]" * depth
        text = f'{{"tree": {tree}, "count": 0}}'.encode()
        body = b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "
        with pytest.raises(Malformed):
            unpack(struct.pack(">QI", len(text) + len(body), len(text)) + text + body)


@pytest.mark.parametrize("forged", [None, {}, {"outputs": 3}, {"outputs": {1: 2}, "raised": None}, [1], "x"])
def test_what_is_no_recording_is_refused(forged):
    with pytest.raises(Malformed):
        Recording.from_plain(forged)


@pytest.mark.parametrize(
    "forged",
    [
        torch.zeros(2),
        {"raised": torch.zeros(4)},
        {"seconds": 10**400},
        {"mutated": 3},
        {"watched": torch.zeros(())},
        None,
    ],
)
def test_whatever_is_no_recording_is_said_to_be_none(forged):
    """Raise `Malformed`, which is the answer's fault, and no other error, which would be the judge's."""
    good = Recording({}, None, (), (), 0.0).to_plain()
    with pytest.raises(Malformed, match="no recording"):
        Recording.from_plain({**good, **forged} if isinstance(forged, dict) else forged)
