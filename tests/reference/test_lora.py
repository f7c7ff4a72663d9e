"""The references against algebra: what a low-rank update is, what freezing leaves, and how near a low rank can come."""

from __future__ import annotations

import copy
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course.reference.lora import (
    LoRALinear,
    add_bitfit,
    add_lora,
    best_rank_r,
    lora_parameters,
    lora_state,
    merge,
    trainable_parameters,
    unmerge,
)
from tests.reference import numbers
from tests.reference.numbers import close, close_gradients

noise = partial(numbers.noise, requires_grad=False)

DTYPES = [torch.float32, torch.float64]
SIZES = [(5, 7, 2, 6.0), (7, 3, 5, 2.0), (1, 1, 1, 0.5), (3, 11, 1, 8.0), (4, 4, 3, 1.0)]
"""out, in, r, alpha: wide, tall, a single number, a rank above the smaller side."""

few = settings(max_examples=40)
small = st.integers(1, 6)


def layer_with_numbers(out: int, in_: int, r: int, alpha: float, dtype=torch.float64, bias=True) -> LoRALinear:
    base = nn.Linear(in_, out, bias, dtype=dtype)
    layer = LoRALinear(base, r, alpha)
    with torch.no_grad():
        for seed, parameter in enumerate(layer.parameters()):
            parameter.copy_(noise(*parameter.shape, seed=seed, dtype=dtype))
    return layer


def model() -> nn.Sequential:
    block = nn.Sequential()
    block.add_module("norm", nn.LayerNorm(6))
    block.add_module("W_q", nn.Linear(6, 5))
    block.add_module("W_query", nn.Linear(5, 6, bias=False))
    whole = nn.Sequential()
    whole.add_module("words", nn.Embedding(11, 6))
    whole.add_module("block", block)
    whole.add_module("head", nn.Linear(6, 11))
    return whole.double()


# -- the layer ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("out", "in_", "r", "alpha"), SIZES)
def test_a_layer_is_one_linear_map_with_the_update_in_its_weight(out, in_, r, alpha, bias, dtype):
    layer = layer_with_numbers(out, in_, r, alpha, dtype, bias)
    x = noise(3, 2, in_, seed=5, dtype=dtype).requires_grad_()
    W = layer.base.weight + alpha / r * layer.B @ layer.A
    close(layer(x), F.linear(x, W, layer.base.bias))
    leaves = [x, layer.A, layer.B]
    close_gradients(layer(x), F.linear(x, W, layer.base.bias), leaves)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("out", "in_", "r", "alpha"), SIZES)
def test_a_layer_begins_as_its_base_to_the_last_bit(out, in_, r, alpha, dtype):
    base = nn.Linear(in_, out, dtype=dtype)
    x = noise(3, in_, dtype=dtype)
    before = base(x)
    layer = LoRALinear(base, r, alpha)
    assert torch.equal(layer(x), before)
    assert layer.base is base
    assert layer.A.dtype == layer.B.dtype == dtype
    assert layer.A.shape == (r, in_) and layer.B.shape == (out, r)
    assert bool(layer.A.any()) and not bool(layer.B.any())


def test_gradients_are_the_ones_written_on_paper():
    layer = layer_with_numbers(5, 7, 2, 6.0)
    x, g = noise(3, 7, seed=5), noise(3, 5, seed=6)
    (layer(x) * g).sum().backward()
    close(layer.A.grad, 3.0 * layer.B.detach().T @ g.T @ x)
    close(layer.B.grad, 3.0 * g.T @ x @ layer.A.detach().T)
    assert layer.base.weight.grad is None and layer.base.bias.grad is None


def test_the_first_step_moves_B_alone_and_the_second_both():
    torch.manual_seed(0)
    layer = LoRALinear(nn.Linear(7, 5), 2, 6.0)
    before, base = copy.deepcopy(layer), copy.deepcopy(layer.base.state_dict())
    step = torch.optim.SGD([p for p in layer.parameters() if p.requires_grad], 0.1)
    x, y = noise(11, 7, dtype=torch.float32), noise(11, 5, seed=1, dtype=torch.float32)
    moved = []
    for _ in range(2):
        step.zero_grad()
        F.mse_loss(layer(x), y).backward()
        step.step()
        moved.append((not torch.equal(layer.A, before.A), not torch.equal(layer.B, before.B)))
    assert moved == [(False, True), (True, True)]
    assert all(torch.equal(value, base[name]) for name, value in layer.base.state_dict().items())


@few
@given(small, small, small, st.floats(0.25, 16))
def test_the_update_is_linear_in_alpha_and_one_over_r(out, in_, r, alpha):
    one, two = (layer_with_numbers(out, in_, r, strength) for strength in (alpha, 2 * alpha))
    x = noise(2, in_, seed=3)
    close(two(x) - two.base(x), 2 * (one(x) - one.base(x)))
    doubled = LoRALinear(copy.deepcopy(one.base), 2 * r, alpha)
    with torch.no_grad():  # the same directions twice, at half the strength each
        doubled.A.copy_(torch.cat([one.A, one.A]))
        doubled.B.copy_(torch.cat([one.B, one.B], dim=1))
    close(doubled(x), one(x))


@pytest.mark.parametrize("r", [0, -1])
def test_a_rank_below_one_is_refused(r):
    with pytest.raises(ValueError, match="at least 1"):
        LoRALinear(nn.Linear(3, 2), r, 1.0)


# -- merging and taking apart ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(("out", "in_", "r", "alpha"), SIZES)
def test_merged_is_the_layer_and_unmerged_its_base(out, in_, r, alpha, bias, dtype):
    layer = layer_with_numbers(out, in_, r, alpha, dtype, bias)
    before = copy.deepcopy(layer.state_dict())
    x = noise(3, in_, seed=5, dtype=dtype)
    merged = merge(layer)
    apart = unmerge(merged, layer)
    assert type(merged) is type(apart) is nn.Linear
    close(merged(x), layer(x).detach())
    close(apart.weight, layer.base.weight)
    close(apart(x), layer.base(x))
    assert (merged.bias is None) == (apart.bias is None) == (not bias)
    for name, value in layer.state_dict().items():
        assert torch.equal(value, before[name]), name
    close(merged.weight, layer.base.weight + alpha / r * layer.B.detach() @ layer.A.detach())


def test_merged_layers_share_nothing_and_learn_nothing():
    layer = layer_with_numbers(5, 7, 2, 6.0)
    merged = merge(layer)
    assert not any(p.requires_grad for p in merged.parameters())
    with torch.no_grad():
        merged.weight.zero_()
        merged.bias.zero_()
    assert bool(layer.base.weight.any()) and bool(layer.base.bias.any())


@few
@given(small, small, small)
def test_what_a_merged_layer_has_learned_since_survives(out, in_, r):
    layer = layer_with_numbers(out, in_, r, 4.0)
    merged = merge(layer)
    change = noise(out, in_, seed=8)
    with torch.no_grad():
        merged.weight += change
    close(unmerge(merged, layer).weight, layer.base.weight + change)


@few
@given(st.integers(1, 5), st.integers(2, 7), st.integers(2, 7))
def test_the_rank_of_an_update_is_at_most_r(r, out, in_):
    layer = layer_with_numbers(out, in_, r, 3.0)
    update = merge(layer).weight - layer.base.weight
    assert int(torch.linalg.matrix_rank(update, rtol=1e-9)) == min(r, out, in_)


def test_unmerge_refuses_a_layer_of_another_size():
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        unmerge(nn.Linear(3, 2), layer_with_numbers(5, 7, 2, 6.0))


# -- into a model ------------------------------------------------------------------------------------------------------


def test_a_model_with_lora_does_the_same_and_learns_only_factors():
    whole = model()
    ids = torch.arange(6).view(2, 3)
    before, state = whole(ids), copy.deepcopy(whole.state_dict())
    assert add_lora(whole, 2, 8.0, ["W_q", "head"]) == 2 * (6 + 5) + 2 * (6 + 11)
    assert torch.equal(whole(ids), before)
    assert {name for name, p in whole.named_parameters() if p.requires_grad} == {
        "block.W_q.A", "block.W_q.B", "head.A", "head.B",
    }  # fmt: skip
    assert isinstance(whole.block.W_query, nn.Linear)
    for name, value in state.items():  # every number is still there, perhaps one level further down
        now = whole.state_dict()
        moved = name.replace("W_q.", "W_q.base.").replace("head.", "head.base.")
        assert torch.equal(now[moved], value)


def test_training_leaves_every_base_weight_bit_identical():
    whole = model()
    add_lora(whole, 1, 2.0, ["W_q"])
    before = copy.deepcopy(whole.state_dict())
    step = torch.optim.AdamW([p for p in whole.parameters() if p.requires_grad], 0.1)
    ids = torch.arange(6).view(2, 3)
    for _ in range(3):
        step.zero_grad()
        whole(ids).square().mean().backward()
        step.step()
    changed = {name for name, value in whole.state_dict().items() if not torch.equal(value, before[name])}
    assert changed == {"block.W_q.A", "block.W_q.B"}


def test_a_second_call_and_a_name_without_a_match_are_refused():
    whole = model()
    with pytest.raises(ValueError, match="no linear layer"):
        add_lora(whole, 2, 8.0, ["q", "norm", "words"])
    add_lora(whole, 2, 8.0, ["W_q"])
    for targets in (["W_q"], ["head"]):
        with pytest.raises(ValueError, match="already"):
            add_lora(whole, 2, 8.0, targets)


def test_a_layer_with_two_names_is_adapted_once_under_both():
    model = nn.Module()
    model.W_q, model.other = nn.Linear(3, 5), nn.Module()
    model.other.W_q, model.same = model.W_q, model.other
    assert add_lora(model, r=2, alpha=4, targets=["W_q"]) == lora_parameters([(5, 3)], 2)
    assert isinstance(model.W_q, LoRALinear) and model.W_q is model.other.W_q is model.same.W_q


def test_bitfit_keeps_every_bias():
    whole = model()
    assert add_bitfit(whole) == 6 + 5 + 11
    assert {name for name, p in whole.named_parameters() if p.requires_grad} == {
        "block.norm.bias", "block.W_q.bias", "head.bias",
    }  # fmt: skip


# -- counting and saving -----------------------------------------------------------------------------------------------


def test_tied_weights_count_once_and_buffers_never():
    whole = model()
    everything = 66 + 12 + 35 + 30 + 77
    assert trainable_parameters(whole) == (everything, everything)
    whole.head.weight = whole.words.weight
    whole.register_buffer("mask", torch.ones(100))
    assert trainable_parameters(whole) == (everything - 66, everything - 66)
    whole.words.weight.requires_grad_(False)
    assert trainable_parameters(whole) == (everything - 132, everything - 66)
    assert trainable_parameters(nn.BatchNorm1d(3)) == (6, 6)


@few
@given(st.lists(st.tuples(small, small), max_size=4), small)
def test_the_count_is_what_layers_of_these_shapes_have(shapes, r):
    layers = [LoRALinear(nn.Linear(in_, out), r, 1.0) for out, in_ in shapes]
    assert lora_parameters(shapes, r) == sum(trainable_parameters(layer)[0] for layer in layers)


def test_an_adapter_is_saved_alone_and_found_again(tmp_path):
    torch.manual_seed(3)
    one = model()
    other = copy.deepcopy(one)
    for whole in (one, other):
        add_lora(whole, 2, 8.0, ["W_q", "W_query"])
    with torch.no_grad():
        for tensor in lora_state(one).values():  # they are the model's own
            tensor.normal_()
    torch.save(lora_state(one), tmp_path / "adapter.pt")
    state = torch.load(tmp_path / "adapter.pt", weights_only=True)
    assert set(state) == {"block.W_q.A", "block.W_q.B", "block.W_query.A", "block.W_query.B"}
    found = other.load_state_dict(state, strict=False)
    assert not found.unexpected_keys
    ids = torch.arange(6).view(2, 3)
    assert torch.equal(one(ids), other(ids))
    assert lora_state(model()) == {}


# -- how good a low rank can be ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("out", "in_"), [(5, 7), (7, 3), (1, 4), (6, 6)])
def test_the_distance_is_what_eckart_and_young_say(out, in_, dtype):
    W = noise(out, in_, dtype=dtype)
    S = torch.linalg.svdvals(W)
    for r in range(1, min(out, in_) + 1):
        B, A = best_rank_r(W, r)
        assert B.shape == (out, r) and A.shape == (r, in_)
        close((W - B @ A).norm(), S[r:].norm())  # Frobenius
        close(torch.linalg.matrix_norm(W - B @ A, 2), S[r] if r < len(S) else S[0] * 0)
        assert (B @ A).dtype == dtype
    close(B @ A, W)


@few
@given(st.integers(2, 7), st.integers(2, 7), st.data())
def test_no_other_factors_come_nearer(out, in_, data):
    r = data.draw(st.integers(1, min(out, in_)))
    W, A = noise(out, in_, seed=1), noise(r, in_, seed=data.draw(st.integers(2, 99)))
    B, best = best_rank_r(W, r)
    nearest = (W - B @ best).norm()
    rivals = [
        (W @ torch.linalg.pinv(A), A),  # random directions, and the best B for them
        (W[:, :r], torch.linalg.pinv(W[:, :r]) @ W),  # some of its own columns
        (B + 1e-3 * noise(out, r, seed=7), best),  # a step away
        (B, best + 1e-3 * noise(r, in_, seed=8)),
    ]
    for left, right in rivals:
        assert nearest <= (W - left @ right).norm() + 1e-9


def test_gradient_descent_from_random_factors_ends_where_the_svd_is():
    W = noise(5, 7)
    A, B = noise(2, 7, seed=4).requires_grad_(), noise(5, 2, seed=5).requires_grad_()
    step = torch.optim.LBFGS([A, B], max_iter=500, tolerance_grad=1e-12, tolerance_change=1e-14)

    def loss():
        step.zero_grad()
        value = (W - B @ A).square().sum()
        value.backward()
        return value

    step.step(loss)
    left, right = best_rank_r(W, 2)
    torch.testing.assert_close(B.detach() @ A.detach(), left @ right, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(("shape", "r"), [((3, 5), 4), ((3, 5), 0), ((2, 3, 4), 1)])
def test_impossible_ranks_are_refused(shape, r):
    with pytest.raises(ValueError, match="no factors"):
        best_rank_r(torch.zeros(shape), r)
