"""Right answers to `GatedClassifier` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


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


ALTERNATIVES = [GruOfAFrozenTable, LstmOneByOne, LecturesGate, KeepsForLong, OneGateOverAFewNumbers, LstmOfAList]
