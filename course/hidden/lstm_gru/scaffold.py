"""What several exercises of this topic are examined with."""

import torch

BUILT_IN = (
    *("nn.RNN", "nn.RNNCell", "nn.LSTM", "nn.LSTMCell", "nn.GRU", "nn.GRUCell"),
    *("torch.lstm_cell", "torch.gru_cell", "torch.lstm", "torch.gru"),
)


def weights(rng, gates, D, H, dtype=torch.float64):
    """(gates·H, D), (gates·H, H), (gates·H,): far from symmetric, and biases far from zero."""
    return (
        rng.normal(gates * H, D, dtype=dtype),
        0.7 * rng.normal(gates * H, H, dtype=dtype),
        rng.normal(gates * H, dtype=dtype),
    )


def x_and_h(rng, states, B, D, *, H, dtype=torch.float64):
    """x (B, D), and `states` of (B, H)."""
    return rng.normal(B, D, dtype=dtype), *(0.8 * rng.normal(B, H, dtype=dtype) for _ in range(states))


def biased(b, *shifts):
    """The bias b (gates·H,), each gate's part shifted by a number."""
    H = len(b) // len(shifts)
    return b + torch.tensor(shifts, dtype=b.dtype).repeat_interleave(H)


def in_float32(*tensors):
    """As most notebooks have them: exp(89) is more than such a number holds."""
    return [tensor.float() for tensor in tensors]


def overflowing(a):
    """A sigmoid that is NaN where exp(a) is infinite."""
    return a.exp() / (1 + a.exp())


OVERFLOW = (
    "Print the largest exponential in your gates with a bias of +100, in float32. What is one such divided by another?"
)

NOT_TURNED = "How is a weight of shape (out, in) applied to rows? Write the shapes of both factors under each product."


def gates(x, h, W, U, b):
    """What goes into the gates, one after the other: four times (B, H)."""
    return (x @ W.T + h @ U.T + b).chunk(4, -1)
