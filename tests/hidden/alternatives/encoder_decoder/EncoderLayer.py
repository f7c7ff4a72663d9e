"""Right answers to `EncoderLayer` that look nothing like the reference."""

from __future__ import annotations

from einops import rearrange
from torch import nn

from tests.hidden.alternatives.encoder_decoder.scaffold import BothBranches, add_parts


class OwnAttention(nn.Module):
    """The attention's linear layers used by hand; dropout inside the feed-forward, too, as in torch."""

    def __init__(self, d_model, n_heads, d_ff, dropout=0.1, norm="post"):
        super().__init__()
        add_parts(self, d_model, n_heads, d_ff, dropout, norm, ("norm1", "norm2"))

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


ALTERNATIVES = [BothBranches, OwnAttention]
