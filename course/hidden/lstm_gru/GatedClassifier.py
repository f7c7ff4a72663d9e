"""Hidden tests of `GatedClassifier`."""

from __future__ import annotations

from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from course.exercise import exercise
from course.hidden import reading
from course.hidden.lstm_gru.scaffold import BUILT_IN, _gates, sigmoid, tanh
from course.reference import lstm_gru as reference
from course.reference.rnn import ElmanClassifier


@exercise(
    reference.GatedClassifier,
    hints=(
        "Start from your ElmanClassifier. Which line makes the next state, and how many states does your cell hand on?",
        "Print the shape of every parameter beside what your cell asks for: W, U and b, one below the other.",
        "Change the padding, and compare the logits. Then change the first token, and compare again.",
    ),
    forbidden=BUILT_IN,
    name="GatedClassifier",
)
def GatedClassifier(rng):
    """Its cell and its parameters are the student's own, so laws decide: what it must not see, and what it must."""
    yield from reading.cases(rng, shape=0.5, end=3.0, company=4.0, first=2.0, last=2.0)
    case, (full, words) = partial(reading.classifier, rng), reading.words_of_one_length(rng)
    yield (
        case("the order counts")
        .call(words, full)
        .call(words[:, [2, 0, 1, 3, 4]], full, into="other")
        .law("different", to="other", because="the same tokens in another order end in the same logits")
    )
    tail = rng.integers(0, 11, 1, 1).expand(4, 500)  # one token again and again: what stands out stood in front
    one, two = (torch.cat([rng.integers(0, 11, 4, 3), tail], 1) for _ in range(2))
    steps = torch.full((4,), 503)
    yield (
        # Even a gate that stands at 0.95 lets go, where nothing feeds it: what is left is rounding, 3e-8 at most. In a
        # mean of the states the first tokens still weigh 3e-7 or more, over 25 seeds.
        case("weak weights forget", scale=0.025, weight=2.0)
        .call(one, steps)
        .call(two, steps, into="other")
        .law("equal", to="other", within=1e-7, because="with weak weights a gate lets go of a part at every step, and "
             "after 500 of them nothing of the first tokens is left; yours still shows them: does it ever let go, "
             "and is it the last state alone that is read?")
    )  # fmt: skip
    shuffled = torch.stack([rng.permutation(11) for _ in range(6)])
    yield (
        case("everything learns", hidden=29, scale=0.3)
        .call(shuffled, torch.full((6,), 11))
        .gradients(wrt="parameters")
        .learning()
        .law("every_parameter_learns", learning="what learns")  # a table of one-hot rows may be frozen
        .law("every_token_learns", tokens=11, because="some tokens get no gradient: where is their way back cut?")
        .law("learns_at_least", numbers=2300, because="it learns hardly more numbers than Elman's network: where are "
             "the weights of the gates?")
        .law("every_block_learns", rows=29, because="the weights of a whole gate get no gradient: which number does "
             "that gate multiply, and what is that number at every step?")
    )  # fmt: skip


class _Gated(reference.GatedClassifier):
    """The reference with its pieces laid open, for wrong ones to take their place."""

    def start(self, ids):
        zero = self.b.new_zeros(len(ids), self.hidden)
        return zero, zero

    def read(self, states, lengths):
        return states[torch.arange(len(states)), lengths - 1]

    def next(self, x, h, c):
        return reference.lstm_cell(x, h, c, self.W, self.U, self.b)

    def forward(self, ids, lengths):
        h, c = self.start(ids)
        states = []
        for x in F.one_hot(ids, self.vocab_size).to(self.b.dtype).unbind(1):
            h, c = self.next(x, h, c)
            states.append(h)
        self.end = h.detach(), c.detach()
        return self.to_classes(self.read(torch.stack(states, 1), lengths))


reading.declare_misreadings(GatedClassifier, _Gated)

LETS_GO = (
    "The first token weighs as much in your logits as the last. Do you read a mean of the states, or is there nothing "
    "in your cell that lets go?"
)
"""The hint to who never forgets."""


@GatedClassifier.misconception(LETS_GO)
class CellThatOnlyAdds(_Gated):
    def next(self, x, h, c):
        i, _, g, o = _gates(x, h, self.W, self.U, self.b)
        c = c + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(c), c


@GatedClassifier.misconception(LETS_GO)
class BeginningNotForgotten(reading.MeanOverTime, _Gated):
    """By a mean over time; a cell that only ever adds may look the same from outside."""


@GatedClassifier.misconception("Change the first token: do the logits move? What does a step know of the one before?")
class NothingCarried(_Gated):
    def next(self, x, h, c):
        return super().next(x, *self.start(x))


@GatedClassifier.misconception(
    "Print the gradient of the weights token by token. Which get none: those before the last, or one that you take for "
    "padding? Who keeps it from them?"
)
class StatesDetached(_Gated):
    def next(self, x, h, c):
        return super().next(x, h.detach(), c.detach())


@GatedClassifier.misconception(
    "Call it twice with the same batch. With which state should every sequence begin, and with which weights?"
)
class StateKeptBetweenBatches(_Gated):
    def start(self, ids):
        end = getattr(self, "end", None)
        return end if end is not None and len(end[0]) == len(ids) else super().start(ids)


@GatedClassifier.misconception(
    "Count its parameters, and those of your ElmanClassifier. Where does yours keep its gates?"
)
class ElmanAgain(ElmanClassifier):
    """The network of topic 03."""


BOTH = "An LSTM hands two states on. Print both after every step: does each of them remember?"
"""The hint to who hands on one of them only."""


@GatedClassifier.misconception(BOTH)
class OutputForgotten(_Gated):
    def next(self, x, h, c):
        return super().next(x, torch.zeros_like(h), c)


@GatedClassifier.misconception(BOTH)
class CellStateForgotten(_Gated):
    def next(self, x, h, c):
        return super().next(x, h, torch.zeros_like(c))


@GatedClassifier.misconception("Exchange two tokens in the middle. A sum of words has forgotten who came first.")
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
