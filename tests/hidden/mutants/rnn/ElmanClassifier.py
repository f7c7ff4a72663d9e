"""Wrong answers to `ElmanClassifier`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.hidden.rnn.ElmanClassifier import Elman
from course.reference.rnn import ElmanClassifier

# -- first attempts ----------------------------------------------------------------------------------------------------


class _Reader(nn.Module):
    """A beginner's classifier, of which each attempt gets one thing wrong."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, hidden)
        self.recurrent = nn.Linear(hidden, hidden)
        self.out = nn.Linear(hidden, classes)

    def states(self, ids):
        h, states = torch.zeros(len(ids), self.out.in_features), []
        for t in range(ids.shape[1]):
            h = torch.relu(self.embed(ids[:, t]) + self.recurrent(h))
            states.append(h)
        return torch.stack(states, dim=1)

    def forward(self, ids, lengths):
        return self.out(self.states(ids)[torch.arange(len(ids)), lengths - 1])


class LastColumn(_Reader):
    def forward(self, ids, lengths):
        return self.out(self.states(ids)[:, -1])


class LengthForIndex(_Reader):
    def forward(self, ids, lengths):
        return self.out(self.states(ids)[torch.arange(len(ids)), lengths])


class LengthsOfAllRows(_Reader):
    def forward(self, ids, lengths):
        return self.out(self.states(ids)[:, lengths - 1])


class SoftmaxInTheEnd(_Reader):
    def forward(self, ids, lengths):
        return torch.softmax(super().forward(ids, lengths), dim=-1)


class TanhForRelu(_Reader):
    def states(self, ids):
        h, states = torch.zeros(len(ids), self.out.in_features), []
        for t in range(ids.shape[1]):
            h = torch.tanh(self.embed(ids[:, t]) + self.recurrent(h))
            states.append(h)
        return torch.stack(states, dim=1)


class OneHotOfWholeNumbers(_Reader):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__(vocab_size, hidden, classes)
        self.vocab_size, self.embed = vocab_size, nn.Linear(vocab_size, hidden)

    def states(self, ids):
        return super().states(F.one_hot(ids, self.vocab_size))


class IdsIntoALinearLayer(OneHotOfWholeNumbers):
    def forward(self, ids, lengths):
        return self.out(torch.relu(self.embed(ids.float())))


FIRST_ATTEMPTS = {
    LastColumn: "Are they tokens of the sequence",
    LengthForIndex: "Print the index that yours reads.",
    LengthsOfAllRows: "Your logits have an axis too many.",
    SoftmaxInTheEnd: "Return the scores before the softmax",
    TanhForRelu: "Which function does the formula put around the recurrence?",
    OneHotOfWholeNumbers: "Print the dtype of your one-hot vectors",
    IdsIntoALinearLayer: "Print the shape of what your first layer gets.",
}

# -- others ------------------------------------------------------------------------------------------------------------


class SumOverTime(Elman):
    def read(self, states, lengths):
        real = (torch.arange(states.shape[1]) < lengths[:, None])[:, :, None]
        return (states * real).sum(1)


class ReluUpToSix(Elman):
    def next(self, x, h):
        return F.relu6(x + self.from_state(h))


class BeginsWithABit(Elman):
    def start(self, inputs):
        return torch.full_like(inputs, 0.01)


class Probabilities(Elman):
    """A softmax in front of the loss: only the values of logits are free, and these are none."""

    def forward(self, ids, lengths):
        return torch.softmax(super().forward(ids, lengths), -1)


class BeginsAnywhere(Elman):
    def start(self, inputs):
        return torch.randn_like(inputs)


class StateBetweenCalls(Elman):
    """Goes on from the state of the batch before."""

    def forward(self, ids, lengths):
        inputs = self.from_input(F.one_hot(ids, self.vocab_size).float())
        h = getattr(self, "kept", None)
        h = torch.zeros_like(inputs[:, 0]) if h is None or len(h) != len(ids) else h
        for x in inputs.unbind(1):
            h = self.next(x, h)
        self.kept = h
        return self.to_classes(h)


class AddedToTheState(Elman):
    def next(self, x, h):
        return h + super().next(x, h)


class OneBendAtTheEnd(Elman):
    def next(self, x, h):
        return x + self.from_state(h)

    def read(self, states, lengths):
        return super().read(states, lengths).relu()


class FirstTokenSkipped(ElmanClassifier):
    def states(self, ids):
        states = super().states(ids.roll(-1, 1))
        return torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], 1)


class TokensAsNumbers(Elman):
    """Token 6 is twice as much as token 3."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__(1, hidden, classes)

    def forward(self, ids, lengths):
        h, states = ids.new_zeros(len(ids), 1) * self.from_state.weight[0], []
        for x in ids.unbind(1):
            h = self.next(self.from_input(x[:, None].to(h.dtype)), h)
            states.append(h)
        return self.to_classes(self.read(torch.stack(states, 1), lengths))


class StatesWithoutGradient(Elman):
    def read(self, states, lengths):
        return super().read(states, lengths).detach()


class WithoutOutputBias(Elman):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__(vocab_size, hidden, classes)
        self.to_classes = nn.Linear(hidden, classes, bias=False)


MUTANTS = [
    SumOverTime,
    ReluUpToSix,
    BeginsWithABit,
    Probabilities,
    BeginsAnywhere,
    StateBetweenCalls,
    AddedToTheState,
    OneBendAtTheEnd,
    FirstTokenSkipped,
    TokensAsNumbers,
    StatesWithoutGradient,
    WithoutOutputBias,
]
