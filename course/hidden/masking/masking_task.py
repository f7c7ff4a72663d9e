"""Hidden tests of `masking_task`: a causal language model, near the grammar and not better than it."""

import math
from functools import lru_cache

import torch
from torch.nn import functional as F

from course.data import grammar
from course.exercise import exercise, given_model, rest_hidden

MARGIN = 0.25
"""Nats a word above the grammar. Ten trained models end 0.08 to 0.15 above it, and those that see one word, 0.36."""

WORDS = 12
"""Positions that the judge asks about. Nine sentences in ten are no longer."""


class TheSource:
    """The grammar itself as a language model, which is the best honest model."""

    def __call__(self, ids, lengths):
        return source_log_p(ids)


def source_log_p(ids):
    """log p of the next word at every position of ids (B, T) that begin with a full stop, (B, T, V)."""
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
    inputs, lengths, targets, losses = _drawn(count, seed)
    return inputs, lengths, targets, losses.sum(1)


def _drawn(count, seed):
    """As `asked_everywhere`, with the true loss of every word (B, T), zero behind a sentence's end."""
    ids, lengths = held_out(count, seed)
    real = torch.arange(ids.shape[1] - 1) < (lengths - 1)[:, None]
    inputs, targets = ids[:, :-1].clone(), torch.where(real, ids[:, 1:], -100)
    losses = -grammar.language().each_word(ids[:, 1:]).clamp(min=1e-12).log().float().double()
    return inputs, lengths - 1, targets, losses * real


def asked_once(count, seed):
    """One word a sentence, the first that the model is not given. Random other words follow the cut."""
    inputs, lengths, targets, losses = _drawn(count, seed)
    generator = torch.Generator().manual_seed(seed)
    last = (torch.rand(count, generator=generator) * lengths).long()  # the last place that is given
    given = torch.arange(inputs.shape[1]) <= last[:, None]
    noise = torch.randint(1, len(grammar.language().words), inputs.shape, generator=generator)
    inputs = torch.where(given, inputs, noise)
    targets = torch.full_like(targets, -100).scatter(1, last[:, None], targets.gather(1, last[:, None]))
    return inputs, last + 1, targets, losses[torch.arange(count), last]


KNOWS = "no worse than word frequencies alone, of 60 sentences"
"""The case that shows that a model has learned anything. A constant looks neither ahead nor back."""

LEAK = (
    "better than the grammar, which no honest model can be. At some position your model sees the word it has to "
    "predict. Run leaks_future on it"
)


@exercise(
    TheSource(),
    name="masking_task",
    hints=(
        "Print a row of inputs and one of targets as words, below each other. What should the model say at each "
        "position?",
        "No honest model gets below 2.59 a word. Above 3.0, a model looks at one word only. Where is your loss?",
        "Run leaks_future on your model before you train it. A leak is in the model and not in its weights.",
        "Begin with `visible`, and print it for one sentence of three words in five positions. Then write the shape "
        "of x beside each line of `forward`. In `train`, make inputs, targets and the lengths of both for one batch "
        "before you write the loop.",
    ),
)
def masking_task(rng):
    """Prefixes that end before their target, with noise behind, whole sentences, where a leak shows, the leak itself.

    Two layers of four heads, width 64, over ten seeds: see tests/training/test_masking_task.py.
    """
    later = "later words change what your model predicts now. Draw the mask that it uses"
    much_later = "words far in the future change what your model predicts now. Does it use a causal mask at all?"
    drawn = asked_once(60, rng.seed())
    some = _cut_short("the next word of 60 sentences cut short", drawn, public=True)
    near = _at_most(some, drawn, MARGIN + 0.7)
    yield near.shows("log_loss_at_most", full=MARGIN, called="the loss above the grammar's")
    yield from _less(some, ", of 60 sentences", drawn)
    yield _whole("40 whole sentences, no better than the grammar", rng, 40, public=True)
    whole, _, _, _ = asked_everywhere(20, rng.seed())
    scores = given_model("scores, not probabilities", public=True, weight=0.25).laws_only().counts_with(KNOWS)
    yield scores.call(whole[:, :3], torch.full((20,), 3), into="logits").law("no_probabilities", of="logits")
    yield _changed("far words of the future change nothing", rng, 3, 8, much_later, weight=0.5, public=True)
    yield rest_hidden
    drawn = asked_once(600, rng.seed())
    new = _cut_short(f"the next word, at most {MARGIN} above the grammar", drawn, weight=3.0)
    yield _at_most(new, drawn, MARGIN)
    yield _at_most(new.judged_again("the next word, at most 0.6 above the grammar"), drawn, 0.6)
    yield from _less(new, "", drawn, weights=(0.1, 1.0, 0.4, 0.1, 0.5))
    yield _whole("whole sentences, no better than the grammar", rng, 300)
    yield _changed("words of the future change nothing", rng, 6, 6, later, weight=1.0)


def _cut_short(title, drawn, **options):
    """The model's answer to what `asked_once` has drawn, without a law."""
    inputs, lengths, _, _ = drawn
    return given_model(title, **options).call(inputs, lengths, into="logits").laws_only()


def _at_most(case, drawn, margin, known=None):
    """A loss at most `margin` above the known one, the grammar's own unless told, and not below the grammar's."""
    _, _, targets, best = drawn
    known = best if known is None else known
    case = case.law("log_loss_at_most", of="logits", targets=targets, known=known, margin=margin)
    return case.law("no_better_than", of="logits", targets=targets, best=best, because=LEAK)


def _whole(title, rng, count, **options):
    inputs, lengths, targets, best = asked_everywhere(count, rng.seed())
    case = given_model(title, **options).call(inputs, lengths, into="logits").laws_only().counts_with(KNOWS)
    return case.law("no_better_than", of="logits", targets=targets, best=best, because=LEAK)


def _changed(title, rng, kept, first, because, **options):
    """Words from `first` on are exchanged. The logits at the first `kept` positions must not move."""
    english, lengths = grammar.language(), torch.full((13,), WORDS)
    ids = rng.integers(1, len(english.words), 13, WORDS)
    ids[:, 0] = english.ids[grammar.STOP]
    other = torch.cat([ids[:, :first], rng.integers(1, len(english.words), 13, WORDS - first)], dim=1)
    case = given_model(title, **options).call(ids, lengths, into="first").call(other, lengths, into="second")
    case = case.law("equal_up_to", of="first", to="second", count=kept, within=1e-3, because=because)
    return case.laws_only().counts_with(KNOWS)


def _frequencies(words):
    """The loss of word frequencies alone."""
    return -grammar.language().frequencies.clamp(min=1e-12).log()[words]


def _less(case, of, drawn, weights=(0.1, 0.1, 0.1, 0.1, 0.1)):
    """The same answers by laxer bars, and whether they repeat what was read, which tells mistakes apart."""
    inputs, lengths, targets, _ = drawn
    words = targets.amax(1)
    nothing = torch.full((len(targets),), math.log(len(grammar.language().words)), dtype=torch.float64)
    bars = (
        ("better than word frequencies alone", -0.4, _frequencies(words)),
        ("no worse than word frequencies alone", 0.03, _frequencies(words)),
        ("hardly worse than guessing", 1.5, nothing),
        ("not absurdly sure of wrong words", 2000.0, nothing),
    )
    for (title, margin, known), weight in zip(bars, weights, strict=False):
        lower_bar = _at_most(case.judged_again(title + of, weight=weight), drawn, margin, known)
        yield lower_bar if lower_bar.title == KNOWS else lower_bar.counts_with(KNOWS)
    last = inputs.gather(1, lengths[:, None] - 1)
    again = torch.full_like(targets, -100).scatter(1, lengths[:, None] - 1, last)
    because = "your model says the word again that it has just read. Write inputs and targets below each other"
    repeats = {"of": "logits", "targets": again, "known": _frequencies(last.squeeze(1)), "margin": -0.5}
    said = case.judged_again(f"does not repeat the word just read{of}", weight=weights[-1]).counts_with(KNOWS)
    yield said.law("log_loss_at_least", **repeats, because=because)


def _certain(words):
    """Logits (B, T, V) that name nothing but these words (B, T)."""
    return 20.0 * _one_hot(words)


def _one_hot(ids):
    return F.one_hot(ids, len(grammar.language().words)).float()


def _sees(ids, lengths, reach):
    """Logits certain of the next word where it can be seen, and elsewhere nearly certain of something silly."""
    nothing_left = torch.arange(ids.shape[1]) >= lengths[:, None] - 1
    seen = torch.where(nothing_left, torch.zeros_like(ids), ids.roll(-1, 1))
    further = sum(_one_hot(ids.roll(-k, 1)) for k in range(1, reach + 1))
    further[:, -reach:] = 0.0
    return torch.where(nothing_left[..., None], 0.45, 1.0) * _certain(seen) + further


def _mixed(ids, trust):
    """Between the grammar and its word frequencies."""
    frequencies = grammar.language().frequencies.float()
    return (trust * source_log_p(ids).exp() + (1 - trust) * frequencies).clamp(min=1e-9).log()


def _one_word(ids):
    """What follows a word, whatever came before it."""
    once = grammar.language().next_word(torch.arange(len(grammar.language().words))[:, None], running=True)[:, 1]
    return (0.98 * once + 0.02 * grammar.language().frequencies).clamp(min=1e-9).log().float()[ids]


masking_task.mistakes(
    "Your model beats the grammar, which no honest model can do. It is far worse once the text ends before the word "
    "to predict. Draw its attention weights. Is anything above the diagonal?",
    sees_the_whole_sentence=lambda ids, lengths: _sees(ids, lengths, ids.shape[1] - 1),
)
masking_task.mistakes(
    "Your model beats the grammar, which no honest model can do. It does not look far ahead, and one word is "
    "enough. Print row 0 of the mask that it really uses. How many words does the row allow?",
    sees_one_word_ahead=lambda ids, lengths: _sees(ids, lengths, 1),
)
masking_task.mistakes(
    "Your model says the word that it has just read. Write a row of inputs and a row of targets below each other. "
    "Should they be the same?",
    says_what_it_reads=lambda ids, lengths: _certain(ids),
)
masking_task.mistakes(
    "It does worse than guessing. Does the loss fall? If it does, write a row of inputs and a row of targets below "
    "each other, one position a column. Does your loss get logits, or probabilities?",
    another_question=lambda ids, lengths: _certain(torch.zeros_like(ids)),
)
masking_task.mistakes(
    "Your model is absurdly sure of wrong words. Was the loss once smaller than at the end? How large is a step, "
    "and are the gradients of earlier batches still in it?",
    diverged=lambda ids, lengths: 1e4 * _certain(torch.zeros_like(ids)),
)
masking_task.mistakes(
    "Sum the outputs at one position. They give 1. Does your loss take logits, or probabilities?",
    softmax_in_the_model=lambda ids, lengths: source_log_p(ids).exp(),
)
masking_task.mistakes(
    "It guesses as if it knew nothing of this language. Do its parameters move in a step? If they do, write a row "
    "of inputs and a row of targets below each other, one position a column. Is each target the next word?",
    never_trained=lambda ids, lengths: 0.0 * _one_hot(ids),
)
masking_task.mistakes(
    "A model that knows only how frequent each word is does as well. Does the loss still fall at the end? If not, "
    "does a gradient reach the embedding?",
    frequencies_alone=lambda ids, lengths: _mixed(ids, 0.0),
)
masking_task.mistakes(
    "It predicts as well as one can from a single word. What does the attention of the last position look at?",
    looks_at_one_word=lambda ids, lengths: _one_word(ids),
)
masking_task.mistakes(
    "It is on the right track, but not there yet. Was the loss still falling at the end? How large is a step?",
    stopped_on_the_way=lambda ids, lengths: _mixed(ids, 0.35),
)
