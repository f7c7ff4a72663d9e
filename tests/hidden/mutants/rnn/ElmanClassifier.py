"""Wrong answers to `ElmanClassifier`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.hidden.rnn.ElmanClassifier import Elman
from tests.hidden.alternatives.rnn.ElmanClassifier import Given

# -- first attempts ----------------------------------------------------------------------------------------------------


class _Reader(Given):
    """A beginner's classifier. Each attempt changes one method."""

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


MUTANTS = [ReluUpToSix]
