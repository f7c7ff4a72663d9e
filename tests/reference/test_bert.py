"""The reference of topic 16 against BERT in `transformers`, topic 12, brute force and published numbers."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional as F

from course.reference import bert
from course.reference.lora import LoRALinear, merge

CLS, SEP = 101, 102
SIZES = {"vocab_size": 23, "d_model": 24, "n_heads": 3, "d_ff": 37, "n_layers": 3, "max_len": 11}
PUBLISHED = (
    *(-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635),
    *(-0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725),
    *(0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0),
)
"""The levels of NF4 as QLoRA's appendix E prints them, from an offset that was rounded."""


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def numbers(*shape, seed=0, dtype=torch.float64):
    return torch.randn(*shape, generator=generator(seed), dtype=torch.float64).to(dtype)


# -- pairs -----------------------------------------------------------------------------------------------------------


def test_pairs_are_packed_as_in_the_paper():
    first, second = [torch.tensor([5, 6]), torch.tensor([0])], [torch.tensor([7]), torch.tensor([8, 9, 8])]
    ids, segments, mask = bert.pack_pairs(first, second, CLS, SEP)
    assert ids.tolist() == [[CLS, 5, 6, SEP, 7, SEP, 0], [CLS, 0, SEP, 8, 9, 8, SEP]]
    assert segments.tolist() == [[0, 0, 0, 0, 1, 1, 0], [0, 0, 0, 1, 1, 1, 1]]
    assert mask.tolist() == [[True] * 6 + [False], [True] * 7]
    assert (ids.dtype, segments.dtype, mask.dtype) == (torch.long, torch.long, torch.bool)


def test_single_sentences_are_packed_alone():
    ids, segments, mask = bert.pack_pairs([torch.tensor([5, 6]), torch.tensor([7])], None, CLS, SEP)
    assert ids.tolist() == [[CLS, 5, 6, SEP], [CLS, 7, SEP, 0]]
    assert not segments.any() and mask.sum(1).tolist() == [4, 3]


def test_pairs_need_as_many_of_both():
    with pytest.raises(ValueError, match="2 first sentences and 1 second"):
        bert.pack_pairs([torch.tensor([5])] * 2, [torch.tensor([5])], CLS, SEP)


DOCUMENTS = [[(1,), (2, 3), (4,)], [(5,)], [(6,), (2, 3)], [(7, 7), (8,)]]


def test_every_neighbour_comes_once_and_strangers_are_strange():
    seen: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    labels = []
    seeded = generator()
    for _ in range(300):
        pairs, label = bert.next_sentence_pairs(DOCUMENTS, seeded)
        assert [first for first, _ in pairs] == [(1,), (2, 3), (6,), (7, 7)] and label.dtype == torch.long
        truth = dict(zip(range(4), [(2, 3), (4,), (2, 3), (8,)]))
        for number, ((first, second), is_next) in enumerate(zip(pairs, label.tolist())):
            assert (second == truth[number]) == bool(is_next)
            if not is_next:
                seen.setdefault(first, set()).add(second)
        labels += label.tolist()
    assert 0.45 < sum(labels) / len(labels) < 0.55
    assert seen[(1,)] == {(5,), (6,), (7, 7), (8,)}  # the true one stands in another document, too
    assert seen[(7, 7)] == {(1,), (2, 3), (4,), (5,), (6,)}


def test_one_document_has_no_strangers():
    with pytest.raises(ValueError, match="no other document"):
        bert.next_sentence_pairs([[(1,), (2,)]], generator())


# -- spans -----------------------------------------------------------------------------------------------------------


def test_the_papers_sentence():
    thank_you_for_inviting = list(range(10, 19))  # Thank you for inviting me to your party last, in place of words
    inputs, targets = bert.span_corrupt(thank_you_for_inviting, [2, 8], [2, 1], [91, 92, 93, 94])
    assert inputs == [10, 11, 91, 14, 15, 16, 17, 92]
    assert targets == [91, 12, 13, 92, 18, 93]
    assert bert.span_corrupt([1, 2], [], [], [91, 92]) == ([1, 2], [91])


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_spans_put_back_give_the_text(data):
    lengths = data.draw(st.lists(st.integers(1, 3), max_size=4))
    gaps = data.draw(st.lists(st.integers(1, 3), min_size=len(lengths) + 1, max_size=len(lengths) + 1))
    text, starts = list(range(gaps[0])), []
    for length, gap in zip(lengths, gaps[1:]):
        starts.append(len(text))
        text += range(len(text), len(text) + length + gap)
    sentinels = [900 + i for i in range(len(lengths) + 1 + data.draw(st.integers(0, 2)))]
    inputs, targets = bert.span_corrupt(text, starts, lengths, sentinels)
    assert len(inputs) + len(targets) == len(text) + 2 * len(lengths) + 1 and targets[-1] == sentinels[len(lengths)]
    stood = {
        s: targets[targets.index(s) + 1 : targets.index(t)]
        for s, t in itertools.pairwise(sentinels[: len(lengths) + 1])
    }
    assert [word for token in inputs for word in stood.get(token, [token])] == text


@pytest.mark.parametrize(("starts", "lengths", "sentinels"), [([1], [2], [91]), ([3], [2], [91, 92]),
                                                              ([1, 2], [2, 1], [91, 92, 93])])  # fmt: skip
def test_spans_that_do_not_fit_are_refused(starts, lengths, sentinels):
    with pytest.raises(ValueError, match=r"sentinels|no span"):
        bert.span_corrupt([1, 2, 3, 4], starts, lengths, sentinels)


# -- the model -------------------------------------------------------------------------------------------------------


def model(**sizes):
    torch.manual_seed(0)
    return bert.Bert(**{**SIZES, **sizes}).double().eval()


def published(ours):
    """BERT of `transformers` with the same weights. Its nonlinearity and eps are set to those of topic 10."""
    transformers = pytest.importorskip("transformers")
    config = transformers.BertConfig(
        vocab_size=SIZES["vocab_size"],
        hidden_size=SIZES["d_model"],
        num_hidden_layers=SIZES["n_layers"],
        num_attention_heads=SIZES["n_heads"],
        intermediate_size=SIZES["d_ff"],
        max_position_embeddings=SIZES["max_len"],
        hidden_act="relu",
        layer_norm_eps=1e-5,
        attn_implementation="eager",
    )
    theirs = transformers.BertForPreTraining(config).double().eval()
    inside = {"self_attention.W_q": "attention.self.query", "self_attention.W_k": "attention.self.key",
              "self_attention.W_v": "attention.self.value", "self_attention.W_o": "attention.output.dense",
              "norm1": "attention.output.LayerNorm", "up": "intermediate.dense", "down": "output.dense",
              "norm2": "output.LayerNorm"}  # fmt: skip
    names = {"words": "bert.embeddings.word_embeddings", "positions": "bert.embeddings.position_embeddings",
             "segments": "bert.embeddings.token_type_embeddings", "norm": "bert.embeddings.LayerNorm",
             "pooler": "bert.pooler.dense", "pair": "cls.seq_relationship"}  # fmt: skip
    for layer in range(SIZES["n_layers"]):
        names |= {f"layers.{layer}.{a}": f"bert.encoder.layer.{layer}.{b}" for a, b in inside.items()}
    with torch.no_grad():
        for name, weight in ours.named_parameters():
            if name == "bias":
                theirs.cls.predictions.bias.copy_(weight)
            else:
                part, _, last = name.rpartition(".")
                theirs.get_parameter(f"{names[part]}.{last}").copy_(weight)
    return theirs


def test_the_model_is_transformers_bert():
    """The same vectors, logits and gradients. BERT's extra layer before the word logits is left out."""
    ours = model()
    for parameter in ours.parameters():
        nn.init.normal_(parameter, std=0.3)
    theirs = published(ours)
    ids = torch.randint(23, (5, 11), generator=generator())
    mask = torch.arange(11) < torch.tensor([11, 7, 3, 10, 5])[:, None]
    segments = torch.randint(2, (5, 11), generator=generator(1))
    words, pair = ours(ids, segments, mask)
    inner = theirs.bert(input_ids=ids, token_type_ids=segments, attention_mask=mask.long())
    torch.testing.assert_close(words[mask], inner.last_hidden_state[mask])
    torch.testing.assert_close(pair, theirs.cls.seq_relationship(inner.pooler_output))
    torch.testing.assert_close(
        ours.word_logits(words)[mask], theirs.cls.predictions.decoder(inner.last_hidden_state)[mask]
    )
    weights = numbers(*words.shape)
    (words * weights * mask[..., None]).sum().backward()
    (inner.last_hidden_state * weights * mask[..., None]).sum().backward()
    grads = ours.words.weight.grad, theirs.bert.embeddings.word_embeddings.weight.grad
    torch.testing.assert_close(grads[0][1:], grads[1][1:])  # theirs gives padding, which is 0, no gradient


def test_what_lies_behind_the_mask_does_not_matter():
    ours, ids = model(), torch.randint(23, (2, 7), generator=generator())
    mask = torch.arange(7) < torch.tensor([4, 6])[:, None]
    words, pair = ours(ids, torch.zeros_like(ids), mask)
    other, again = ours(torch.where(mask, ids, 1), (~mask).long(), mask)
    torch.testing.assert_close(words[mask], other[mask])
    torch.testing.assert_close(pair, again)


def test_a_long_row_is_refused():
    with pytest.raises(ValueError, match="12 tokens"):
        model()(torch.zeros(1, 12).long(), torch.zeros(1, 12).long(), torch.ones(1, 12).bool())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_loss_is_torchs(dtype):
    logits, pair = numbers(2, 5, 7, dtype=dtype).requires_grad_(), numbers(2, 2, seed=1, dtype=dtype).requires_grad_()
    labels = torch.tensor([[-100, 3, -100, -100, 0], [-100] * 5])
    is_next = torch.tensor([0, 1])
    ours = bert.pretraining_loss(logits, labels, pair, is_next)
    theirs = F.cross_entropy(logits.flatten(0, 1), labels.flatten()) + F.cross_entropy(pair, is_next)
    torch.testing.assert_close(ours, theirs)
    for a, b in zip(torch.autograd.grad(ours, [logits, pair]), torch.autograd.grad(theirs, [logits, pair])):
        torch.testing.assert_close(a, b)


def test_a_batch_with_nothing_hidden_has_the_loss_of_its_pairs():
    logits, pair, is_next = numbers(2, 3, 7).requires_grad_(), numbers(2, 2), torch.tensor([1, 1])
    loss = bert.pretraining_loss(logits, torch.full((2, 3), -100), pair, is_next)
    torch.testing.assert_close(loss, F.cross_entropy(pair, is_next))
    assert not torch.autograd.grad(loss, logits)[0].any()


def test_labels_of_another_shape_are_refused():
    with pytest.raises(ValueError, match="first two axes"):
        bert.pretraining_loss(numbers(2, 3, 7), torch.zeros(2, 4).long(), numbers(2, 2), torch.zeros(2).long())


# -- answers ---------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(1, 7))
@settings(max_examples=80, deadline=None)
def test_the_best_span_is_the_best_of_all(seed, T, longest):
    start, end = numbers(1, T, seed=seed), numbers(1, T, seed=seed + 1)
    first, last = sorted(torch.randint(T + 1, (2,), generator=generator(seed)).tolist())
    mask = ((torch.arange(T) >= first) & (torch.arange(T) < last))[None]
    spans = [(i, j) for i in range(first, last) for j in range(i, last) if j - i < longest]
    best = max(spans, key=lambda span: float(start[0, span[0]] + end[0, span[1]]), default=(0, 0))
    assert bert.best_span(start, end, mask, longest).tolist() == [list(best)]


def test_spans_need_one_shape():
    with pytest.raises(ValueError, match="one shape"):
        bert.best_span(numbers(1, 3), numbers(1, 4), torch.ones(1, 3).bool(), 2)


# -- four bits -------------------------------------------------------------------------------------------------------


def test_the_levels_are_the_published_ones():
    torch.testing.assert_close(
        bert.nf4_levels(), torch.tensor(PUBLISHED), atol=5e-7, rtol=0
    )  # theirs rounds the offset


def test_the_notebooks_example():
    W, levels = torch.tensor([[0.4, -0.2, 0.1, 0], [2, -1, 0.3, -1.6]]), bert.nf4_levels()
    codes, scales = bert.quantise(W, levels, 4)
    assert codes.tolist() == [[242, 167], [242, 145]] and codes.dtype == torch.uint8
    assert scales.tolist() == pytest.approx([0.4, 2.0])
    back = bert.dequantise(codes, scales, levels, (2, 4))
    expected = torch.tensor([[0.4, -0.210, 0.098, 0], [2, -1.050, 0.322, -1.392]])
    torch.testing.assert_close(back, expected, atol=6e-4, rtol=0)
    whole = bert.dequantise(*bert.quantise(W, levels, 8), levels, (2, 4))
    torch.testing.assert_close(whole[0], torch.tensor([0.322, -0.182, 0.159, 0]), atol=6e-4, rtol=0)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize(("shape", "block"), [((3, 5), 4), ((2, 7), 2), ((1, 3), 64), ((4, 8), 8)])
def test_weights_become_the_nearest_level_of_their_block(dtype, shape, block):
    W, levels = numbers(*shape, dtype=dtype), bert.nf4_levels().to(dtype)
    codes, scales = bert.quantise(W, levels, block)
    blocks = -(-W.numel() // block)
    assert codes.shape == (blocks, block // 2) and scales.shape == (blocks,) and scales.dtype == dtype
    back = bert.dequantise(codes, scales, levels, shape)
    assert back.dtype == dtype and back.shape == W.shape
    for number, weight in enumerate(W.flatten().tolist()):
        some = W.flatten()[number // block * block :][:block]
        scale = float(some.abs().max())
        nearest = min(abs(weight / scale - level) for level in levels.tolist())
        assert abs(float(back.flatten()[number]) - weight) <= scale * nearest * 1.01 + 1e-3 * (dtype == torch.float16)


def test_a_block_of_zeros_comes_back_as_zeros():
    W = torch.cat([torch.zeros(1, 4), torch.ones(1, 4)], 1)
    codes, scales = bert.quantise(W, bert.nf4_levels(), 4)
    assert scales.tolist() == [0, 1] and bert.dequantise(codes, scales, bert.nf4_levels(), (1, 8)).equal(W)


def test_quantising_twice_changes_nothing():
    levels, W = bert.nf4_levels(), numbers(6, 10, dtype=torch.float32)
    back = bert.dequantise(*bert.quantise(W, levels, 6), levels, W.shape)
    torch.testing.assert_close(bert.dequantise(*bert.quantise(back, levels, 6), levels, W.shape), back)


def test_odd_blocks_are_refused():
    with pytest.raises(ValueError, match="block of 3"):
        bert.quantise(numbers(2, 3), bert.nf4_levels(), 3)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_qlora_is_lora_on_the_dequantised_base(bias, dtype):
    base = nn.Linear(7, 5, bias, dtype=dtype)
    quantised = bert.QLoRALinear(base, 3, 6.0, block=4)
    rounded = nn.Linear(7, 5, bias, dtype=dtype)
    rounded.load_state_dict(base.state_dict())
    levels = bert.nf4_levels()
    rounded.weight.data = bert.dequantise(*bert.quantise(base.weight, levels, 4), levels, (5, 7))
    adapted = LoRALinear(rounded, 3, 6.0)
    x = numbers(2, 3, 7, dtype=dtype).requires_grad_()
    torch.testing.assert_close(quantised(x), rounded(x))
    with torch.no_grad():
        for layer in (quantised, adapted):
            layer.A.copy_(numbers(3, 7))
            layer.B.copy_(numbers(5, 3, seed=1))
    torch.testing.assert_close(quantised(x), adapted(x))
    torch.testing.assert_close(quantised(x), merge(adapted)(x), rtol=1e-4, atol=1e-5)
    ours, theirs = ([layer.A, layer.B, x] for layer in (quantised, adapted))
    weights = numbers(2, 3, 5, dtype=dtype)
    for a, b in zip(torch.autograd.grad((quantised(x) * weights).sum(), ours),
                    torch.autograd.grad((adapted(x) * weights).sum(), theirs)):  # fmt: skip
        torch.testing.assert_close(a, b)


def test_qlora_saves_codes_scales_and_bias_beside_what_learns():
    layer = bert.QLoRALinear(nn.Linear(128, 64), 2, 4.0)
    assert set(layer.state_dict()) == {"codes", "scales", "bias", "A", "B"}
    assert [name for name, _ in layer.named_parameters()] == ["A", "B"]
    saved = sum(t.numel() * t.element_size() for t in layer.state_dict().values())
    assert saved == 128 * 64 // 2 + 4 * (128 + 64 + 2 * (128 + 64))
    with pytest.raises(ValueError, match="rank of 0"):
        bert.QLoRALinear(nn.Linear(3, 2), 0, 1.0)
