"""Hidden tests of `ElmanClassifier`: which state it reads, and how each step uses the state before."""

import torch
from torch.nn import functional as F

from course.exercise import build, exercise
from course.hidden import reading
from course.hidden.rnn.scaffold import BUILT_IN, GATED
from course.hidden.shapes import shapes_of
from course.reference import rnn as reference


@exercise(
    reference.ElmanClassifier,
    hints=(
        "Print ids and lengths of a small batch. At which index does each sequence end?",
        "Change the padding, and compare the logits. Then change the first token, and compare again.",
        "Trace one sequence by hand with hidden = 2. Where does the old state enter, and what if a number turns "
        "negative?",
        "Begin with one sequence without padding. Print the shape of what `from_input` makes of its first token, add "
        "what the second term of the formula needs, and write two steps by hand. Only then write the loop.",
    ),
    forbidden=(*BUILT_IN, *GATED),
    tolerance=1e-4,  # float32, in another order of additions
    name="ElmanClassifier",
    calls=(
        "model = set_all(ElmanClassifier(3, 1, 1), 1); model(tensor([[0]]), tensor([1]))",
        "model = set_all(ElmanClassifier(3, 1, 1), 1); model(tensor([[0, 1]]), tensor([2]))",
        "model = set_all(ElmanClassifier(3, 1, 1), 1); model(tensor([[0, 1]]), tensor([1]))",
        "model = set_all(ElmanClassifier(3, 1, 1), 0); model(tensor([[0, 1]]), tensor([2]))",
        "model = set_all(ElmanClassifier(3, 2, 1), 1); model(tensor([[0]]), tensor([1]))",
        "ElmanClassifier(5, 4, 3)(zeros(2, 7, dtype=torch.long), tensor([7, 1])).shape",
    ),
)
def ElmanClassifier(rng):
    """The judge's numbers are loaded into the given layers. So values show which state is read, and what a step is."""

    def model(title, vocabulary=11, hidden=13, classes=3, size=0.5, **settings):
        shapes = shapes_of(reference.ElmanClassifier, vocabulary, hidden, classes)
        state = {name: size * rng.normal(*shape, dtype=torch.float32) for name, shape in shapes.items()}
        return build(title, vocabulary, hidden, classes, **settings).load(state)

    ids, lengths = rng.integers(0, 11, 5, 7), torch.tensor([5, 1, 7, 2, 6])
    whole, words = torch.full((5,), 7), rng.integers(0, 11, 5, 7)
    words[:, -1] = 0
    yield model("sequences of several lengths", public=True, weight=5.0).call(ids, lengths)
    yield model("token 0 at the end", public=True, weight=2.0).call(words, whole)
    yield model("a batch that is read twice", public=True).call(ids, lengths).call(ids, lengths, into="again")
    yield model("sequences of one token", public=True).call(torch.arange(5)[:, None], torch.ones(5, dtype=torch.long))
    yield model("the gradients of the weights", public=True, weight=3.0).call(ids, lengths).gradients(wrt="parameters")
    yield model("a sequence alone", weight=2.0).call(ids[3:4], lengths[3:4])
    yield model("forty steps", size=0.3, weight=2.0).call(rng.integers(0, 11, 3, 40), torch.tensor([40, 33, 39]))
    yield model("strong weights", size=0.8, tolerance=1e-3).call(ids, lengths)
    yield model("other sizes", 2, 5, 7).call(rng.integers(0, 2, 2, 3), torch.tensor([2, 3]))


class Elman(reference.ElmanClassifier):
    """The reference with its pieces laid open, so that wrong ones can take their place."""

    def start(self, inputs):
        return torch.zeros_like(inputs)

    def read(self, states, lengths):
        return states[torch.arange(len(states)), lengths - 1]

    def next(self, x, h):
        return torch.relu(x + self.from_state(h))

    def forward(self, ids, lengths):
        inputs = self.from_input(F.one_hot(ids, self.vocab_size).to(self.from_input.weight.dtype))
        h, states = self.start(inputs[:, 0]), []
        for x in inputs.unbind(1):
            h = self.next(x, h)
            states.append(h)
        return self.to_classes(self.read(torch.stack(states, 1), lengths))


reading.declare_misreadings(ElmanClassifier, Elman)


ElmanClassifier.mistakes(
    "Your logits have an axis too many. Index a small table with t[:, [0, 2]] and with t[[0, 1], [0, 2]], and compare.",
    EveryEndOfEverySequence=reading.over(Elman, read=lambda self, states, lengths: states[:, lengths - 1]),
)
ElmanClassifier.mistakes(
    "Print the dtype of your one-hot vectors and of the weight that they are multiplied by. Are the two alike?",
    OneHotOfWholeNumbers=reading.over(
        Elman, forward=lambda self, ids, _: self.from_input(F.one_hot(ids, self.vocab_size)).sum(1)
    ),
)
ElmanClassifier.mistakes(
    "At each step the formula reads one token, as a one-hot vector. Print the shape of what your first layer gets.",
    AllIdsAtOnce=reading.over(Elman, forward=lambda self, ids, _: self.from_input(ids.float())),
)
ElmanClassifier.mistakes(
    "Change the first token. Do the logits move? What does a step know of the one before?",
    StateNotCarried=reading.over(Elman, next=lambda self, x, h: torch.relu(x + self.from_state(torch.zeros_like(h)))),
)


@ElmanClassifier.misconception(
    "Which function does the formula put around the recurrence? Multiply all weights by ten. How large may your "
    "state become, and how large the formula's?"
)
class TanhForRelu(Elman):
    def next(self, x, h):
        return torch.tanh(x + self.from_state(h))


ElmanClassifier.mistakes(
    "The values are right. Print the gradients. Which tokens get none, and at which line does the gradient stop?",
    Detached=reading.over(Elman, next=lambda self, x, h: torch.relu(x + self.from_state(h.detach()))),
)
