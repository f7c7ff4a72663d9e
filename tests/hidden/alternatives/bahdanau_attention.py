"""Right answers to topic 05 that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.reference.bahdanau_attention import AttentionSeq2Seq as Right

# -- scores ------------------------------------------------------------------------------------------------------------


def additive_by_concatenation(query, keys, W_q, W_k, v):
    """One matrix for query and key laid end to end, as the lecture writes it."""
    S = keys.shape[1]
    both = torch.cat([query[:, None].expand(-1, S, -1), keys], dim=-1)
    return F.linear(torch.tanh(F.linear(both, torch.cat([W_q, W_k], dim=1))), v[None]).squeeze(-1)


def additive_place_by_place(query, keys, W_q, W_k, v):
    return torch.stack([(torch.tanh(query @ W_q.T + key @ W_k.T) * v).sum(-1) for key in keys.unbind(1)], dim=1)


def additive_by_einsum(query, keys, W_q, W_k, v):
    asked = torch.einsum("bq,aq->ba", query, W_q).unsqueeze(1)
    return torch.einsum("bsa,a->bs", (asked + torch.einsum("bsk,ak->bsa", keys, W_k)).tanh(), v)


def additive_row_by_row(query, keys, W_q, W_k, v):
    rows = [torch.tanh(q @ W_q.T + k @ W_k.T) @ v for q, k in zip(query, keys, strict=True)]
    return torch.stack(rows)


def dot_by_einsum(query, keys):
    return torch.einsum("bd,bsd->bs", query, keys)


def dot_by_sum(query, keys):
    return (query.unsqueeze(1) * keys).sum(-1)


def dot_by_bmm(query, keys):
    return torch.bmm(query[:, None], keys.transpose(1, 2))[:, 0]


def general_by_einsum(query, keys, W):
    return torch.einsum("bq,qk,bsk->bs", query, W, keys)


def general_from_the_keys(query, keys, W):
    return ((keys @ W.T) * query[:, None]).sum(-1)


def general_by_bilinear(query, keys, W):
    S = keys.shape[1]
    return F.bilinear(query[:, None].repeat(1, S, 1), keys.contiguous(), W[None].contiguous())[..., 0]


# -- attending ---------------------------------------------------------------------------------------------------------


def attend_by_exponentials(scores, values, mask):
    top = torch.where(mask, scores, torch.full_like(scores, -torch.inf)).amax(1, keepdim=True)
    top = torch.where(mask.any(1, keepdim=True), top, torch.zeros_like(top)).detach()
    below = torch.where(mask, scores - top, torch.zeros_like(scores))
    exponentials = torch.where(mask, below.exp(), torch.zeros_like(scores))
    total = exponentials.sum(1, keepdim=True)
    weights = exponentials / torch.where(total > 0, total, torch.ones_like(total))
    return torch.einsum("bs,bsd->bd", weights, values), weights


def attend_with_infinity(scores, values, mask):
    """Rows with nothing allowed are set aside before softmax sees them."""
    safe = mask | ~mask.any(1, keepdim=True)
    weights = F.softmax(scores.masked_fill(~safe, float("-inf")), dim=1)
    weights = weights.masked_fill(~mask, 0.0)
    return torch.bmm(weights.unsqueeze(1), values).squeeze(1), weights


def attend_row_by_row(scores, values, mask):
    contexts, rows = [], []
    for score, value, allowed in zip(scores, values, mask, strict=True):
        places = allowed.nonzero().squeeze(1)
        weight = torch.zeros_like(score)
        if len(places):
            weight = weight.index_add(0, places, torch.softmax(score[places], 0))
        else:
            weight = weight * score
        rows.append(weight)
        contexts.append(weight @ value)
    return torch.stack(contexts), torch.stack(rows)


def attend_into_zeros(scores, values, mask):
    """Nothing is computed of a sentence in which nothing is allowed: its zeros hang on no score."""
    weights = torch.zeros_like(scores)
    for b in range(len(scores)):
        if mask[b].any():
            weights[b, mask[b]] = torch.softmax(scores[b, mask[b]], 0)
    return torch.einsum("bs,bsd->bd", weights, values), weights


def attend_by_a_large_number(scores, values, mask):
    weights = torch.softmax(torch.where(mask, scores, scores.new_full((), -1e30)), -1) * mask.any(1, keepdim=True)
    return (weights.unsqueeze(-1) * values).sum(1), weights


def attend_and_draw(scores, values, mask):
    """The weights that come back are for the eye, and cut off."""
    weights = torch.where(mask, scores, -1e30).softmax(1) * mask
    return (weights[..., None] * values).sum(1), weights.detach()


# -- teacher forcing ---------------------------------------------------------------------------------------------------


def shifted_by_padding(targets, sos):
    return F.pad(targets, (1, 0), value=sos)[:, :-1]


def shifted_by_rolling(targets, sos):
    rolled = targets.roll(1, dims=1)
    rolled[:, 0] = sos
    return rolled


def shifted_into_a_new_one(targets, sos):
    made = torch.empty_like(targets)
    made[:, 0], made[:, 1:] = sos, targets[:, :-1]
    return made


# -- a translator ------------------------------------------------------------------------------------------------------


class _Loops(nn.Module):
    """Both loops over `self.step`, for translators with other insides."""

    def begin(self, src, lengths):
        raise NotImplementedError

    def forward(self, src, src_lengths, tgt):
        state, memory = self.begin(src, src_lengths)
        read = F.pad(tgt, (1, 0), value=self.sos)[:, :-1]
        logits = []
        for t in range(tgt.shape[1]):
            out, state, _ = self.step(read[:, t], state, memory)
            logits.append(out)
        return torch.stack(logits, 1)

    def decode_greedy(self, src, src_lengths, max_len):
        with torch.no_grad():
            state, memory = self.begin(src, src_lengths)
            ids = torch.full((len(src), max_len), self.pad)
            weights = torch.zeros(len(src), max_len, src.shape[1])
            token, live = torch.full((len(src),), self.sos), torch.ones(len(src), dtype=torch.bool)
            for t in range(max_len):
                out, state, weights[:, t] = self.step(token, state, memory)
                token = out.argmax(1)
                ids[live, t] = token[live]
                live = live & (token != self.eos)
            return ids, weights


class LuongsTiming(_Loops):
    """The new state asks, general scores, one direction, and its own steps through the source."""

    def __init__(self, src_vocab, tgt_vocab, embed, hidden, attention, pad=0, sos=1, eos=2):
        super().__init__()
        self.pad, self.sos, self.eos, self.looks = pad, sos, eos, attention > 0
        self.src, self.tgt = nn.Embedding(src_vocab, embed, padding_idx=pad), nn.Embedding(tgt_vocab, embed)
        self.reader, self.writer = nn.GRUCell(embed, hidden), nn.GRUCell(embed, hidden)
        if self.looks:
            self.W = nn.Parameter(torch.randn(hidden, hidden) / hidden**0.5)
        self.mix = nn.Linear(2 * hidden, hidden)
        self.out = nn.Linear(hidden, tgt_vocab, bias=False)

    def begin(self, src, lengths):
        h, states = self.src.weight.new_zeros(len(src), self.mix.out_features), []
        for t in range(src.shape[1]):
            new = self.reader(self.src(src[:, t]), h)
            h = torch.where((t < lengths)[:, None], new, h)
            states.append(h)
        return h, (torch.stack(states, 1), torch.arange(src.shape[1]) < lengths[:, None], h)

    def step(self, token, state, memory):
        keys, mask, last = memory
        state = self.writer(self.tgt(token), state)
        context, weights = last, torch.zeros(keys.shape[:2])
        if self.looks:
            scores = torch.einsum("bq,qk,bsk->bs", state, self.W, keys)
            weights = scores.masked_fill(~mask, -1e9).softmax(1)
            context = torch.einsum("bs,bsk->bk", weights, keys)
        return self.out(torch.tanh(self.mix(torch.cat([context, state], 1)))), state, weights


class WideAndDeep(_Loops):
    """`hidden` for each direction, two layers of writer, additive scores from linear layers with biases."""

    def __init__(self, src_vocab, tgt_vocab, embed, hidden, attention, pad=0, sos=1, eos=2):
        super().__init__()
        self.pad, self.sos, self.eos, self.A = pad, sos, eos, attention
        self.tables = nn.ModuleDict({"src": nn.Embedding(src_vocab, embed), "tgt": nn.Embedding(tgt_vocab, embed)})
        self.rnn = nn.GRU(embed, hidden, bidirectional=True)
        self.bridge = nn.Linear(2 * hidden, 2 * hidden)
        self.cells = nn.ModuleList([nn.GRUCell(embed + 2 * hidden, hidden), nn.GRUCell(hidden, hidden)])
        self.ask, self.offer = nn.Linear(hidden, attention or 1), nn.Linear(2 * hidden, attention or 1)
        self.v = nn.Linear(attention or 1, 1, bias=False)
        if not attention:
            del self.ask, self.offer, self.v
        self.head = nn.Sequential(nn.Linear(3 * hidden, hidden), nn.Tanh(), nn.Linear(hidden, tgt_vocab))

    def begin(self, src, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.tables["src"](src.T), lengths, enforce_sorted=False)
        states, last = self.rnn(packed)
        states, _ = nn.utils.rnn.pad_packed_sequence(states, total_length=src.shape[1], batch_first=True)
        last = torch.cat(list(last), 1)
        mask = torch.arange(src.shape[1]) < lengths[:, None]
        return self.bridge(last).tanh().chunk(2, 1), (states, mask, last)

    def step(self, token, state, memory):
        keys, mask, last = memory
        context, weights = last, mask.float()
        if self.A:
            scores = self.v(torch.tanh(self.ask(state[-1])[:, None] + self.offer(keys))).squeeze(-1)
            weights = F.softmax(scores + torch.where(mask, 0.0, -1e9), 1)
            context = (weights[:, :, None] * keys).sum(1)
        x = torch.cat([self.tables["tgt"](token), context], 1)
        new = []
        for cell, h in zip(self.cells, state, strict=True):
            x = cell(x, h)
            new.append(x)
        return self.head(torch.cat([x, context], 1)), new, weights


class LogitsFromTheStateBefore(Right):
    """As in the paper's appendix A.2.2: token, context, and the state that looked, before the GRU's next step."""

    def step(self, token, state, keys, mask, last):
        _, new, weights = super().step(token, state, keys, mask, last)
        context = torch.einsum("bs,bsk->bk", weights, keys) if self.attention else last
        return self.to_tokens(torch.cat([state, context, self.embed_tgt(token)], 1)), new, weights


class LogProbabilities(Right):
    """Scores up to a constant for each place, which neither loss nor argmax notices: their softmax's logarithm."""

    def step(self, token, state, keys, mask, last):
        logits, state, weights = super().step(token, state, keys, mask, last)
        return logits.log_softmax(-1), state, weights


class SentenceBySentence(nn.Module):
    """No batch at all: each sentence is cut to its length, read and written alone."""

    def __init__(self, src_vocab, tgt_vocab, embed, hidden, attention, pad=0, sos=1, eos=2):
        super().__init__()
        self.pad, self.sos, self.eos, self.A = pad, sos, eos, attention
        self.S, self.T = nn.Embedding(src_vocab, embed), nn.Embedding(tgt_vocab, embed)
        self.enc = nn.GRU(embed, hidden, batch_first=True, bidirectional=True)
        self.init = nn.Linear(hidden, hidden)
        self.dec = nn.GRUCell(embed + 2 * hidden, hidden)
        if attention:
            self.both = nn.Linear(3 * hidden, attention, bias=False)
            self.v = nn.Parameter(torch.randn(attention))
        self.out = nn.Linear(hidden, tgt_vocab)

    def read(self, ids):
        states, last = self.enc(self.S(ids)[None])
        return states[0], torch.cat([last[0, 0], last[1, 0]]), torch.tanh(self.init(last[1, 0]))

    def step(self, token, h, keys, last):
        weights, context = keys.new_zeros(len(keys)), last
        if self.A:
            weights = torch.softmax(torch.tanh(self.both(torch.cat([h.expand(len(keys), -1), keys], 1))) @ self.v, 0)
            context = weights @ keys
        h = self.dec(torch.cat([self.T(token), context])[None], h[None])[0]
        return self.out(h), h, weights

    def forward(self, src, src_lengths, tgt):
        rows = []
        for ids, n, target in zip(src, src_lengths.tolist(), tgt, strict=True):
            keys, last, h = self.read(ids[:n])
            row, token = [], torch.tensor(self.sos)
            for wanted in target:
                logits, h, _ = self.step(token, h, keys, last)
                row.append(logits)
                token = wanted
            rows.append(torch.stack(row))
        return torch.stack(rows)

    @torch.no_grad()
    def decode_greedy(self, src, src_lengths, max_len):
        ids = torch.full((len(src), max_len), self.pad)
        looked = torch.zeros(len(src), max_len, src.shape[1])
        for row, n in enumerate(src_lengths.tolist()):
            keys, last, h = self.read(src[row, :n])
            token = torch.tensor(self.sos)
            for t in range(max_len):
                logits, h, looked[row, t, :n] = self.step(token, h, keys, last)
                token = ids[row, t] = logits.argmax()
                if token == self.eos:
                    break
        return ids, looked


# -- how well it aligns ------------------------------------------------------------------------------------------------


def errors_one_by_one(weights, gold, lengths):
    wrong = total = 0
    for b in range(len(gold)):
        for t in range(int(lengths[b])):
            wrong += int(weights[b, t].argmax()) != int(gold[b, t])
            total += 1
    return wrong / total


def errors_by_selection(weights, gold, lengths):
    real = torch.arange(gold.shape[1]).expand_as(gold) < lengths.unsqueeze(1)
    return (weights.argmax(2)[real] != gold[real]).double().mean()


def errors_by_the_largest(weights, gold, lengths):
    found = weights.gather(2, gold.unsqueeze(2)).squeeze(2) < weights.max(2).values
    rows = [row[:n] for row, n in zip(found, lengths.tolist(), strict=True)]
    return torch.cat(rows).float().mean().item()


ALTERNATIVES = {
    "additive_scores": [
        additive_by_concatenation,
        additive_place_by_place,
        additive_by_einsum,
        additive_row_by_row,
    ],
    "dot_scores": [dot_by_einsum, dot_by_sum, dot_by_bmm],
    "general_scores": [general_by_einsum, general_from_the_keys, general_by_bilinear],
    "attend": [
        attend_by_exponentials,
        attend_with_infinity,
        attend_row_by_row,
        attend_into_zeros,
        attend_by_a_large_number,
        attend_and_draw,
    ],
    "shift_right": [shifted_by_padding, shifted_by_rolling, shifted_into_a_new_one],
    "AttentionSeq2Seq": [LuongsTiming, WideAndDeep, SentenceBySentence, LogitsFromTheStateBefore, LogProbabilities],
    "alignment_error_rate": [errors_one_by_one, errors_by_selection, errors_by_the_largest],
}
