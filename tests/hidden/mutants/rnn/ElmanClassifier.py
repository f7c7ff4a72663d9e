"""Wrong answers to `ElmanClassifier` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.hidden.rnn.ElmanClassifier import Elman
from course.reference.rnn import ElmanClassifier


class SumOverTime(Elman):
    def read(self, states, lengths):
        real = (torch.arange(states.shape[1]) < lengths[:, None])[:, :, None]
        return (states * real).sum(1)


class LargestOverTime(Elman):
    def read(self, states, lengths):
        real = (torch.arange(states.shape[1]) < lengths[:, None])[:, :, None]
        return (states * real).amax(1)


class FirstState(Elman):
    def read(self, states, lengths):
        return states[:, 0]


class EveryState(Elman):
    def read(self, states, lengths):
        return states


class Sigmoid(Elman):
    def next(self, x, h):
        return torch.sigmoid(x + self.from_state(h))


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
    LargestOverTime,
    FirstState,
    EveryState,
    Sigmoid,
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
