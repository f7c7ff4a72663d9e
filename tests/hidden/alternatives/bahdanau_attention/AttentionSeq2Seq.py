"""Right answers to `AttentionSeq2Seq` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.reference.bahdanau_attention import AttentionSeq2Seq as Right


class LuongsTiming(nn.Module):
    """A model after Luong and others: the new state asks, with general scores and a forward encoder in a loop."""

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
    """A model that reads and writes each sentence alone, cut to its length."""

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


ALTERNATIVES = [LuongsTiming, SentenceBySentence, LogitsFromTheStateBefore, LogProbabilities]
