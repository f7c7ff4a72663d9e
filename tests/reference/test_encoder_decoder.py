"""The reference against torch's own layers, values and gradients, and decoding against counting everything."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.exercise.stand_ins import make, stand_in
from course.reference import encoder_decoder as reference
from tests.reference.numbers import gradients, noise

DTYPES = [torch.float32, torch.float64]
NORMS = ["post", "pre"]


# --- norm and feed-forward -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(2, 3, 5), (7, 11), (13,), (1, 1, 2), (3, 1, 5, 7)])
def test_layer_norm_agrees_with_torch_in_values_and_gradients(shape, dtype):
    inputs = [noise(*shape, dtype=dtype), noise(shape[-1], seed=1, dtype=dtype), noise(shape[-1], seed=2, dtype=dtype)]
    for eps in (1e-5, 0.3):
        ours = reference.layer_norm(*inputs, eps=eps)
        theirs = F.layer_norm(inputs[0], shape[-1:], inputs[1], inputs[2], eps)
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(gradients(ours, inputs), gradients(theirs, inputs), rtol=1e-4, atol=1e-4)


def test_feed_forward_is_two_linear_layers_with_a_relu_between():
    up, down = nn.Linear(5, 7).double(), nn.Linear(7, 5).double()
    x = noise(2, 3, 5)
    ours = reference.feed_forward(x, up.weight, up.bias, down.weight, down.bias)
    theirs = nn.Sequential(up, nn.ReLU(), down)(x)
    torch.testing.assert_close(ours, theirs)
    inputs = [x, *up.parameters(), *down.parameters()]
    torch.testing.assert_close(gradients(ours, inputs), gradients(theirs, inputs))


def test_weights_that_do_not_fit_are_refused_with_their_shapes():
    with pytest.raises(ValueError, match=r"gamma \(3,\)"):
        reference.layer_norm(torch.zeros(2, 5), torch.zeros(3), torch.zeros(5))
    with pytest.raises(ValueError, match=r"weights \(7, 5\) and \(7, 5\)"):
        reference.feed_forward(torch.zeros(2, 5), *(torch.zeros(s) for s in ((7, 5), (7,), (7, 5), (5,))))


# --- layers ----------------------------------------------------------------------------------------------------------


def copy_attention(theirs: nn.MultiheadAttention, ours: reference.MultiHeadAttention) -> None:
    for name, weight, bias in zip("qkv", theirs.in_proj_weight.chunk(3), theirs.in_proj_bias.chunk(3), strict=True):
        getattr(ours, f"W_{name}").weight.copy_(weight)
        getattr(ours, f"W_{name}").bias.copy_(bias)
    ours.W_o.load_state_dict(theirs.out_proj.state_dict())


@torch.no_grad()
def copy_layer(theirs: nn.Module, ours: reference.EncoderLayer) -> None:
    copy_attention(theirs.self_attn, ours.self_attention)
    names = {"up": "linear1", "down": "linear2", "norm1": "norm1", "norm2": "norm2"}
    if isinstance(ours, reference.DecoderLayer):
        copy_attention(theirs.multihead_attn, ours.cross_attention)
        names["norm3"] = "norm3"
    for mine, their in names.items():
        getattr(ours, mine).load_state_dict(getattr(theirs, their).state_dict())


def layers(kind, norm, D=6, heads=3, inner=11, dtype=torch.float64):
    """One of ours and one of torch's with the same random weights, norms and biases included."""
    built_in = nn.TransformerDecoderLayer if kind is reference.DecoderLayer else nn.TransformerEncoderLayer
    torch.manual_seed(0)
    theirs = built_in(D, heads, inner, dropout=0.0, batch_first=True, norm_first=norm == "pre", dtype=dtype)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter)
    ours = kind(D, heads, inner, dropout=0.0, norm=norm).to(dtype)
    copy_layer(theirs, ours)
    return ours, theirs


def ragged(B, S):
    return torch.arange(S) < torch.tensor([S, 1, S - 1, 2])[:B, None].clamp(1, S)  # torch 2.4 has NaN for no word


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("B", "T"), [(2, 5), (3, 1), (1, 7)])
def test_the_encoder_layer_agrees_with_torch(norm, B, T, dtype):
    ours, theirs = layers(reference.EncoderLayer, norm, dtype=dtype)
    x, real = noise(B, T, 6, dtype=dtype), ragged(B, T)
    close = {"rtol": 1e-3, "atol": 1e-3} if dtype == torch.float32 else {}
    torch.testing.assert_close(ours(x), theirs(x), **close)
    masked = ours(x, real[:, None, None]), theirs(x, src_key_padding_mask=~real)
    torch.testing.assert_close(*masked, **close)
    torch.testing.assert_close(*(gradients(out, [x]) for out in masked), **close)
    ours_up, theirs_up = ours.up.weight, theirs.linear1.weight
    torch.testing.assert_close(gradients(ours(x), [ours_up]), gradients(theirs(x), [theirs_up]), **close)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("B", "T", "S"), [(2, 5, 7), (3, 5, 5), (1, 1, 3)])
def test_the_decoder_layer_agrees_with_torch(norm, B, T, S, dtype):
    ours, theirs = layers(reference.DecoderLayer, norm, dtype=dtype)
    x, memory, real = noise(B, T, 6, dtype=dtype), noise(B, S, 6, seed=1, dtype=dtype), ragged(B, S)
    below = reference.causal(T)
    close = {"rtol": 1e-3, "atol": 1e-3} if dtype == torch.float32 else {}
    both = (
        ours(x, memory, below, real[:, None, None]),
        theirs(x, memory, tgt_mask=~below, memory_key_padding_mask=~real),
    )
    torch.testing.assert_close(*both, **close)
    torch.testing.assert_close(*(gradients(out, [x, memory]) for out in both), **close)
    torch.testing.assert_close(ours(x, memory), theirs(x, memory), **close)


def test_dropout_falls_on_what_a_sublayer_says_and_not_on_the_road():
    layer = reference.EncoderLayer(6, 3, 11, dropout=1.0, norm="pre")
    x = noise(2, 5, 6, dtype=torch.float32)
    assert torch.equal(layer(x), x)
    assert not torch.equal(layer.eval()(x), x)


def test_an_unknown_norm_and_heads_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="'post' or 'pre', not 'middle'"):
        reference.EncoderLayer(6, 3, 11, norm="middle")
    with pytest.raises(ValueError, match="4 heads cannot share a width of 6"):
        reference.DecoderLayer(6, 4, 11)


# --- the model -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", NORMS)
def test_the_model_agrees_with_torchs_own_transformer(norm):
    torch.manual_seed(0)
    ours = reference.Transformer(13, 17, 6, 3, 11, 2, dropout=0.0, norm=norm).double()
    theirs = nn.Transformer(6, 3, 2, 2, 11, 0.0, batch_first=True, norm_first=norm == "pre", dtype=torch.float64)
    for parameter in theirs.parameters():
        nn.init.normal_(parameter)
    for mine, their in ((ours.encoder, theirs.encoder), (ours.decoder, theirs.decoder)):
        for one, other in zip(mine, their.layers, strict=True):
            copy_layer(other, one)
    if norm == "pre":
        ours.encoder_norm.load_state_dict(theirs.encoder.norm.state_dict())
        ours.decoder_norm.load_state_dict(theirs.decoder.norm.state_dict())
    else:  # torch ends both towers in a norm, whatever the layers do; the paper's ends in its last layer
        theirs.encoder.norm = theirs.decoder.norm = None
    src, tgt = torch.randint(3, 13, (3, 7)), torch.randint(3, 17, (3, 5))
    src[1, 4:] = 0

    def embedded(ids, table):
        return table(ids) * math.sqrt(6) + ours.positions[: ids.shape[1]]

    out = theirs(
        embedded(src, ours.src_embed),
        embedded(tgt, ours.tgt_embed),
        tgt_mask=~reference.causal(5),
        src_key_padding_mask=src == 0,
        memory_key_padding_mask=src == 0,
    )
    torch.testing.assert_close(ours(src, tgt), out @ ours.tgt_embed.weight.T)


def test_no_word_depends_on_later_ones_or_on_padding():
    torch.manual_seed(1)
    model = reference.Transformer(13, 17, 6, 3, 11, 2).eval()
    src, tgt = torch.randint(3, 13, (2, 5)), torch.randint(3, 17, (2, 7))
    whole = model(src, tgt)
    for t in range(1, 7):
        other = torch.cat([tgt[:, :t], torch.randint(3, 17, (2, 7 - t))], dim=1)
        torch.testing.assert_close(model(src, other)[:, :t], whole[:, :t])
    torch.testing.assert_close(model(F.pad(src, (0, 4)), tgt), whole)


def test_a_sentence_that_is_too_long_is_refused():
    model = reference.Transformer(13, 17, 6, 3, 11, 1, max_len=4)
    with pytest.raises(ValueError, match="5 words, and the model reads at most 4"):
        model(torch.ones(1, 5).long(), torch.ones(1, 2).long())


# --- decoding --------------------------------------------------------------------------------------------------------


def oracle(seed=0, kinds=3, places=4, vocabulary=5):
    """A stand-in translator that never says pad or sos, and has ended at its last place."""
    scores = 2 * noise(kinds, places, 7, vocabulary, seed=seed).detach()
    scores[..., :2] = -50.0
    scores[:, -1, :, 2] = 50.0
    return make(stand_in("oracle", scores=scores, pad=0, sos=1, eos=2))


SOURCES = torch.tensor([[3, 4, 5], [4, 4, 5], [3, 3, 0]])


def worth(model, src, words, penalty):
    said = torch.tensor([[model.sos, *words]])
    log_p = model(src[None], said[:, :-1]).log_softmax(-1)[0]
    return sum(log_p[t, word].item() for t, word in enumerate(words)) / len(words) ** penalty


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("penalty", [0.0, 0.7, 1.0, 2.0])
def test_a_beam_as_wide_as_all_hypotheses_finds_the_best_of_all(seed, penalty):
    model = oracle(seed)
    everything = [[*words, 2] for n in range(4) for words in itertools.product((3, 4), repeat=n)]
    found = reference.decode_beam(model, SOURCES, 700, penalty)
    for src, ids in zip(SOURCES, found.tolist(), strict=True):
        best = max(everything, key=lambda words: worth(model, src, words, penalty))
        assert [i for i in ids if i != 0] == best


@pytest.mark.parametrize("seed", range(4))
def test_a_beam_of_one_is_greedy_decoding(seed):
    for penalty in (0.0, 1.0):
        model = oracle(seed, places=6, vocabulary=9)
        assert torch.equal(reference.decode_beam(model, SOURCES, 1, penalty), reference.decode_greedy(model, SOURCES))


def test_greedy_decoding_ends_each_sentence_on_its_own():
    model = oracle(2, places=6, vocabulary=9)
    together = reference.decode_greedy(model, SOURCES)
    for src, ids in zip(SOURCES, together, strict=True):
        alone = reference.decode_greedy(model, src[None])[0]
        assert torch.equal(F.pad(alone, (0, len(ids) - len(alone))), ids)
        assert ids.tolist().count(2) == 1


def test_a_beam_needs_a_width():
    with pytest.raises(ValueError, match="a beam of 0"):
        reference.decode_beam(oracle(), SOURCES, 0)


# --- loss, schedule, masks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("epsilon", [0.0, 0.1, 0.7, 1.0])
def test_label_smoothing_agrees_with_torch_in_values_and_gradients(epsilon, dtype):
    logits, targets = noise(3, 5, 7, dtype=dtype), torch.randint(0, 7, (3, 5))
    mask = ragged(3, 5)
    ours = reference.label_smoothing_loss(logits, targets, epsilon, mask)
    theirs = F.cross_entropy(logits[mask], targets[mask], label_smoothing=epsilon)
    torch.testing.assert_close(ours, theirs)
    torch.testing.assert_close(gradients(ours, [logits]), gradients(theirs, [logits]))


def test_a_mask_of_another_shape_is_refused():
    with pytest.raises(ValueError, match=r"mask \(2, 4\)"):
        reference.label_smoothing_loss(torch.zeros(2, 3, 5), torch.zeros(2, 3).long(), 0.1, torch.ones(2, 4).bool())


def test_the_schedule_has_the_papers_peak():
    rates = [reference.warmup_schedule(step, 512, 4000) for step in range(1, 20_001)]
    assert max(rates) == rates[3999] == pytest.approx((512 * 4000) ** -0.5)
    assert rates[0] == pytest.approx(rates[3999] / 4000) and rates[15_999] == pytest.approx(rates[3999] / 2)
    with pytest.raises(ValueError, match="count from 1"):
        reference.warmup_schedule(0, 512, 4000)


def test_the_three_architectures_differ_in_who_sees_whom():
    src, tgt = torch.tensor([3, 1]), torch.tensor([2, 4])
    encoder = reference.architecture_masks("encoder", src)
    assert encoder["decoder_self"] is None and encoder["cross"] is None
    assert encoder["encoder_self"][:, 0, 0].tolist() == [[True] * 3, [True, False, False]]
    decoder = reference.architecture_masks("decoder", tgt)
    assert decoder["encoder_self"] is None and decoder["decoder_self"].shape == (2, 1, 4, 4)
    assert decoder["decoder_self"][1, 0].tolist() == [[j <= i for j in range(4)] for i in range(4)]
    both = reference.architecture_masks("encoder-decoder", src, tgt)
    assert torch.equal(both["cross"], encoder["encoder_self"])
    assert torch.equal(both["decoder_self"], decoder["decoder_self"])
    for kind, lengths in (("sideways", src), ("encoder-decoder", None)):
        with pytest.raises(ValueError, match="no masks for"):
            reference.architecture_masks(kind, src, lengths)


def test_gpt_and_bert_have_the_lectures_numbers_of_parameters():
    with torch.device("meta"):
        tower = nn.ModuleList(reference.EncoderLayer(768, 12, 3072) for _ in range(12))
    layers = sum(parameter.numel() for parameter in tower.parameters())
    gpt = (40_478 + 512) * 768 + layers
    bert = (30_522 + 512 + 2) * 768 + 2 * 768 + layers + 768 * 768 + 768
    assert round(gpt / 1e6) == 117 and gpt == 116_534_784
    assert round(bert / 1e7) == 11 and bert == 109_482_240
