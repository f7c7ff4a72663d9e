r"""Gates: a network that decides, unit by unit and step by step, what to keep and what to write.

A gate is a vector of numbers between 0 and 1 by which something is multiplied. Where the gate of the old state stands
near 1, the state passes on as it is, and the gradient comes back as it is: no matrix stands in its way.

    z = σ(V_x x + V_h h + c),  h' = z ⊙ h + (1 − z) ⊙ ReLU(W_x x + W_h h + b)          one gate (the lecture)

    [i f g o] = W x + U h + b                                                           LSTM, gate order i, f, g, o
    c' = σ(f) ⊙ c + σ(i) ⊙ tanh(g),  h' = σ(o) ⊙ tanh(c')
    with peepholes: p_i ⊙ c is added to i, p_f ⊙ c to f, and p_o ⊙ c' to o

    r = σ(W_r x + U_r h + b_r),  z = σ(W_z x + U_z h + b_z)                             GRU, gate order r, z, n
    n = tanh(W_n x + U_n (r ⊙ h) + b_n),  h' = z ⊙ h + (1 − z) ⊙ n

Glossary: B batch, T steps, D width of an input, H width of the state, V tokens. Weights are (out, in), as in PyTorch;
one bias a gate, where PyTorch keeps two that are added.

Sources: S. Hochreiter, J. Schmidhuber, "Long Short-Term Memory", Neural Computation 9, 1997; F. Gers, J. Schmidhuber,
F. Cummins, "Learning to Forget", Neural Computation 12, 2000 (the gate f); F. Gers, N. Schraudolph, J. Schmidhuber,
"Learning Precise Timing with LSTM Recurrent Networks", JMLR 3, 2002 (peepholes); K. Cho et al., "Learning Phrase
Representations using RNN Encoder-Decoder", EMNLP 2014, equations 5 to 8 (GRU; r before U, z keeps the old state);
M. Schuster, K. Paliwal, "Bidirectional Recurrent Neural Networks", IEEE Trans. Signal Processing 45, 1997.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

Cell = Callable[[Tensor, Tensor], Tensor]


def gated_cell(
    x: Tensor, h: Tensor, W_x: Tensor, W_h: Tensor, b: Tensor, V_x: Tensor, V_h: Tensor, c: Tensor
) -> Tensor:
    """One step with one gate: input x (B, D) and state h (B, H) give the next state (B, H).

    W_x, W_h and b make the candidate. V_x, V_h and c make the gate z, which keeps the old state where it is 1. W_x and
    V_x are (H, D), W_h and V_h (H, H), b and c (H,).

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    _check(x, h, 1, W_x, W_h, b)
    _check(x, h, 1, V_x, V_h, c)
    candidate = torch.relu(x @ W_x.T + h @ W_h.T + b)  # (B, H)
    z = torch.sigmoid(x @ V_x.T + h @ V_h.T + c)  # (B, H)
    return z * h + (1 - z) * candidate


def lstm_cell(x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """One step of an LSTM: input x (B, D), output h (B, H) and cell state c (B, H) give the next h and c.

    W (4H, D), U (4H, H) and b (4H,) hold the gates one below the other, in the order i, f, g, o.

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    _check(x, h, 4, W, U, b)
    _check_state(h, c)
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=-1)  # (B, 4H) -> four times (B, H)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def gru_cell(x: Tensor, h: Tensor, W: Tensor, U: Tensor, b: Tensor) -> Tensor:
    """One step of a GRU: input x (B, D) and state h (B, H) give the next state (B, H).

    W (3H, D), U (3H, H) and b (3H,) hold the gates one below the other, in the order r, z, n.

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    _check(x, h, 3, W, U, b)
    x_r, x_z, x_n = (x @ W.T + b).chunk(3, dim=-1)  # (B, 3H) -> three times (B, H)
    U_r, U_z, U_n = U.chunk(3, dim=0)  # (3H, H) -> three times (H, H)
    r = torch.sigmoid(x_r + h @ U_r.T)
    z = torch.sigmoid(x_z + h @ U_z.T)
    n = torch.tanh(x_n + (r * h) @ U_n.T)  # the state is reset before it is mixed
    return z * h + (1 - z) * n


def peephole_lstm_cell(
    x: Tensor, h: Tensor, c: Tensor, W: Tensor, U: Tensor, b: Tensor, p_i: Tensor, p_f: Tensor, p_o: Tensor
) -> tuple[Tensor, Tensor]:
    """An `lstm_cell` whose gates also see the cell state: i and f the old one, o the new one.

    Each unit's gates look at that unit alone: p_i, p_f and p_o are (H,).

    Raises:
        ValueError: the shapes do not fit together; the message holds them.
    """
    _check(x, h, 4, W, U, b)
    _check_state(h, c)
    if any(p.shape != h.shape[1:] for p in (p_i, p_f, p_o)):
        found = ", ".join(str(tuple(p.shape)) for p in (p_i, p_f, p_o))
        raise ValueError(f"peepholes of states of width {h.shape[1]} are ({h.shape[1]},), got {found}")
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, dim=-1)
    c = torch.sigmoid(f + p_f * c) * c + torch.sigmoid(i + p_i * c) * torch.tanh(g)
    return torch.sigmoid(o + p_o * c) * torch.tanh(c), c


def run_bidirectional(cell_f: Cell, cell_b: Cell, xs: Tensor, h0_f: Tensor, h0_b: Tensor) -> Tensor:
    """Two cells read xs (B, T, D), one from each end. At t, the first has read 0 … t and the second t … T − 1.

    cell(x (B, D), h (B, H)) gives the next state; h0_f and h0_b are (B, H). Returns (B, T, 2H), forward half first.

    Raises:
        ValueError: xs is not (B, T, D), or there is no step.
    """
    if xs.ndim != 3 or xs.shape[1] == 0:
        raise ValueError(f"expected xs (B, T, D) with at least one step, got {tuple(xs.shape)}")
    forward = _states(cell_f, xs, h0_f)
    backward = _states(cell_b, xs.flip(1), h0_b).flip(1)  # read from the end, put back where it was read
    return torch.cat([forward, backward], dim=-1)  # 2 times (B, T, H) -> (B, T, 2H)


def lstm_parameters(input_size: int, hidden_size: int, layers: int = 1, bidirectional: bool = False) -> int:
    """Count the numbers that an LSTM learns, with one bias a gate. Layers above the first read all the states below.

    Raises:
        ValueError: a size is below 1.
    """
    if min(input_size, hidden_size, layers) < 1:
        raise ValueError(f"expected sizes of at least 1, got {input_size}, {hidden_size} and {layers} layers")
    directions = 2 if bidirectional else 1
    widths = [input_size] + [directions * hidden_size] * (layers - 1)
    return sum(directions * 4 * hidden_size * (width + hidden_size + 1) for width in widths)


class GatedClassifier(nn.Module):
    """Reads a sequence token by token with an LSTM and classifies it by the output after its last real token.

    It starts from h = c = 0, with x_t one-hot; logits = W_y h + b_y. Two things make it learn quickly. W starts as an
    embedding does, from N(0, 1), so that the gates notice a token at once. The forget gate's bias starts at 1, so that
    the cell keeps (Gers et al. 2000; Jozefowicz et al., ICML 2015).
    """

    def __init__(self, vocab_size: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.vocab_size, self.hidden = vocab_size, hidden
        bound = hidden**-0.5
        self.W = nn.Parameter(torch.randn(4 * hidden, vocab_size))
        self.U = nn.Parameter(torch.empty(4 * hidden, hidden).uniform_(-bound, bound))
        self.b = nn.Parameter(torch.zeros(4 * hidden))
        self.to_classes = nn.Linear(hidden, classes)
        with torch.no_grad():
            self.b[hidden : 2 * hidden] = 1.0

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
        """The output h after every token of ids (B, T): (B, T, hidden)."""
        xs = one_hot(ids, self.vocab_size).to(self.W.dtype)  # (B, T, V)
        h = c = xs.new_zeros(len(ids), self.hidden)
        outputs = []
        for x in xs.unbind(dim=1):
            h, c = lstm_cell(x, h, c, self.W, self.U, self.b)
            outputs.append(h)
        return torch.stack(outputs, dim=1)


def _states(cell: Cell, xs: Tensor, h: Tensor) -> Tensor:
    """The states (B, T, H) of a cell that reads xs (B, T, D) from the state h (B, H)."""
    states = []
    for x in xs.unbind(dim=1):
        h = cell(x, h)
        states.append(h)
    return torch.stack(states, dim=1)


def _check(x: Tensor, h: Tensor, gates: int, W: Tensor, U: Tensor, b: Tensor) -> None:
    if x.ndim != 2 or h.ndim != 2 or len(x) != len(h):
        raise ValueError(f"expected x (B, D) and h (B, H), got {tuple(x.shape)} and {tuple(h.shape)}")
    D, H = x.shape[1], h.shape[1]
    rows = gates * H
    if W.shape != (rows, D) or U.shape != (rows, H) or b.shape != (rows,):
        raise ValueError(
            f"inputs of width {D} and states of width {H} need weights of ({rows}, {D}), ({rows}, {H}) and ({rows},), "
            f"got {tuple(W.shape)}, {tuple(U.shape)} and {tuple(b.shape)}"
        )


def _check_state(h: Tensor, c: Tensor) -> None:
    if c.shape != h.shape:
        raise ValueError(f"h and c have the same shape (B, H), got {tuple(h.shape)} and {tuple(c.shape)}")
