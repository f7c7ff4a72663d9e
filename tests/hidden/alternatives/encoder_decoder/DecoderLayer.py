"""Right answers to `DecoderLayer` that look nothing like the reference."""

from __future__ import annotations

import torch

from tests.hidden.alternatives.encoder_decoder.scaffold import DecoderBothBranches, DecoderInALoop


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


ALTERNATIVES = [DecoderBothBranches, DecoderWordByWord]
