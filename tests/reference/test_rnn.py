"""The reference against torch's own layers and autograd, values and gradients, and against laws of its own."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from course.reference.rnn import (
    ElmanClassifier,
    bptt,
    clip_grad_norm,
    generate,
    rnn_cell,
    rnn_forward,
    scheduled_inputs,
)
from tests.reference.numbers import close, close_gradients, noise

SIZES = [(2, 3, 5, 7), (1, 1, 1, 1), (5, 1, 2, 3), (3, 13, 1, 2), (2, 5, 7, 1)]
"""B, T, D, H: distinct primes, and the corners where a dimension is one."""

DTYPES = [torch.float32, torch.float64]
sizes = st.integers(1, 6)
few = settings(max_examples=40)


def weights(D: int, H: int, dtype: torch.dtype = torch.float64) -> list[torch.Tensor]:
    return [noise(H, D, seed=1, dtype=dtype), noise(H, H, seed=2, dtype=dtype), noise(H, seed=3, dtype=dtype)]


def copied(layer: nn.Module, W_x, W_h, b) -> nn.Module:
    """The layer with our weights; torch has two biases that are added, we have one."""
    suffix = "_l0" if isinstance(layer, nn.RNN) else ""
    values = {"weight_ih": W_x, "weight_hh": W_h, "bias_ih": b, "bias_hh": torch.zeros_like(b)}
    layer.load_state_dict({name + suffix: value.detach() for name, value in values.items()})
    return layer


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_cell_is_torchs_cell(B, T, D, H, dtype):
    x, h, (W_x, W_h, b) = noise(B, D, dtype=dtype), noise(B, H, seed=5, dtype=dtype), weights(D, H, dtype)
    cell = copied(nn.RNNCell(D, H, dtype=dtype), W_x, W_h, b)
    ours, theirs = rnn_cell(x, h, W_x, W_h, b), cell(x, h)
    assert ours.dtype == dtype
    close(ours, theirs)
    close_gradients(ours, theirs, [x, h, W_x, W_h, b], [x, h, cell.weight_ih, cell.weight_hh, cell.bias_ih])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_forward_is_torchs_layer(B, T, D, H, dtype):
    xs, h0, (W_x, W_h, b) = noise(B, T, D, dtype=dtype), noise(B, H, seed=5, dtype=dtype), weights(D, H, dtype)
    layer = copied(nn.RNN(D, H, batch_first=True, dtype=dtype), W_x, W_h, b)
    hs, h_T = rnn_forward(xs, h0, W_x, W_h, b)
    theirs, their_last = layer(xs, h0.unsqueeze(0))
    close(hs, theirs)
    close(h_T, their_last[0])
    ours, theirs = torch.cat([hs, h_T[:, None]], 1), torch.cat([theirs, their_last.transpose(0, 1)], 1)
    their_leaves = [xs, h0, layer.weight_ih_l0, layer.weight_hh_l0, layer.bias_ih_l0]
    close_gradients(ours, theirs, [xs, h0, W_x, W_h, b], their_leaves)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("B", "T", "D", "H"), SIZES)
def test_bptt_is_autograd(B, T, D, H, dtype):
    xs, h0, (W_x, W_h, b) = noise(B, T, D, dtype=dtype), noise(B, H, seed=5, dtype=dtype), weights(D, H, dtype)
    grad = noise(B, H, seed=9, dtype=dtype).detach()
    _, h_T = rnn_forward(xs, h0, W_x, W_h, b)
    expected = torch.autograd.grad(h_T, [W_x, W_h, b, h0], grad)
    with torch.no_grad():
        found = bptt(xs, h0, W_x, W_h, b, grad)
    assert list(found) == ["W_x", "W_h", "b", "h0"]
    for ours, theirs in zip(found.values(), expected, strict=True):
        assert ours.dtype == dtype
        close(ours, theirs)


@few
@given(sizes, sizes, sizes, sizes, st.integers(0, 99))
def test_bptt_is_linear_in_what_comes_back(B, T, D, H, seed):
    xs, h0, W = noise(B, T, D, seed=seed).detach(), noise(B, H).detach(), [w.detach() for w in weights(D, H)]
    one, two = noise(B, H, seed=seed).detach(), noise(B, H, seed=seed + 1).detach()
    first, second, both = bptt(xs, h0, *W, one), bptt(xs, h0, *W, two), bptt(xs, h0, *W, 2 * one - 3 * two)
    for name, value in both.items():
        close(value, 2 * first[name] - 3 * second[name])


@few
@given(sizes, st.integers(2, 6), sizes, sizes, st.data())
def test_forward_goes_on_where_it_stopped(B, T, D, H, draw):
    """Reading in two parts, the state carried over, is reading at once; and nothing later changes what was before."""
    xs, h0, W = noise(B, T, D), noise(B, H), weights(D, H)
    cut = draw.draw(st.integers(1, T - 1))
    whole, last = rnn_forward(xs, h0, *W)
    head, middle = rnn_forward(xs[:, :cut], h0, *W)
    tail, end = rnn_forward(xs[:, cut:], middle, *W)
    close(torch.cat([head, tail], dim=1), whole)
    close(end, last)
    close(whole[:, -1], last)


@few
@given(st.lists(st.lists(st.integers(1, 3), min_size=0, max_size=3), min_size=1, max_size=4), st.floats(0.01, 50))
def test_clipping_is_torchs(shapes, max_norm):
    grads = [noise(*shape, seed=i).detach() for i, shape in enumerate(shapes)]
    leaves = [torch.zeros_like(grad).requires_grad_() for grad in grads]
    for leaf, grad in zip(leaves, grads, strict=True):
        leaf.grad = grad.clone()
    total = nn.utils.clip_grad_norm_(leaves, max_norm)
    clipped, norm = clip_grad_norm(grads, max_norm)
    assert isinstance(norm, float)
    assert math.isclose(norm, float(total), rel_tol=1e-9)
    for ours, leaf in zip(clipped, leaves, strict=True):
        torch.testing.assert_close(ours, leaf.grad, rtol=2e-5 / max(norm, 0.1), atol=1e-6)
    again, after = clip_grad_norm(clipped, max_norm)
    assert after <= max_norm * (1 + 1e-9)
    for once, twice in zip(clipped, again, strict=True):
        close(once, twice)


def test_squares_that_float16_cannot_hold_are_clipped_as_torch_does():
    grads, norm = clip_grad_norm([torch.full((2,), 300.0, dtype=torch.float16)], 1.0)
    assert norm == pytest.approx(2**0.5 * 300, rel=1e-3)
    torch.testing.assert_close(grads[0], torch.full((2,), 0.5**0.5, dtype=torch.float16))


def test_zero_gradients_stay_zero():
    grads, norm = clip_grad_norm([torch.zeros(2, 3), torch.zeros(5)], 1.0)
    assert norm == 0.0 and all(not grad.any() for grad in grads)


@pytest.mark.parametrize(("V", "H", "C"), [(7, 5, 3), (10, 1, 2), (2, 11, 13)])
def test_classifier_is_torchs_relu_rnn(V, H, C):
    model = ElmanClassifier(V, H, C).double()
    ids = torch.randint(V, (6, 9), generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor([9, 1, 4, 8, 2, 5])
    layer = nn.RNN(V, H, nonlinearity="relu", batch_first=True).double()
    copied(layer, model.from_input.weight, model.from_state.weight, model.from_input.bias)
    packed = nn.utils.rnn.pack_padded_sequence(
        nn.functional.one_hot(ids, V).double(), lengths, batch_first=True, enforce_sorted=False
    )
    _, last = layer(packed)
    close(model(ids, lengths), model.to_classes(last[0]))


def test_classifier_ignores_padding():
    model, lengths = ElmanClassifier(10, 6, 2), torch.tensor([3, 7])
    ids = torch.randint(10, (2, 7), generator=torch.Generator().manual_seed(0))
    other = ids.clone()
    other[0, 3:] = (other[0, 3:] + 1) % 10
    assert torch.equal(model(ids, lengths), model(other, lengths))
    torch.testing.assert_close(model(ids[:1, :3], lengths[:1]), model(ids, lengths)[:1])


def test_generate_feeds_its_own_words_back():
    """With one certain successor a token and a state that counts, every token is known beforehand."""

    def step(token, h):
        logits = torch.full((1, 7), -1e3)
        logits[0, (2 * token + h.long()) % 7] = 1e3
        return logits, h + 1

    written = generate(step, torch.zeros(1), 3, 6, 0.7, torch.Generator().manual_seed(0))
    expected, token = [], 3
    for clock in range(6):
        token = (2 * token + clock) % 7
        expected.append(token)
    assert written.tolist() == expected and written.dtype == torch.int64


def test_temperature_flattens_and_sharpens():
    logits = torch.tensor([[0.0, 1.0, 2.0]])
    for temperature in (0.5, 1.0, 3.0):
        drawn = generate(
            lambda token, h: (logits, h), torch.zeros(1), 0, 4000, temperature, torch.Generator().manual_seed(1)
        )
        found = drawn.bincount(minlength=3) / 4000
        assert (found - torch.softmax(logits[0] / temperature, 0)).abs().max() < 0.04


def test_scheduled_inputs_draws_each_position():
    targets, own = torch.zeros(40, 60, dtype=torch.long), torch.ones(40, 60, dtype=torch.long)
    mixed = scheduled_inputs(targets, own, 0.75, torch.Generator().manual_seed(0)).double()
    assert abs(mixed.mean() - 0.25) < 0.05
    assert mixed.mean(0).std() < 0.12 and mixed.mean(1).std() < 0.12
    assert torch.equal(scheduled_inputs(targets, own, 1.0, torch.Generator()), targets)
    assert torch.equal(scheduled_inputs(targets, own, 0.0, torch.Generator()), own)


def test_nothing_is_changed_in_place():
    xs, h0, W = noise(2, 3, 5).detach(), noise(2, 7).detach(), [w.detach() for w in weights(5, 7)]
    inputs = [xs, h0, *W, h0 + 1]
    before = [value.clone() for value in inputs]
    bptt(*inputs)
    clip_grad_norm(inputs, 0.1)
    for value, old in zip(inputs, before, strict=True):
        assert torch.equal(value, old)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda: rnn_cell(torch.zeros(2, 3), torch.zeros(2, 5), torch.zeros(3, 5), torch.zeros(5, 5), torch.zeros(5)),
         r"\(3, 5\)"),
        (lambda: rnn_cell(torch.zeros(2, 3), torch.zeros(3, 5), torch.zeros(5, 3), torch.zeros(5, 5), torch.zeros(5)),
         r"\(2, 3\) and \(3, 5\)"),
        (lambda: rnn_forward(torch.zeros(2, 0, 3), torch.zeros(2, 5), torch.zeros(5, 3), torch.zeros(5, 5),
                             torch.zeros(5)), r"\(2, 0, 3\)"),
        (lambda: bptt(torch.zeros(2, 1, 3), torch.zeros(2, 5), torch.zeros(5, 3), torch.zeros(5, 5), torch.zeros(5),
                      torch.zeros(5)), r"\(5,\)"),
        (lambda: clip_grad_norm([torch.ones(1)], 0.0), "positive"),
        (lambda: ElmanClassifier(3, 2, 2)(torch.zeros(1, 4, dtype=torch.long), torch.tensor([5])), r"\[5\]"),
        (lambda: generate(None, torch.zeros(1), 0, 1, 0.0, torch.Generator()), "temperature"),
        (lambda: scheduled_inputs(torch.zeros(2, 3), torch.zeros(3, 2), 0.5, torch.Generator()), r"\(3, 2\)"),
    ],
)  # fmt: skip
def test_impossible_shapes_say_so(wrong, words):
    with pytest.raises(ValueError, match=words):
        wrong()
