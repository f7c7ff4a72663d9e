"""Hidden tests of `ElmanClassifier`: which state it reads, and how each step uses the state before."""

from functools import partial

import torch
from torch.nn import functional as F

from course.exercise import build, exercise
from course.hidden import reading
from course.hidden.rnn.scaffold import BUILT_IN, GATED
from course.reference import rnn as reference


@exercise(
    reference.ElmanClassifier,
    hints=(
        "Print ids and lengths of a small batch. At which index does each sequence end?",
        "Change the padding, and compare the logits. Then change the first token, and compare again.",
        "Trace one sequence by hand with hidden = 2. Where does the old state enter, and what if a number turns "
        "negative?",
        "Begin with the constructor. List the weights and biases of the two formulas with their shapes, and find a "
        "layer for each. Then write `forward` for one sequence without padding, and print the shape of each state.",
    ),
    forbidden=(*BUILT_IN, *GATED),
    name="ElmanClassifier",
)
def ElmanClassifier(rng):
    """Its parameters are the student's own, so laws decide: what it must not see, what it must, and how it grows."""
    yield from reading.cases(rng, shape=0.5, end=5.0, company=3.0, first=3.0, last=2.0)
    case = partial(reading.classifier, rng)
    yield (
        case("a sequence of one token", public=True)
        .call(torch.arange(5)[:, None], torch.ones(5, dtype=torch.long))
        .call(torch.arange(5, 10)[:, None], torch.ones(5, dtype=torch.long), into="other")
        .law("shape_is", shape=(5, 3))
        .law("different", to="other", because="sequences of one token get the same logits, whatever the token. Do "
             "you read the first one at all?")
    )  # fmt: skip
    steps = torch.full((4,), 43)
    tail = rng.integers(0, 11, 1, 1).expand(4, 40)  # one token again and again: what stands out stood in front
    one, two = (torch.cat([rng.integers(0, 11, 4, 3), tail], 1) for _ in range(2))
    yield (
        case("weak weights forget", weight=3.0, scale=0.1)
        .call(one, steps)
        .call(two, steps, into="other")
        .law("bounded", low=-2.0, high=2.0, because="with weak weights a state stays small, and yours has grown "
             "over 43 steps. What is a new state made of?")
        .law("equal", to="other", within=1e-5, because="with weak weights only late tokens should count, but yours "
             "still shows the first ones after 40 steps. Do you read the last state alone?")
    )  # fmt: skip
    yield (
        case("strong weights grow", weight=2.0, scale=2.0, public=True)
        .call(rng.integers(0, 11, 5, 20), torch.full((5,), 20))
        .law(
            "exceeds",
            value=1e6,
            because="with strong weights a ReLU state and its logits grow at every step, but yours stay small",
        )
    )
    middle, *others = rng.permutation(11)[:9].tolist()
    mixed = torch.tensor([[before, middle, after] for before in others[:4] for after in others[4:]])
    contrast = torch.tensor([1.0, -1.0, 2.0, -2.0])  # sums to zero: what only adds up cancels
    yield (
        case("more than a sum", hidden=61, weight=2.0)
        .call(mixed, torch.full((16,), 3))
        .law("combination_is_not_zero", weights=torch.outer(contrast, contrast).flatten(), because="each token adds "
             "its share, whatever stood before it. Is there a ReLU in the recurrence?")
    )  # fmt: skip
    # What two early tokens make of each other only a bend between them can show: long after, weakly, nothing turns
    # negative because of them. One model in a hundred has a unit so near to zero that it does: so there are two.
    early = torch.stack([rng.permutation(11)[:4] for _ in range(40)])  # (40, 4): two for each of two places
    pairs = early[:, [[0, 2], [1, 2], [0, 3], [1, 3]]]  # (40, 4, 2)
    met = torch.cat([pairs, rng.integers(0, 11, 40, 1, 3).expand(40, 4, 3)], 2).flatten(0, 1)
    corners, late = torch.tensor([1.0, -1.0, -1.0, 1.0]), "the first tokens add up as if nothing bent between them. Is "
    late += "there a ReLU around every step of the recurrence?"
    yield (
        case("a bend at every step", hidden=23, scale=0.08)
        .call(met, torch.full((160,), 5))
        .call(11, 23, 3, on="answer", into="second")
        .fill(rng, on="second", scale=0.08)
        .call(met, torch.full((160,), 5), on="second", into="other")
        .law("combinations_are_not_zero", also="other", weights=corners, share=0.6, because=late)
    )
    yield _states_of_one_number(rng)
    shuffled = torch.stack([rng.permutation(11) for _ in range(6)])
    yield (
        case("everything learns", weight=2.0, public=True)
        .call(shuffled, torch.full((6,), 11))
        .gradients(wrt="parameters")
        .law("every_parameter_learns", unused=True)  # a table of one-hot rows may be frozen, a layer left over
        .law("every_token_learns", tokens=11, because="some tokens get no gradient. Where does it stop on its way "
             "back?")
        .law("learns_at_least", numbers=13 * 13, because="hardly anything learns except the layer that makes the "
             "logits. What keeps the gradient from the steps before it?")
        .law("learns_by_place", places=[11, 12, 11 + 13, 12 + 13], because="none of your weights has a row for each "
             "token. Is the third token three times the first?")  # or one beside the state, or one more for padding
        .law("learns_at_least", numbers=(11 + 13 + 3) * 13, because="fewer numbers learn than there are in W_x, W_h "
             "and W_y together. Print the names and shapes of your parameters")
    )  # fmt: skip


def _states_of_one_number(rng):
    """What ReLU makes zero is zero. Tokens whose state it makes zero are alike, and at the start they leave no trace.

    In half of the models all tokens may lie on one side (with an embedding that is multiplied, and two biases). Of 24,
    two or more have some on either side except in one of 400,000.
    """
    V, models = 19, range(24)
    tokens = torch.arange(V)
    pairs, singles = torch.cartesian_prod(tokens, tokens), tokens[:, None]
    case = build("a state of one number", V, 1, 3, weight=3.0).laws_only()
    for k in models:
        case = case.call(V, 1, 3, on="answer", into=f"model {k}").fill(rng, on=f"model {k}", scale=1.0)
        case = case.call(singles, torch.ones(V, dtype=torch.long), on=f"model {k}", into=f"alone {k}")
        case = case.call(pairs, torch.full((V * V,), 2), on=f"model {k}", into=f"pairs {k}")
    alone, behind = ([f"{name} {k}" for k in models] for name in ("alone", "pairs"))
    return case.law(
        "some_rows_agree", of=alone, least=2, because="with a state of one number, many tokens should lead to the "
             "same logits. What does the function around your recurrence make of two different numbers below zero?",
    ).law(
        "some_leave_no_trace", of=behind, alone=alone, least=2, because="a token whose state is 0 should leave no "
             "trace on what follows, as if it had not been there. With which state does yours begin?",
    ).law(
        "no_row_is_zero", of=alone, because="a state of 0 gets logits of 0, all of them. What is left of the "
             "formula for the logits where h is 0?",
    )  # fmt: skip


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


def _stepping(step):
    """The classifier with another step, a function of the model, x and h."""
    return reading.over(Elman, next=step)


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
    AllIdsAtOnce=reading.over(Elman, forward=lambda self, ids, _: self.to_classes(self.from_input(ids.float()).relu())),
)
ElmanClassifier.mistakes(
    "Change the first token. Do the logits move? What does a step know of the one before?",
    StateNotCarried=_stepping(lambda self, x, h: torch.relu(x + self.from_state(torch.zeros_like(h)))),
    StateLeftOut=_stepping(lambda self, x, h: torch.relu(x)),
    InputTwice=_stepping(lambda self, x, h: torch.relu(x + self.from_state(x))),
)
ElmanClassifier.mistakes(
    "What does the function around your recurrence make of −1, and of −2? And what does the formula's?",
    LeakyForRelu=_stepping(lambda self, x, h: F.leaky_relu(x + self.from_state(h))),
)
ElmanClassifier.mistakes(
    "Which function does the formula put around the recurrence? Multiply all weights by ten. How large may your "
    "state become, and how large the formula's?",
    TanhForRelu=_stepping(lambda self, x, h: torch.tanh(x + self.from_state(h))),
)
ElmanClassifier.mistakes(
    "The input contributes 1 and the old state −1. Print what you hand to ReLU. Is it one of them, or their sum?",
    ReluOfTheInputBesideABias=_stepping(
        lambda self, x, h: (x - self.from_input.bias).relu() + self.from_state(h) + self.from_input.bias
    ),
)
ElmanClassifier.mistakes(
    "Without a nonlinearity, many steps together are one matrix. Where is yours?",
    NoNonlinearity=_stepping(lambda self, x, h: x + self.from_state(h)),
)
ElmanClassifier.mistakes(
    "The values are right. Print the gradients. Which tokens get none, and at which line does the gradient stop?",
    Detached=_stepping(lambda self, x, h: torch.relu(x + self.from_state(h.detach()))),
)


@ElmanClassifier.misconception("Print the names of your parameters. Which of your weights are missing there?")
class RecurrenceNoParameter(Elman):
    def __init__(self, vocab_size, hidden, classes):
        super().__init__(vocab_size, hidden, classes)
        self.layers = [self.from_state]
        del self.from_state

    def next(self, x, h):
        return torch.relu(x + self.layers[0](h))
