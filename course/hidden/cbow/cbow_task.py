"""Hidden tests of `cbow_task`: a trained model's loss on new windows, and the neighbours of its vectors."""

import math
from functools import lru_cache

import torch
from torch.nn import functional as F

from course.data import grammar
from course.exercise import exercise, given_model, rest_hidden

RADIUS = 2

LOSS_MARGIN = 0.6
"""Ten trained models end 0.37 to 0.38 above the floor; one that reads only the words before, 0.81 above it."""

LARGE = 8
"""Only classes of this many words count, because a smaller one hardly has five other words."""

KNOWS = "no worse than the bare frequencies"
"""The case that shows that a model has learned something. A constant has no order and guesses no word again."""

NO_WORSE_THAN_CHANCE = "no worse than knowing nothing"
"""The case that shows that there is a model. A table of vectors without one could be copied."""


class FromTheGrammar:
    """The best prediction from a bag, computed from the grammar's own rules."""

    def __init__(self) -> None:
        self.E = _used_as()

    def __call__(self, contexts):
        return _best(contexts)


def _used_as():
    """One vector for each word, (V, D): the classes in which it is used."""
    table = grammar.class_table().float()
    return table + 0.01 * torch.randn(table.shape, generator=torch.Generator().manual_seed(1))


def _best(contexts):
    return _best_for(tuple(map(tuple, contexts.tolist()))).clone()


@lru_cache(maxsize=32)
def _best_for(rows):
    p = grammar.language().centre(torch.tensor(rows), ordered=False)
    return p.clamp(min=1e-12).log().float()


@lru_cache(maxsize=32)
def held_out(count, seed):
    """The judge's own windows, and the loss of the best reader of a bag on each."""
    contexts, targets = grammar.windows(count, RADIUS, torch.Generator().manual_seed(seed))
    return contexts, targets, -_best(contexts).double().gather(1, targets[:, None]).squeeze(1)


@lru_cache(maxsize=1)
def clear_words():
    """The words that belong to large classes only, and the classes of every word."""
    table = grammar.class_table()
    small = table.sum(0) < LARGE
    rows = (table.any(1) & ~(table & small).any(1)).nonzero().squeeze(1)
    return rows, table


@exercise(
    FromTheGrammar(),
    name="cbow_task",
    hints=(
        "Print the shapes of contexts and targets, and one of each as words. Could you have guessed the target?",
        "Print the loss of the first batch and of the last. A model that knows nothing pays log V. One that knows "
        "only how frequent words are pays 4.7.",
        "Does the loss still fall when the budget ends, or does it jump about? Compare one smaller and one larger "
        "learning rate.",
        "Begin with a single batch, outside `fit`. Run your `context_windows`, your model and your loss on it, and "
        "print each shape. Then make one step, and see whether the loss of the same batch is lower.",
    ),
)
def cbow_task(rng):
    """The loss above the bag's own floor on the judge's windows, and neighbours by class. E is read, W is not."""
    yield from _public(*_asked("256 windows, a loss near the floor", 256, rng.seed(), public=True))
    yield rest_hidden
    yield from _hidden(*_asked(f"a loss at most {LOSS_MARGIN} above the floor", 1000, rng.seed(), weight=2.0))


def _public(case, contexts, targets, floor):
    near = _at_most(case, targets, floor, LOSS_MARGIN + 0.5)
    yield near.shows("log_loss_at_most", full=LOSS_MARGIN, called="the loss above the floor")

    def lower_bar(title):
        return case.judged_again(f"{title}, of 256 windows", weight=0.1).counts_with(KNOWS)

    yield _at_most(lower_bar("a loss not far from the floor"), targets, floor, 1.7)
    yield _at_most(lower_bar("not far from the bare frequencies"), targets, floor, 0.6, _surprise()[targets])
    yield _at_most(lower_bar(NO_WORSE_THAN_CHANCE), targets, floor, 0.5, _knowing_nothing(targets))
    yield _not_again(lower_bar("words beside the gap are not guessed again"), contexts)
    yield lower_bar("logits, not probabilities").law("no_probabilities", of="logits")
    neighbours = _neighbours("neighbours are of the same class", 0.8, public=True)
    yield neighbours.shows("neighbours_alike", full=0.9, called="the share of neighbours of the same class")


def _hidden(case, contexts, targets, floor):
    yield _at_most(case, targets, floor, LOSS_MARGIN)
    yield _at_most(case.judged_again("a loss at most 1.7 above the floor"), targets, floor, 1.7)
    yield _at_most(case.judged_again(KNOWS), targets, floor, 0.03, _surprise()[targets])

    def lower_bar(title):
        return case.counts_with(KNOWS).judged_again(title, weight=0.5)

    yield _at_most(lower_bar(NO_WORSE_THAN_CHANCE), targets, floor, 0.1, _knowing_nothing(targets))
    yield _not_again(lower_bar("words beside the gap are not guessed again"), contexts)
    yield lower_bar("logits, not probabilities").law("no_probabilities", of="logits")
    yield _neighbours("nine of ten neighbours are of the same class", 0.9, weight=2.0)
    yield _neighbours("half of the neighbours are of the same class", 0.5)
    because = "the same words in another order get other logits, but a bag has no order"
    yield (
        given_model("a bag has no order", weight=0.5)
        .call(contexts, into="first")
        .call(contexts[:, torch.tensor([3, 1, 0, 2])], into="second")
        .law("equal", of="first", to="second", within=1e-3, because=because)
        .laws_only()
        .counts_with(KNOWS)
    )


def _asked(title, count, seed, **options):
    """A case for the judge's windows without a law, their targets, and the best reader's loss on each."""
    contexts, targets, floor = held_out(count, seed)
    return given_model(title, **options).call(contexts, into="logits").laws_only(), contexts, targets, floor


def _at_most(case, targets, floor, margin, known=None):
    """A loss at most `margin` above `known`, which is the floor where nothing is given, and never below the floor."""
    known = floor if known is None else known
    case = case.law("log_loss_at_most", of="logits", targets=targets, known=known, margin=margin)
    return case.law("no_better_than", of="logits", targets=targets, best=floor)


def _not_again(case, contexts):
    beside = contexts[:, RADIUS]
    because = "your model guesses a word that already stands beside the gap, and hardly any word occurs twice running"
    law = {"of": "logits", "targets": beside, "known": _surprise()[beside], "margin": -0.02, "because": because}
    return case.law("log_loss_at_least", **law)


def _neighbours(title, bar, **options):
    rows, kinds = clear_words()
    case = given_model(title, **options).read("E").laws_only().counts_with(NO_WORSE_THAN_CHANCE)
    return case.law("neighbours_alike", of="E", kinds=kinds, rows=rows, k=5, bar=bar)


def _surprise():
    """The loss of the word frequencies on each word, (V,)."""
    return -grammar.language().frequencies.clamp(min=1e-12).log()


def _knowing_nothing(targets):
    return torch.full((len(targets),), math.log(len(_surprise())))


class Pretended:
    """A model as a mistake in training leaves it: logits by a function, and vectors."""

    def __init__(self, logits, E=None):
        self.logits = logits
        self.E = _by_chance(len(grammar.language().words), 16, 2) if E is None else E

    def __call__(self, contexts):
        return self.logits(contexts)


def _by_chance(count, width, seed):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def _blurred():
    """Vectors of which three in ten are still random."""
    E = _used_as()
    lost = torch.rand(len(E), generator=torch.Generator().manual_seed(3)) < 0.3
    E[lost] = _by_chance(int(lost.sum()), E.shape[1], 4)
    return E


def _unsure(contexts, trust):
    """A mixture of the best answer and the word frequencies."""
    frequencies = grammar.language().frequencies.float()
    return (trust * _best(contexts).exp() + (1 - trust) * frequencies).clamp(min=1e-9).log()


def _counted_words(contexts):
    return F.one_hot(contexts, len(grammar.language().words)).float().sum(1)


def _one_word_only(contexts):
    """Very sure of the best guess, and therefore often very wrong."""
    best = _best(contexts)
    return 40 * F.one_hot(best.argmax(1), best.shape[1]).float()


def _off_the_point(contexts):
    """Worse than the word frequencies, but not by far, as an answer to another question is."""
    frequencies = grammar.language().frequencies.float()
    return (0.5 * frequencies + 0.5 / len(frequencies)).log().expand(len(contexts), -1)


cbow_task.mistakes(
    "Your model prefers words that stand in the context. Print a few training windows beside their targets. "
    "Can you read the target there?",
    target_inside_the_context=Pretended(lambda contexts: 1.5 * _counted_words(contexts), _blurred()),
)
cbow_task.mistakes(
    "Your model is very sure and often wrong. Does your loss expect logits or probabilities, and which does it "
    "get? How large are the steps?",
    sure_and_wrong=Pretended(_one_word_only, _blurred()),
)
cbow_task.mistakes(
    "What your model returns sums to one. Does your loss expect logits or probabilities?",
    softmax_in_the_model=Pretended(lambda contexts: _best(contexts).exp(), _blurred()),
)
cbow_task.mistakes(
    "Your model is no better than one that gives every word the same logit. Print its tensors before and after "
    "a step. Do they change?",
    never_trained=Pretended(lambda contexts: 0 * _counted_words(contexts)),
)
cbow_task.mistakes(
    "Your model answers with the frequencies of the words, whatever the context is. Does a gradient reach E?",
    frequencies_alone=Pretended(lambda contexts: _unsure(contexts, 0.0)),
)
cbow_task.mistakes(
    "Your model has learned about words, but it answers another question. Print a training window as words. "
    "Where is the gap?",
    another_gap=Pretended(_off_the_point, _used_as()),
)
cbow_task.mistakes(
    "Your model is better than the frequencies, but far from what four neighbours tell. Are there two tables, "
    "one for the words around and one for the word to guess? Do you take the mean over the words of one "
    "context?",
    one_table_for_both=Pretended(lambda contexts: _unsure(contexts, 0.08) + _counted_words(contexts), _used_as()),
)
cbow_task.mistakes(
    "Your model is on the way, but not there yet. Was the loss still falling at the end of the curve? How "
    "large is a step?",
    stopped_on_the_way=Pretended(lambda contexts: _unsure(contexts, 0.17), _used_as()),
)
