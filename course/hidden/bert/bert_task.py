"""Hidden tests of `bert_task`: hidden words against the exact best guess, and nouns that no label was about."""

from __future__ import annotations

import math
from functools import lru_cache

import torch

from course.data import beings
from course.exercise import Ref, exercise, given_model, rest_hidden
from course.hidden.encoder_decoder.scaffold import BUILT_IN_LAYERS
from course.reference.masking import mlm_corrupt

MARGIN = 0.3
"""Nats a hidden word above the best guess: see tests/training/test_bert_task.py."""
FULL = 0.85
"""The share of sentences about new nouns that earns full marks, as a mean over splits of the nouns."""
KNOWS = "hidden words, better than by how frequent they are"
"""The case that shows that anything was learned without labels."""


class Known:
    """What a model knows: `words(ids, mask)` as logits, and a classifier that is right for a `share` of new nouns."""

    def __init__(self, words, share):
        self.words, self.share = words, share

    def __call__(self, ids, segments, mask):
        """What it reads, in place of vectors: (B, T, 2). Word logits follow from it."""
        return torch.stack([ids, mask], -1).float(), torch.zeros(len(ids), 2)

    def word_logits(self, words):
        ids, mask = words.long().unbind(-1)
        return self.words(ids, mask.bool()).float()

    def finetuned(self, ids, segments, mask, labels):
        return lambda ids, segments, mask: self.about(ids)

    def about(self, ids):
        """Logits (B, 2): right for a share of the sentences, the same in every run."""
        subject = torch.isin(ids, beings.nouns()).long().argmax(1)
        right = torch.isin(ids.gather(1, subject[:, None])[:, 0], beings.animals())
        lost = torch.rand(len(ids), generator=torch.Generator().manual_seed(0)) >= self.share
        answer = right ^ lost
        return torch.stack([-answer.double(), answer.double()], 1)


@lru_cache(maxsize=8)
def best_logits(rows, masks):
    """log p of every word at every place, by the language itself: (B, T, V), of tuples of rows."""
    return beings.guess(torch.tensor(rows), torch.tensor(masks)).clamp(min=1e-12).log()


def best(ids, mask):
    """As above, of tensors (B, T)."""
    return best_logits(tuple(map(tuple, ids.tolist())), tuple(map(tuple, mask.tolist()))).clone()


@lru_cache(maxsize=8)
def asked(count, seed):
    """Sentences with hidden words: inputs, mask and labels, (B, T) each, and each row's loss by the best guess (B,)."""
    generator = torch.Generator().manual_seed(seed)
    ids, mask = beings.packed(beings.language().draw_sentences(count, generator))
    words = {"vocab_size": len(beings.words()), "mask_id": beings.mask_id(), "generator": generator, "p": beings.HIDDEN}
    inputs, labels = mlm_corrupt(ids, beings.is_special(ids), **words)
    return inputs, mask, labels, _row_sums(best(inputs, mask), labels)


def split(seed, count):
    """Half of the nouns in labelled sentences, and `count` sentences about the others: ids, segments, mask, labels."""
    generator = torch.Generator().manual_seed(seed)
    parts = [beings.labelled(n, nouns, generator) for n, nouns in zip((beings.LABELS, count), beings.halves(generator))]
    return [(ids, torch.zeros_like(ids), mask, labels) for ids, mask, labels in parts]


def _row_sums(log_p, labels):
    chosen = -log_p.gather(-1, labels.clamp(min=0)[..., None]).squeeze(-1)
    return (chosen * (labels >= 0)).sum(1)


@exercise(
    Known(best, 1.0),
    name="bert_task",
    hints=(
        "Write one row of ids, inputs and labels as words, below each other, and the mask. At how many places does the "
        "loss ask for a word?",
        "Log the loss of hidden words. The best possible is about 1.94 nats. Where does yours stop falling?",
        "Print the accuracy on the fifty labelled sentences, and on sentences about other nouns. Which one is low? "
        "Does `finetuned` train a copy? Compare the parameters of the pretrained model before and after.",
        "Begin with `train`, and in it with one batch: hide words, ask the model for vectors and then for word logits, "
        "and print the shapes. Add the steps of the optimizer, and then its learning rate. Come to `finetuned` last, "
        "with `Classifier` and `tune`.",
    ),
    forbidden=tuple(name for name in BUILT_IN_LAYERS if name != "blocks.EncoderLayer"),
)
def bert_task(rng):
    """Hidden words, then fifty labels of half of the nouns, asked about the other half, averaged over splits."""
    some = asked(60, rng.seed())
    near = _at_most(_read("hidden words of 60 sentences", some, public=True), some, MARGIN)
    yield near.shows("log_loss_at_most", full=MARGIN, called="the loss of hidden words above the best possible")
    yield from _rungs(near, some, ", on 60 sentences")
    tuned = _tuned("nouns without labels, in two splits, 75 % right", rng, 2, 0.75, public=True)
    yield tuned.shows("accuracy_at_least", full=FULL, called="accuracy on nouns without labels")
    yield from _less(tuned, ", in two splits")
    yield rest_hidden
    many = asked(150, rng.seed())
    whole = _read(f"hidden words, at most {MARGIN} above the best possible", many, weight=2.0)
    yield _at_most(whole, many, MARGIN)
    yield _at_most(whole.judged_again("hidden words, at most 0.6 above the best possible"), many, 0.6)
    yield from _rungs(whole, many, "")
    tuned = _tuned("nouns without labels, in five splits, 85 % right", rng, 5, FULL, weight=3.0)
    yield tuned
    yield tuned.judged_again("in five splits, 75 % right", bar=0.75, weight=2.0)
    yield from _less(tuned, ", in five splits")
    yield _kept(rng)


def _read(title, drawn, **options):
    """What the model says of hidden words, without a law."""
    inputs, mask, _, _ = drawn
    called = given_model(title, **options).call(inputs, torch.zeros_like(inputs), mask, into="words", carries=["pair"])
    return called.call(Ref("words"), method="word_logits", into="logits").laws_only()


def _at_most(case, drawn, margin, known=None):
    """A loss at most `margin` above the known one, by default that of the best guess."""
    _, _, labels, floor = drawn
    return case.law(
        "log_loss_at_most", of="logits", targets=labels, known=floor if known is None else known, margin=margin
    )


def _rungs(case, drawn, of):
    """The same answers by laxer bars, which tell mistakes apart."""
    labels = drawn[2]
    usual = _row_sums(_usual().log().expand(*labels.shape, -1), labels)
    nothing = (labels >= 0).sum(1) * math.log(len(beings.words()))
    first = f"hidden words, better than by how frequent they are{of}"
    yield _at_most(case.judged_again(first, weight=0.1), drawn, -0.1, usual)
    for title, margin, known in (("no worse than by their frequency", 0.1, usual),
                                 ("hardly worse than knowing nothing", 0.2, nothing)):  # fmt: skip
        again = case.judged_again(f"hidden words, {title}{of}", weight=0.1)
        yield _at_most(again, drawn, margin, known).counts_with(first)


def _tuned(title, rng, splits, bar, **options):
    """Fine-tune and ask once for each split, and hold the mean accuracy against a bar."""
    case, of, targets = given_model(title, **options).laws_only(), [], []
    for number in range(splits):
        labelled, (*others, labels) = split(rng.seed(), 200)
        case = case.learn(*labelled, method="finetuned", into=f"tuned {number}")
        case = case.call(*others, on=f"tuned {number}", into=f"logits {number}")
        of, targets = [*of, f"logits {number}"], [*targets, labels]
    return case.law("accuracy_at_least", of=of, targets=targets, bar=bar)


def _less(case, of):
    """The same answers by bars below and around guessing, which tell mistakes apart."""
    yield case.judged_again(f"65 % right{of}", bar=0.65, weight=0.5)
    yield case.judged_again(f"a quarter right{of}", bar=0.25, weight=0.1).counts_with(f"65 % right{of}")


def _kept(rng):
    """Fine-tuning has left the pretrained model as it was."""
    labelled, _ = split(rng.seed(), 2)
    ids = asked(5, rng.seed())
    inputs = ids[0], torch.zeros_like(ids[0]), ids[1]
    case = given_model("the pretrained model stays as it was").call(*inputs, into="before", carries=["pair"])
    case = case.learn(*labelled, method="finetuned", into="tuned")
    case = case.call(*inputs, into="after", carries=["other pair"]).laws_only().counts_with(KNOWS)
    because = "after fine-tuning, the pretrained model says something else of the same words. What did you train?"
    return case.law("equal", of="before", to="after", because=because, within=1e-4)


def _same_for_all(p):
    """Logits that do not depend on what is read."""
    return lambda ids, mask: p.log().expand(*ids.shape, -1)


def _usual():
    p = torch.full((len(beings.words()),), 1e-6, dtype=torch.float64)
    p[: len(beings.language().words)] += beings.language().frequencies
    return p


def _blurred(trust):
    """Between the best guess and the bare frequencies."""
    return lambda ids, mask: (trust * best(ids, mask).exp() + (1 - trust) * _usual()).log()


def _as_read(ids, mask):
    """Says again what it reads, and is sure of it."""
    return 12.0 * torch.nn.functional.one_hot(ids, len(beings.words())).double()


bert_task.mistakes(
    "Your model guesses as if it knew nothing. Do its parameters move in a step? Does the loss fall?",
    never_trained=Known(_same_for_all(torch.ones(len(beings.words()), dtype=torch.float64)), 0.5),
)
bert_task.mistakes(
    "It knows how frequent words are, and does not look at the words around. What does the mask hide from attention? "
    "Print it beside the ids.",
    frequencies_alone=Known(_same_for_all(_usual()), 0.5),
    hardly_more_than_frequencies=Known(_blurred(0.15), 0.5),
)
bert_task.mistakes(
    "It says again what it reads. How many inputs differ from the ids in one of your batches?",
    nothing_was_hidden=Known(_as_read, 0.5),
)
bert_task.mistakes(
    "It guesses hidden words well, and the classifier guesses. Does the loss on the fifty labels fall? Which "
    "parameters does your optimizer have, and which vector does the head read?",
    classifier_guesses=Known(best, 0.5),
)
bert_task.mistakes(
    "Nearly all answers about new nouns are wrong. Which label means an animal, and which logit is it?",
    labels_exchanged=Known(best, 0.05),
)
bert_task.mistakes(
    "It learns from fifty labels, but not well enough. How many epochs, and how large are the steps? Does the whole "
    "model learn, or the head alone?",
    fine_tuned_too_little=Known(best, 0.7),
)
bert_task.mistakes(
    "Hidden words are guessed better than by frequency, but not well. Was the loss still falling at the end? Does the "
    "learning rate rise at first and fall to zero later?",
    stopped_on_the_way=Known(_blurred(0.6), 0.7),
)
