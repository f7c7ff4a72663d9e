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
"""Classes of so many words count: of a smaller one five neighbours could hardly be found."""

KNOWS = "no worse than the bare frequencies"
"""The case that shows that a model has learned anything: a constant guesses nothing again, and has no order."""

NOT_MAD = "no worse than knowing nothing"
"""The case that shows that there is a model: a table of vectors without one could be copied."""


class FromTheGrammar:
    """The best that can be done with a bag, from the rules themselves: what a perfect reader would answer."""

    def __init__(self) -> None:
        self.E = _used_as()

    def __call__(self, contexts):
        return _best(contexts)


def _used_as():
    """A vector a word, (V, D): in which classes it is used."""
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
    """Windows of the judge's own, and what the best reader of a bag loses on each."""
    contexts, targets = grammar.windows(count, RADIUS, torch.Generator().manual_seed(seed))
    return contexts, targets, -_best(contexts).double().gather(1, targets[:, None]).squeeze(1)


@lru_cache(maxsize=1)
def clear_words():
    """The words of large classes only, and for all words the classes they are in."""
    table = grammar.class_table()
    small = table.sum(0) < LARGE
    rows = (table.any(1) & ~(table & small).any(1)).nonzero().squeeze(1)
    return rows, table


@exercise(
    FromTheGrammar(),
    name="cbow_task",
    hints=(
        "Print the loss of the first batch: log V is knowing nothing, 4.7 is knowing the frequencies. And of the last?",
        "Print the shapes of contexts and targets, and one of each as words. Could you have guessed the target?",
        "If the loss still falls when the budget ends, the steps are too small; if it jumps about, too large.",
    ),
)
def cbow_task(rng):
    """Loss against the bag's own floor on windows of the judge's, and neighbours by class. E is read, W is not."""
    yield from _public(*_asked("256 windows, a loss near the floor", 256, rng.seed(), public=True))
    yield rest_hidden
    yield from _hidden(*_asked(f"a loss at most {LOSS_MARGIN} above the floor", 1000, rng.seed(), weight=2.0))


def _public(case, contexts, targets, floor):
    near = _at_most(case, targets, floor, LOSS_MARGIN + 0.5)
    yield near.shows("log_loss_at_most", full=LOSS_MARGIN, called="the loss above the floor")

    def rung(title):
        return case.judged_again(f"{title}, of 256 windows", weight=0.1).counts_with(KNOWS)

    yield _at_most(rung("a loss not far from the floor"), targets, floor, 1.7)
    yield _at_most(rung("not far from the bare frequencies"), targets, floor, 0.6, _surprise()[targets])
    yield _at_most(rung(NOT_MAD), targets, floor, 0.5, _knowing_nothing(targets))
    yield _not_again(rung("what is there is not guessed again"), contexts)
    yield rung("scores, not probabilities").law("no_probabilities", of="logits")
    neighbours = _neighbours("neighbours are words of a kind", 0.8, public=True)
    yield neighbours.shows("neighbours_alike", full=0.9, called="the share of neighbours that are of a kind")


def _hidden(case, contexts, targets, floor):
    yield _at_most(case, targets, floor, LOSS_MARGIN)
    yield _at_most(case.judged_again("a loss at most 1.7 above the floor"), targets, floor, 1.7)
    yield _at_most(case.judged_again(KNOWS), targets, floor, 0.03, _surprise()[targets])

    def rung(title):
        return case.counts_with(KNOWS).judged_again(title, weight=0.5)

    yield _at_most(rung(NOT_MAD), targets, floor, 0.1, _knowing_nothing(targets))
    yield _not_again(rung("what is there is not guessed again"), contexts)
    yield rung("scores, not probabilities").law("no_probabilities", of="logits")
    yield _neighbours("nine of ten neighbours are of a kind", 0.9, weight=2.0)
    yield _neighbours("half of the neighbours are of a kind", 0.5)
    because = "the same words in another order get other scores: this is no bag"
    yield (
        given_model("a bag has no order", weight=0.5)
        .call(contexts, into="first")
        .call(contexts[:, torch.tensor([3, 1, 0, 2])], into="second")
        .law("equal", of="first", to="second", within=1e-3, because=because)
        .laws_only()
        .counts_with(KNOWS)
    )


def _asked(title, count, seed, **options):
    """A case for windows of the judge's, without a law, then these, and what the best reader loses on each."""
    contexts, targets, floor = held_out(count, seed)
    return given_model(title, **options).call(contexts, into="logits").laws_only(), contexts, targets, floor


def _at_most(case, targets, floor, margin, known=None):
    """A loss at most `margin` above `known`, which is the floor where nothing is given, and never below the floor."""
    known = floor if known is None else known
    case = case.law("log_loss_at_most", of="logits", targets=targets, known=known, margin=margin)
    return case.law("no_better_than", of="logits", targets=targets, best=floor)


def _not_again(case, contexts):
    beside = contexts[:, RADIUS]
    because = "a word that already stands in the context is guessed again: hardly any word is said twice in a row"
    law = {"of": "logits", "targets": beside, "known": _surprise()[beside], "margin": -0.02, "because": because}
    return case.law("log_loss_at_least", **law)


def _neighbours(title, bar, **options):
    rows, kinds = clear_words()
    case = given_model(title, **options).read("E").laws_only().counts_with(NOT_MAD)
    return case.law("neighbours_alike", of="E", kinds=kinds, rows=rows, k=5, bar=bar)


def _surprise():
    """The loss of the bare frequencies on each word, (V,)."""
    return -grammar.language().frequencies.clamp(min=1e-12).log()


def _knowing_nothing(targets):
    return torch.full((len(targets),), math.log(len(_surprise())))


class Pretended:
    """A model of the kind that a mistake in training leaves behind: logits by a function, and vectors."""

    def __init__(self, logits, E=None):
        self.logits = logits
        self.E = _by_chance(len(grammar.language().words), 16, 2) if E is None else E

    def __call__(self, contexts):
        return self.logits(contexts)


def _by_chance(count, width, seed):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed))


def _blurred():
    """Vectors of which three in ten words have none of their own yet."""
    E = _used_as()
    lost = torch.rand(len(E), generator=torch.Generator().manual_seed(3)) < 0.3
    E[lost] = _by_chance(int(lost.sum()), E.shape[1], 4)
    return E


def _unsure(contexts, trust):
    """Between the best answer and the bare frequencies."""
    frequencies = grammar.language().frequencies.float()
    return (trust * _best(contexts).exp() + (1 - trust) * frequencies).clamp(min=1e-9).log()


def _counted_words(contexts):
    return F.one_hot(contexts, len(grammar.language().words)).float().sum(1)


def _echo(strength):
    """Prefers what it reads: the target stood in the context, in training."""
    return Pretended(lambda contexts: strength * _counted_words(contexts), _blurred())


def _left_half(contexts):
    """The best guess when the words after are not read."""
    p = grammar.language().next_word(contexts[:, :RADIUS], running=True)[:, -1]
    return (0.9 * p + 0.1 * grammar.language().frequencies).clamp(min=1e-9).log().float()


def _one_word_only(contexts):
    """Very sure of the best guess, and therefore often very wrong."""
    best = _best(contexts)
    return 40 * F.one_hot(best.argmax(1), best.shape[1]).float()


def _off_the_point(contexts):
    """Worse than the bare frequencies, though not mad: what is left of an answer to another question."""
    frequencies = grammar.language().frequencies.float()
    return (0.5 * frequencies + 0.5 / len(frequencies)).log().expand(len(contexts), -1)


cbow_task.mistakes(
    "Your model prefers words that stand in the context themselves. Print a few training windows beside their "
    "targets: can the target be read there?",
    target_inside_the_context=_echo(1.5),
    target_inside_the_context_and_heard_loudly=_echo(2.5),
    target_inside_the_context_and_heard_alone=_echo(6.0),
)
cbow_task.mistakes(
    "Very sure, and often wrong. What does your loss expect, scores or probabilities, and what does it get? (Or are "
    "the steps far too large?)",
    sure_and_wrong=Pretended(_one_word_only, _blurred()),
)
cbow_task.mistakes(
    "What your model returns sums to one. What does your loss do with it: does it take scores, or probabilities?",
    softmax_in_the_model=Pretended(lambda contexts: _best(contexts).exp(), _blurred()),
)
cbow_task.mistakes(
    "No wiser than who gives every word the same score. Do its tensors move in a step? Compare before and after.",
    never_trained=Pretended(lambda contexts: 0 * _counted_words(contexts)),
)
cbow_task.mistakes(
    "Your model answers with the frequencies of the words, whatever stands around. Does a gradient reach E?",
    frequencies_alone=Pretended(lambda contexts: _unsure(contexts, 0.0)),
)
cbow_task.mistakes(
    "It has learned about words, and answers another question. Print a training window as words: where is the gap?",
    another_gap=Pretended(_off_the_point, _used_as()),
)
cbow_task.mistakes(
    "It predicts well, but the vectors in E know nothing of it. Which tensor did your forward read the context from?",
    E_is_not_the_table_it_reads=Pretended(_best),
)
cbow_task.mistakes(
    "Better than frequencies, far from what four neighbours tell. Are there two tables, one for the words around and "
    "one for the word to guess? Is the mean taken over the words of one context?",
    one_table_for_both=Pretended(lambda contexts: _unsure(contexts, 0.08) + _counted_words(contexts), _used_as()),
)
cbow_task.mistakes(
    "The words before the gap count, those after it do not, or the other way round. Turn a context round and compare.",
    reads_one_side=Pretended(_left_half, _used_as()),
)
cbow_task.mistakes(
    "On the right track, and not there yet. Was the loss still falling at the end of the curve? How large is a step?",
    stopped_on_the_way=Pretended(lambda contexts: _unsure(contexts, 0.17), _used_as()),
)
