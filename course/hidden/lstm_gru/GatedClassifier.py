"""Hidden tests of `GatedClassifier`: which state it reads, and what a cell with gates remembers."""

from functools import partial

import torch
from torch import sigmoid, tanh
from torch.nn import functional as F

from course.exercise import exercise
from course.hidden import reading
from course.hidden.lstm_gru.scaffold import BUILT_IN, gates
from course.reference import lstm_gru as reference


@exercise(
    reference.GatedClassifier,
    hints=(
        "Which states does your cell hand on from token to token? Which of them does the classifier read, and when?",
        "Write down the shapes of W, U and b that your cell needs for 10 tokens and 64 units. An optimizer finds a "
        "tensor only if it is an `nn.Parameter`, or part of a layer such as `nn.Linear`.",
        "Take a batch of two sequences, of 2 and 5 tokens. After which column do you read each of them? If the padding "
        "changes, which logits may change?",
        "Begin `forward` with the one-hot inputs, and print their shape, (B, T, V). Start h at zeros of (B, H). Walk "
        "along the positions and collect every hidden state, without a thought of `lengths`. Choosing comes last.",
    ),
    forbidden=BUILT_IN,
    name="GatedClassifier",
    calls=(
        "model = set_all(GatedClassifier(3, 1, 1), 0); model(tensor([[0, 1]]), tensor([2]))",
        "GatedClassifier(5, 4, 3)(zeros(2, 7, dtype=torch.long), tensor([7, 1])).shape",
        "GatedClassifier(5, 4, 3)(zeros(1, 2, dtype=torch.long), tensor([2])).shape",
        "GatedClassifier(7, 4, 2)(zeros(3, 5, dtype=torch.long), tensor([5, 5, 5])).shape",
        "sum(p.numel() for p in GatedClassifier(3, 1, 1).parameters())",
        "model = set_all(GatedClassifier(3, 1, 1), 100); model(tensor([[0]]), tensor([1]))",
    ),
)
def GatedClassifier(rng):
    """Its cell and its parameters are the student's own, so laws decide what it must see and what it must not."""
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
        .law("equal", to="other", within=1e-7, because="with weak weights a gate lets go of a part at every step, "
             "and after 500 of them nothing of the first tokens is left, but yours still shows them. Does it ever "
             "let go, and do you read the last state alone?")
    )  # fmt: skip
    shuffled = torch.stack([rng.permutation(11) for _ in range(6)])

    def learns(title, **settings):
        return (
            case(title, hidden=29, scale=0.3, **settings)
            .call(shuffled, torch.full((6,), 11))
            .gradients(wrt="parameters")
            .learning()
            .law("every_parameter_learns", learning="what learns")  # a table of one-hot rows may be frozen
            .law("every_token_learns", tokens=11, because="some tokens get no gradient. Where does it stop on its way "
                 "back?")
            .law("learns_at_least", numbers=2300, because="it learns fewer numbers than a cell whose weights are all "
                 "parameters, and whose gates read both the token and the state. What does each of your gates read?")
        )  # fmt: skip

    yield learns("everything learns", weight=0.05, public=True)
    yield learns("every gate learns", weight=0.95).law(
        "every_block_learns", rows=29, because="the weights of a whole gate get no gradient. Which number does that "
        "gate multiply, and what is that number at every step?"
    )  # fmt: skip


class Gated(reference.GatedClassifier):
    """The reference with its pieces laid open, so that wrong ones can take their place."""

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
        return self.to_classes(self.read(torch.stack(states, 1), lengths))


reading.declare_misreadings(GatedClassifier, Gated)


@GatedClassifier.misconception(
    "The first token weighs as much in your logits as the last. Do you read a mean of the states, or is there nothing "
    "in your cell that lets go?"
)
class CellThatOnlyAdds(Gated):
    def next(self, x, h, c):
        i, _, g, o = gates(x, h, self.W, self.U, self.b)
        c = c + sigmoid(i) * tanh(g)
        return sigmoid(o) * tanh(c), c


@GatedClassifier.misconception(
    "Print the shape of what you read. How many states do you read for each sequence, and how many should it be?"
)
class EveryState(Gated):
    def read(self, states, lengths):
        return states


@GatedClassifier.misconception(
    "Index a small table (3, 4) with the columns [0, 1, 2], as you index your states. How many entries come out for "
    "each row?"
)
class EveryLengthForEachSequence(Gated):
    def read(self, states, lengths):
        return states[:, lengths - 1]


def _stepping(step):
    """The classifier whose next step begins with what `step` makes of h and c."""
    return reading.over(Gated, next=lambda self, x, h, c: Gated.next(self, x, *step(h, c)))


GatedClassifier.mistakes(
    "Change the first token. Do the logits move? What does a step know of the one before?",
    NothingCarried=_stepping(lambda h, c: (torch.zeros_like(h), torch.zeros_like(c))),
)
GatedClassifier.mistakes(
    "An LSTM returns two states. Print both after every step. Does each of them remember?",
    OutputForgotten=_stepping(lambda h, c: (torch.zeros_like(h), c)),
    CellStateForgotten=_stepping(lambda h, c: (h, torch.zeros_like(c))),
)
