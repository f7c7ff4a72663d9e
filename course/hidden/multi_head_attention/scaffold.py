"""What several exercises of this topic are examined with."""

from __future__ import annotations

from course.reference import multi_head_attention as reference

FORBIDDEN = (
    *("F.scaled_dot_product_attention", "nn.MultiheadAttention", "F.multi_head_attention_forward"),
    "blocks.MultiHeadAttention",
)


def divisible(D, n_heads):
    if D % n_heads:
        raise ValueError(f"{n_heads} heads, width {D}")


def _split(x, h):
    return reference.split_heads(x, h)


def _weigh(q, k, mask=None, root=None, dim=-1):
    """Weights of heads, (B, h, T, S); `root` divides the scores."""
    scores = q @ k.mT / (root or q.shape[-1] ** 0.5)
    if mask is None:
        return scores.softmax(dim)
    return scores.masked_fill(~mask, -1e30).softmax(dim).masked_fill(~mask, 0.0)
