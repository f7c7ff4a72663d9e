"""What several exercises of this topic are examined with."""

import torch

BUILT_IN = ("nn.RNN", "nn.RNNCell")
GATED = ("nn.LSTM", "nn.LSTMCell", "nn.GRU", "nn.GRUCell")
"""Layers that a classifier can be made of, though they are not Elman's."""


def weights(rng, D, H, dtype=torch.float64):
    """W_x (H, D), W_h (H, H), b (H,): W_h far from symmetric, b far from zero."""
    return rng.normal(H, D, dtype=dtype), 0.7 * rng.normal(H, H, dtype=dtype), rng.normal(H, dtype=dtype)


def inputs(rng, B, T, D, H, dtype=torch.float64):
    """xs (B, T, D), h0 (B, H), and the weights."""
    return rng.normal(B, T, D, dtype=dtype), 0.5 * rng.normal(B, H, dtype=dtype), *weights(rng, D, H, dtype)
