"""Right answers that look different from the reference: all must get full marks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import reduce

import torch
from einops import rearrange
from torch import nn

from course import blocks

# -- layer norm ------------------------------------------------------------------------------------------------------


def norm_by_std(x, gamma, beta, eps=1e-5):
    deviation = torch.sqrt(torch.var(x, dim=-1, unbiased=False, keepdim=True) + eps)
    return (x - torch.mean(x, dim=-1, keepdim=True)) / deviation * gamma + beta


def norm_by_moments(x, gamma, beta, eps=1e-5):
    mean = x.sum(-1, keepdim=True) / x.shape[-1]
    variance = ((x - mean) ** 2).sum(-1, keepdim=True) / x.shape[-1]
    return torch.addcmul(beta, gamma, (x - mean) * torch.rsqrt(variance + eps))


def norm_by_one_call(x, gamma, beta, eps=1e-5):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return torch.einsum("...d,d->...d", (x - mean) * (variance + eps) ** -0.5, gamma) + beta


def norm_word_by_word(x, gamma, beta, eps=1e-5):
    words = [(w - w.mean()) / ((w - w.mean()).pow(2).mean() + eps) ** 0.5 for w in x.reshape(-1, x.shape[-1])]
    return torch.stack(words).reshape(x.shape) * gamma + beta


# -- feed-forward ----------------------------------------------------------------------------------------------------


def norm_under_vmap(x, gamma, beta, eps=1e-5):
    def one(word):
        return (word - word.mean()) * torch.rsqrt(word.var(correction=0) + eps) * gamma + beta

    return torch.func.vmap(one)(x.reshape(-1, x.shape[-1])).view(x.shape)


def forward_by_linear(x, W1, b1, W2, b2):
    return nn.functional.linear(nn.functional.linear(x, W1, b1).clamp(min=0), W2, b2)


def forward_by_einsum(x, W1, b1, W2, b2):
    inside = torch.einsum("...d,fd->...f", x, W1) + b1
    return torch.einsum("...f,df->...d", inside * (inside > 0), W2) + b2


def forward_by_conv(x, W1, b1, W2, b2):
    """A convolution of width one over the words."""
    words = x.reshape(-1, x.shape[-1], 1)
    inside = torch.conv1d(words, W1[:, :, None], b1).relu()
    return torch.conv1d(inside, W2[:, :, None], b2).reshape(x.shape)


# -- layers ----------------------------------------------------------------------------------------------------------


def _parts(self, d_model, n_heads, d_ff, dropout, norm, norms):
    self.self_attention = blocks.MultiHeadAttention(d_model, n_heads)
    self.up, self.down = nn.Linear(d_model, d_ff), nn.Linear(d_ff, d_model)
    for name in norms:
        setattr(self, name, nn.LayerNorm(d_model))
    self.dropout, self.norm = nn.Dropout(dropout), norm


class BothBranches(nn.Module):
    """Each norm written out, line by line."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        _parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2"))

    def forward(self, x, mask=None):
        if self.norm == "post":
            attended, _ = self.self_attention(x, x, mask)
            x = self.norm1(x + self.dropout(attended))
            return self.norm2(x + self.dropout(self.down(torch.relu(self.up(x)))))
        y = self.norm1(x)
        x = x + self.dropout(self.self_attention(y, y, mask)[0])
        return x + self.dropout(self.down(torch.relu(self.up(self.norm2(x)))))


class WithIdentities(nn.Module):
    """One line for both kinds: a norm before and a norm behind, one of which does nothing."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        _parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2"))

    def forward(self, x, mask=None):
        def nothing(y):
            return y

        for norm, work in ((self.norm1, self.attend(mask)), (self.norm2, self.think)):
            before, behind = (norm, nothing) if self.norm == "pre" else (nothing, norm)
            x = behind(self.dropout(work(before(x))) + x)
        return x

    def attend(self, mask):
        return lambda y: self.self_attention(y, y, mask)[0]

    def think(self, y):
        return self.down(nn.functional.relu(self.up(y)))


class OwnAttention(nn.Module):
    """The attention's linear layers used by hand; dropout inside the feed-forward, too, as in torch."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        _parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2"))

    def forward(self, x, mask=None):
        pre = self.norm == "pre"
        x = x + self.dropout(_by_hand(self.self_attention, *[self.norm1(x) if pre else x] * 2, mask))
        x = x if pre else self.norm1(x)
        y = self.norm2(x) if pre else x
        x = x + self.dropout(self.down(self.dropout(self.up(y).relu())))
        return x if pre else self.norm2(x)


def _by_hand(attention, x_q, x_kv, mask):
    parts = ((attention.W_q, x_q), (attention.W_k, x_kv), (attention.W_v, x_kv))
    q, k, v = (rearrange(W(x), "b t (h d) -> b h t d", h=attention.n_heads) for W, x in parts)
    out = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
    return attention.W_o(rearrange(out, "b h t d -> b t (h d)"))


class DecoderBothBranches(nn.Module):
    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        _parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2", "norm3"))
        self.cross_attention = blocks.MultiHeadAttention(d_model, n_heads)

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        if self.norm == "post":
            x = self.norm1(x + self.dropout(self.self_attention(x, x, tgt_mask)[0]))
            x = self.norm2(x + self.dropout(self.cross_attention(x, memory, src_mask)[0]))
            return self.norm3(x + self.dropout(self.down(torch.relu(self.up(x)))))
        y = self.norm1(x)
        x = x + self.dropout(self.self_attention(y, y, tgt_mask)[0])
        x = x + self.dropout(self.cross_attention(self.norm2(x), memory, src_mask)[0])
        return x + self.dropout(self.down(torch.relu(self.up(self.norm3(x)))))


class DecoderInALoop(nn.Module):
    """Sublayers in a list, as in a pipeline."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        _parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2", "norm3"))
        self.cross_attention = blocks.MultiHeadAttention(d_model, n_heads)

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        works = [
            lambda y: self.self_attention(y, y, tgt_mask)[0],
            lambda y: self.cross_attention(y, memory, src_mask)[0],
            lambda y: self.down(self.up(y).relu()),
        ]
        for norm, work in zip((self.norm1, self.norm2, self.norm3), works, strict=True):
            x = x + self.dropout(work(norm(x))) if self.norm == "pre" else norm(x + self.dropout(work(x)))
        return x


class DecoderWordByWord(DecoderInALoop):
    """Each target word computed alone from those it may see: slow, and right."""

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        rows = []
        for t in range(x.shape[1]):
            mask = (
                None if tgt_mask is None else tgt_mask.expand(*tgt_mask.shape[:-2], x.shape[1], -1)[..., t : t + 1, :]
            )
            rows.append(self.one(x, t, memory, mask, src_mask))
        return torch.cat(rows, dim=1)

    def one(self, x, t, memory, tgt_mask, src_mask):
        pre, word = self.norm == "pre", x[:, t : t + 1]
        words = self.norm1(x) if pre else x
        word = word + self.dropout(self.self_attention(words[:, t : t + 1], words, tgt_mask)[0])
        word = word if pre else self.norm1(word)
        asks = self.norm2(word) if pre else word
        word = word + self.dropout(self.cross_attention(asks, memory, src_mask)[0])
        word = word if pre else self.norm2(word)
        word = word + self.dropout(self.down(self.up(self.norm3(word) if pre else word).relu()))
        return word if pre else self.norm3(word)


# -- the model -------------------------------------------------------------------------------------------------------


class _Sizes(nn.Module):
    """The constructor that the notebook gives."""

    encoder_layer, decoder_layer = BothBranches, DecoderBothBranches

    def __init__(self, src_vocab, tgt_vocab, d_model, n_heads, d_ff, n_layers, dropout=0.1, norm="post", pad=0, sos=1,
                 eos=2, max_len=64):  # fmt: skip
        super().__init__()
        self.pad, self.sos, self.eos, self.max_len, self.d_model = pad, sos, eos, max_len, d_model
        self.src_embed, self.tgt_embed = nn.Embedding(src_vocab, d_model), nn.Embedding(tgt_vocab, d_model)
        self.register_buffer("positions", blocks.waves(max_len, d_model), persistent=False)
        sizes = (d_model, n_heads, d_ff, dropout, norm)
        self.encoder = nn.ModuleList([self.encoder_layer(*sizes) for _ in range(n_layers)])
        self.decoder = nn.ModuleList([self.decoder_layer(*sizes) for _ in range(n_layers)])
        self.encoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.decoder_norm = nn.LayerNorm(d_model) if norm == "pre" else nn.Identity()
        self.dropout = nn.Dropout(dropout)


class ByTheBook(_Sizes):
    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        S, T = src.shape[1], tgt_in.shape[1]
        src_mask = (src != self.pad).view(-1, 1, 1, S) if src_mask is None else src_mask
        if tgt_mask is None:
            tgt_mask = torch.ones(1, 1, T, T, device=src.device).tril() == 1  # padding stands behind every real word
        h = self.dropout(self.src_embed(src) * math.sqrt(self.d_model) + self.positions[:S])
        for layer in self.encoder:
            h = layer(h, src_mask)
        h = self.encoder_norm(h)
        x = self.dropout(self.tgt_embed(tgt_in) * math.sqrt(self.d_model) + self.positions[:T])
        for layer in self.decoder:
            x = layer(x, h, tgt_mask, src_mask)
        return nn.functional.linear(self.decoder_norm(x), self.tgt_embed.weight)


class OtherLayers(ByTheBook):
    encoder_layer, decoder_layer = WithIdentities, DecoderInALoop

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if tgt_mask is None:
            places = torch.arange(tgt_in.shape[1], device=tgt_in.device)
            tgt_mask = (places[:, None] >= places) & (tgt_in != self.pad)[:, None, None, :]
        return super().forward(src, tgt_in, src_mask, tgt_mask)


class InAChain(ByTheBook):
    """Each tower folded into one value; the table of embeddings scaled instead of the words."""

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        if src_mask is None:
            src_mask = src.ne(self.pad)[:, None, None, :]
        if tgt_mask is None:
            places = torch.arange(tgt_in.shape[1])
            tgt_mask = (places <= places[:, None])[None, None] & tgt_in.ne(self.pad)[:, None, None, :]
        memory = reduce(lambda h, layer: layer(h, src_mask), self.encoder, self.words(src, self.src_embed))
        memory = self.encoder_norm(memory)
        x = self.words(tgt_in, self.tgt_embed)
        x = reduce(lambda y, layer: layer(y, memory, tgt_mask=tgt_mask, src_mask=src_mask), self.decoder, x)
        return torch.einsum("btd,vd->btv", self.decoder_norm(x), self.tgt_embed.weight)

    def words(self, ids, table):
        scaled = nn.functional.embedding(ids, table.weight * self.d_model**0.5)
        return nn.functional.dropout(scaled + self.positions[None, : ids.shape[1]], self.dropout.p, self.training)


class OwnWaves(OtherLayers):
    """Makes its own table of positions at every call, in single precision."""

    def forward(self, src, tgt_in, src_mask=None, tgt_mask=None):
        angles = torch.exp(-math.log(10000.0) * torch.arange(0, self.d_model, 2) / self.d_model)
        angles = torch.arange(self.max_len).float()[:, None] * angles
        self.positions = torch.stack([angles.sin(), angles.cos()], -1).flatten(1)
        return super().forward(src, tgt_in, src_mask, tgt_mask)


# -- decoding --------------------------------------------------------------------------------------------------------


def greedy_row_by_row(model, src):
    rows = []
    for sentence in src:
        said = [model.sos]
        while len(said) <= model.max_len:
            said.append(int(model(sentence[None], torch.tensor([said]))[0, -1].argmax()))
            if said[-1] == model.eos:
                break
        rows.append(torch.tensor(said[1:]))
    return nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=model.pad)


def greedy_of_a_module(model, src):
    """As everybody decodes: without dropout, and as before when it is done."""
    model.eval()
    ids = greedy_row_by_row(model, src)
    model.train()
    return ids


def greedy_by_recursion(model, src):
    def go_on(said, done):
        if said.shape[1] > model.max_len or done.all():
            return said[:, 1:]
        with torch.inference_mode():
            word = model(src, said)[:, -1].argmax(-1)
        word = torch.where(done, model.pad, word)
        return go_on(torch.hstack([said, word[:, None]]), done | (word == model.eos))

    return go_on(torch.full((len(src), 1), model.sos), torch.zeros(len(src), dtype=torch.bool))


def greedy_without_an_early_end(model, src):
    """Writes to the last place and cleans up behind the ends."""
    said = torch.full((len(src), model.max_len + 1), model.pad)
    said[:, 0] = model.sos
    for t in range(model.max_len):
        said[:, t + 1] = model(src, said[:, : t + 1])[:, t].max(-1).indices
    ids = said[:, 1:]
    ends = (ids == model.eos).int()
    return torch.where(ends.cumsum(1) - ends > 0, model.pad, ids)


def greedy_with_masks(model, src):
    """Hands over its own masks, and drops sentences that have ended from the batch."""
    ids = torch.full((len(src), model.max_len), model.pad)
    going = torch.arange(len(src))
    said = torch.full((len(src), 1), model.sos)
    for t in range(model.max_len):
        below = torch.ones(t + 1, t + 1, dtype=torch.bool).tril()
        logits = model(src[going], said, (src[going] != model.pad)[:, None, None], below)
        word = logits[:, -1].argmax(-1)
        ids[going, t] = word
        on = word != model.eos
        going, said = going[on], torch.cat([said, word[:, None]], 1)[on]
        if not len(going):
            break
    return ids


def beam_by_hand(model, src, beam, length_penalty=1.0):
    """Python lists, one model call a hypothesis; the finished ones keep their place in the beam."""
    rows = []
    for sentence in src:
        beams = [(0.0, [model.sos])]
        for _ in range(model.max_len):
            grown = []
            for score, words in beams:
                if words[-1] == model.eos:
                    grown.append((score, words))
                    continue
                log_p = model(sentence[None], torch.tensor([words]))[0, -1].log_softmax(-1).tolist()
                grown += [(score + p, [*words, i]) for i, p in enumerate(log_p)]
            beams = sorted(grown, key=lambda one: one[0], reverse=True)[:beam]
            if all(words[-1] == model.eos for _, words in beams):
                break
        ended = [one for one in beams if one[1][-1] == model.eos] or beams
        rows.append(max(ended, key=lambda one: one[0] / (len(one[1]) - 1) ** length_penalty)[1][1:])
    width = max(map(len, rows))
    return torch.tensor([row + [model.pad] * (width - len(row)) for row in rows])


def beam_in_one_batch(model, src, beam, length_penalty=1.0):
    """All hypotheses of all sentences in one batch; finished ones go on with pad at no cost."""
    B = len(src)
    said = torch.full((B * beam, 1), model.sos)
    scores = torch.full((B, beam), -math.inf, dtype=torch.float64)
    scores[:, 0] = 0.0
    lengths, done = torch.zeros(B, beam), torch.zeros(B, beam, dtype=torch.bool)
    sources = src.repeat_interleave(beam, 0)
    for _ in range(model.max_len):
        log_p = model(sources, said)[:, -1].double().log_softmax(-1)
        V = log_p.shape[-1]
        only_pad = torch.full((V,), -math.inf, dtype=torch.float64)
        only_pad[model.pad] = 0.0
        log_p = torch.where(done.view(-1, 1), only_pad, log_p)
        scores, best = (scores.view(-1, 1) + log_p).view(B, -1).topk(beam)
        origin, word = best // V, best % V
        said = said.view(B, beam, -1).gather(1, origin[..., None].expand(-1, -1, said.shape[1]))
        said = torch.cat([said, word[..., None]], -1).view(B * beam, -1)
        was_done = done.gather(1, origin)
        lengths = lengths.gather(1, origin) + (~was_done)
        done = was_done | (word == model.eos)
        if done.all():
            break
    worth = (scores / lengths**length_penalty).masked_fill(~done & done.any(1, keepdim=True), -math.inf)
    return said.view(B, beam, -1)[torch.arange(B), worth.argmax(1), 1:]


def beam_with_a_heap(model, src, beam, length_penalty=1.0):
    """Open hypotheses in a list, finished ones in another, no bound on the finished; sorted step by step."""
    rows = []
    for b in range(len(src)):
        open_, ended = {(model.sos,): 0.0}, {}
        for step in range(model.max_len):
            if not open_:
                break
            prefixes = list(open_)
            log_p = torch.log_softmax(model(src[b : b + 1].repeat(len(prefixes), 1), torch.tensor(prefixes))[:, -1], -1)
            grown = {
                (*p, i): open_[p] + float(log_p[n, i]) for n, p in enumerate(prefixes) for i in range(log_p.shape[1])
            }
            room = beam if beam > 1 else 1 - len(ended)
            kept = sorted(grown, key=grown.get, reverse=True)[:room]
            ended |= {p: grown[p] / (step + 1) ** length_penalty for p in kept if p[-1] == model.eos}
            open_ = {p: grown[p] for p in kept if p[-1] != model.eos} if beam > 1 or not ended else {}
        pool = ended or open_
        rows.append(torch.tensor(max(pool, key=pool.get)[1:]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


@dataclass(order=True)
class Hypothesis:
    score: float
    words: list[int] = field(compare=False)

    def grown(self, log_p):
        return [Hypothesis(self.score + gain, [*self.words, word]) for word, gain in enumerate(log_p.tolist())]


@torch.no_grad()
def beam_of_hypotheses(model, src, beam, length_penalty=1.0):
    """Finished hypotheses stay in the beam, as they are, until all in it are finished."""
    found = []
    for row in src:
        held = [Hypothesis(0.0, [model.sos])]
        for _ in range(model.max_len):
            open_ones = [one for one in held if one.words[-1] != model.eos]
            held = [one for one in held if one.words[-1] == model.eos]
            for one in open_ones:
                held += one.grown(model(row[None], torch.tensor([one.words]))[0, -1].double().log_softmax(-1))
            held = sorted(held, reverse=True)[:beam]
        ended = [one for one in held if one.words[-1] == model.eos] or held
        best = max(ended, key=lambda one: one.score / (len(one.words) - 1) ** length_penalty)
        found.append(torch.tensor(best.words[1:]))
    return nn.utils.rnn.pad_sequence(found, batch_first=True, padding_value=model.pad)


def beam_of_twice_as_many(model, src, beam, length_penalty=1.0):
    """As in fairseq: of 2 · beam candidates those among the first `beam` may end, and `beam` others go on."""
    rows = []
    for sentence in src:
        said, scores, ended = [[model.sos]], [0.0], []
        for n in range(1, model.max_len + 1):
            log_p = model(sentence.expand(len(said), -1), torch.tensor(said))[:, -1].double().log_softmax(-1)
            grown = (log_p + torch.tensor(scores, dtype=torch.float64)[:, None]).flatten()
            best = grown.topk(min(2 * beam, len(grown)))
            words = [[*said[i // log_p.shape[1]][1:], i % log_p.shape[1]] for i in best.indices.tolist()]
            ranked = list(zip(best.values.tolist(), words, strict=True))
            ended += [(p / n**length_penalty, w) for p, w in ranked[:beam] if w[-1] == model.eos]
            going = [(p, w) for p, w in ranked if w[-1] != model.eos][:beam]
            if len(ended) >= beam or not going:
                break
            scores, said = [p for p, _ in going], [[model.sos, *w] for _, w in going]
        rows.append(torch.tensor(max(ended)[1] if ended else said[0][1:]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_with_a_bound(model, src, beam, length_penalty=1.0):
    """Stops when no open hypothesis can become better than the best that has ended, however long it grows."""
    rows = []
    for sentence in src:
        going, found = [(0.0, [])], None
        for n in range(1, model.max_len + 1):
            asked = torch.tensor([[model.sos, *words] for _, words in going])
            log_p = model(sentence.repeat(len(going), 1), asked)[:, -1].log_softmax(-1).tolist()
            grown = [(s + p, [*w, i]) for (s, w), row in zip(going, log_p, strict=True) for i, p in enumerate(row)]
            grown = sorted(grown, reverse=True)[:beam]
            ended = [(s / n**length_penalty, w) for s, w in grown if w[-1] == model.eos]
            found = max([*ended, *([found] if found else [])], default=None)
            going = [one for one in grown if one[1][-1] != model.eos]
            if not going or (found and (beam == 1 or going[0][0] / model.max_len**length_penalty < found[0])):
                break
        rows.append(torch.tensor((found or going[0])[1]))
    return nn.utils.rnn.pad_sequence(rows, True, model.pad)


def beam_of_a_module(model, src, beam, length_penalty=1.0):
    return beam_by_hand(model.train(False).eval(), src, beam, length_penalty)


# -- loss, schedule, masks -------------------------------------------------------------------------------------------


def smoothing_by_targets(logits, targets, epsilon, mask):
    V = logits.shape[-1]
    smoothed = (1 - epsilon) * nn.functional.one_hot(targets, V).to(logits.dtype) + epsilon / V
    losses = -(smoothed * torch.log_softmax(logits, -1)).sum(-1)
    return (losses * mask).sum() / mask.sum()


def smoothing_by_mixing(logits, targets, epsilon, mask):
    real, y = logits[mask], targets[mask]
    log_p = real - real.logsumexp(-1, keepdim=True)
    return (1 - epsilon) * nn.functional.nll_loss(log_p, y) - epsilon * log_p.mean()


def smoothing_in_a_loop(logits, targets, epsilon, mask):
    losses = []
    for b in range(mask.shape[0]):
        for t in range(mask.shape[1]):
            if mask[b, t]:
                log_p = logits[b, t].log_softmax(0)
                losses.append(-(1 - epsilon) * log_p[targets[b, t]] - epsilon * log_p.sum() / len(log_p))
    return torch.stack(losses).mean()


def schedule_by_cases(step, d_model, warmup):
    if step <= warmup:
        return step / (warmup * math.sqrt(warmup * d_model))
    return 1 / math.sqrt(step * d_model)


def schedule_by_tensors(step, d_model, warmup):
    step = torch.tensor(float(step), dtype=torch.float64)
    return torch.minimum(step.rsqrt(), step * warmup**-1.5) / math.sqrt(d_model)


def schedule_by_the_peak(step, d_model, warmup):
    peak = (d_model * warmup) ** -0.5
    return peak * min(step / warmup, (warmup / step) ** 0.5)


def masks_in_full(kind, src_lengths, tgt_lengths=None):
    """Every mask with all its four axes."""

    def between(asking, asked, future=False):
        T, S = int(asking.max()), int(asked.max())
        mask = (torch.arange(S) < asked[:, None])[:, None, None].expand(-1, 1, T, -1).clone()
        return mask.tril() if future else mask

    target = src_lengths if kind == "decoder" else tgt_lengths
    return {
        "encoder_self": None if kind == "decoder" else between(src_lengths, src_lengths),
        "decoder_self": None if kind == "encoder" else between(target, target, True),
        "cross": between(tgt_lengths, src_lengths) if kind == "encoder-decoder" else None,
    }


def masks_of_causality_alone(kind, src_lengths, tgt_lengths=None):
    """A triangle hides the padding behind a text, too, from its real words."""
    source = (torch.arange(int(src_lengths.max())) < src_lengths.view(-1, 1)).view(len(src_lengths), 1, 1, -1)
    T = int((tgt_lengths if kind == "encoder-decoder" else src_lengths).max())
    triangle = torch.ones(T, T, dtype=torch.bool).tril()
    return {
        "encoder_self": source if kind != "decoder" else None,
        "decoder_self": triangle if kind != "encoder" else None,
        "cross": source if kind == "encoder-decoder" else None,
    }


def masks_with_rows_of_padding_empty(kind, src_lengths, tgt_lengths=None):
    """Padded words look at nothing."""
    masks = masks_in_full(kind, src_lengths, tgt_lengths)
    rows = {"encoder_self": src_lengths, "decoder_self": src_lengths if kind == "decoder" else tgt_lengths}
    for key, lengths in rows.items():
        if masks[key] is not None:
            masks[key] = masks[key] & (torch.arange(int(lengths.max())) < lengths[:, None])[:, None, :, None]
    return masks


ALTERNATIVES = {
    "layer_norm": [norm_by_std, norm_by_moments, norm_by_one_call, norm_word_by_word, norm_under_vmap],
    "feed_forward": [forward_by_linear, forward_by_einsum, forward_by_conv],
    "EncoderLayer": [BothBranches, WithIdentities, OwnAttention],
    "DecoderLayer": [DecoderBothBranches, DecoderInALoop, DecoderWordByWord],
    "architecture_masks": [masks_in_full, masks_of_causality_alone, masks_with_rows_of_padding_empty],
    "Transformer": [ByTheBook, OtherLayers, InAChain, OwnWaves],
    "label_smoothing_loss": [smoothing_by_targets, smoothing_by_mixing, smoothing_in_a_loop],
    "warmup_schedule": [schedule_by_cases, schedule_by_tensors, schedule_by_the_peak],
    "decode_greedy": [
        greedy_row_by_row,
        greedy_of_a_module,
        greedy_without_an_early_end,
        greedy_with_masks,
        greedy_by_recursion,
    ],
    "decode_beam": [
        beam_by_hand,
        beam_in_one_batch,
        beam_with_a_heap,
        beam_of_twice_as_many,
        beam_with_a_bound,
        beam_of_a_module,
        beam_of_hypotheses,
    ],
}
