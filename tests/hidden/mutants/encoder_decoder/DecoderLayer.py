"""Wrong answers to `DecoderLayer` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference import encoder_decoder as reference


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


class DecoderCrossTwice(reference.DecoderLayer):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        x = self.around(self.norm1, lambda y: self.cross_attention(y, memory, src_mask)[0], x)
        x = self.around(self.norm2, lambda y: self.cross_attention(y, memory, src_mask)[0], x)
        return self.around(self.norm3, self.think, x)


class DecoderMemoryDetached(reference.DecoderLayer):
    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory.detach(), tgt_mask, src_mask)


class DecoderOpensEmptyRows(reference.DecoderLayer):
    """A source of padding alone is looked at."""

    def forward(self, x, memory, tgt_mask=None, src_mask=None):
        return super().forward(x, memory, tgt_mask, None if src_mask is None else src_mask | ~src_mask.any(-1, True))


MUTANTS = [
    DecoderValuesFromTheTarget,
    DecoderMaskOnQueries,
    DecoderFeedForwardBeforeTheCross,
    DecoderCrossTwice,
    DecoderMemoryDetached,
    DecoderOpensEmptyRows,
]
