"""Wrong answers to `ElmanClassifier`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.hidden.rnn.ElmanClassifier import Elman
from course.reference.rnn import ElmanClassifier
from tests.hidden.alternatives.rnn.ElmanClassifier import Given

# -- first attempts ----------------------------------------------------------------------------------------------------


class _Reader(Given):
    """A beginner's `forward`, of which each attempt gets one thing wrong."""

    def states(self, ids):
        h, states = torch.zeros(len(ids), self.from_state.in_features), []
        for x in F.one_hot(ids, self.vocab_size).float().unbind(1):
            h = torch.relu(self.from_input(x) + self.from_state(h))
            states.append(h)
        return torch.stack(states, dim=1)

    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids)[torch.arange(len(ids)), lengths - 1])


class LastColumn(_Reader):
    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids)[:, -1])


class LengthForIndex(_Reader):
    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids)[torch.arange(len(ids)), lengths])


class LengthsOfAllRows(_Reader):
    def forward(self, ids, lengths):
        return self.to_classes(self.states(ids)[:, lengths - 1])


class SoftmaxInTheEnd(_Reader):
    def forward(self, ids, lengths):
        return torch.softmax(super().forward(ids, lengths), dim=-1)


class OneHotOfWholeNumbers(_Reader):
    def states(self, ids):
        h, states = torch.zeros(len(ids), self.from_state.in_features), []
        for x in F.one_hot(ids, self.vocab_size).unbind(1):
            h = torch.relu(self.from_input(x) + self.from_state(h))
            states.append(h)
        return torch.stack(states, dim=1)


class IdsIntoALinearLayer(_Reader):
    def forward(self, ids, lengths):
        h = torch.relu(self.from_input(ids.float()))
        return self.to_classes(h)


FIRST_ATTEMPTS = {
    LastColumn: "Are they tokens of the sequence",
    LengthForIndex: "Print the index that yours reads.",
    LengthsOfAllRows: "Your logits have an axis too many.",
    SoftmaxInTheEnd: "this is the softmax of the right values",
    OneHotOfWholeNumbers: "Print the dtype of your one-hot vectors",
    IdsIntoALinearLayer: "Print the shape of what your first layer gets.",
}

# -- others ------------------------------------------------------------------------------------------------------------


class ReluUpToSix(Elman):
    def next(self, x, h):
        return F.relu6(x + self.from_state(h))


class BeginsWithABit(Elman):
    def start(self, inputs):
        return torch.full_like(inputs, 0.01)


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


class OneBendAtTheEnd(Elman):
    def next(self, x, h):
        return x + self.from_state(h)

    def read(self, states, lengths):
        return super().read(states, lengths).relu()


class FirstTokenSkipped(ElmanClassifier):
    def states(self, ids):
        states = super().states(ids.roll(-1, 1))
        return torch.cat([torch.zeros_like(states[:, :1]), states[:, :-1]], 1)


class StatesWithoutGradient(Elman):
    def read(self, states, lengths):
        return super().read(states, lengths).detach()


class LayersOfItsOwn(Elman):
    """The constructor written anew, with an embedding."""

    def __init__(self, vocab_size, hidden, classes):
        super().__init__(vocab_size, hidden, classes)
        self.embed = nn.Embedding(vocab_size, hidden)
        del self.from_input

    def forward(self, ids, lengths):
        h, states = torch.zeros(len(ids), self.from_state.in_features), []
        for x in self.embed(ids).unbind(1):
            h = self.next(x, h)
            states.append(h)
        return self.to_classes(self.read(torch.stack(states, 1), lengths))


MUTANTS = [
    ReluUpToSix,
    BeginsWithABit,
    StateBetweenCalls,
    OneBendAtTheEnd,
    FirstTokenSkipped,
    StatesWithoutGradient,
    LayersOfItsOwn,
]
