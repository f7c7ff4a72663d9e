"""The reference of topic 15 against torch, against LLaMA in `transformers`, and against counting by hand."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course.reference import gpt
from tests.reference.llama import llama_of
from tests.reference.numbers import noise, same_with_gradients

SIZES = {"vocab": 23, "d_model": 24, "n_layers": 3, "n_heads": 6, "n_groups": 2, "d_ff": 37}


def model(dtype=torch.float64, **sizes):
    torch.manual_seed(0)
    return gpt.GPT(**{**SIZES, **sizes}).to(dtype)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
@pytest.mark.parametrize("shape", [(7,), (3, 5), (2, 3, 1), (2, 3, 4, 5)])
@pytest.mark.parametrize("eps", [1e-6, 0.7])
def test_rms_norm_is_torchs(dtype, tolerance, shape, eps):
    x, gamma = noise(*shape, dtype=dtype), noise(shape[-1], dtype=dtype, seed=1)
    theirs = F.rms_norm(x, shape[-1:], gamma, eps)
    same_with_gradients(gpt.rms_norm(x, gamma, eps), theirs, [x, gamma], tolerance)


def test_rms_norm_of_large_half_precision_is_finite():
    x = torch.full((2, 5), 3e4, dtype=torch.float16)
    found = gpt.rms_norm(x, torch.ones(5, dtype=torch.float16))
    assert found.dtype == torch.float16 and torch.allclose(found, torch.ones_like(found))


def test_three_and_four():
    assert gpt.rms_norm(torch.tensor([3.0, 4.0]), torch.ones(2)).tolist() == pytest.approx([0.849, 1.131], abs=1e-3)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-10), (torch.float32, 1e-4)])
@pytest.mark.parametrize("shape", [(5,), (2, 3, 5)])
def test_swiglu_is_llamas(dtype, tolerance, shape):
    x, W_gate, W_up, W_down = (
        noise(*size, dtype=dtype, seed=i) for i, size in enumerate([shape, (7, 5), (7, 5), (5, 7)])
    )
    theirs = F.linear(F.silu(F.linear(x, W_gate)) * F.linear(x, W_up), W_down)
    same_with_gradients(gpt.swiglu(x, W_gate, W_up, W_down), theirs, [x, W_gate, W_up, W_down], tolerance)


@pytest.mark.parametrize(("h", "g"), [(6, 1), (6, 2), (6, 3), (6, 6), (1, 1)])
@pytest.mark.parametrize(("T", "S"), [(4, 4), (3, 7), (1, 5), (5, 1)])
@pytest.mark.parametrize("masked", [False, True])
def test_grouped_attention_is_torchs(h, g, T, S, masked):
    q, k, v = noise(2, h, T, 5), noise(2, g, S, 5, seed=1), noise(2, g, S, 5, seed=2)
    mask = None
    if masked:
        mask = torch.rand(2, 1, T, S, generator=torch.Generator().manual_seed(3)) < 0.5
        mask[..., 0] = True
    theirs = F.scaled_dot_product_attention(q, k, v, mask, enable_gqa=True)
    same_with_gradients(gpt.grouped_attention(q, k, v, mask), theirs, [q, k, v], 1e-9)


def test_a_row_with_nothing_allowed_gives_zeros_and_finite_gradients():
    q, k, v = noise(1, 2, 3, 4), noise(1, 1, 3, 4, seed=1), noise(1, 1, 3, 4, seed=2)
    mask = torch.ones(3, 3, dtype=torch.bool).tril(-1)
    found = gpt.grouped_attention(q, k, v, mask)
    assert bool((found[:, :, 0] == 0).all())
    assert all(bool(grad.isfinite().all()) for grad in torch.autograd.grad(found.sum(), [q, k, v]))


def test_groups_that_do_not_divide_the_heads_are_refused():
    with pytest.raises(ValueError, match="4 groups"):
        gpt.grouped_attention(noise(1, 6, 2, 3), noise(1, 4, 2, 3), noise(1, 4, 2, 3))


PUBLISHED = {
    "GPT-1": ((40478, 768, 12, 12, 12, 64, 3072, False, True, True, 512), 116_536_320),
    "GPT-2": ((50257, 768, 12, 12, 12, 64, 3072, False, True, True, 1024), 124_439_808),
    "GPT-3": ((50257, 12288, 96, 96, 96, 128, 49152, False, True, True, 2048), 174_604_259_328),
    "BLOOM": ((250880, 14336, 70, 112, 112, 128, 57344, False, True, True, 0), 176_247_242_752),
    "LLaMA": ((32000, 8192, 80, 64, 64, 128, 22016, True, False, False, 0), 65_285_660_672),
    "PaLM": ((256000, 18432, 118, 48, 1, 256, 73728, True, False, True, 0), 540_358_649_856),
    "Llama 2 70B": ((32000, 8192, 80, 64, 8, 128, 28672, True, False, False, 0), 68_976_648_192),
    "Mistral 7B": ((32000, 4096, 32, 32, 8, 128, 14336, True, False, False, 0), 7_241_732_096),
    "by hand": ((10, 4, 2, 2, 1, 2, 6, True, False, True, 0), 300),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_counts(name):
    asked, count = PUBLISHED[name]
    assert gpt.decoder_parameters(*asked) == count


NORMS = {
    "GPT-1": ("OpenAIGPTLMHeadModel", {}, 116_534_784, -2 * 768),  # none at the end
    "BLOOM": (
        "BloomForCausalLM",
        {"vocab_size": 250880, "hidden_size": 14336, "n_layer": 70, "n_head": 112},
        176_247_271_424,
        2 * 14336,  # one more behind the embeddings
    ),
}


@pytest.mark.parametrize("name", NORMS)
def test_the_count_is_off_by_the_norm_that_the_notebook_tells(name):
    transformers = pytest.importorskip("transformers")
    kind, sizes, published, norm = NORMS[name]
    kind = getattr(transformers, kind)
    with torch.device("meta"):
        count = sum(weight.numel() for weight in kind(kind.config_class(**sizes)).parameters())
    assert count == published == gpt.decoder_parameters(*PUBLISHED[name][0]) + norm


@given(
    st.integers(1, 4), st.integers(1, 3), st.integers(1, 4), st.integers(1, 3), st.integers(1, 20), st.integers(0, 4)
)
@settings(max_examples=20, deadline=None)
def test_the_count_is_that_of_the_model(half, groups, per_group, layers, F_, extra):
    heads, d_head = groups * per_group, 2 * half
    V, D = 11 + extra, heads * d_head
    built = gpt.GPT(V, D, layers, heads, groups, F_)
    count = sum(weight.numel() for weight in built.parameters())
    assert count == gpt.decoder_parameters(V, D, layers, heads, groups, d_head, F_, True, False, True)


@pytest.mark.parametrize(("bias", "positions"), [(False, 0), (True, 9)])
def test_the_count_without_a_gate_is_torchs(bias, positions):
    V, D, F_ = 11, 12, 30
    layer = nn.TransformerEncoderLayer(D, 3, F_, bias=bias)
    count = 2 * sum(p.numel() for p in layer.parameters()) + sum(
        p.numel() for p in nn.LayerNorm(D, bias=bias).parameters()
    )
    tables = 2 * V * D + positions * D
    assert gpt.decoder_parameters(V, D, 2, 3, 3, 4, F_, False, bias, False, positions) == count + tables


def test_logits_are_llamas():
    ours = model(torch.float32)
    theirs = llama_of(ours.state_dict(), SIZES)
    ids = torch.randint(23, (2, 17), generator=torch.Generator().manual_seed(0))
    logits, _ = ours(ids)
    assert torch.allclose(logits, theirs(ids).logits, rtol=1e-4, atol=1e-4)


def test_greedy_text_is_llamas():
    ours = model(torch.float32)
    ids = torch.randint(23, (1, 5), generator=torch.Generator().manual_seed(0))
    found = gpt.generate_text(ours, ids, 20, torch.Generator(), temperature=0)
    theirs = llama_of(ours.state_dict(), SIZES).generate(
        ids, max_new_tokens=20, do_sample=False, pad_token_id=0, eos_token_id=None
    )
    assert torch.equal(found, theirs[:, 5:])


def test_cached_attention_is_torchs_over_the_whole_text():
    h, g, d = 6, 2, 4
    y, *weights = (noise(*s, seed=i) for i, s in enumerate([(2, 7, 24), (24, 24), (8, 24), (8, 24), (24, 24)]))
    W_q, W_k, W_v, W_o = weights
    q, k, v = ((y @ W.T).view(2, 7, -1, d).transpose(1, 2) for W in (W_q, W_k, W_v))
    theirs = F.scaled_dot_product_attention(gpt.rope(q), gpt.rope(k), v, is_causal=True, enable_gqa=True)
    theirs = theirs.transpose(1, 2).reshape(2, 7, h * d) @ W_o.T
    ours, past = gpt.cached_attention(y[:, :3], *weights, h)
    later, (keys, values) = gpt.cached_attention(y[:, 3:], *weights, h, past)
    same_with_gradients(torch.cat([ours, later], 1), theirs, [y, *weights], 1e-9)
    assert keys.shape == values.shape == (2, g, 7, d)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=5))
@settings(max_examples=15, deadline=None)
def test_in_chunks_of_any_size_the_logits_are_the_same(chunks):
    ours = model()
    ids = torch.randint(23, (2, sum(chunks)), generator=torch.Generator().manual_seed(0))
    whole, _ = ours(ids)
    cache, parts = None, []
    for chunk in ids.split(chunks, dim=1):
        before = [part.clone() for pair in cache or [] for part in pair]
        logits, new = ours(chunk, cache)
        assert all(map(torch.equal, before, [part for pair in cache or [] for part in pair]))
        parts, cache = [*parts, logits], new
    assert torch.allclose(torch.cat(parts, 1), whole, atol=1e-10)
    assert [tuple(part.shape) for pair in cache for part in pair] == [(2, 2, sum(chunks), 4)] * 6


def test_vectors_in_place_of_ids():
    ours, ids = model(), torch.tensor([[3, 1, 4]])
    assert torch.equal(ours(ids)[0], ours(ours.embed(ids))[0])


def test_the_output_is_tied():
    ours, ids = model(), torch.tensor([[3, 1, 4]])
    ours(ids)[0].sum().backward()
    assert bool((ours.words.weight.grad != 0).any(1).all())  # tokens that were not read, too
    before = ours(torch.tensor([[5]]))[0]
    with torch.no_grad():
        ours.words.weight[7] += 1.0
    changed = (ours(torch.tensor([[5]]))[0] != before)[0, 0]
    assert changed.nonzero().flatten().tolist() == [7]


def test_it_begins_undecided():
    torch.manual_seed(0)
    ours, ids = gpt.GPT(256, 64, 2, 4, 2, 128), torch.randint(256, (8, 64))
    loss = F.cross_entropy(ours(ids)[0].flatten(0, 1), torch.randint(256, (8 * 64,)))
    assert abs(loss.item() - math.log(256) - 0.5) < 0.15  # logits of variance 1 add a half


def test_published_weights_are_copied_from_half_precision():
    ours, other = model(torch.float32), gpt.GPT(**SIZES)
    state = {name: weight.half() for name, weight in ours.state_dict().items()}
    assert other.load_published(state) is other
    for name, weight in other.state_dict().items():
        assert weight.dtype == torch.float32 and torch.equal(weight, state[name].float())
        assert weight.data_ptr() != state[name].data_ptr()


@pytest.mark.parametrize("wrong", [{"n_heads": 5}, {"n_heads": 8}, {"n_groups": 4}, {"n_groups": 0}])
def test_sizes_that_do_not_fit_are_refused(wrong):
    with pytest.raises(ValueError, match="cannot"):
        gpt.GPT(**{**SIZES, **wrong})


def shares(n=20_000, **how):
    logits = torch.tensor([0.5, 0.3, 0.15, 0.05]).log().expand(n, -1)
    drawn = gpt.next_token(logits, generator=torch.Generator().manual_seed(0), **how)
    return (torch.bincount(drawn, minlength=4) / n).tolist()


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ({}, [0.5, 0.3, 0.15, 0.05]),
        ({"temperature": 0.5}, [0.685, 0.247, 0.062, 0.007]),
        ({"top_k": 9}, [0.5, 0.3, 0.15, 0.05]),
        ({"top_k": 2}, [0.625, 0.375, 0, 0]),
        ({"top_p": 0.6}, [0.625, 0.375, 0, 0]),
        ({"top_p": 0.01}, [1, 0, 0, 0]),
        ({"top_p": 1.0}, [0.5, 0.3, 0.15, 0.05]),
        ({"temperature": 0.5, "top_p": 0.6}, [1, 0, 0, 0]),
        ({"top_k": 2, "top_p": 0.6}, [1, 0, 0, 0]),
        ({"temperature": 0}, [1, 0, 0, 0]),
    ],
)
def test_tokens_are_drawn_as_often_as_they_should(how, expected):
    assert shares(**how) == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize("how", [{"temperature": -1.0}, {"top_k": 0}, {"top_p": 0.0}])
def test_nothing_to_draw_is_refused(how):
    with pytest.raises(ValueError, match="nothing can be drawn"):
        gpt.next_token(torch.zeros(2, 3), **how)


def test_the_prompt_is_read_once_and_then_a_token_at_a_time():
    ours, read = model(), []

    def noted(ids, cache=None):
        read.append(tuple(ids.shape))
        return ours(ids, cache)

    ids = torch.randint(23, (2, 5), generator=torch.Generator().manual_seed(0))
    written = gpt.generate_text(noted, ids, 4, torch.Generator().manual_seed(0))
    assert written.shape == (2, 4) and read == [(2, 5), (2, 1), (2, 1), (2, 1)]
    assert gpt.generate_text(noted, ids, 0, torch.Generator()).shape == (2, 0)


@given(st.floats(0.5, 4), st.floats(0.2, 1.2), st.floats(0.5, 3))
@settings(max_examples=20, deadline=None)
def test_an_exact_law_is_found(E, alpha, drop):
    N = torch.tensor([1e3, 4e3, 1e4, 5e4, 3e5], dtype=torch.float64)
    A = drop * 1e3**alpha
    found = gpt.fit_power_law(N, E + A / N**alpha)
    assert found["E"] == pytest.approx(E, abs=0.02 * drop)
    assert found["alpha"] == pytest.approx(alpha, rel=0.02) and math.log(found["A"]) == pytest.approx(
        math.log(A), abs=0.1
    )


def test_the_fit_by_hand():
    found = gpt.fit_power_law(torch.tensor([1e4, 4e4, 16e4]), torch.tensor([3.5, 3.0, 2.75]))
    assert found == pytest.approx({"E": 2.5, "A": 100.0, "alpha": 0.5}, rel=1e-3)


def test_two_sizes_are_not_enough():
    with pytest.raises(ValueError, match="three sizes"):
        gpt.fit_power_law(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 2.0]))
