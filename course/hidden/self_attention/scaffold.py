"""What several exercises of this topic are examined with."""

BUILT_IN_ATTENTION = ("F.scaled_dot_product_attention", "nn.MultiheadAttention", "F.multi_head_attention_forward")
