"""Wrong answers to `GatedClassifier`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.hidden.lstm_gru.GatedClassifier import Gated
from course.reference.lstm_gru import GatedClassifier as Right
from course.reference.lstm_gru import lstm_cell
from course.reference.rnn import rnn_cell

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
    """An LSTM behind an embedding, two sets of weights that weak noise makes weaker still; the mean of its states."""

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


class BatchForTime(Right):
    """Goes along the batch, as a layer that wants time first does."""

    def states(self, ids):
        return super().states(ids.T).transpose(0, 1)


class BackwardOnly(Right):
    """Reads from the right end of the row, padding first."""

    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids.flip(1))[:, -1])


class WindowOfThree(Right):
    """A state that is begun anew for the last three tokens."""

    def forward(self, ids, lengths):
        columns = (lengths[:, None] - 3 + torch.arange(3)).clamp(min=0)
        return self.to_classes(self.states(ids.gather(1, columns))[:, -1])


class StatesDetached(Gated):
    def next(self, x, h, c):
        return super().next(x, h.detach(), c.detach())


class BagOfTokens(nn.Module):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, 4 * hidden)
        self.squeeze = nn.Linear(4 * hidden, hidden)
        self.to_classes = nn.Linear(hidden, classes)

    def forward(self, ids, lengths):
        real = (torch.arange(ids.shape[1]) < lengths[:, None])[:, :, None]
        total = (self.embed(ids) * real).sum(1) / lengths[:, None]
        return self.to_classes(torch.tanh(self.squeeze(total)))


class BeginsAnywhere(Gated):
    def start(self, ids):
        return tuple(torch.randn_like(zero) for zero in super().start(ids))


class TanhElman(nn.Module):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.W_x = nn.Parameter(torch.randn(hidden, vocab_size))
        self.W_h = nn.Parameter(torch.randn(hidden, hidden))
        self.b = nn.Parameter(torch.zeros(hidden))
        self.read = nn.Linear(hidden, classes)
        self.vocab_size = vocab_size

    def forward(self, ids, lengths):
        h, states = self.b.new_zeros(len(ids), len(self.b)), []
        for x in F.one_hot(ids, self.vocab_size).float().unbind(1):
            h = rnn_cell(x, h, self.W_x, self.W_h, self.b)
            states.append(h)
        return self.read(torch.stack(states, 1)[torch.arange(len(ids)), lengths - 1])


class LogitsBent(Right):
    def forward(self, ids, lengths):
        return super().forward(ids, lengths).relu()


MUTANTS = [
    MeanOfRealStates,
    BatchForTime,
    BackwardOnly,
    WindowOfThree,
    StatesDetached,
    BagOfTokens,
    BeginsAnywhere,
    TanhElman,
    LogitsBent,
]
