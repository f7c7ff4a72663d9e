"""The reference of topic 17 against brute force, `transformers`' RWKV, Mamba and Mixtral, and sums by hand."""

from __future__ import annotations

import math
from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.nn import functional as F

from course.reference import linear_time as lt
from course.reference.hidden_states import causal_conv1d
from tests.reference import numbers
from tests.reference.numbers import noise

BOTH = pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 2e-4)])
same_with_gradients = partial(numbers.same_with_gradients, materialize_grads=True, allow_unused=True)
"""Of what a single token does not need, the gradients are zeros."""


# -- linear attention ------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize(("B", "T", "D", "Dv"), [(2, 7, 5, 3), (1, 1, 4, 1), (3, 11, 4, 6)])
def test_linear_attention_is_the_quadratic_form(B, T, D, Dv, dtype, tolerance):
    q, k, v = (noise(*shape, dtype=dtype, seed=i) for i, shape in enumerate([(B, T, D), (B, T, D), (B, T, Dv)]))
    scores = ((F.elu(q) + 1) @ (F.elu(k) + 1).mT).tril()
    theirs = scores @ v / scores.sum(-1, keepdim=True)
    same_with_gradients(lt.linear_attention(q, k, v), theirs, [q, k, v], tolerance)


@BOTH
def test_its_steps_are_the_whole(dtype, tolerance):
    q, k, v = (
        noise(2, 7, 5, dtype=dtype),
        noise(2, 7, 5, dtype=dtype, seed=1),
        noise(2, 7, 3, dtype=dtype, seed=2),
    )
    state = torch.zeros(2, 5, 3, dtype=dtype), torch.zeros(2, 5, dtype=dtype)
    outs = []
    for t in range(7):
        out, state = lt.linear_attention_step(state, q[:, t], k[:, t], v[:, t])
        outs.append(out)
    same_with_gradients(torch.stack(outs, 1), lt.linear_attention(q, k, v), [q, k, v], tolerance)


def test_a_step_leaves_its_state_alone():
    state = torch.ones(1, 2, 3), torch.ones(1, 2)
    _, (S, z) = lt.linear_attention_step(state, *(torch.ones(1, n) for n in (2, 2, 3)))
    assert (state[0] == 1).all() and (state[1] == 1).all() and (S == 3).all() and (z == 3).all()


def test_three_tokens_by_hand():
    q, k = torch.tensor([[[0.0, 0], [0, 1], [1, 0]]]), torch.tensor([[[1.0, 0], [0, 1], [0, 0]]])
    v = torch.tensor([[[4.0], [1.0], [10.0]]])
    assert lt.linear_attention(q, k, v).flatten().tolist() == pytest.approx([4.0, 7 / 3, 4.5])
    state = torch.zeros(1, 2, 1), torch.zeros(1, 2)
    sums = []
    for t in range(3):
        _, state = lt.linear_attention_step(state, q[:, t], k[:, t], v[:, t])
        sums.append((state[0].flatten().tolist(), state[1].flatten().tolist()))
    assert sums == [([8, 4], [2, 1]), ([9, 6], [3, 3]), ([19, 16], [4, 4])]


@pytest.mark.parametrize("shapes", [((1, 2, 3), (1, 2, 4), (1, 2, 3)), ((1, 2, 3), (1, 2, 3), (1, 3, 3))])
def test_shapes_that_do_not_fit_are_refused(shapes):
    with pytest.raises(ValueError, match="expected q and k"):
        lt.linear_attention(*map(torch.ones, shapes))


# -- RWKV ------------------------------------------------------------------------------------------------------------


def wkv_by_sums(k, v, w, u):
    """The paper's sums, term by term."""
    outs = []
    for t in range(k.shape[1]):
        exponents = torch.stack([k[:, i] - (t - 1 - i) * w for i in range(t)] + [u + k[:, t]], 1)  # (B, t + 1, D)
        outs.append((exponents.softmax(1) * v[:, : t + 1]).sum(1))
    return torch.stack(outs, 1)


@BOTH
@pytest.mark.parametrize(("B", "T", "D"), [(2, 7, 5), (1, 1, 3), (3, 2, 1)])
def test_wkv_is_the_papers_sum(B, T, D, dtype, tolerance):
    k, v, u = noise(B, T, D, dtype=dtype), noise(B, T, D, dtype=dtype, seed=1), noise(D, dtype=dtype, seed=2)
    w = noise(D, dtype=dtype, seed=3).abs().detach().requires_grad_()
    same_with_gradients(lt.wkv(k, v, w, u), wkv_by_sums(k, v, w, u), [k, v, w, u], tolerance)


def test_wkv_is_that_of_transformers():
    from transformers.models.rwkv.modeling_rwkv import rwkv_linear_attention_cpu

    k, v, u = 3 * noise(2, 11, 5, dtype=torch.float32), noise(2, 11, 5, dtype=torch.float32, seed=1), noise(5)
    decay = noise(5, dtype=torch.float32, seed=3)
    theirs, _ = rwkv_linear_attention_cpu(decay, u.float(), k, v)
    assert torch.allclose(lt.wkv(k, v, decay.exp(), u.float()), theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [100.0, 1000.0])
def test_large_keys_stay_finite_with_their_gradients(size):
    k, v = noise(2, 9, 3), noise(2, 9, 3, seed=1)
    w, u = torch.tensor([0.0, 0.5, 40.0], dtype=torch.float64), noise(3, seed=2)
    out = lt.wkv(size * k, v, w.requires_grad_(), u)
    assert out.isfinite().all() and torch.allclose(out, wkv_by_sums(size * k, v, w, u))
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(out.sum(), [k, v, w, u]))


def test_four_values_by_hand():
    v = torch.tensor([4.0, 8, 0, 6]).reshape(1, 4, 1)
    found = lt.wkv(torch.zeros(1, 4, 1), v, torch.tensor([math.log(2)]), torch.tensor([math.log(3)]))
    assert found.flatten().tolist() == pytest.approx([4, 7, 20 / 9, 4.842], abs=1e-3)


# -- state spaces ----------------------------------------------------------------------------------------------------


@given(st.floats(-20, -0.01), st.floats(-5, 5), st.floats(0.01, 3), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_zero_order_hold_may_be_cut_into_steps(a, b, delta, n):
    """Two half steps with one input are one whole step: Euler's rule breaks this."""
    a, b = torch.tensor([a], dtype=torch.float64), torch.tensor([b], dtype=torch.float64)
    whole_a, whole_b = lt.discretise(a, b, delta)
    part_a, part_b = lt.discretise(a, b, delta / n)
    h = torch.zeros(1, dtype=torch.float64)
    for _ in range(n):
        h = part_a * h + part_b
    assert torch.allclose(h, whole_b, atol=1e-12) and torch.allclose(part_a**n, whole_a, atol=1e-12)


def test_half_a_step_by_hand():
    a_bar, b_bar = lt.discretise(torch.tensor([-1.0]), torch.tensor([1.0]), math.log(2))
    assert (a_bar.item(), b_bar.item()) == pytest.approx((0.5, 0.5))
    c, x = torch.tensor([4.0]), torch.tensor([[1.0, 0, 2, 0]])
    assert lt.ssm_kernel(a_bar, b_bar, c, 4).tolist() == pytest.approx([2, 1, 0.5, 0.25])
    assert lt.ssm_scan(a_bar, b_bar, c, x).flatten().tolist() == pytest.approx([2, 1, 4.5, 2.25])


@BOTH
@pytest.mark.parametrize(("B", "T", "N"), [(2, 7, 5), (3, 1, 1), (1, 11, 2)])
def test_the_scan_is_the_convolution(B, T, N, dtype, tolerance):
    a_bar = torch.linspace(0.1, 0.95, N, dtype=dtype).requires_grad_()
    b_bar, c, x = noise(N, dtype=dtype), noise(N, dtype=dtype, seed=1), noise(B, T, dtype=dtype, seed=2)
    kernel = lt.ssm_kernel(a_bar, b_bar, c, T).flip(0)[None, None]
    theirs = causal_conv1d(x[:, None], kernel, torch.zeros(1, dtype=dtype))[:, 0]
    same_with_gradients(lt.ssm_scan(a_bar, b_bar, c, x), theirs, [a_bar, b_bar, c, x], tolerance)


def scan_inputs(B, T, D, N, dtype=torch.float64):
    x, B_t, C_t = (noise(B, T, n, dtype=dtype, seed=i) for i, n in enumerate((D, N, N)))
    delta = F.softplus(noise(B, T, D, dtype=dtype, seed=3)).detach().requires_grad_()
    A = (-noise(D, N, dtype=dtype, seed=4).exp()).detach().requires_grad_()
    return x, delta, A, B_t, C_t


@BOTH
@pytest.mark.parametrize("sizes", [(2, 7, 5, 3), (1, 1, 2, 1), (3, 11, 1, 4)])
def test_the_selective_scan_is_a_sum_over_the_past(sizes, dtype, tolerance):
    x, delta, A, B, C = inputs = scan_inputs(*sizes, dtype=dtype)
    T = sizes[1]
    after = delta.cumsum(1)  # (B, T, D)
    rows = []
    for t in range(T):
        kept = ((after[:, t, None] - after[:, : t + 1])[..., None] * A).exp()  # (B, t + 1, D, N)
        written = (delta * x)[:, : t + 1, :, None] * B[:, : t + 1, None]
        rows.append((kept * written * C[:, t, None, None]).sum((1, 3)))
    same_with_gradients(lt.selective_scan(*inputs), torch.stack(rows, 1), inputs, tolerance)


def test_it_is_mambas():
    """The slow path of a `MambaMixer`, with the layers around the scan taken from it."""
    from transformers import MambaConfig
    from transformers.models.mamba.modeling_mamba import MambaMixer

    torch.manual_seed(0)
    mixer = MambaMixer(MambaConfig(hidden_size=6, state_size=3, time_step_rank=2, num_hidden_layers=1), 0).eval()
    text = torch.randn(2, 9, 6)
    with torch.no_grad():
        x, gate = mixer.in_proj(text).chunk(2, dim=-1)
        x = F.silu(mixer.conv1d(x.mT)[..., :9]).mT
        low, B, C = mixer.x_proj(x).split([2, 3, 3], dim=-1)
        y = lt.selective_scan(x, F.softplus(mixer.dt_proj(low)), -mixer.A_log.exp(), B, C)
        ours = mixer.out_proj((y + mixer.D * x) * F.silu(gate))
        theirs = mixer(text)
    assert torch.allclose(ours, theirs, atol=1e-5)


def test_steps_decide_what_is_kept():
    one = torch.ones(1, 4, 1)
    x = torch.tensor([4.0, 9, 9, 2]).reshape(1, 4, 1)
    A = torch.tensor([[-1.0]])
    steps = math.log(2) * torch.tensor([1.0, 0, 0, 1]).reshape(1, 4, 1)
    kept = lt.selective_scan(x, steps, A, one / math.log(2), one)
    assert kept.flatten().tolist() == pytest.approx([4, 4, 4, 4])
    even = lt.selective_scan(x, math.log(2) * one, A, one / math.log(2), one)
    assert even.flatten().tolist() == pytest.approx([4, 11, 14.5, 9.25])


@given(st.integers(1, 40), st.integers(1, 3), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_the_prefix_scan_is_the_recurrence(T, N, seed):
    a, b = noise(2, T, N, seed=seed), noise(2, T, N, seed=seed + 1)
    kept = (a * (torch.rand(2, T, N) > 0.2)).detach().requires_grad_()
    h, states = torch.zeros(2, N, dtype=torch.float64), []
    for t in range(T):
        h = kept[:, t] * h + b[:, t]
        states.append(h)
    same_with_gradients(lt.prefix_scan(kept, b), torch.stack(states, 1), [kept, b], 1e-9)


def test_five_places_by_hand():
    a, b = (torch.tensor(row).reshape(1, 5, 1) for row in ([0.5, 0.5, 1, 0, 0.5], [8.0, 4, 0, 6, 2]))
    assert lt.prefix_scan(a, b).flatten().tolist() == [8, 8, 8, 6, 5]


# -- experts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 5])
def test_weights_are_those_of_all_experts_shared_out_anew(k):
    logits = noise(7, 5)
    p, experts = logits.softmax(-1).topk(k)
    weights, chosen = lt.route(logits, k)
    assert chosen.dtype == torch.int64 and torch.equal(chosen, experts)
    assert torch.allclose(weights, p / p.sum(-1, keepdim=True))


def test_a_single_experts_weight_has_no_gradient():
    logits = noise(3, 4)
    weights, _ = lt.route(logits, 1)
    assert (weights == 1).all() and (torch.autograd.grad(weights.sum(), logits)[0] == 0).all()


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_balance_loss_is_that_of_transformers_over_k(k):
    from transformers.models.mixtral.modeling_mixtral import load_balancing_loss_func

    logits = noise(11, 5, dtype=torch.float32)
    theirs = load_balancing_loss_func((logits,), 5, k) / k
    same_with_gradients(lt.balance_loss(logits, lt.route(logits, k)[1]), theirs, [logits], 1e-5)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_it_is_one_where_all_is_even_and_grows_with_the_crowd(k):
    even = torch.zeros(4, 4), torch.arange(4)[:, None].add(torch.arange(k)).remainder(4)
    assert lt.balance_loss(*even).item() == pytest.approx(1.0)
    crowd = torch.zeros(8, 4)
    crowd[:, 0] = 50.0
    assert lt.balance_loss(crowd, torch.zeros(8, 1, dtype=torch.long)).item() == pytest.approx(4.0)
