r"""Recurrent networks: one small function, applied at every step to its own last answer and the next input.

The state h is all that the network remembers. The same weights read a sequence of any length. Training unrolls the loop
and goes back through it. Every step back multiplies the gradient by the same W_h, so it vanishes or explodes.

    a_t = W_x x_t + W_h h_{t-1} + b                the cell (Elman 1990; tanh as in every library since)
    h_t = tanh(a_t)
    δ_t = ∂L/∂a_t = (1 − h_t²) ⊙ ∂L/∂h_t           backpropagation through time
    ∂L/∂h_{t-1} = W_hᵀ δ_t
    ∂L/∂W_x = Σ_t δ_t x_tᵀ     ∂L/∂W_h = Σ_t δ_t h_{t-1}ᵀ     ∂L/∂b = Σ_t δ_t

Glossary: B batch, T steps, D width of an input, H width of the state, V tokens. Weights are (out, in), as in PyTorch.

Sources: J. Elman, "Finding Structure in Time", Cognitive Science 14, 1990; P. Werbos, "Backpropagation Through Time",
Proc. IEEE 78, 1990; R. Pascanu, T. Mikolov, Y. Bengio, "On the difficulty of training recurrent neural networks", ICML
2013 (clipping: algorithm 1); S. Bengio et al., "Scheduled Sampling for Sequence Prediction with RNNs", NeurIPS 2015.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

Step = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]


def rnn_cell(x: Tensor, h: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> Tensor:
    """One step: input x (B, D) and state h (B, H) give the next state (B, H).

    W_x is (H, D), W_h (H, H), b (H,).

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    if x.ndim != 2 or h.ndim != 2 or len(x) != len(h):
        raise ValueError(f"expected x (B, D) and h (B, H), got {tuple(x.shape)} and {tuple(h.shape)}")
    _check_weights(x.shape[-1], h.shape[-1], W_x, W_h, b)
    return torch.tanh(x @ W_x.T + h @ W_h.T + b)  # (B, D) @ (D, H) + (B, H) @ (H, H) + (H,)


def rnn_forward(xs: Tensor, h0: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Run the cell along xs (B, T, D) from h0 (B, H): all states h_1 … h_T (B, T, H), and the last one (B, H).

    Raises:
        ValueError: the shapes do not fit together, or there is no step.
    """
    if xs.ndim != 3 or xs.shape[1] == 0:
        raise ValueError(f"expected xs (B, T, D) with at least one step, got {tuple(xs.shape)}")
    h, states = h0, []
    for x in xs.unbind(dim=1):  # T times (B, D)
        h = rnn_cell(x, h, W_x, W_h, b)
        states.append(h)
    return torch.stack(states, dim=1), h  # (B, T, H), (B, H)


def bptt(xs: Tensor, h0: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor, grad_h_T: Tensor) -> dict[str, Tensor]:
    """Gradients of a loss whose gradient at the last state is `grad_h_T` (B, H), by hand and without autograd.

    Returns {"W_x": (H, D), "W_h": (H, H), "b": (H,), "h0": (B, H)}, summed over batch and time where they are shared.

    Raises:
        ValueError: the shapes do not fit together.
    """
    if grad_h_T.shape != h0.shape:
        raise ValueError(f"grad_h_T {tuple(grad_h_T.shape)} must have the shape of the state, {tuple(h0.shape)}")
    hs, _ = rnn_forward(xs, h0, W_x, W_h, b)
    before = torch.cat([h0.unsqueeze(1), hs[:, :-1]], dim=1)  # (B, T, H): the state each step started from
    gradients = {"W_x": torch.zeros_like(W_x), "W_h": torch.zeros_like(W_h), "b": torch.zeros_like(b)}
    grad_h = grad_h_T
    for t in reversed(range(xs.shape[1])):
        delta = (1 - hs[:, t] ** 2) * grad_h  # (B, H): tanh' written with tanh's own output
        gradients["W_x"] += delta.T @ xs[:, t]  # (H, B) @ (B, D) -> (H, D)
        gradients["W_h"] += delta.T @ before[:, t]  # (H, B) @ (B, H) -> (H, H)
        gradients["b"] += delta.sum(dim=0)
        grad_h = delta @ W_h  # W_hᵀ δ, as rows: (B, H) @ (H, H) -> (B, H)
    return {**gradients, "h0": grad_h}


def clip_grad_norm(grads: Sequence[Tensor], max_norm: float) -> tuple[list[Tensor], float]:
    """Scale all gradients by one factor so that together they are no longer than `max_norm`. None is scaled up.

    Returns the new gradients and the norm *before* clipping. One factor keeps the direction, so the step is shorter and
    not another one. A norm that is NaN makes NaN of all gradients, as in torch, so that a lost step shows.

    Raises:
        ValueError: `max_norm` is not positive.
    """
    if max_norm <= 0:
        raise ValueError(f"max_norm must be positive, got {max_norm}")
    total = math.hypot(*(float(grad.norm()) for grad in grads))  # squares of float16 overflow from 256 on
    scale = 1.0 if total <= max_norm else max_norm / total  # NaN is not below anything
    return [grad * scale for grad in grads], total


class ElmanClassifier(nn.Module):
    """Reads a sequence token by token and classifies it by the state after its last real token.

    h_t = ReLU(W_x x_t + W_h h_{t-1} + b) from h_0 = 0, with x_t one-hot; logits = W_y h + b_y. (The lecture's network.)
    """

    def __init__(self, vocab_size: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.vocab_size = vocab_size
        self.from_input = nn.Linear(vocab_size, hidden)
        self.from_state = nn.Linear(hidden, hidden, bias=False)
        self.to_classes = nn.Linear(hidden, classes)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """ids (B, T), of which the first lengths (B,) of each row are real -> logits (B, classes).

        Raises:
            ValueError: a length is below 1 or above T, or there are not B of them.
        """
        if lengths.shape != ids.shape[:1] or bool((lengths < 1).any()) or bool((lengths > ids.shape[1]).any()):
            raise ValueError(f"lengths {lengths.tolist()} do not fit ids of shape {tuple(ids.shape)}")
        rows = torch.arange(len(ids), device=ids.device)
        return self.to_classes(self.states(ids)[rows, lengths - 1])

    def states(self, ids: Tensor) -> Tensor:
        """The state after every token of ids (B, T): (B, T, hidden)."""
        inputs = self.from_input(one_hot(ids, self.vocab_size).to(self.from_input.weight.dtype))  # (B, T, hidden)
        h, states = torch.zeros_like(inputs[:, 0]), []
        for x in inputs.unbind(dim=1):
            h = torch.relu(x + self.from_state(h))
            states.append(h)
        return torch.stack(states, dim=1)


def generate(step: Step, h0: Tensor, start: int, length: int, temperature: float, generator: torch.Generator) -> Tensor:
    """Write `length` tokens, each sampled after reading the one before: a LongTensor (length,) without `start`.

    `step(token (1,), h) -> (logits (1, V), h)`. Tokens are sampled from softmax(logits / temperature).

    Raises:
        ValueError: `temperature` is not positive.
    """
    if temperature <= 0:
        raise ValueError(f"temperature must be positive, got {temperature}")
    token, h, written = torch.tensor([start], device=h0.device), h0, []
    for _ in range(length):
        logits, h = step(token, h)
        probabilities = torch.softmax(logits / temperature, dim=-1)  # (1, V)
        token = torch.multinomial(probabilities, 1, generator=generator).squeeze(1)  # (1,)
        written.append(token)
    return torch.cat(written) if written else token[:0]


def scheduled_inputs(targets: Tensor, own: Tensor, p: float, generator: torch.Generator) -> Tensor:
    """Inputs for training: at each position the teacher's token with probability p, else the model's.

    Each position has a coin of its own. targets and own are (B, T), and so is the result.

    Raises:
        ValueError: the two differ in shape.
    """
    if targets.shape != own.shape:
        raise ValueError(f"targets {tuple(targets.shape)} and own {tuple(own.shape)} differ in shape")
    coins = torch.rand(targets.shape, generator=generator, device=generator.device).to(targets.device)
    return torch.where(coins < p, targets, own)


def _check_weights(D: int, H: int, W_x: Tensor, W_h: Tensor, b: Tensor) -> None:
    if W_x.shape != (H, D) or W_h.shape != (H, H) or b.shape != (H,):
        raise ValueError(
            f"inputs of width {D} and states of width {H} need W_x ({H}, {D}), W_h ({H}, {H}) and b ({H},), got "
            f"{tuple(W_x.shape)}, {tuple(W_h.shape)} and {tuple(b.shape)}"
        )
