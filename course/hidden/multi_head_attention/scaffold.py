"""What several exercises of this topic are examined with."""

FORBIDDEN = (
    *("F.scaled_dot_product_attention", "nn.MultiheadAttention", "F.multi_head_attention_forward"),
    "blocks.MultiHeadAttention",
)


def divisible(D, n_heads):
    if D % n_heads:
        raise ValueError(f"{n_heads} heads, width {D}")
