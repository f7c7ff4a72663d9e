"""The reference of topic 08: the lecture's table, the laws of rotation, RoPE's distances, ALiBi's slopes."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course.data import order
from course.reference.positional_encoding import (
    LearnedPositions,
    alibi_bias,
    echo_by_hand,
    order_properties,
    rope,
    shift_matrix,
    sinusoidal,
)
from tests.reference.numbers import noise

slow_torch = settings(max_examples=40)
widths = st.integers(1, 16).map(lambda half: 2 * half)
DTYPES = [torch.float64, torch.float32]


# --- the table -------------------------------------------------------------------------------------------------------


def test_the_lectures_table():
    """Five dimensions of five positions, as the lecture prints them, a width that is odd.

    Every second pair of a table of width 10 has the same speeds, 10000^(-2i/5); the third pair is cut in the middle.
    """
    printed = [
        [0.000, 0.841, 0.909, 0.141, -0.757],
        [1.000, 0.540, -0.416, -0.990, -0.654],
        [0.000, 0.025, 0.050, 0.075, 0.100],
        [1.000, 1.000, 0.999, 0.997, 0.995],
        [0.000, 0.001, 0.001, 0.002, 0.003],
    ]
    ours = sinusoidal(5, 10)[:, [0, 1, 4, 5, 8]].T
    torch.testing.assert_close(ours, torch.tensor(printed), rtol=0, atol=0.0006)


def test_the_formula_of_the_paper_entry_by_entry():
    table = sinusoidal(37, 12)
    for t in (0, 1, 5, 36):
        for i in range(6):
            angle = t / 10000 ** (2 * i / 12)
            assert table[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-7)
            assert table[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-7)


def test_place_zero_and_the_type():
    table = sinusoidal(3, 8)
    assert table.dtype == torch.get_default_dtype() and table.shape == (3, 8)
    assert table[0].tolist() == [0.0, 1.0] * 4


def test_the_slowest_wave_is_nearly_ten_thousand_times_the_fastest():
    """The paper: wavelengths from 2π to 10000 · 2π; the last pair of width 512 comes near."""
    step = sinusoidal(2, 512)[1].double()
    wavelengths = 2 * math.pi / torch.atan2(step[0::2], step[1::2])
    assert wavelengths[0].item() == pytest.approx(2 * math.pi, rel=1e-6)
    assert wavelengths[-1].item() == pytest.approx(2 * math.pi * 10000 ** (510 / 512), rel=1e-3)
    assert (wavelengths.diff() > 0).all()


@slow_torch
@given(n=st.integers(1, 200), d=widths)
def test_every_pair_lies_on_the_circle(n, d):
    squares = sinusoidal(n, d).double().unflatten(1, (-1, 2)).square().sum(-1)
    torch.testing.assert_close(squares, torch.ones(n, d // 2, dtype=torch.float64), rtol=0, atol=1e-6)


@slow_torch
@given(n=st.integers(1, 50), more=st.integers(0, 50), d=widths)
def test_a_longer_table_begins_with_the_shorter(n, more, d):
    assert torch.equal(sinusoidal(n + more, d)[:n], sinusoidal(n, d))


@slow_torch
@given(a=st.integers(0, 60), b=st.integers(0, 60), shift=st.integers(0, 60), d=widths)
def test_the_dot_product_depends_on_the_distance_only(a, b, shift, d):
    table = sinusoidal(121, d).double()
    moved = table[a + shift] @ table[b + shift]
    assert moved.item() == pytest.approx((table[a] @ table[b]).item(), abs=1e-5)


# --- the shift -------------------------------------------------------------------------------------------------------


@slow_torch
@given(t=st.integers(0, 80), offset=st.integers(-80, 80), d=widths)
def test_one_matrix_moves_every_place(t, offset, d):
    table = sinusoidal(161, d).double()
    if t + offset >= 0:
        moved = shift_matrix(offset, d).double() @ table[t]
        torch.testing.assert_close(moved, table[t + offset], rtol=0, atol=1e-5)


@slow_torch
@given(j=st.integers(-40, 40), k=st.integers(-40, 40), d=widths)
def test_shifts_add_up_and_are_orthogonal(j, k, d):
    identity = torch.eye(d)
    torch.testing.assert_close(shift_matrix(j, d) @ shift_matrix(k, d), shift_matrix(j + k, d), rtol=0, atol=1e-5)
    torch.testing.assert_close(shift_matrix(k, d).T, shift_matrix(-k, d), rtol=0, atol=1e-6)
    torch.testing.assert_close(shift_matrix(k, d).T @ shift_matrix(k, d), identity, rtol=0, atol=1e-6)
    assert torch.equal(shift_matrix(0, d), identity)
    assert torch.linalg.det(shift_matrix(k, d)).item() == pytest.approx(1.0, abs=1e-5)


# --- learned positions -----------------------------------------------------------------------------------------------


def test_learned_positions_are_torchs_embedding_in_values_and_gradients():
    layer, theirs = LearnedPositions(7, 3), torch.nn.Embedding(7, 3)
    theirs.load_state_dict({"weight": layer.positions.detach()})
    x = noise(2, 5, 3, dtype=torch.float32)
    out, expected = layer(x), x + theirs(torch.arange(5))
    assert torch.equal(out, expected)
    out.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(layer.positions.grad, theirs.weight.grad)
    assert (layer.positions.grad[5:] == 0).all() and len(list(layer.parameters())) == 1
    assert layer.positions.std() > 0


def test_learned_positions_end():
    layer = LearnedPositions(5, 3)
    layer(torch.zeros(1, 5, 3))
    with pytest.raises(ValueError, match=r"\(2, 6, 3\) has 6 positions.* 5 "):
        layer(torch.zeros(2, 6, 3))


# --- RoPE ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("base", [10000.0, 50.0])
def test_rope_is_multiplication_by_a_complex_number(dtype, base):
    x = noise(2, 3, 5, 14, dtype=dtype)
    angles = torch.outer(torch.arange(5).double(), base ** (-torch.arange(0, 14, 2).double() / 14))
    turned = torch.view_as_complex(x.double().unflatten(-1, (-1, 2))) * torch.polar(torch.ones_like(angles), angles)
    expected = torch.view_as_real(turned).flatten(-2).to(dtype)
    out = rope(x, base=base)
    assert out.dtype == dtype and out.shape == x.shape
    torch.testing.assert_close(out, expected)
    (gradient,) = torch.autograd.grad(out.sin().sum(), x)
    (theirs,) = torch.autograd.grad(expected.sin().sum(), x)
    torch.testing.assert_close(gradient, theirs)


def test_rope_is_the_shift_matrix_backwards():
    """M_k takes (sin, cos) on; RoPE takes (cos, sin) on: the same turn, seen in a mirror."""
    x = noise(1, 1, 9, 6)
    for t in range(9):
        torch.testing.assert_close(rope(x)[0, 0, t], shift_matrix(-t, 6).double() @ x[0, 0, t], rtol=0, atol=1e-6)


@slow_torch
@given(
    m=st.integers(0, 50), n=st.integers(0, 50), shift=st.integers(0, 50), half=st.integers(1, 8), seed=st.integers(0, 9)
)
def test_scores_depend_on_the_distance_only(m, n, shift, half, seed):
    q, k = noise(1, 1, 1, 2 * half, seed=seed), noise(1, 1, 1, 2 * half, seed=seed + 50)

    def score(at, of):
        return (rope(q, torch.tensor([at])) * rope(k, torch.tensor([of]))).sum()

    torch.testing.assert_close(score(m + shift, n + shift), score(m, n), rtol=1e-9, atol=1e-9)


@slow_torch
@given(T=st.integers(1, 9), half=st.integers(1, 8), seed=st.integers(0, 9))
def test_rope_keeps_lengths_and_leaves_place_zero(T, half, seed):
    x = noise(2, 1, T, 2 * half, seed=seed)
    torch.testing.assert_close(rope(x).norm(dim=-1), x.norm(dim=-1))
    torch.testing.assert_close(rope(x)[:, :, 0], x[:, :, 0])
    back = rope(rope(x), -torch.arange(T))
    torch.testing.assert_close(back, x)


def test_rope_takes_places_of_the_callers_own_and_leaves_its_input_alone():
    x, places = noise(2, 3, 4, 6), torch.tensor([5, 0, 9, 5])
    before = x.detach().clone()
    whole = rope(x.detach()[:, :, [1] * 10], torch.arange(10))
    assert torch.equal(x.detach(), before)
    torch.testing.assert_close(rope(x[:, :, [1] * 4], places), whole[:, :, places])


@pytest.mark.parametrize(
    "call", [lambda: sinusoidal(3, 5), lambda: shift_matrix(1, 7), lambda: rope(torch.zeros(1, 1, 2, 3))]
)
def test_odd_widths_are_refused(call):
    with pytest.raises(ValueError, match=r"width of \d is odd"):
        call()


def test_rope_wants_a_place_for_every_word():
    with pytest.raises(ValueError, match=r"\(1, 2, 3, 4\).*\(2,\)"):
        rope(torch.zeros(1, 2, 3, 4), torch.arange(2))


# --- ALiBi -----------------------------------------------------------------------------------------------------------


def test_the_slopes_of_the_paper():
    """Section 3: for 8 heads 1/2, 1/4, ..., 1/256; for 16 heads 1/2^0.5, 1/2, ..., 1/256."""
    assert (-alibi_bias(8, 2)[:, 1, 0]).tolist() == [2.0**-i for i in range(1, 9)]
    torch.testing.assert_close(-alibi_bias(16, 2)[:, 1, 0], torch.tensor([2.0 ** (-i / 2) for i in range(1, 17)]))


@slow_torch
@given(h=st.integers(1, 12), T=st.integers(1, 12))
def test_alibi_falls_with_the_distance_and_hides_the_future(h, T):
    bias = alibi_bias(h, T)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    assert bias.shape == (h, T, T) and (bias[:, future] == -math.inf).all() and bias[:, ~future].isfinite().all()
    assert (bias.diagonal(dim1=1, dim2=2) == 0).all()
    for k in range(1, T):
        below = bias.diagonal(-k, 1, 2)  # (h, T - k): all of one distance
        assert torch.equal(below, below[:, :1].expand_as(below))
        assert (below[:, 0] < bias.diagonal(1 - k, 1, 2)[:, 0]).all()


def test_alibi_weights_fade_at_the_rate_of_the_slope():
    weights = alibi_bias(2, 30).softmax(-1)
    ratio = weights[:, -1, 1:] / weights[:, -1, :-1]
    torch.testing.assert_close(ratio[0], torch.full((29,), math.exp(2.0**-4)))


# --- the requirements ------------------------------------------------------------------------------------------------

EVERYTHING = ["unique", "bounded", "deterministic", "any_length", "relative"]


def held(encode, n=23, d=4):
    return {name for name, yes in order_properties(encode, n, d).items() if yes}


def test_what_is_true_of_the_lectures_candidates():
    places = torch.arange(200.0)[:, None]
    assert held(sinusoidal) == set(EVERYTHING)
    assert held(sinusoidal, 101, 16) == set(EVERYTHING)
    assert held(lambda n, d: places[:n].expand(n, d)) == {"unique", "deterministic", "any_length"}
    assert held(lambda n, d: places[:n].expand(n, d) / n) == {"unique", "bounded", "deterministic"}
    assert held(lambda n, d: torch.randn(n, d).tanh()) == {"unique", "bounded"}
    table = torch.rand(30, 4)
    assert held(lambda n, d: learned(table, n)) == {"unique", "bounded", "deterministic"}


def learned(table, n):
    if n > len(table):
        raise ValueError("no more places")
    return table[:n]


def test_names_and_types():
    found = order_properties(sinusoidal, 23, 4)
    assert list(found) == EVERYTHING and all(type(value) is bool for value in found.values())


def test_too_few_places_prove_nothing():
    with pytest.raises(ValueError, match=r"8 positions are too few .* width 4"):
        order_properties(sinusoidal, 8, 4)


# --- the task --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [4, 16, 128])
def test_a_head_of_chosen_weights_echoes(length):
    ids, targets = order.draw(20, torch.Generator().manual_seed(1), length)
    said = echo_by_hand(ids).argmax(-1)
    assert torch.equal(said[:, 3:], targets[:, 3:])
