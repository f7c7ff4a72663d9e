"""Wrong answers to topic 10 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import math

import torch
from torch import nn
from torch.nn import functional as F

from course.reference import encoder_decoder as reference

# -- layer norm and feed-forward -------------------------------------------------------------------------------------


def deviation_detached(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdim=True)
    return gamma * centred / (centred.square().mean(-1, keepdim=True) + eps).sqrt().detach() + beta


def default_eps_always(x, gamma, beta, eps=1e-5):
    return reference.layer_norm(x, gamma, beta)


def median_for_mean(x, gamma, beta, eps=1e-5):
    centred = x - x.median(-1, keepdim=True).values
    return gamma * centred / (x.var(-1, correction=0, keepdim=True) + eps).sqrt() + beta


def second_moment_for_variance(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(-1, keepdim=True)) / (x.square().mean(-1, keepdim=True) + eps).sqrt() + beta


def centred_in_place(x, gamma, beta, eps=1e-5):
    with torch.no_grad():
        x -= x.mean(-1, keepdim=True)
    return reference.layer_norm(x, gamma, beta, eps)


def doubled(x, gamma, beta, eps=1e-5):
    return reference.layer_norm(x.double(), gamma.double(), beta.double(), eps)


def tanh_for_relu(x, W1, b1, W2, b2):
    return torch.tanh(x @ W1.T + b1) @ W2.T + b2


def leaky(x, W1, b1, W2, b2):
    return F.leaky_relu(x @ W1.T + b1) @ W2.T + b2


def inside_detached(x, W1, b1, W2, b2):
    return (x @ W1.T + b1).relu().detach() @ W2.T + b2


def words_pooled(x, W1, b1, W2, b2):
    pooled = x.mean(-2, keepdim=True).expand_as(x) if x.dim() > 1 else x
    return reference.feed_forward(pooled + 0 * x, W1, b1, W2, b2)


# -- layers ----------------------------------------------------------------------------------------------------------


class EncoderHalfResidual(reference.EncoderLayer):
    def forward(self, x, mask=None):
        x = self.around(self.norm1, lambda y: self.self_attention(y, y, mask)[0], x)
        if self.norm == "pre":
            return self.think(self.norm2(x))
        return self.norm2(self.think(x))


class EncoderNormedTwice(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        y = super().around(norm, sublayer, x)
        return norm(y) if self.norm == "post" else y


class EncoderDroppedBeforeTheSublayer(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        if self.norm == "pre":
            return x + sublayer(self.dropout(norm(x)))
        return norm(x + sublayer(self.dropout(x)))


class EncoderMaskInverted(reference.EncoderLayer):
    def forward(self, x, mask=None):
        return super().forward(x, None if mask is None else ~mask)


class EncoderFeedForwardFirst(reference.EncoderLayer):
    def forward(self, x, mask=None):
        x = self.around(self.norm1, self.think, x)
        return self.around(self.norm2, lambda y: self.self_attention(y, y, mask)[0], x)


class EncoderNormOverWords(reference.EncoderLayer):
    """Future leaks though the mask is right (MorvanZhou/NLP-Tutorials #10)."""

    def around(self, norm, sublayer, x):
        return super().around(lambda y: norm((y - y.mean(1, keepdim=True)) / (y.std(1, keepdim=True) + 1)), sublayer, x)


class EncoderSeesOnlyThePast(reference.EncoderLayer):
    def forward(self, x, mask=None):
        past = reference.causal(x.shape[1])
        return super().forward(x, past if mask is None else mask & past)


class EncoderDetached(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        return super().around(norm, lambda y: sublayer(y).detach(), x)


class EncoderDropsInEvaluationInPreNorm(reference.EncoderLayer):
    def around(self, norm, sublayer, x):
        if self.norm == "post":
            return super().around(norm, sublayer, x)
        return x + F.dropout(sublayer(norm(x)), self.dropout.p)


class DecoderValuesFromTheTarget(reference.DecoderLayer):
    """Keys from the encoder, values from the decoder; possible only where T = S."""

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        if x.shape[1] != memory.shape[1]:
            return super().forward(x, memory, tgt_mask, src_mask)
        x = self.around(self.norm1, lambda y: self.self_attention(y, y, tgt_mask)[0], x)

        def mixed(y):
            cross = self.cross_attention
            q, k, v = (
                W(z).unflatten(-1, (cross.n_heads, -1)).transpose(1, 2)
                for W, z in ((cross.W_q, y), (cross.W_k, memory), (cross.W_v, y))
            )
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=src_mask)
            return cross.W_o(out.transpose(1, 2).flatten(2))

        x = self.around(self.norm2, mixed, x)
        return self.around(self.norm3, self.think, x)


class DecoderMasksExchanged(reference.DecoderLayer):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory, src_mask, tgt_mask)


class DecoderMaskOnQueries(reference.DecoderLayer):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        if src_mask is not None:
            rows = src_mask.transpose(-1, -2)
            same = rows.shape[-2] in (1, x.shape[1])
            src_mask = rows if same else rows[..., :1, :]
        return super().forward(x, memory, tgt_mask, src_mask)


class DecoderFeedForwardBeforeTheCross(reference.DecoderLayer):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        x = self.around(self.norm1, lambda y: self.self_attention(y, y, tgt_mask)[0], x)
        x = self.around(self.norm2, self.think, x)
        return self.around(self.norm3, lambda y: self.cross_attention(y, memory, src_mask)[0], x)


class DecoderNoRelu(reference.DecoderLayer):
    def think(self, x):
        return self.down(self.up(x))


class DecoderCrossTwice(reference.DecoderLayer):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        x = self.around(self.norm1, lambda y: self.cross_attention(y, memory, src_mask)[0], x)
        x = self.around(self.norm2, lambda y: self.cross_attention(y, memory, src_mask)[0], x)
        return self.around(self.norm3, self.think, x)


class DecoderMemoryDetached(reference.DecoderLayer):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory.detach(), tgt_mask, src_mask)


class DecoderCausalAlways(reference.DecoderLayer):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory, reference.causal(x.shape[1]) if tgt_mask is None else tgt_mask, src_mask)


class DecoderRoadPastTheCross(reference.DecoderLayer):
    """The cross-attention's road begins before the self-attention."""

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        y = self.around(self.norm1, lambda z: self.self_attention(z, z, tgt_mask)[0], x)
        if self.norm == "pre":
            y = x + self.dropout(self.cross_attention(self.norm2(y), memory, src_mask)[0])
        else:
            y = self.norm2(x + self.dropout(self.cross_attention(y, memory, src_mask)[0]))
        return self.around(self.norm3, self.think, y)


# -- the model -------------------------------------------------------------------------------------------------------


class ModelTiedCopy(reference.Transformer):
    """Output weights copied from the embedding at birth: the same numbers once, and never again."""

    def __init__(self, *sizes, **settings):
        super().__init__(*sizes, **settings)
        self.out = nn.Linear(self.tgt_embed.embedding_dim, self.tgt_embed.num_embeddings, bias=False)
        self.out.weight.data.copy_(self.tgt_embed.weight.data)

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        logits = super().forward(src, tgt_in, src_mask, tgt_mask)
        hidden = torch.linalg.lstsq(self.tgt_embed.weight.double(), logits.transpose(1, 2).double()).solution
        return self.out(hidden.transpose(1, 2).to(self.out.weight.dtype))


class ModelBatchAsPlace(reference.Transformer):
    """`positions[:x.size(0)]` on a batch-first tensor (influenza_transformer #9)."""

    def embedded(self, ids, embed):
        return embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: len(ids), None]


class ModelStrictTriangle(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if tgt_mask is None:
            T = tgt_in.shape[1]
            tgt_mask = torch.ones(T, T).tril(-1).bool() | (torch.arange(T) == 0)
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class ModelOneStepAhead(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if tgt_mask is None:
            tgt_mask = torch.ones(tgt_in.shape[1], tgt_in.shape[1]).tril(1).bool()
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class ModelMaskOfTheFirstSentence(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        return super().forward(src, tgt_in, self.real(src)[:1] if src_mask is None else src_mask, tgt_mask)


class ModelOwnMasksBesideTheGiven(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        future = self.real(tgt_in) & reference.causal(tgt_in.shape[1])
        source = self.real(src) if src_mask is None else src_mask & self.real(src)
        return super().forward(src, tgt_in, source, future if tgt_mask is None else tgt_mask & future)


class ModelTakesBothMasksOrNone(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if src_mask is None or tgt_mask is None:
            src_mask = tgt_mask = None
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class ModelHidesSpecialWords(reference.Transformer):
    """Whatever is no word of the vocabulary proper counts as padding."""

    def real(self, ids):
        return ((ids > 2) & (ids != self.pad))[:, None, None]

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if tgt_mask is None:
            tgt_mask = (tgt_in != self.pad)[:, None, None] & reference.causal(tgt_in.shape[1])
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class ModelLastPlaceOnly(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        return super().forward(src, tgt_in, src_mask, tgt_mask)[:, -1]


class ModelLogProbabilities(reference.Transformer):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        return super().forward(src, tgt_in, src_mask, tgt_mask).log_softmax(-1)


class ModelDropsInEvaluation(reference.Transformer):
    def embedded(self, ids, embed):
        return F.dropout(embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: ids.shape[1]], self.dropout.p)


class ModelDropsWordsOfTheSourceOnly(reference.Transformer):
    def embedded(self, ids, embed):
        x = embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: ids.shape[1]]
        return self.dropout(x) if embed is self.src_embed else x


class ModelDropsWordsOfTheTargetOnly(reference.Transformer):
    def embedded(self, ids, embed):
        x = embed(ids) * math.sqrt(embed.embedding_dim) + self.positions[: ids.shape[1]]
        return self.dropout(x) if embed is self.tgt_embed else x


# -- decoding --------------------------------------------------------------------------------------------------------


def _greedy(model, src, choose, steps=0):
    said = torch.full((len(src), 1), model.sos)
    done = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(model.max_len + steps):
        word = choose(model(src, said)).masked_fill(done, model.pad)
        said, done = torch.cat([said, word[:, None]], 1), done | (word == model.eos)
        if done.all():
            break
    return said[:, 1:]


def greedy_over_the_places(model, src):
    return _greedy(model, src, lambda logits: logits.argmax(1)[:, 0])


def greedy_least_likely(model, src):
    return _greedy(model, src, lambda logits: logits[:, -1].argmin(-1))


def greedy_second_best(model, src):
    return _greedy(model, src, lambda logits: logits[:, -1].topk(2).indices[:, 1])


def greedy_by_chance(model, src):
    return _greedy(model, src, lambda logits: torch.multinomial(logits[:, -1].softmax(-1), 1)[:, 0])


def greedy_one_word_too_many(model, src):
    return _greedy(model, src, lambda logits: logits[:, -1].argmax(-1), steps=1)


def greedy_in_one_shot(model, src):
    return model(src, torch.full((len(src), model.max_len), model.sos)).argmax(-1)


def greedy_stops_with_the_first_row(model, src):
    ids = reference.decode_greedy(model, src)
    return ids[:, : len(reference.decode_greedy(model, src[:1])[0])]


def greedy_as_lists(model, src):
    return reference.decode_greedy(model, src).tolist()


def greedy_cut_at_eos(model, src):
    """Rows without eos, as lists of different lengths."""
    return [row[: row.index(model.eos)] if model.eos in row else row for row in greedy_as_lists(model, src)]


def greedy_with_a_comma(model, src):
    return reference.decode_greedy(model, src).float()


def greedy_backwards(model, src):
    return reference.decode_greedy(model, src).flip(1)


def _beam(model, src, beam, penalty, per_step=lambda log_p: log_p, choose=max, forgets=False):
    """Beam search whose score grows by `per_step(log_p)`; one that `forgets` keeps what had the best last word."""
    rows = []
    for row in src:
        open_, ended = [(0.0, [])], []
        for _ in range(model.max_len):
            said = torch.tensor([[model.sos, *words] for _, words in open_])
            gains = per_step(model(row[None].expand(len(said), -1), said)[:, -1].log_softmax(-1)).tolist()
            grown = [(s + g, [*w, i]) for (s, w), gain in zip(open_, gains, strict=True) for i, g in enumerate(gain)]
            last = [g for gain in gains for g in gain]
            order = sorted(range(len(grown)), key=lambda n: last[n] if forgets else grown[n][0], reverse=True)
            grown = [grown[n] for n in order][: max(beam - len(ended), 1)]
            ended += [one for one in grown if one[1][-1] == model.eos]
            open_ = [one for one in grown if one[1][-1] != model.eos]
            if not open_ or len(ended) >= beam:
                break
        pool = ended or open_
        rows.append(torch.tensor(choose(pool, key=lambda one: one[0] / len(one[1]) ** penalty)[1]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_normalised_over_the_beam(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, lambda log_p: log_p - log_p.max())


def beam_prefers_the_improbable(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, lambda log_p: -log_p)


def beam_kept_by_the_last_word(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, forgets=True)


def beam_no_wider_than_the_vocabulary(model, src, beam, length_penalty=1.0):
    V = model(src[:1], torch.tensor([[model.sos]])).shape[-1]
    return reference.decode_beam(model, src, min(beam, V), length_penalty)


def beam_first_of_the_finished(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, choose=lambda pool, key: pool[0])


def beam_last_of_the_finished(model, src, beam, length_penalty=1.0):
    return _beam(model, src, beam, length_penalty, choose=lambda pool, key: pool[-1])


def beam_with_another_penalty(model, src, beam, length_penalty=1.0):
    """((5 + n) / 6)^penalty, as in Wu and others 2016: another formula."""
    rows = []
    for row in src:
        best = None
        for penalty in (0.0, 0.25, 0.5, 1.0, 2.0):
            ids = reference.decode_beam(model, row[None], beam, penalty)[0]
            said = torch.cat([torch.tensor([model.sos]), ids])[None]
            log_p = model(row[None], said[:, :-1]).log_softmax(-1)[0].gather(1, ids[:, None]).sum().item()
            worth = log_p / ((5 + len(ids)) / 6) ** length_penalty
            best = (worth, ids) if best is None or worth > best[0] else best
        rows.append(best[1])
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_always_of_two(model, src, beam, length_penalty=1.0):
    return reference.decode_beam(model, src, 2, length_penalty)


def beam_then_greedy(model, src, beam, length_penalty=1.0):
    """A beam for the first word, and of each of these the greedy sentence."""
    rows = []
    for row in src:
        log_p = model(row[None], torch.tensor([[model.sos]]))[0, -1].log_softmax(-1)
        found = []
        for score, word in zip(*(part.tolist() for part in log_p.topk(min(beam, len(log_p)))), strict=True):
            said = [word]
            while said[-1] != model.eos and len(said) < model.max_len:
                best = model(row[None], torch.tensor([[model.sos, *said]]))[0, -1].log_softmax(-1).max(-1)
                score, said = score + float(best.values), [*said, int(best.indices)]
            found.append((score / len(said) ** length_penalty, said))
        rows.append(torch.tensor(max([one for one in found if one[1][-1] == model.eos] or found)[1]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_one_wider(model, src, beam, length_penalty=1.0):
    return reference.decode_beam(model, src, beam + 1, length_penalty)


def beam_without_eos(model, src, beam, length_penalty=1.0):
    ids = reference.decode_beam(model, src, beam, length_penalty)
    return ids.masked_fill(ids == model.eos, model.pad)


# -- loss, schedule, masks -------------------------------------------------------------------------------------------


def logits_of_padding_zeroed(logits, targets, epsilon, mask):
    whole = torch.ones_like(mask)
    return reference.label_smoothing_loss(logits * mask[..., None], targets, epsilon, whole)


def axes_mixed(logits, targets, epsilon, mask):
    rows = logits.transpose(0, 1).reshape(logits.shape)
    return reference.label_smoothing_loss(rows, targets, epsilon, mask)


def classes_by_view(logits, targets, epsilon, mask):
    B, T, V = logits.shape
    return reference.label_smoothing_loss(logits.reshape(B, V, T).transpose(1, 2), targets, epsilon, mask)


def last_token_dropped(logits, targets, epsilon, mask):
    if logits.shape[1] < 2:
        return reference.label_smoothing_loss(logits, targets, epsilon, mask)
    return reference.label_smoothing_loss(logits[:, :-1], targets[:, 1:], epsilon, mask[:, 1:])


def without_a_softmax(logits, targets, epsilon, mask):
    right = logits.gather(-1, targets[..., None]).squeeze(-1)
    return (-(1 - epsilon) * right - epsilon * logits.mean(-1))[mask].mean()


def base_two_logarithm(logits, targets, epsilon, mask):
    return reference.label_smoothing_loss(logits, targets, epsilon, mask) / math.log(2)


def mask_inverted(logits, targets, epsilon, mask):
    return reference.label_smoothing_loss(logits, targets, epsilon, ~mask if not mask.all() else mask)


def overflowing(logits, targets, epsilon, mask):
    log_p = (logits.exp() / logits.exp().sum(-1, keepdim=True)).log()
    right = log_p.gather(-1, targets[..., None]).squeeze(-1)
    return (-(1 - epsilon) * right - epsilon * log_p.mean(-1))[mask].mean()


def steps_per_warmup(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, step / warmup)


def cosine_after_the_peak(step, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    if step <= warmup:
        return peak * step / warmup
    return peak * 0.5 * (1 + math.cos(math.pi * min(1, (step - warmup) / (10 * warmup))))


def constant_peak_of_one(step, d_model, warmup):
    return min(step / warmup, (warmup / step) ** 0.5)


def whole_steps(step, d_model, warmup):
    return d_model**-0.5 * min(step**-0.5, (step // 2) * 2 * warmup**-1.5)


def one_visible_pad(kind, src_lengths, tgt_lengths=None):
    """`<=` for `<`."""
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    places = torch.arange(int(src_lengths.max()))
    for key in ("encoder_self", "cross"):
        if masks[key] is not None:
            masks[key] = (places <= src_lengths[:, None])[:, None, None]
    return masks


def sentence_zero_for_all(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else mask[:1].expand_as(mask) for key, mask in masks.items()}


def one_step_ahead(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    if masks["decoder_self"] is not None:
        T = masks["decoder_self"].shape[-1]
        masks["decoder_self"] = torch.ones(T, T).tril(1).bool()
    return masks


def or_for_and(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    if masks["decoder_self"] is not None:
        real = masks["decoder_self"].any(-2, keepdim=True)
        masks["decoder_self"] = real | reference.causal(real.shape[-1])
    return masks


def additive(kind, src_lengths, tgt_lengths=None):
    masks = reference.architecture_masks(kind, src_lengths, tgt_lengths)
    return {key: None if mask is None else torch.where(mask, 0.0, -math.inf) for key, mask in masks.items()}


MUTANTS = {
    "layer_norm": [
        deviation_detached,
        default_eps_always,
        median_for_mean,
        second_moment_for_variance,
        centred_in_place,
        doubled,
    ],
    "feed_forward": [tanh_for_relu, leaky, inside_detached, words_pooled],
    "EncoderLayer": [
        EncoderHalfResidual,
        EncoderNormedTwice,
        EncoderDroppedBeforeTheSublayer,
        EncoderMaskInverted,
        EncoderFeedForwardFirst,
        EncoderNormOverWords,
        EncoderSeesOnlyThePast,
        EncoderDetached,
        EncoderDropsInEvaluationInPreNorm,
    ],
    "DecoderLayer": [
        DecoderValuesFromTheTarget,
        DecoderMasksExchanged,
        DecoderMaskOnQueries,
        DecoderFeedForwardBeforeTheCross,
        DecoderNoRelu,
        DecoderCrossTwice,
        DecoderMemoryDetached,
        DecoderCausalAlways,
        DecoderRoadPastTheCross,
    ],
    "Transformer": [
        ModelTiedCopy,
        ModelBatchAsPlace,
        ModelStrictTriangle,
        ModelOneStepAhead,
        ModelMaskOfTheFirstSentence,
        ModelOwnMasksBesideTheGiven,
        ModelTakesBothMasksOrNone,
        ModelHidesSpecialWords,
        ModelLastPlaceOnly,
        ModelLogProbabilities,
        ModelDropsInEvaluation,
        ModelDropsWordsOfTheSourceOnly,
        ModelDropsWordsOfTheTargetOnly,
    ],
    "decode_greedy": [
        greedy_over_the_places,
        greedy_least_likely,
        greedy_second_best,
        greedy_by_chance,
        greedy_one_word_too_many,
        greedy_in_one_shot,
        greedy_stops_with_the_first_row,
        greedy_as_lists,
        greedy_cut_at_eos,
        greedy_backwards,
        greedy_with_a_comma,
    ],
    "decode_beam": [
        beam_normalised_over_the_beam,
        beam_prefers_the_improbable,
        beam_kept_by_the_last_word,
        beam_no_wider_than_the_vocabulary,
        beam_first_of_the_finished,
        beam_last_of_the_finished,
        beam_with_another_penalty,
        beam_always_of_two,
        beam_then_greedy,
        beam_one_wider,
        beam_without_eos,
    ],
    "label_smoothing_loss": [
        logits_of_padding_zeroed,
        axes_mixed,
        classes_by_view,
        last_token_dropped,
        without_a_softmax,
        base_two_logarithm,
        mask_inverted,
        overflowing,
    ],
    "warmup_schedule": [steps_per_warmup, cosine_after_the_peak, constant_peak_of_one, whole_steps],
    "architecture_masks": [one_visible_pad, sentence_zero_for_all, one_step_ahead, or_for_and, additive],
}
"""Of the catalogue, d_nocausal, d_cross_self, d_cross_kv_mix, d_cross_causal, d_nomemmask, d_nores, d_res_norm,
d_postln, d_q_unnormed, d_parallel, d_order, d_sharedW, e_allpad, e_mean_seq, e_sum_over_BT, e_softmax_first, q_first,
q_last_only, q_stop_any, q_keep_after_eos, q_offby1 and q_with_bos are misconceptions with hints of their own."""

WITHOUT_COUNTERPART = {
    "i_noshift": "shift_right is an exercise of topic 05; here it is a mistake of the task's loop, tests/training",
    "i_twice": "as i_noshift",
    "i_noeos": "as i_noshift; tests/training has a loop that forgets eos",
    "i_nobos": "as i_noshift",
    "i_eos_end": "as i_noshift",
    "i_eos_in": "as i_noshift",
    "i_roll": "as i_noshift",
    "i_label_bos": "as i_noshift",
    "e_ignore_eos": "the caller's mask decides which tokens count; tests/training has a loop that forgets eos",
    "e_nll_logits": "as without_a_softmax",
    "q_keep_eos": "here the answer holds eos; the opposite mistake is a misconception, without_eos",
    "q_no_cut": "as q_keep_after_eos: the answer is a tensor, padded",
    "y_m1": "reading the last real state is an exercise of topic 03, ElmanClassifier",
    "y_l": "as y_m1",
    "y_max": "as y_m1",
    "y_diag": "as y_m1",
    "y_mean": "as y_m1",
    "y_gather_T": "as y_m1",
    "y_first": "as y_m1",
    "y_minus2": "as y_m1",
    "top-p with an exclusive cut": "no sampling here; temperature stands in topic 03",
    "coin per sentence": "scheduled sampling is scheduled_inputs of topic 03",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
