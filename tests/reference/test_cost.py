"""The reference of topic 19 against torch, `transformers`, enumeration, and counting by hand."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch.nn import functional as F

from course.exercise.held import bytes_held
from course.exercise.memory import MemoryCounter
from course.reference import cost
from tests.reference.numbers import noise, same_with_gradients

EMPTY = torch.tensor([-math.inf]), torch.zeros(1), torch.zeros(1, 3)


def a_block(seed, shift=0.0):
    scores, v = noise(5, 4, seed=seed) + shift, noise(5, 4, 3, seed=seed + 50)
    m = scores.amax(-1)
    weights = (scores - m[:, None]).exp()
    return m, weights.sum(-1), (weights[..., None] * v).sum(-2)


def close(first, second):
    return all(torch.allclose(a, b, rtol=1e-12, atol=1e-12) for a, b in zip(first, second, strict=True))


def test_blocks_merge_in_any_order_and_grouping():
    a, b, c = a_block(0), a_block(1, shift=40.0), a_block(2, shift=-700.0)
    merge = cost.merge_blocks
    assert close(merge(a, b), merge(b, a)) and close(merge(merge(a, b), c), merge(a, merge(b, c)))


def test_the_empty_block_changes_nothing():
    one = torch.tensor([-5e4]), torch.tensor([2.0]), torch.tensor([[1.0, 2.0, 3.0]])
    assert close(cost.merge_blocks(EMPTY, one), one) and close(cost.merge_blocks(one, EMPTY), one)
    assert all(torch.equal(x, y) for x, y in zip(cost.merge_blocks(EMPTY, EMPTY), EMPTY))


@pytest.mark.parametrize(("T", "S"), [(5, 5), (3, 11), (1, 7)])
@pytest.mark.parametrize("block", [1, 3, 20])
@pytest.mark.parametrize("causal", [False, True])
def test_blockwise_attention_is_torchs_with_its_gradients(T, S, block, causal):
    q, k, v = noise(2, 3, T, 4), noise(2, 3, S, 4, seed=1), noise(2, 3, S, 6, seed=2)
    mask = torch.ones(T, S, dtype=torch.bool).tril(S - T) if causal else None
    out, _ = cost.blockwise_attention(q, k, v, block, causal)
    same_with_gradients(out, F.scaled_dot_product_attention(q, k, v, attn_mask=mask), (q, k, v))
    scores = q @ k.mT / 2
    scores = scores if mask is None else scores.masked_fill(~mask, -math.inf)
    _, lse = cost.blockwise_attention(q, k, v, block, causal)
    same_with_gradients(lse, scores.logsumexp(-1), (q, k))


def test_a_query_that_sees_nothing_gives_zeros_and_no_gradient():
    q, k, v = (noise(1, 1, n, 4, seed=n).requires_grad_() for n in (5, 3, 3))
    out, lse = cost.blockwise_attention(q, k, v, 2, causal=True)
    assert bool((out[:, :, :2] == 0).all()) and bool((lse[:, :, :2] == -math.inf).all())
    (gradient,) = torch.autograd.grad(out.sum(), q)
    assert bool((gradient[:, :, :2] == 0).all()) and bool(gradient.isfinite().all())


def test_the_table_is_never_made():
    q, k, v = (noise(1, 1, 384, 8, seed=n) for n in range(3))
    with torch.no_grad(), MemoryCounter() as made:
        cost.blockwise_attention(q, k, v, 16, causal=True)
    assert made.largest == 384 * 16 and made.at_once < 384 * 384 / 4


def test_stacked_windows_reach_as_far_as_the_formula_says():
    for layers, window in itertools.product(range(5), (1, 3, 4)):
        reached = cost.reach(cost.window_mask(40, window), layers)
        assert reached[-1].sum() == layers * (window - 1) + 1
    assert cost.reach(cost.window_mask(300, 200), 60).tril().sum() == 300 * 301 // 2


def test_a_global_token_carries_only_what_it_sees():
    both, causal = (cost.window_mask(40, 3, 1, causal) for causal in (False, True))
    assert [int(cost.reach(both, n)[-1].sum()) for n in (1, 2, 3)] == [4, 40, 40]
    assert [int(cost.reach(causal, n)[-1].sum()) for n in (1, 2, 3)] == [4, 6, 8]


@pytest.mark.parametrize("lengths", [(11,), (4, 1, 5, 1), (1,) * 11, (7, 4)])
@pytest.mark.parametrize("window", [1, 3, 20])
def test_attention_out_of_the_cache_is_attention_under_the_window(lengths, window):
    q, k, v = noise(2, 3, 11, 4), noise(2, 3, 11, 4, seed=1), noise(2, 3, 11, 6, seed=2)
    whole = F.scaled_dot_product_attention(q, k, v, attn_mask=cost.window_mask(11, window))
    cache, pieces, before = cost.RollingCache(window), [], 0
    for places in torch.arange(11).split(list(lengths)):
        keys, values, at = cache.update(k[:, :, places], v[:, :, places])
        assert len(at) == min(before, window - 1) + len(places)
        behind = places[:, None] - at
        seen = (behind >= 0) & (behind < window)
        pieces.append(F.scaled_dot_product_attention(q[:, :, places], keys, values, attn_mask=seen))
        before += len(places)
    assert torch.allclose(torch.cat(pieces, 2), whole)


def test_a_long_prompt_is_forgotten():
    cache = cost.RollingCache(8)
    cache.update(noise(1, 2, 3000, 4), noise(1, 2, 3000, 4))
    assert bytes_held(cache) == 2 * 7 * 2 * 4 * 8


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize(("n", "longest"), [(32, 128), (16, 60), (12, 50), (64, 300)])
def test_buckets_are_those_of_t5(n, longest, bidirectional):
    from transformers.models.t5.modeling_t5 import T5Attention

    distance = torch.arange(-600, 601)
    theirs = T5Attention._relative_position_bucket(distance, bidirectional, n, longest)
    assert torch.equal(cost.relative_buckets(distance, n, longest, bidirectional), theirs)


def test_the_roofline_by_hand():
    model = {"parameters": 100, "layers": 2, "width": 8, "kv_width": 4, "bytes": 2}
    step = cost.step_time(model, {"operations": 1000, "bytes": 100}, 3, 2, 4)
    assert step == {"operations": 3312, "bytes": 776, "seconds": pytest.approx(7.76), "bound": "memory"}


def test_a_large_model_reads_for_five_tokens_what_it_reads_for_one():
    llama = {"parameters": 6_738_415_616, "layers": 32, "width": 4096, "kv_width": 4096, "bytes": 2}
    one, five, many = (
        cost.step_time(llama, {"operations": 312e12, "bytes": 2e12}, *asked)
        for asked in ((1, 1, 1000), (1, 5, 1000), (64, 1, 1000))
    )
    assert five["seconds"] / one["seconds"] < 1.001 and one["bound"] == "memory"
    assert many["seconds"] == pytest.approx(0.0235, rel=0.01)


@pytest.mark.parametrize("q", [(0.25, 0.5, 0.25), (0.75, 0.0, 0.25), (1.0, 0.0, 0.0), (0.25, 0.25, 0.5)])
def test_every_text_is_as_likely_as_under_the_large_model_alone(q):
    """One guess, two tokens. The second p hangs on the first token. A grid of 48 resolves all shares exactly."""
    V = 3
    first = torch.tensor([0.5, 0.25, 0.25], dtype=torch.float64)
    second = torch.tensor([[0.25, 0.25, 0.5], [0.5, 0.5, 0.0], [0.0, 0.75, 0.25]], dtype=torch.float64)
    guessed = torch.tensor(q, dtype=torch.float64)
    texts = torch.zeros(V, V, dtype=torch.float64)
    grid = 48
    points = (torch.arange(grid, dtype=torch.float64) + 0.5) / grid
    accepted = 0.0
    for x in range(V):
        p = torch.stack([first, second[x]])
        for u, w in itertools.product(points, points):
            said = cost.accept_draft(p, guessed[None], torch.tensor([x]), torch.stack([u, w])).tolist()
            share = float(guessed[x]) / grid**2
            if len(said) == 2:
                texts[said[0], said[1]] += share
                accepted += share
            else:
                texts[said[0]] += share * second[said[0]]
    assert torch.allclose(texts, first[:, None] * second, atol=1e-6)
    assert accepted == pytest.approx(float(torch.minimum(first, guessed).sum()), abs=1e-6)


def test_without_a_guess_a_token_is_drawn_and_none_of_probability_zero():
    p = torch.tensor([[0.0, 0.5, 0.0, 0.5, 0.0]])
    none = torch.zeros(0, 5), torch.zeros(0, dtype=torch.long)
    drawn = [int(cost.accept_draft(p, *none, torch.tensor([u]))) for u in (0.0, 0.3, 0.5, 0.9999999)]
    assert drawn == [1, 1, 3, 3]
    both = torch.cat([p, p])
    impossible = torch.full((1, 5), 0.2)
    assert cost.accept_draft(both, impossible, torch.tensor([0]), torch.zeros(2)).tolist() == [1]


def test_models_that_differ_by_rounding_alone_agree():
    p = torch.tensor([[0.3, 0.7], [0.5, 0.5]])
    said = cost.accept_draft(p, p[:1] + 1e-7, torch.tensor([1]), torch.tensor([1 - 2**-24, 0.5]))
    assert said.tolist() in ([1], [1, 1])


@pytest.mark.parametrize("T", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("shape", [(7,), (5, 7), (2, 3, 7)])
def test_distillation_is_torchs_divergence_with_its_gradients(T, shape):
    student, teacher = noise(*shape), noise(*shape, seed=1)
    flat = [(x.reshape(-1, shape[-1]) / T).log_softmax(-1) for x in (student, teacher.detach())]
    theirs = T * T * F.kl_div(*flat, reduction="batchmean", log_target=True)
    same_with_gradients(cost.distillation_loss(student, teacher, T), theirs, (student,))


def test_at_a_high_temperature_logits_are_matched():
    student, teacher = noise(5, 7), noise(5, 7, seed=1)
    centred = [x - x.mean(-1, keepdim=True) for x in (student, teacher)]
    expected = 0.5 * (centred[0] - centred[1]).square().mean()
    assert cost.distillation_loss(student, teacher, 1e4).item() == pytest.approx(expected.item(), rel=1e-3)


def test_what_the_teacher_rules_out_costs_nothing():
    teacher = torch.tensor([[0.0, -math.inf, 0.0]], requires_grad=True)
    student = torch.zeros(1, 3, requires_grad=True)
    loss = cost.distillation_loss(student, teacher)
    loss.backward()
    assert loss.item() == pytest.approx(math.log(1.5)) and teacher.grad is None
    assert student.grad[0].tolist() == pytest.approx([-1 / 6, 1 / 3, -1 / 6])


def test_a_draft_reads_eight_tokens_and_no_later_one():
    torch.manual_seed(0)
    draft = cost.Draft(31)
    ids = torch.arange(20)[None] % 31
    assert sum(p.numel() for p in cost.Draft(2048).parameters()) == 56_384
    with torch.no_grad():
        whole = draft(ids)
        assert torch.allclose(draft(ids[:, -8:])[:, -1], whole[:, -1], atol=1e-6)
        assert torch.allclose(draft(ids[:, :5]), whole[:, :5], atol=1e-6)
    assert draft(ids).shape == (1, 20, 31)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: cost.blockwise_attention(*3 * [torch.zeros(1, 1, 2, 2)], 0),
        lambda: cost.window_mask(5, 0),
        lambda: cost.RollingCache(0),
        lambda: cost.distillation_loss(torch.zeros(2), torch.zeros(2), 0.0),
    ],
)
def test_what_cannot_be_is_refused(wrong):
    with pytest.raises(ValueError, match=r"at least|above 0"):
        wrong()
