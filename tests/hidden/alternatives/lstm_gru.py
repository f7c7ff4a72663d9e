"""Right answers to topic 04 that look nothing like the reference."""

from __future__ import annotations

import math
from itertools import accumulate
from typing import NamedTuple

import einops
import torch
from torch import nn
from torch.nn import functional as F

# -- one gate ----------------------------------------------------------------------------------------------------------


def gate_by_lerp(x, h, W_x, W_h, b, V_x, V_h, c):
    candidate = F.relu(F.linear(x, W_x, b) + F.linear(h, W_h))
    return torch.lerp(candidate, h, F.sigmoid(F.linear(x, V_x, c) + F.linear(h, V_h)))


def gate_as_a_correction(x, h, W_x, W_h, b, V_x, V_h, c):
    """Starts from the candidate and goes the gate's share of the way back to the state."""
    both = torch.cat([x, h], dim=1)
    candidate = (both @ torch.cat([W_x, W_h], dim=1).T + b).clamp(min=0)
    z = 1 / (1 + torch.exp(-(both @ torch.cat([V_x, V_h], dim=1).T + c)))
    return candidate + z * (h - candidate)


def gate_row_by_row(x, h, W_x, W_h, b, V_x, V_h, c):
    rows = []
    for one, state in zip(x, h, strict=True):
        candidate = torch.maximum(W_x @ one + W_h @ state + b, torch.zeros_like(b))
        z = torch.special.expit(V_x @ one + V_h @ state + c)
        rows.append(z * state + (1 - z) * candidate)
    return torch.stack(rows)


# -- LSTM --------------------------------------------------------------------------------------------------------------


def lstm_by_slices(x, h, c, W, U, b):
    """One product of everything, the sigmoid of everything, and the third quarter once more through tanh."""
    H = h.shape[-1]
    a = torch.cat([x, h], dim=-1) @ torch.cat([W, U], dim=1).T + b
    s = torch.sigmoid(a)
    new = s[:, H : 2 * H] * c + s[:, :H] * torch.tanh(a[:, 2 * H : 3 * H])
    return s[:, 3 * H :] * torch.tanh(new), new


def lstm_by_einsum(x, h, c, W, U, b):
    gates = torch.einsum("bd,khd->kbh", x, einops.rearrange(W, "(k h) d -> k h d", k=4))
    gates = gates + torch.einsum("bj,khj->kbh", h, einops.rearrange(U, "(k h) j -> k h j", k=4))
    gates = gates + einops.rearrange(b, "(k h) -> k 1 h", k=4)
    i, f, o = gates[[0, 1, 3]].sigmoid()
    new = torch.addcmul(f * c, i, gates[2].tanh())
    return [o * new.tanh(), new]


def lstm_by_four_layers(x, h, c, W, U, b):
    H = len(b) // 4
    parts = [F.linear(x, W[k : k + H], b[k : k + H]) + F.linear(h, U[k : k + H]) for k in range(0, 4 * H, H)]
    i, f, o = (0.5 + 0.5 * torch.tanh(parts[k] / 2) for k in (0, 1, 3))
    new = f * c + i * (2 * torch.sigmoid(2 * parts[2]) - 1)
    return o * torch.tanh(new), new


def lstm_row_by_row(x, h, c, W, U, b):
    outputs, cells = [], []
    for one, state, cell in zip(x, h, c, strict=True):
        i, f, g, o = torch.split(W @ one + U @ state + b, len(state))
        cell = torch.sigmoid(f).mul(cell).add(torch.sigmoid(i).mul(torch.tanh(g)))
        outputs.append(torch.sigmoid(o).mul(torch.tanh(cell)))
        cells.append(cell)
    return torch.stack(outputs), torch.stack(cells)


# -- GRU ---------------------------------------------------------------------------------------------------------------


class State(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor


def lstm_of_named_states(x, h, c, W, U, b):
    """One row at a time under vmap, and a named tuple of states."""

    def one(x, h, c):
        i, f, g, o = (W @ x + U @ h + b).chunk(4)
        new = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(new), new

    return State(*torch.func.vmap(one)(x, h, c))


def gru_by_lerp(x, h, W, U, b):
    H = h.shape[1]
    a = F.linear(x, W, b)
    r, z = torch.sigmoid(a[:, : 2 * H] + F.linear(h, U[: 2 * H])).chunk(2, 1)
    return torch.lerp(torch.tanh(a[:, 2 * H :] + F.linear(r * h, U[2 * H :])), h, z)


def gru_as_a_correction(x, h, W, U, b):
    (W_r, W_z, W_n), (U_r, U_z, U_n), (b_r, b_z, b_n) = (torch.chunk(part, 3) for part in (W, U, b))
    r = (x @ W_r.T + h @ U_r.T + b_r).sigmoid()
    z = (x @ W_z.T + h @ U_z.T + b_z).sigmoid()
    n = (x @ W_n.T + h.mul(r) @ U_n.T + b_n).tanh()
    return n + z * (h - n)


def gru_by_einsum(x, h, W, U, b):
    W, U, b = (part.unflatten(0, (3, -1)) for part in (W, U, b))
    r, z = torch.sigmoid(torch.einsum("bd,khd->kbh", x, W[:2]) + torch.einsum("bj,khj->kbh", h, U[:2]) + b[:2, None])
    n = torch.tanh(x @ W[2].mT + torch.einsum("bj,bj,hj->bh", r, h, U[2]) + b[2])
    return (1 - z) * n + z * h


# -- peepholes ---------------------------------------------------------------------------------------------------------


def peepholes_as_diagonals(x, h, c, W, U, b, p_i, p_f, p_o):
    i, f, g, o = (x @ W.T + h @ U.T + b).chunk(4, 1)
    new = torch.sigmoid(f + c @ torch.diag(p_f)) * c + torch.sigmoid(i + c @ torch.diag(p_i)) * torch.tanh(g)
    return torch.sigmoid(o + new @ torch.diag(p_o)) * torch.tanh(new), new


def peepholes_in_one_product(x, h, c, W, U, b, p_i, p_f, p_o):
    """The old cell state is one more input; only the output gate has to wait."""
    H = h.shape[1]
    zero = torch.zeros_like(torch.diag(p_i))
    P = torch.cat([torch.diag(p_i), torch.diag(p_f), zero, zero])
    a = torch.cat([x, h, c], 1) @ torch.cat([W, U, P], 1).T + b
    new = a[:, H : 2 * H].sigmoid() * c + a[:, :H].sigmoid() * a[:, 2 * H : 3 * H].tanh()
    return (a[:, 3 * H :] + new * p_o).sigmoid() * new.tanh(), new


def peepholes_row_by_row(x, h, c, W, U, b, p_i, p_f, p_o):
    results = []
    for one, state, old in zip(x, h, c, strict=True):
        i, f, g, o = (W @ one + U @ state + b).view(4, -1)
        new = torch.sigmoid(torch.addcmul(f, p_f, old)) * old
        new = new + torch.sigmoid(torch.addcmul(i, p_i, old)) * torch.tanh(g)
        results.append((torch.sigmoid(torch.addcmul(o, p_o, new)) * torch.tanh(new), new))
    return tuple(torch.stack(column) for column in zip(*results, strict=True))


# -- both directions ---------------------------------------------------------------------------------------------------


def bidirectional_by_index(cell_f, cell_b, xs, h0_f, h0_b):
    T = xs.shape[1]
    ahead, back = [h0_f], [h0_b]
    for t in range(T):
        ahead.append(cell_f(xs[:, t], ahead[-1]))
        back.append(cell_b(xs[:, T - 1 - t], back[-1]))
    return torch.stack([torch.cat([ahead[t + 1], back[T - t]], dim=1) for t in range(T)], dim=1)


def bidirectional_by_recursion(cell_f, cell_b, xs, h0_f, h0_b):
    def states(cell, words, h):
        if not words:
            return []
        h = cell(words[0], h)
        return [h, *states(cell, words[1:], h)]

    words = list(xs.transpose(0, 1))
    halves = torch.stack(states(cell_f, words, h0_f)), torch.stack(states(cell_b, words[::-1], h0_b)[::-1])
    return einops.rearrange(list(halves), "half t b h -> b t (half h)")


def bidirectional_into_a_tensor(cell_f, cell_b, xs, h0_f, h0_b):
    B, T, H = len(xs), xs.shape[1], h0_f.shape[1]
    out = xs.new_zeros(B, T, 2 * H)
    h, k = h0_f, h0_b
    for t in range(T):
        h = cell_f(xs[:, t], h)
        out[:, t, :H] = h
    for t in range(T - 1, -1, -1):
        k = cell_b(xs[:, t], k)
        out[:, t, H:] = k
    return out


# -- counting ----------------------------------------------------------------------------------------------------------


def bidirectional_accumulated(cell_f, cell_b, xs, h0_f, h0_b):
    _, *forward = accumulate(xs.unbind(1), lambda h, x: cell_f(x, h), initial=h0_f)
    _, *backward = accumulate(xs.flip(1).unbind(1), lambda h, x: cell_b(x, h), initial=h0_b)
    return torch.stack([torch.hstack(both) for both in zip(forward, reversed(backward), strict=True)], 1)


def counted_by_formula(input_size, hidden_size, layers=1, bidirectional=False):
    d = 1 + bool(bidirectional)
    first = 4 * hidden_size * (input_size + hidden_size + 1) * d
    return first + (layers - 1) * d * 4 * (d * hidden_size**2 + hidden_size**2 + hidden_size)


def counted_on_tensors(input_size, hidden_size, layers=1, bidirectional=False):
    total, width = 0, input_size
    for _ in range(layers):
        for _ in range(2 if bidirectional else 1):
            for shape in ((4 * hidden_size, width), (4 * hidden_size, hidden_size), (4 * hidden_size,)):
                total += math.prod(shape)
        width = hidden_size * (2 if bidirectional else 1)
    return torch.tensor(total)


def counted_on_linear_layers(input_size, hidden_size, layers=1, bidirectional=False):
    directions = [None, None] if bidirectional else [None]
    with torch.device("meta"):
        stack = [
            nn.Linear((input_size if layer == 0 else hidden_size * len(directions)) + hidden_size, 4 * hidden_size)
            for layer in range(layers)
            for _ in directions
        ]
    return sum(p.numel() for layer in stack for p in layer.parameters())


# -- a classifier ------------------------------------------------------------------------------------------------------


class GruByLayers(nn.Module):
    """A GRU of linear layers over an embedding; a row whose sequence has ended keeps its state."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden)
        self.gates = nn.Linear(2 * hidden, 2 * hidden)
        self.candidate = nn.Linear(2 * hidden, hidden)
        self.read = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h = self.read.weight.new_zeros(len(ids), self.read.in_features)
        for t in range(ids.shape[1]):
            x = self.embed(ids[:, t])
            r, z = torch.sigmoid(self.gates(torch.cat([x, h], 1))).chunk(2, 1)
            new = torch.lerp(torch.tanh(self.candidate(torch.cat([x, r * h], 1))), h, z)
            h = torch.where((t < lengths)[:, None], new, h)
        return self.read(h)


class PeepholeLstm(nn.Module):
    """An LSTM with peepholes and a start of its own that is learned; gathers the last output."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.from_token = nn.Parameter(torch.randn(vocab_size, 4 * hidden) / 4)
        self.from_state = nn.Linear(hidden, 4 * hidden)
        self.peep = nn.Parameter(torch.zeros(3, hidden))
        self.start = nn.Parameter(torch.zeros(2, hidden))
        self.read = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h, c = self.start.unsqueeze(1).expand(-1, len(ids), -1)
        outputs = []
        for t in range(int(lengths.max())):
            i, f, g, o = (self.from_token[ids[:, t]] + self.from_state(h)).chunk(4, 1)
            c = torch.sigmoid(f + self.peep[0] * c) * c + torch.sigmoid(i + self.peep[1] * c) * torch.tanh(g)
            h = torch.sigmoid(o + self.peep[2] * c) * torch.tanh(c)
            outputs.append(h)
        last = torch.stack(outputs).gather(0, (lengths - 1).view(1, -1, 1).expand(1, -1, h.shape[1]))
        return self.read(last[0])


class LstmOneByOne(nn.Module):
    """One sequence after another, without its padding; the forget gate's 1 is added on the way."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.V, self.H = vocab_size, hidden
        self.cell = nn.Linear(vocab_size + hidden, 4 * hidden)
        self.read = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        ends = []
        for row, length in zip(ids, lengths.tolist(), strict=True):
            h = c = self.cell.weight.new_zeros(self.H)
            for token in row[:length]:
                i, f, g, o = self.cell(torch.cat([F.one_hot(token, self.V).to(h), h])).split(self.H)
                c = torch.sigmoid(f + 1) * c + torch.sigmoid(i) * torch.tanh(g)
                h = torch.sigmoid(o) * torch.tanh(c)
            ends.append(h)
        return self.read(torch.stack(ends))


class GruOfAFrozenTable(nn.Module):
    """One-hot rows come out of an embedding that does not learn; a matrix for each gate."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.one_hot = nn.Embedding.from_pretrained(torch.eye(vocab_size))
        self.W = nn.ModuleDict({gate: nn.Linear(vocab_size, hidden) for gate in "rzn"})
        self.U = nn.ModuleDict({gate: nn.Linear(hidden, hidden, bias=False) for gate in "rzn"})
        self.read = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h = last = self.read.weight.new_zeros(len(ids), self.read.in_features)
        for t, x in enumerate(self.one_hot(ids).unbind(1)):
            r, z = (torch.sigmoid(self.W[gate](x) + self.U[gate](h)) for gate in "rz")
            h = z * h + (1 - z) * torch.tanh(self.W["n"](x) + self.U["n"](r * h))
            last = torch.where((lengths == t + 1)[:, None], h, last)
        return self.read(last)


class TwoLayersOfLstm(nn.Module):
    """The second reads what the first shows."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.vocab_size, self.hidden = vocab_size, hidden
        self.cells = nn.ModuleList(nn.Linear(width + hidden, 4 * hidden) for width in (vocab_size, hidden))
        self.read = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        states = [torch.zeros(2, len(ids), self.hidden) for _ in self.cells]
        outputs = []
        for x in F.one_hot(ids.T, self.vocab_size).float():
            for k, cell in enumerate(self.cells):
                h, c = states[k]
                i, f, g, o = cell(torch.cat([x, h], 1)).chunk(4, 1)
                c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
                x = torch.sigmoid(o) * torch.tanh(c)
                states[k] = (x, c)
            outputs.append(x)
        return self.read(torch.stack(outputs)[lengths - 1, torch.arange(len(ids))])


class LstmOfAList(nn.ModuleList):
    """Is itself the list of its layers."""

    def __init__(self, vocab_size=10, hidden=64, classes=2):
        super().__init__(nn.Linear(vocab_size + hidden, hidden) for _ in range(4))
        self.append(nn.Linear(hidden, classes))
        self.vocab_size = vocab_size

    def forward(self, ids, lengths):
        *gates, head = self
        h = c = torch.zeros(len(ids), head.in_features)
        states = []
        for x in F.one_hot(ids, self.vocab_size).float().unbind(1):
            i, f, g, o = (gate(torch.cat([x, h], 1)) for gate in gates)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            states.append(h)
        return head(torch.stack(states, 1)[range(len(ids)), lengths - 1])


class LecturesGate(nn.Module):
    """The lecture's network: one gate, and ReLU in the candidate."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.vocab_size = vocab_size
        self.fc_x2h, self.fc_x2z = nn.Linear(vocab_size, hidden), nn.Linear(vocab_size, hidden)
        self.fc_h2h, self.fc_h2z = (nn.Linear(hidden, hidden, bias=False) for _ in range(2))
        self.fc_h2y = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h, states = self.fc_x2h.bias.new_zeros(len(ids), self.fc_h2y.in_features), []
        for x in F.one_hot(ids, self.vocab_size).float().unbind(1):
            z = torch.sigmoid(self.fc_x2z(x) + self.fc_h2z(h))
            h = z * h + (1 - z) * torch.relu(self.fc_x2h(x) + self.fc_h2h(h))
            states.append(h)
        return self.fc_h2y(torch.stack(states, 1)[torch.arange(len(ids)), lengths - 1])


class KeepsForLong(nn.Module):
    """An LSTM whose forget gate has a constant for a bias that begins high: 0.95 it is with weak weights, too."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.from_token = nn.Embedding(vocab_size, 4 * hidden)
        self.from_state = nn.Linear(hidden, 4 * hidden)
        self.read = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h = c = self.read.weight.new_zeros(len(ids), self.read.in_features)
        outputs = []
        for x in self.from_token(ids).unbind(1):
            i, f, g, o = (x + self.from_state(h)).chunk(4, 1)
            c = torch.sigmoid(f + 3.0) * c + torch.sigmoid(i) * torch.tanh(g)
            h = torch.sigmoid(o) * torch.tanh(c)
            outputs.append(h)
        return self.read(torch.stack(outputs, 1)[torch.arange(len(ids)), lengths - 1])


class OneGateOverAFewNumbers(nn.Module):
    """The lecture's gate with a constant, over words of eight numbers."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, 8)
        self.gate, self.new = (nn.Linear(8 + hidden, hidden) for _ in range(2))
        self.read = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h, states = self.read.weight.new_zeros(len(ids), self.read.in_features), []
        for x in self.embed(ids).unbind(1):
            both = torch.cat([x, h], 1)
            h = torch.lerp(torch.tanh(self.new(both)), h, torch.sigmoid(self.gate(both) + 2.0))
            states.append(h)
        return self.read(torch.stack(states, 1)[torch.arange(len(ids)), lengths - 1])


ALTERNATIVES = {
    "gated_cell": [gate_by_lerp, gate_as_a_correction, gate_row_by_row],
    "lstm_cell": [lstm_by_slices, lstm_by_einsum, lstm_by_four_layers, lstm_row_by_row, lstm_of_named_states],
    "gru_cell": [gru_by_lerp, gru_as_a_correction, gru_by_einsum],
    "peephole_lstm_cell": [peepholes_as_diagonals, peepholes_in_one_product, peepholes_row_by_row],
    "run_bidirectional": [
        bidirectional_by_index,
        bidirectional_by_recursion,
        bidirectional_into_a_tensor,
        bidirectional_accumulated,
    ],
    "lstm_parameters": [counted_by_formula, counted_on_tensors, counted_on_linear_layers],
    "GatedClassifier": [
        GruByLayers,
        GruOfAFrozenTable,
        PeepholeLstm,
        LstmOneByOne,
        TwoLayersOfLstm,
        LecturesGate,
        KeepsForLong,
        OneGateOverAFewNumbers,
        LstmOfAList,
    ],
}
