"""Hidden tests of `masking_task`: a causal language model, near the source and not better than it."""

import math
from functools import lru_cache

import torch
from torch.nn import functional as F

from course.data import grammar
from course.exercise import exercise, given_model, rest_hidden

MARGIN = 0.25
"""Nats a word above the source. Ten trained models end 0.08 to 0.15 above it; those that look at one word, 0.36."""

WORDS = 12
"""Places that the judge asks about: nine sentences in ten are no longer."""


class TheSource:
    """The grammar itself as a language model: what an honest model can at best be."""

    def __call__(self, ids, lengths):
        return source_log_p(ids)


def source_log_p(ids):
    """log p of the next word at every place of ids (B, T) that begin with a full stop: (B, T, V)."""
    return _source_for(tuple(map(tuple, ids.tolist()))).clone()


@lru_cache(maxsize=64)
def _source_for(rows):
    p = grammar.language().next_word(torch.tensor(rows)[:, 1:])
    return p.clamp(min=1e-12).log().float()


@lru_cache(maxsize=64)
def held_out(count, seed):
    """Sentences of the judge's own, cut after `WORDS` words: ids (B, T + 1), lengths (B,)."""
    drawn = grammar.language().draw_sentences(count, torch.Generator().manual_seed(seed))
    return grammar.padded([sentence[:WORDS] for sentence in drawn])


def asked_everywhere(count, seed):
    """Whole sentences at once, as in training: inputs, their lengths, targets (B, T), and each sentence's true loss."""
    ids, lengths = held_out(count, seed)
    real = torch.arange(ids.shape[1] - 1) < (lengths - 1)[:, None]
    inputs, targets = ids[:, :-1].clone(), torch.where(real, ids[:, 1:], -100)
    losses = -source_log_p(inputs).double().gather(-1, targets.clamp(min=0)[..., None]).squeeze(-1)
    return inputs, lengths - 1, targets, (losses * real).sum(1)


def asked_once(count, seed):
    """One word a sentence, the first that the model is not given: what follows the cut is other words, at random."""
    inputs, lengths, targets, _ = asked_everywhere(count, seed)
    dice = torch.Generator().manual_seed(seed)
    last = (torch.rand(count, generator=dice) * lengths).long()  # the last place that is given
    given = torch.arange(inputs.shape[1]) <= last[:, None]
    noise = torch.randint(1, len(grammar.language().words), inputs.shape, generator=dice)
    inputs = torch.where(given, inputs, noise)
    targets = torch.full_like(targets, -100).scatter(1, last[:, None], targets.gather(1, last[:, None]))
    best = -source_log_p(inputs).double()[torch.arange(count), last].gather(1, targets.amax(1, keepdim=True)).squeeze(1)
    return inputs, last + 1, targets, best


KNOWS = "no worse than the bare frequencies, of 60 sentences"
"""The case that shows that a model has learned anything: a constant looks neither ahead nor back."""

LEAK = (
    "better than the source itself, and nobody can be: at some place your model sees the word it is to guess. Ask "
    "leaks_future"
)


@exercise(
    TheSource(),
    name="masking_task",
    hints=(
        "Print a row of inputs and one of targets as words, below each other. What should be said at each place?",
        "Nobody can honestly get below 2.59 a word. Above 3.0 the model looks at one word only. Where is your loss?",
        "Run leaks_future on your model before training it: a leak is in the model, not in its weights.",
    ),
)
def masking_task(rng):
    """Prefixes that end before their target, with noise behind; whole sentences, where a leak shows; the leak itself.

    Two layers of four heads, width 64, over ten seeds: see tests/training/test_masking_task.py.
    """
    later = "words that come later change what your model says now: who may look at whom?"
    much_later = "words far in the future change what your model says now: is there any causal mask?"
    drawn = asked_once(60, rng.seed())
    some = _cut_short("60 sentences cut short: the next word", drawn, public=True)
    near = _at_most(some, drawn, MARGIN + 0.7)
    yield near.shows("log_loss_at_most", full=MARGIN, called="the loss above the source's")
    yield from _less(some, ", of 60 sentences", drawn)
    yield _whole("40 whole sentences: no better than the source", rng, 40, public=True)
    whole, _, _, _ = asked_everywhere(20, rng.seed())
    scores = given_model("scores, not probabilities", public=True, weight=0.25).laws_only().counts_with(KNOWS)
    yield scores.call(whole[:, :3], torch.full((20,), 3), into="logits").law("no_probabilities", of="logits")
    yield _changed("blind to the far future", rng, 3, 8, much_later, weight=0.5, public=True)
    yield rest_hidden
    drawn = asked_once(600, rng.seed())
    new = _cut_short(f"the next word, at most {MARGIN} above the source", drawn, weight=3.0)
    yield _at_most(new, drawn, MARGIN)
    yield _at_most(new.judged_again("the next word, at most 0.6 above the source"), drawn, 0.6)
    yield from _less(new, "", drawn, weights=(0.1, 1.0, 0.4, 0.1, 0.5))
    yield _whole("whole sentences: no better than the source", rng, 300)
    yield _changed("blind to the future", rng, 6, 6, later, weight=1.0)


def _cut_short(title, drawn, **options):
    """The model's answer to what `asked_once` has drawn, without a law."""
    inputs, lengths, _, _ = drawn
    return given_model(title, **options).call(inputs, lengths, into="logits").laws_only()


def _at_most(case, drawn, margin, known=None):
    """A loss at most `margin` above the known one, the source's own unless told, and not below the source's."""
    _, _, targets, best = drawn
    known = best if known is None else known
    case = case.law("log_loss_at_most", of="logits", targets=targets, known=known, margin=margin)
    return case.law("no_better_than", of="logits", targets=targets, best=best, because=LEAK)


def _whole(title, rng, count, **options):
    inputs, lengths, targets, best = asked_everywhere(count, rng.seed())
    case = given_model(title, **options).call(inputs, lengths, into="logits").laws_only().counts_with(KNOWS)
    return case.law("no_better_than", of="logits", targets=targets, best=best, because=LEAK)


def _changed(title, rng, kept, first, because, **options):
    """Words from `first` on exchanged: what the model says at the first `kept` places must not move."""
    english, lengths = grammar.language(), torch.full((13,), WORDS)
    ids = rng.integers(1, len(english.words), 13, WORDS)
    ids[:, 0] = english.ids[grammar.STOP]
    other = torch.cat([ids[:, :first], rng.integers(1, len(english.words), 13, WORDS - first)], dim=1)
    case = given_model(title, **options).call(ids, lengths, into="first").call(other, lengths, into="second")
    case = case.law("equal_up_to", of="first", to="second", count=kept, within=1e-3, because=because)
    return case.laws_only().counts_with(KNOWS)


def _frequencies(words):
    """The loss of the bare frequencies."""
    return -grammar.language().frequencies.clamp(min=1e-12).log()[words]


def _less(case, of, drawn, weights=(0.1, 0.1, 0.1, 0.1, 0.1)):
    """The same answers by laxer bars, and whether they say again what was read: this tells mistakes apart."""
    inputs, lengths, targets, _ = drawn
    words = targets.amax(1)
    nothing = torch.full((len(targets),), math.log(len(grammar.language().words)), dtype=torch.float64)
    bars = (
        ("better than the bare frequencies", -0.4, _frequencies(words)),
        ("no worse than the bare frequencies", 0.03, _frequencies(words)),
        ("hardly worse than knowing nothing", 1.5, nothing),
        ("not beyond all measure", 2000.0, nothing),
    )
    for (title, margin, known), weight in zip(bars, weights, strict=False):
        rung = _at_most(case.judged_again(title + of, weight=weight), drawn, margin, known)
        yield rung if rung.title == KNOWS else rung.counts_with(KNOWS)
    last = inputs.gather(1, lengths[:, None] - 1)
    again = torch.full_like(targets, -100).scatter(1, lengths[:, None] - 1, last)
    because = "your model says the word again that it has just read: write inputs and targets below each other"
    repeats = {"of": "logits", "targets": again, "known": _frequencies(last.squeeze(1)), "margin": -0.5}
    said = case.judged_again(f"what was said is not said again{of}", weight=weights[-1]).counts_with(KNOWS)
    yield said.law("log_loss_at_least", **repeats, because=because)


def _certain(words):
    """Nothing but these words, (B, T) -> logits (B, T, V)."""
    return 20.0 * _one_hot(words)


def _one_hot(ids):
    return F.one_hot(ids, len(grammar.language().words)).float()


def _sees(ids, lengths, reach):
    """Certain of the next word where it can be seen; where nothing is left to see, nearly so of something silly."""
    nothing_left = torch.arange(ids.shape[1]) >= lengths[:, None] - 1
    seen = torch.where(nothing_left, torch.zeros_like(ids), ids.roll(-1, 1))
    further = sum(_one_hot(ids.roll(-k, 1)) for k in range(1, reach + 1))
    further[:, -reach:] = 0.0
    return torch.where(nothing_left[..., None], 0.45, 1.0) * _certain(seen) + further


def _mixed(ids, trust):
    """Between the source and its bare frequencies."""
    frequencies = grammar.language().frequencies.float()
    return (trust * source_log_p(ids).exp() + (1 - trust) * frequencies).clamp(min=1e-9).log()


def _one_word(ids):
    """What follows a word, whatever came before it."""
    once = grammar.language().next_word(torch.arange(len(grammar.language().words))[:, None], running=True)[:, 1]
    return (0.98 * once + 0.02 * grammar.language().frequencies).clamp(min=1e-9).log().float()[ids]


masking_task.mistakes(
    "Too good: better than the source itself, and far worse as soon as the text ends before the word it is to guess. "
    "Your model looks at the answer. Draw its attention weights: is there anything above the diagonal?",
    sees_the_whole_sentence=lambda ids, lengths: _sees(ids, lengths, ids.shape[1] - 1),
)
masking_task.mistakes(
    "Too good: better than the source itself, and blind once the text ends. It does not look far ahead, one word is "
    "enough. Print row 0 of the mask that your model really uses: how many words does it allow?",
    sees_one_word_ahead=lambda ids, lengths: _sees(ids, lengths, 1),
)
masking_task.mistakes(
    "It predicts as well as an honest model, and still the future moves what it says now. A mean or a norm over the "
    "words of a sentence, perhaps? Over which axis?",
    future_leaks_through_a_mean=lambda ids, lengths: _mixed(ids, 0.97) + 0.3 * _one_hot(ids).mean(1, keepdim=True),
)
masking_task.mistakes(
    "Your model says the word that it has just read. Write a row of inputs and a row of targets below each other: "
    "should they be the same?",
    says_what_it_reads=lambda ids, lengths: _certain(ids),
)
masking_task.mistakes(
    "It does worse than knowing nothing. Was it trained at all? If so, on another question: write a row of inputs "
    "and a row of targets below each other, one place a column. And does your loss get scores, or probabilities?",
    another_question=lambda ids, lengths: _certain(torch.zeros_like(ids)),
)
masking_task.mistakes(
    "Sure of itself beyond all measure, and wrong. Was the loss once smaller than at the end? How large is a step, and "
    "are the gradients of earlier batches still in it?",
    diverged=lambda ids, lengths: 1e4 * _certain(torch.zeros_like(ids)),
)
masking_task.mistakes(
    "What your model returns sums to one. What does your loss do with it: does it take scores, or probabilities?",
    softmax_in_the_model=lambda ids, lengths: source_log_p(ids).exp(),
)
masking_task.mistakes(
    "It guesses as if it knew nothing of this language. Do its parameters move in a step? If they do, write a row of "
    "inputs and a row of targets below each other, one place a column: is that the question?",
    never_trained=lambda ids, lengths: 0.0 * _one_hot(ids),
)
masking_task.mistakes(
    "Whoever knows how frequent each word is, and reads nothing, does as well. Does the loss still fall at the end? If "
    "not: does a gradient reach the embedding?",
    frequencies_alone=lambda ids, lengths: _mixed(ids, 0.0),
)
masking_task.mistakes(
    "It predicts as well as one can from a single word. What does the attention of the last place look at?",
    looks_at_one_word=lambda ids, lengths: _one_word(ids),
)
masking_task.mistakes(
    "On the right track, and not there yet. Was the loss still falling at the end of the curve? How large is a step?",
    stopped_on_the_way=lambda ids, lengths: _mixed(ids, 0.35),
)
