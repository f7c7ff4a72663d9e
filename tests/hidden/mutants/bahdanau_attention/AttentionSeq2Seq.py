"""Wrong answers to `AttentionSeq2Seq`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch

from course.hidden.bahdanau_attention.AttentionSeq2Seq import LaidOpen
from course.reference.bahdanau_attention import AttentionSeq2Seq as Right
from course.reference.bahdanau_attention import additive_scores, attend, shift_right

# -- first attempts ----------------------------------------------------------------------------------------------------


class NotShifted(LaidOpen):
    def reads(self, tgt):
        return tgt


class IdsNotEmbedded(Right):
    def step(self, token, state, keys, mask, last):
        state = self.decoder(torch.cat([token, last], dim=1), state)
        return self.to_tokens(torch.cat([state, last, token], dim=1)), state, mask


class StackedInFront(Right):
    def forward(self, src, src_lengths, tgt):
        return super().forward(src, src_lengths, tgt).transpose(0, 1)


class StateNotKept(LaidOpen):
    def next_state(self, new, start):
        return start


class WritesOnBehindEos(LaidOpen):
    def ended(self, ended):
        return torch.zeros_like(ended)


class PadsItsEos(Right):
    def decode_greedy(self, src, src_lengths, max_len):
        ids, weights = super().decode_greedy(src, src_lengths, max_len)
        return ids.masked_fill((ids == self.eos).cumsum(dim=1) > 0, self.pad), weights


class StopsAtTheFirstEos(LaidOpen):
    def done(self, ended):
        return bool(ended.any())


class IdsAlone(Right):
    def decode_greedy(self, src, src_lengths, max_len):
        return super().decode_greedy(src, src_lengths, max_len)[0]


FIRST_ATTEMPTS = {
    NotShifted: "Does it fall to zero at once?",
    IdsNotEmbedded: "Is it that, or an id?",
    StackedInFront: "expected the shape (5, 8, 11), got (8, 5, 11)",
    StateNotKept: "Which state goes into a step?",
    WritesOnBehindEos: "What stands behind the first eos of a sentence?",
    PadsItsEos: "Does it keep the eos itself?",
    StopsAtTheFirstEos: "When does your loop stop?",
    IdsAlone: "decode_greedy returns two tensors",
}

# -- others ------------------------------------------------------------------------------------------------------------


class ContextCutOff(Right):
    def step(self, token, state, keys, mask, last):
        return super().step(token, state, keys.detach(), mask, last.detach())


class LastColumnForTheLastState(Right):
    """Read padding without packing, so that the last state has read all of it."""

    def encode(self, src, src_lengths):
        keys, last = self.encoder(self.embed_src(src))
        mask = torch.arange(src.shape[1]) < src_lengths[:, None]
        return keys, mask, torch.cat([last[0], last[1]], 1)


class AttentionWithoutAsking(Right):
    def __init__(self, src_vocab, tgt_vocab, embed, hidden, attention, pad=0, sos=1, eos=2):
        super().__init__(src_vocab, tgt_vocab, embed, hidden, attention or hidden, pad, sos, eos)


class NoContextWithoutAttention(Right):
    def step(self, token, state, keys, mask, last):
        return super().step(token, state, keys, mask, last if self.attention else torch.zeros_like(last))


class AsksOnlyOnce(Right):
    """Attend at every step where the first state attends."""

    def step(self, token, state, keys, mask, last):
        if not self.attention:
            return super().step(token, state, keys, mask, last)
        first = torch.tanh(self.start(last))
        context, weights = attend(additive_scores(first, keys, self.W_q.weight, self.W_k.weight, self.v), keys, mask)
        read = self.embed_tgt(token)
        state = self.decoder(torch.cat([read, context], 1), state)
        return self.to_tokens(torch.cat([state, context, read], 1)), state, weights


class StartsFromZero(LaidOpen):
    def begin(self, last):
        return torch.zeros_like(super().begin(last))


class BeginsWithAPad(LaidOpen):
    def reads(self, tgt):
        return shift_right(tgt, self.pad)

    def decode_greedy(self, src, src_lengths, max_len):
        sos, self.sos = self.sos, self.pad
        try:
            return super().decode_greedy(src, src_lengths, max_len)
        finally:
            self.sos = sos


class ProbabilitiesForLogits(Right):
    def step(self, token, state, keys, mask, last):
        logits, state, weights = super().step(token, state, keys, mask, last)
        return logits.softmax(-1), state, weights


class EosHardWired(Right):
    def __init__(self, src_vocab, tgt_vocab, embed, hidden, attention, pad=0, sos=1, eos=2):
        super().__init__(src_vocab, tgt_vocab, embed, hidden, attention, 0, sos, 2)


class ScoresBent(Right):
    def step(self, token, state, keys, mask, last):
        logits, state, weights = super().step(token, state, keys, mask, last)
        return logits.relu(), state, weights


MUTANTS = [
    ContextCutOff,
    LastColumnForTheLastState,
    AttentionWithoutAsking,
    NoContextWithoutAttention,
    AsksOnlyOnce,
    StartsFromZero,
    BeginsWithAPad,
    ProbabilitiesForLogits,
    EosHardWired,
    ScoresBent,
]
