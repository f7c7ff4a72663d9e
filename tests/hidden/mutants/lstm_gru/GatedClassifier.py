"""Wrong answers to `GatedClassifier`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.reference.lstm_gru import GatedClassifier as Right
from course.reference.lstm_gru import lstm_cell

# -- first attempts ----------------------------------------------------------------------------------------------------


class LastColumn(Right):
    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids)[:, -1])


class LengthForIndex(Right):
    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids)[torch.arange(len(ids)), lengths])


class StartsAtEveryToken(Right):
    def states(self, ids):
        outputs = []
        for x in F.one_hot(ids, self.vocab_size).float().unbind(1):
            h = c = torch.zeros(len(ids), self.hidden)
            h, c = lstm_cell(x, h, c, self.W, self.U, self.b)
            outputs.append(h)
        return torch.stack(outputs, 1)


class PlainTensors(nn.Module):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.vocab_size, self.hidden = vocab_size, hidden
        self.W, self.b = torch.randn(4 * hidden, vocab_size), torch.zeros(4 * hidden)
        self.U = torch.randn(4 * hidden, hidden) / hidden**0.5
        self.to_classes = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        return self.to_classes(Right.states(self, ids)[torch.arange(len(ids)), lengths - 1])


class Probabilities(Right):
    def forward(self, ids, lengths):
        return super().forward(ids, lengths).softmax(-1)


FIRST_ATTEMPTS = {
    LastColumn: "Are they tokens of the sequence",
    LengthForIndex: "At which index does a sequence of length 3 end?",
    StartsAtEveryToken: "What does a step know of the one before?",
    PlainTensors: "whose weights are all parameters",
    Probabilities: "expected logits, got probabilities",
}

# -- others ------------------------------------------------------------------------------------------------------------


class MeanOfRealStates(nn.Module):
    """An LSTM behind an embedding that classifies the mean of its states. Weak weights make its states weaker still."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed, self.hidden = nn.Embedding(vocab_size, hidden), hidden
        self.gates = nn.Linear(2 * hidden, 4 * hidden)
        self.to_classes = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        h, c = torch.zeros(2, len(ids), self.hidden)
        total = torch.zeros(len(ids), self.hidden)
        for t, x in enumerate(self.embed(ids).unbind(1)):
            i, f, g, o = self.gates(torch.cat([x, h], 1)).chunk(4, 1)
            c = f.sigmoid() * c + i.sigmoid() * g.tanh()
            h = o.sigmoid() * c.tanh()
            total = total + h * (t < lengths)[:, None]
        return self.to_classes(total / lengths[:, None])


class LogitsBent(Right):
    def forward(self, ids, lengths):
        return super().forward(ids, lengths).relu()


MUTANTS = [MeanOfRealStates, LogitsBent]
