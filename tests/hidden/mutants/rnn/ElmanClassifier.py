"""Wrong answers to `ElmanClassifier` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.hidden.rnn.ElmanClassifier import _Elman


class LongestForAll(_Elman):
    def read(self, states, lengths):
        return states[:, int(lengths.max()) - 1]


class SumOverTime(_Elman):
    def read(self, states, lengths):
        real = (torch.arange(states.shape[1]) < lengths[:, None])[:, :, None]
        return (states * real).sum(1)


class LargestOverTime(_Elman):
    def read(self, states, lengths):
        real = (torch.arange(states.shape[1]) < lengths[:, None])[:, :, None]
        return (states * real).amax(1)


class FirstState(_Elman):
    def read(self, states, lengths):
        return states[:, 0]


class EveryState(_Elman):
    def read(self, states, lengths):
        return states


class WrongAxisOfGather(_Elman):
    """The first sequence's end for everybody."""

    def read(self, states, lengths):
        return states[:, int(lengths[0]) - 1]


class Sigmoid(_Elman):
    def next(self, x, h):
        return torch.sigmoid(x + self.from_state(h))


class Gelu(_Elman):
    def next(self, x, h):
        return F.gelu(x + self.from_state(h))


class Softplus(_Elman):
    def next(self, x, h):
        return F.softplus(x + self.from_state(h))


class Magnitude(_Elman):
    def next(self, x, h):
        return (x + self.from_state(h)).abs()


class ReluUpToSix(_Elman):
    def next(self, x, h):
        return F.relu6(x + self.from_state(h))


class BeginsWithABit(_Elman):
    def start(self, inputs):
        return torch.full_like(inputs, 0.01)


class Probabilities(_Elman):
    """A softmax in front of the loss: only the values of logits are free, and these are none."""

    def forward(self, ids, lengths):
        return torch.softmax(super().forward(ids, lengths), -1)


class BeginsAnywhere(_Elman):
    def start(self, inputs):
        return torch.randn_like(inputs)


class StateBetweenCalls(_Elman):
    """Goes on from the state of the batch before."""

    def forward(self, ids, lengths):
        inputs = self.from_input(F.one_hot(ids, self.vocab_size).float())
        h = getattr(self, "kept", None)
        h = torch.zeros_like(inputs[:, 0]) if h is None or len(h) != len(ids) else h
        for x in inputs.unbind(1):
            h = self.next(x, h)
        self.kept = h
        return self.to_classes(h)


class WithoutOutputBias(_Elman):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__(vocab_size, hidden, classes)
        self.to_classes = nn.Linear(hidden, classes, bias=False)


MUTANTS = [
    LongestForAll,
    SumOverTime,
    LargestOverTime,
    FirstState,
    EveryState,
    WrongAxisOfGather,
    Sigmoid,
    Gelu,
    Softplus,
    Magnitude,
    ReluUpToSix,
    BeginsWithABit,
    Probabilities,
    BeginsAnywhere,
    StateBetweenCalls,
    WithoutOutputBias,
]
