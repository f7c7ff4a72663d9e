"""Wrong answers as people write them, and the feedback on each: about its numbers, or by its misconception."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course.reference.lora import LoRALinear
from tests.few import few
from tests.hidden.judged import verdict_on

SEEDS = (3, 42)
HEARS: list[tuple[str, object, str]] = []
"""Exercise, answer, and words of the message or of the hint."""


def hears(exercise, words):
    def add(answer):
        HEARS.append((exercise, answer, words))
        return answer

    return add


# -- markov_ngrams and cbow --------------------------------------------------------------------------------------------


@hears("perplexity", "which is the logarithm of the right one")
def mean_negative_log_likelihood(log_probs):
    return (-log_probs.sum() / len(log_probs)).item()


@hears("perplexity", "which is one divided by the right one")
def minus_forgotten(log_probs):
    return math.exp(log_probs.sum().item() / log_probs.numel())


@hears("transition_matrix", "the values sum to 1 along axis 0, but they should sum to 1 along axis 1")
def normalised_down(ids, vocab_size, alpha=0.0):
    C = torch.full((vocab_size, vocab_size), alpha)
    for a, b in zip(ids[:-1].tolist(), ids[1:].tolist(), strict=True):
        C[a, b] += 1
    return C / C.sum(dim=0, keepdim=True).clamp(min=1e-12)


@hears("build_vocab", "at other keys")
def sorted_set(tokens, min_count=1):
    kept = sorted({word for word in tokens if tokens.count(word) >= min_count})
    return {"<unk>": 0} | {word: i + 1 for i, word in enumerate(kept)}


@hears("cbow_logits", "this is the log-softmax of the right values along axis 1")
def log_probabilities(contexts, E, W, b):
    return F.log_softmax(E[contexts].mean(dim=1) @ W.T + b, dim=-1)


@hears("cbow_logits", "the values are too small by `b`")
def bias_forgotten(contexts, E, W, b):
    return E[contexts].mean(1) @ W.t()


@hears("cross_entropy", "times what it should be")
def loss_summed(logits, targets):
    log_p = logits - logits.logsumexp(1, keepdim=True)
    return -log_p.gather(1, targets[:, None]).sum()


@hears("cross_entropy", "which is right except for its sign")
def likelihood(logits, targets):
    return torch.log_softmax(logits, -1)[range(len(targets)), targets].mean()


@hears("cross_entropy", "which is the exponential of the right one")
def perplexity_instead(logits, targets):
    return (logits.logsumexp(1) - logits[torch.arange(len(targets)), targets]).mean().exp()


# -- rnn and lstm_gru --------------------------------------------------------------------------------------------------


@hears("rnn_cell", "the tanh of these values is the right answer")
def linear_cell(x, h, W_x, W_h, b):
    return x @ W_x.T + h @ W_h.T + b


@hears("rnn_cell", "the result is right with tanh in place of sigmoid")
def sigmoid_cell(x, h, W_x, W_h, b):
    return torch.sigmoid(x @ W_x.T + h @ W_h.T + b)


@hears("rnn_forward", "right only at the first position of axis 1")
def always_from_h0(xs, h0, W_x, W_h, b):
    states = [torch.tanh(xs[:, t] @ W_x.T + h0 @ W_h.T + b) for t in range(xs.shape[1])]
    return torch.stack(states, dim=1), states[-1]


def _gates(x, h, W, U, b):
    return (x @ W.T + h @ U.T + b).chunk(4, -1)


@hears("lstm_cell", "in result 2 of 2, the values are what result 1 of 2 should be (the other result is right)")
def h_for_c(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    h = o.sigmoid() * (f.sigmoid() * c + i.sigmoid() * g.tanh()).tanh()
    return h, h


@hears("lstm_cell", "in result 1 of 2, 10 of 10 values are off, the first at [0, 0] (the other result is right)")
def cell_not_squashed_on_its_way_out(x, h, c, W, U, b):
    i, f, g, o = _gates(x, h, W, U, b)
    c = f.sigmoid() * c + i.sigmoid() * g.tanh()
    return o.sigmoid() * c, c


@hears("run_bidirectional", "right only in the first half of axis 2")
def backward_states_as_they_came(cell_f, cell_b, xs, h0_f, h0_b):
    halves = []
    for cell, steps, h in ((cell_f, range(xs.shape[1]), h0_f), (cell_b, reversed(range(xs.shape[1])), h0_b)):
        states = []
        for t in steps:
            h = cell(xs[:, t], h)
            states.append(h)
        halves.append(torch.stack(states, 1))
    return torch.cat(halves, 2)


# -- attention ---------------------------------------------------------------------------------------------------------


@hears("dot_scores", "every value is the absolute value of the right one")
def size_of_the_product(query, keys):
    return torch.einsum("bd,btd->bt", query, keys).abs()


@hears("attend", "every value is 0.3333 times what it should be (the other result is right)")
def mean_of_weighted_values(scores, values, mask):
    weights = scores.masked_fill(~mask, -math.inf).softmax(-1)
    weights = weights.where(mask, torch.zeros_like(weights))
    return (weights.unsqueeze(-1) * values).mean(1), weights


@hears("shift_right", "the values are those of `targets`, unchanged")
def no_shift(targets, sos):
    return targets.clone()


@hears("scaled_dot_product_attention", "the values sum to 1 along axis 1, but they should sum to 1 along axis 2")
def softmax_over_queries(q, k, v):
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    weights = F.softmax(scores, dim=-2)
    return weights @ v, weights


@hears("crossover_length", "which is the square of the right one")
def where_the_products_cross(d):
    return float(2 * d) ** 2


@hears("split_heads", "the values are the right ones, but at other positions")
def reshaped_to_heads(x, n_heads):
    B, T, D = x.shape
    return x.reshape(B, n_heads, T, D // n_heads)


# -- positions and masks -----------------------------------------------------------------------------------------------


@hears("sinusoidal", "the values are right, but in another order along axis 1")
def sines_then_cosines(n_positions, d_model):
    angles = torch.arange(n_positions)[:, None] / 10000 ** (torch.arange(0, d_model, 2) / d_model)
    return torch.cat([angles.sin(), angles.cos()[:, : d_model // 2]], 1)


@hears("alibi_bias", "times what it should be")
def heads_counted_from_zero(n_heads, T):
    slopes = torch.tensor([2 ** (-8 * h / n_heads) for h in range(n_heads)])
    distance = torch.arange(T)[:, None] - torch.arange(T)[None]
    bias = -slopes[:, None, None] * distance
    return bias.masked_fill(distance < 0, -math.inf)


@hears("causal_mask", "every True should be False, and every False True")
def triu_of_what_is_hidden(T):
    return torch.triu(torch.ones(T, T), diagonal=1).bool()


@hears("causal_mask", "the values are right, but transposed")
def triu_of_what_is_seen(T):
    return torch.ones(T, T).triu().bool()


@hears("padding_mask", "the values are right, but reversed along axis 1")
def padding_in_front(lengths, max_len):
    return torch.arange(max_len) >= max_len - lengths[:, None]


@hears("masked_softmax", "the values are right up to a factor")
def hidden_when_all_is_shared_out(scores, mask, dim=-1):
    return torch.softmax(scores, dim) * mask


@hears("masked_mean", "the values are right up to a factor")
def divided_by_all(x, mask):
    return (x * mask.unsqueeze(-1)).sum(1) / x.shape[1]


@hears("masked_mean", "the values are right where `mask` is True throughout, and wrong elsewhere")
def padding_averaged(x, mask):
    return x.mean(dim=1)


# -- encoder_decoder ---------------------------------------------------------------------------------------------------


@hears("feed_forward", "the values are too large by `x`")
def with_a_residual(x, W1, b1, W2, b2):
    return x + torch.relu(x @ W1.T + b1) @ W2.T + b2


@hears("label_smoothing_loss", "Your solution is right only where `epsilon` is 0")
def epsilon_forgotten(logits, targets, epsilon, mask):
    loss = -logits.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1)
    return (loss * mask).sum() / mask.sum()


@hears("label_smoothing_loss", "times what it should be")
def summed_over_tokens(logits, targets, epsilon, mask):
    log_p = logits.log_softmax(-1)
    loss = -(1 - epsilon) * log_p.gather(-1, targets[..., None]).squeeze(-1) - epsilon * log_p.mean(-1)
    return loss[mask].sum()


# -- vit_patches and lora ----------------------------------------------------------------------------------------------


@hears("patchify", "the values are right, but in another order along axis 2")
def channels_last(images, p):
    B, C, H, W = images.shape
    if H % p or W % p:
        raise ValueError("p does not divide the image")
    return images.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 3, 5, 1).reshape(B, -1, C * p * p)


@hears("embed_patches", "the values are too small by `positions`")
def positions_forgotten(images, W, b, cls, positions):
    p = math.isqrt(W.shape[1] // images.shape[1])
    words = F.unfold(images, p, stride=p).mT @ W.T + b
    return torch.cat([cls.expand(len(images), 1, -1), words], 1)


@hears("add_lora", "Is part of a name the name?")
def wherever_the_name_occurs(model, r, alpha, targets):
    found = [name for name, m in model.named_modules() if isinstance(m, nn.Linear) and any(t in name for t in targets)]
    if not found or any(isinstance(module, LoRALinear) for module in model.modules()):
        raise ValueError("nothing to do")
    for parameter in model.parameters():
        parameter.requires_grad = False
    for name in found:
        path, _, last = name.rpartition(".")
        setattr(model.get_submodule(path), last, LoRALinear(model.get_submodule(name), r, alpha))
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


# -- linear_time and assistant -----------------------------------------------------------------------------------------


@hears("wkv", "is the bonus still in it?")
def sums_of_the_output_go_on(k, v, w, u):
    top, total, count, outs = torch.full_like(k[:, 0], -1e38), 0.0, 0.0, []
    for k_t, v_t in zip(k.unbind(1), v.unbind(1), strict=True):
        high = torch.maximum(top, k_t + u)
        total = torch.exp(top - high) * total + torch.exp(k_t + u - high) * v_t
        count = torch.exp(top - high) * count + torch.exp(k_t + u - high)
        outs.append(total / count)
        top = high - w
    return torch.stack(outs, dim=1)


@hears("prefix_scan", "the first at [0, 1024, 0]")
def window_of_a_thousand(a, b):
    for s in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512):
        b = torch.cat([b[:, :s], a[:, s:] * b[:, :-s] + b[:, s:]], dim=1)
        a = torch.cat([a[:, :s], a[:, s:] * a[:, :-s]], dim=1)
    return b


@hears("sequence_log_prob", "Print the shapes of what you multiply by `learned`")
def squeezed_bare(logits, ids, learned):
    log_p = torch.log_softmax(logits[:, :-1], dim=-1)
    per_token = torch.gather(log_p, 2, ids[:, 1:].unsqueeze(2)).squeeze()
    return (per_token * learned[:, 1:].to(per_token.dtype)).sum(-1)


@hears("stretch", "What does your check count, and for which row?")
def images_counted_at_once(ids, learned, image_id, N):
    rows, places = torch.where(ids == image_id)
    if len(rows) != ids.shape[0]:
        raise ValueError("one image a row")
    longer, spoken = [], []
    for row, says, k in zip(ids, learned, places.tolist(), strict=True):
        longer.append(torch.cat([row[:k], torch.full((N,), image_id), row[k + 1 :]]))
        spoken.append(torch.cat([says[:k], torch.zeros(N, dtype=torch.bool), says[k + 1 :]]))
    return torch.stack(longer), torch.stack(spoken)


@hears("insert_patches", "What does your check count, and for which row?")
def as_many_images_as_rows(words, ids, image_id, patches):
    if (ids == image_id).sum() != len(words):
        raise ValueError("one image a row")
    places = (ids == image_id).float().argmax(dim=1)
    rows = [torch.cat([words[b, :k], patches[b], words[b, k + 1 :]]) for b, k in enumerate(places)]
    return torch.stack(rows)


@hears("dpo_loss", "IPO")
def ipo_of_trl(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    logits = (policy_chosen - policy_rejected) - (ref_chosen - ref_rejected).detach()
    return ((logits - 1 / (2 * beta)) ** 2).mean()


@hears("dpo_loss", "SLiC")
def hinge_of_trl(policy_chosen, policy_rejected, ref_chosen, ref_rejected, beta):
    logits = (policy_chosen - policy_rejected) - (ref_chosen - ref_rejected).detach()
    return torch.relu(1 - beta * logits).mean()


@hears("group_advantages", "6 of 8 values are off")
def a_thousandth_in_the_denominator(rewards):
    deviation = rewards.std(1, keepdim=True).nan_to_num()
    return (rewards - rewards.mean(1, keepdim=True)) / (deviation + 1e-3)


@pytest.mark.parametrize("seed", few(SEEDS, 3))
@pytest.mark.parametrize(("exercise", "answer", "words"), HEARS, ids=[answer.__name__ for _, answer, _ in HEARS])
def test_what_a_wrong_answer_hears(exercise, answer, words, seed):
    verdict = verdict_on(exercise, answer, seed)
    assert verdict.score < verdict.points
    heard = [verdict.message, verdict.hint, verdict.convention, *(case.message for case in verdict.cases)]
    assert any(words in sentence for sentence in heard), heard
