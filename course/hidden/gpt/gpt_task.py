"""Hidden tests of `gpt_task`: a play read by a GPT, held against its grammar."""

from __future__ import annotations

import math
from functools import lru_cache

import torch
from torch.nn import functional as F

from course.data import grammar, play
from course.exercise import exercise, given_model, rest_hidden
from course.hidden.gpt.scaffold import BUILT_IN_ATTENTION

MARGIN = 0.1
"""Nats a word above the grammar: see tests/training/test_gpt_task.py."""
KNOWS = "no worse than the bare frequencies, on 16 texts"
"""The case that shows that a model has learned anything: a constant looks neither ahead nor back."""
LEAK = "better than the grammar itself. At some position your model sees the token that it has to guess. Draw its mask"


class TheSource:
    """The play itself as a model: what an honest one can at best be."""

    def __call__(self, ids, cache=None):
        return source_log_p(ids), None


def source_log_p(ids):
    """log p of the next token at every place of ids (B, T): (B, T, V)."""
    return _source_for(tuple(map(tuple, ids.tolist()))).clone()


@lru_cache(maxsize=16)
def _source_for(rows):
    return play.next_token(torch.tensor(rows)).clamp(min=1e-12).log().float()


@lru_cache(maxsize=16)
def asked(count, seed):
    """Inputs (B, T), targets (B, T) with -100 where nothing is asked, and each text's true loss (B,).

    Asked are the words of the sentences. Whether surnames are found again depends on the seed, so they earn nothing.
    """
    ids = play.draw(count, torch.Generator().manual_seed(seed))
    inputs, targets = ids[:, :-1].clone(), ids[:, 1:]
    wanted = ~play.is_surname(targets) & (inputs != grammar.language().ids[grammar.STOP])
    losses = -source_log_p(inputs).double().gather(-1, targets[..., None]).squeeze(-1)
    return inputs, torch.where(wanted, targets, -100), (losses * wanted).sum(1)


@exercise(
    TheSource(),
    name="gpt_task",
    hints=(
        "Write a row of inputs and one of targets as words, below each other. What should be said at each position?",
        "Guessing costs log 258 = 5.6 nats a token, and logits of size 1 add about a half. So the loss should begin at "
        "6.0 or a little more. Where does yours begin?",
        "Does the loss still fall at the end of the curve? Let the learning rate fall to zero with `len(batches)`.",
        "Begin with an optimizer and the loop over `batches`, and compute the loss of one batch. Print the shapes of "
        "logits and targets. Which ones does `F.cross_entropy` take?",
    ),
    forbidden=(*BUILT_IN_ATTENTION, "blocks.GPT"),
)
def gpt_task(rng):
    """Words of whole texts, a leak, and the future. Bars: tests/training/test_gpt_task.py."""
    later = "tokens that come later change what your model says now: which keys may a token see?"
    some = asked(16, rng.seed())
    near = _at_most(_read("16 texts: the words", some, public=True), some, MARGIN + 0.5)
    yield near.shows("log_loss_at_most", full=MARGIN, called="the loss above the grammar's")
    yield from _less(near, ", on 16 texts", some)
    yield _changed("blind to the future, on a few texts", rng, later, public=True)
    yield rest_hidden
    many = asked(60, rng.seed())
    new = _read(f"the words, at most {MARGIN} above the grammar", many, weight=3.0)
    yield _at_most(new, many, MARGIN)
    yield _at_most(new.judged_again("the words, at most 0.25 above the grammar", weight=2.0), many, 0.25)
    yield _at_most(new.judged_again("the words, at most 0.6 above the grammar"), many, 0.6)
    yield from _less(new, "", many)
    yield _changed("blind to the future", rng, later, weight=1.0)


def _read(title, drawn, **options):
    """The model's answer to what `asked` has drawn, without a law."""
    return given_model(title, **options).call(drawn[0], into="logits", carries=["cache"]).laws_only()


def _at_most(case, drawn, margin, known=None):
    """A loss at most `margin` above the known one, the grammar's own unless told, and not below the grammar's."""
    _, targets, best = drawn
    known = best if known is None else known
    case = case.law("log_loss_at_most", of="logits", targets=targets, known=known, margin=margin)
    return case.law("no_better_than", of="logits", targets=targets, best=best, because=LEAK)


def _frequencies():
    """How often each token comes, as log p (V,), names as often as each other."""
    p = torch.zeros(len(play.words()), dtype=torch.float64)
    english = grammar.language().frequencies
    p[: len(english)] = english
    p[-len(play.SURNAMES) :] = 0.01
    return (p / p.sum()).clamp(min=1e-6).log()


def _row_sums(log_p, targets):
    """Each text's loss by the same log p (V,) at every place."""
    return (-log_p[targets.clamp(min=0)] * (targets >= 0)).sum(1)


def _less(case, of, drawn):
    """The same answers by laxer bars, and whether they say again what was read: this tells mistakes apart."""
    inputs, targets, _ = drawn
    usual = _row_sums(_frequencies(), targets)
    nothing = (targets >= 0).sum(1) * math.log(len(play.words()))
    bars = (("better than the bare frequencies", -1.2, usual), ("no worse than the bare frequencies", 0.1, usual),
            ("hardly worse than knowing nothing", 1.0, nothing))  # fmt: skip
    for title, margin, known in bars:
        lower_bar = _at_most(case.judged_again(title + of, weight=0.1), drawn, margin, known)
        yield lower_bar if lower_bar.title == KNOWS else lower_bar.counts_with(KNOWS)
    again = torch.where(targets >= 0, inputs, -100)
    because = "your model says the token again that it has just read: write inputs and targets below each other"
    said = case.judged_again(f"what was said is not said again{of}", weight=0.1).counts_with(KNOWS)
    repeats = {"of": "logits", "targets": again, "known": _row_sums(_frequencies(), again), "margin": -1.0}
    yield said.law("log_loss_at_least", **repeats, because=because)


def _changed(title, rng, because, **options):
    """Tokens from place 9 on exchanged: what the model says before them must not move."""
    ids = play.draw(7, torch.Generator().manual_seed(rng.seed()))[:, :20]
    other = torch.cat([ids[:, :9], rng.integers(1, len(play.words()), 7, 11)], dim=1)
    case = given_model(title, **options).call(ids, into="first", carries=["cache"])
    case = case.call(other, into="second", carries=["cache"])
    case = case.law("equal_up_to", of="first", to="second", count=9, within=1e-3, because=because)
    return case.laws_only().counts_with(KNOWS)


def _one_hot(ids):
    return F.one_hot(ids, len(play.words())).float()


def _mixed(ids, trust):
    """Between the grammar and its bare frequencies."""
    return (trust * source_log_p(ids).exp() + (1 - trust) * _frequencies().exp().float()).clamp(min=1e-9).log()


gpt_task.mistakes(
    "Too good: better than the grammar itself. Your model looks at the answer. Change the last token of a text. At "
    "which positions do the logits move?",
    sees_the_next_token=lambda ids, cache=None: (20.0 * _one_hot(ids.roll(-1, 1)), None),
)
gpt_task.mistakes(
    "Your model says the token that it has just read. Write a row of inputs and a row of targets below each other: "
    "should they be the same?",
    says_what_it_reads=lambda ids, cache=None: (20.0 * _one_hot(ids), None),
)
gpt_task.mistakes(
    "It guesses as if it knew nothing of this language. Does the loss fall? Compare the parameters before and after a "
    "step.",
    never_trained=lambda ids, cache=None: (0.0 * _one_hot(ids), None),
)
gpt_task.mistakes(
    "Sure of itself, and wrong. Was the loss once smaller than at the end? How large is a step, and are the gradients "
    "of earlier batches still in it?",
    diverged=lambda ids, cache=None: (1e3 * _one_hot(torch.zeros_like(ids)), None),
)
gpt_task.mistakes(
    "A model that knows how frequent each token is, and reads nothing, does as well. Does a gradient reach the layers?",
    frequencies_alone=lambda ids, cache=None: (_mixed(ids, 0.0), None),
)
gpt_task.mistakes(
    "On the right track, and not there yet. Was the loss still falling at the end of the curve? How large is a step? "
    "And how are the weights initialised?",
    stopped_on_the_way=lambda ids, cache=None: (_mixed(ids, 0.45), None),
)
gpt_task.mistakes(
    "Near the bar of full marks, and not there. Does the learning rate fall to zero at the end?",
    nearly_there=lambda ids, cache=None: (_mixed(ids, 0.85), None),
)
