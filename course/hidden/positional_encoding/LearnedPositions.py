"""Hidden tests of `LearnedPositions`: a table added to the words, and trained with them."""

import torch
from torch import nn

from course.exercise import build, exercise
from course.reference import positional_encoding as reference

ADDED, OWN = "the positional embeddings are added", "a vector of its own for every position"
"""The cases that no constant passes, nor an answer that returns the words. The others count with the second one."""


@exercise(
    reference.LearnedPositions,
    hints=(
        "What is learned here? Write down the shape of a table with one vector for each position. Which of its rows "
        "does a text of T words need?",
        "Put two equal sentences into one batch. Should the same vectors be added to both? Are they?",
        "Begin with __init__, and list model.parameters() before you write forward. An optimizer changes what it "
        "finds there, and nothing else. Are any two rows of your table alike?",
    ),
    calls=(
        "model = set_all(LearnedPositions(3, 2), 1); model(tensor([[[1., 2.], [3., 4.]]]))",
        "model = set_all(LearnedPositions(3, 2), 1); model(zeros(1, 4, 2))",
        "model = set_all(LearnedPositions(3, 2), 1); model(zeros(1, 3, 2))",
        "model = set_all(LearnedPositions(3, 2), 0); model(tensor([[[5., 6.]]]))",
        "sum(p.numel() for p in LearnedPositions(3, 2).parameters())",
        "LearnedPositions(5, 2)(numbers(7, 4, 2)).shape",
    ),
)
def LearnedPositions(rng):
    """Judged by what it does, because the shape of the table is the student's choice. Numbers come from the judge."""

    zeros = torch.zeros

    def filled(title, max_len, width, **options):
        made = build(title, max_len, width, **options).fill(rng).laws_only()
        return made if title in (ADDED, OWN) else made.counts_with(OWN)

    places = rng.choice(range(11, 60))
    x = rng.normal(2, 5, 3, dtype=torch.float32)  # not two numbers wide: a LayerNorm would leave only their signs
    added = filled(ADDED, 7, 3, public=True, weight=2.0)
    added = added.call(x).call(zeros(2, 5, 3), into="embeddings").call(-x, into="other")
    yield (
        added.law("shape_is", shape=(2, 5, 3), meaning="words (B, T, D), as many numbers each as before")
        .law(
            "different", to="other", because="two different texts get the same vectors. Is anything of the words left?"
        )
        .law(
            "exceeds_by",
            to="embeddings",
            value=x,
            because="the output for x is not x plus the embeddings. What else happens to x?",
        )
        .law(
            "exceeds",
            of="embeddings",
            value=0.0,
            because="words of zeros come out as zeros. Where are the positional embeddings added?",
        )
    )
    own = filled(OWN, places, 3, public=True).call(zeros(1, places, 3)).law("shape_is", shape=(1, places, 3))
    yield own.law("slices_differ", dim=1, because="two positions get the same vector")
    numbers = filled("every number of a vector is its own", 11, 5).call(zeros(1, 11, 5))
    because = (
        "two numbers of a vector are the same at every position. How many numbers of its own does a position have?"
    )
    yield numbers.law("slices_differ", dim=2, because=because)
    line = filled("a table, and no line", 3, 5).call(zeros(1, 3, 5))
    because = (
        "the vector of position 1 is the mean of those of 0 and 2. Can each vector be learned "
        "independently of the others?"
    )
    yield line.law("combination_is_not_zero", weights=torch.tensor([1.0, -2.0, 1.0]), because=because)
    twice = filled("words and embeddings, and no chance", 7, 5).train().call(zeros(3, 7, 5))
    because = "in training, the same words get other vectors the second time. What is random in it?"
    yield twice.call(zeros(3, 7, 5), into="again").law("repeats", to="again", because=because)
    equal = filled("two equal sentences", 7, 3, public=True, weight=2.0).call(zeros(5, 7, 3))
    equal = equal.law("shape_is", shape=(5, 7, 3))
    yield equal.law("slices_agree", dim=0, because="equal sentences get different vectors. Which axis is time?")
    short = filled("a short text begins like a long one", 13, 3).call(zeros(1, 13, 3), into="long")
    short = short.call(zeros(1, 5, 3), into="short").law("shape_is", of="short", shape=(1, 5, 3))
    because = "position 0 gets another vector in a shorter text"
    yield short.law("begins_with", of="long", to="short", dim=1, because=because)
    found = filled("an optimizer finds the table", 5, 3).call(zeros(2, 5, 3)).gradients(wrt="parameters")
    because = "some positions of the table get no gradient. Which ones never learn?"
    yield found.law("every_parameter_learns").law("every_token_learns", tokens=5, because=because)
    below = rng.normal(2, 3, 5, dtype=torch.float32).requires_grad_()
    reached = filled("the layers below learn, too", 7, 5).call(below).gradients()
    yield reached.law(
        "input_is_reached", because="no gradient flows back to x, so the embeddings below it cannot learn"
    )
    started = build("as it starts", 7, 5).call(zeros(1, 7, 5)).laws_only().counts_with(OWN)
    yield started.law("slices_differ", dim=1, because="all positions start with the same vector", within=1e-9)
    yield build("more words than positions", 5, 3, public=True, raises="ValueError").call(zeros(2, 7, 3))


class _Table(reference.LearnedPositions):
    """The right layer, which adds what `marks` returns."""

    def forward(self, x):
        super().forward(x)  # refuses a text that is too long
        return x + self.marks(x)

    def marks(self, x):
        return self.positions[: x.shape[1]]


@LearnedPositions.misconception("Two equal sentences in one batch get different vectors added. Which axis is time?")
class IndexedByTheBatch(_Table):
    def marks(self, x):
        return self.positions[torch.arange(len(x)) % len(self.positions), None]


@LearnedPositions.misconception(
    "Does anything learn? List the model's parameters, each with its .grad after a backward pass. An "
    "optimizer changes only what is in this list and has a gradient."
)
class NotAParameter(_Table):
    def __init__(self, max_len, d_model):
        nn.Module.__init__(self)
        self.register_buffer("positions", 0.02 * torch.randn(max_len, d_model))


@LearnedPositions.misconception(
    "Give it one sentence of five words. How many rows of your table are read? Which axis is time?"
)
class CountsTheSentences(_Table):
    def marks(self, x):
        return self.positions[: len(x)]


@LearnedPositions.misconception(
    "A text has five words, and the table has seven positions. Which of its rows does the text need?"
)
class AlwaysAddsTheWholeTable(_Table):
    def forward(self, x):
        return x + self.positions
