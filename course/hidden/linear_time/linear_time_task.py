"""Hidden tests of `linear_time_task`: letters found among noise, in texts four times as long as those of training."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.data import copying
from course.exercise import exercise, given_model

FULL, PASS = 0.87, 0.6
"""Shares of letters right at 256 positions: see tests/training/test_linear_time_task.py."""
LONG = 256
GUESSED = "better than guessing: 30 % of the letters right"
"""The case that no constant passes."""


def letters_of(ids):
    """The letters of each text in their order, from 0: ids (B, T + ASKED) -> (B, ASKED)."""
    text = ids[:, : -copying.ASKED]
    return text[text != copying.NOISE].reshape(len(ids), copying.ASKED) - 1


def _says(letters):
    return 20.0 * F.one_hot(letters, len(copying.LETTERS)).float()


def by_rule(ids):
    """Reads the letters off the text, as no trained model does: logits (B, ASKED, letters)."""
    return _says(letters_of(ids))


@exercise(
    by_rule,
    name="linear_time_task",
    hints=(
        "Print one text with `copying.text` beside its targets. What must the model carry, and how far? Guessing gets "
        "one letter in eight.",
        "Does the loss fall below 2.08, which is the logarithm of 8, within the first hundred batches?",
        "Print the norm of the gradient before each step. Does it jump now and then? And how large is a step at the "
        "end of the curve?",
        "Begin with an optimizer and the loop over `batches`, and compute the loss of one batch. Print the shapes of "
        "logits and targets. Which ones does `F.cross_entropy` take?",
    ),
)
def linear_time_task(rng):
    """Long texts decide. Short ones and single letters only tell mistakes apart."""

    def asked(title, n, places, bar, **options):
        ids, targets = copying.draw(n, places, torch.Generator().manual_seed(rng.seed()))
        case = given_model(title, **options).call(ids, into="logits")
        return case.law("accuracy_at_least", of="logits", targets=targets, bar=bar).laws_only(), targets

    long, targets = asked("texts of 256 positions", 200, LONG, PASS, public=True)
    yield long.shows("accuracy_at_least", full=FULL, called="the share of letters right")
    yield long.judged_again("texts of 256 positions: 30 % of the letters right", bar=0.3, weight=0.1)
    yield from _single(long, targets, "")
    near, _ = asked(
        "texts of 64 positions: half of the letters right", 200, copying.LONGEST, 0.5, public=True, weight=0.1
    )
    yield near
    yield near.judged_again("texts of 64 positions: nine of ten right", bar=0.9, weight=0.1)
    many, targets = asked(f"longer texts, {FULL:.0%} of the letters right", 500, LONG, FULL, weight=3.0)
    yield many
    yield many.judged_again(f"longer texts, {PASS:.0%} of the letters right", bar=PASS, weight=2.0)
    yield many.judged_again(GUESSED, bar=0.3)
    yield from _single(many, targets, ", in longer texts")


def _single(case, targets, of):
    """The same answers, asked for the first letter alone and for the last alone."""
    for title, place in (("the first letter", 0), ("the last letter", -1)):
        alone = torch.full_like(targets, -1)
        alone[:, place] = targets[:, place]
        yield case.judged_again(f"{title}: six of ten right{of}", targets=alone, bar=0.6, weight=0.1)


def _partly(short, long):
    """Right in a share of the texts up to 64 positions, and in another share of those that are longer."""

    def answer(ids):
        share = short if ids.shape[1] <= copying.LONGEST + copying.ASKED else long
        letters = letters_of(ids)
        places = (ids * torch.arange(1, ids.shape[1] + 1)).sum(1, keepdim=True) + 7 * torch.arange(copying.ASKED)
        right = (places * 0.618034) % 1 < share
        return _says(torch.where(right, letters, (letters + 1 + places % 7) % len(copying.LETTERS)))

    return answer


linear_time_task.mistakes(
    "No better than guessing. Does the loss fall below 2.08? Compare the parameters before and after a step.",
    never_trained=_partly(0.125, 0.125),
)
linear_time_task.mistakes(
    "It knows the last letter and little else. Does your state keep what it holds while noise goes by? Print delta of "
    "a position of noise and of a letter.",
    remembers_the_last_letter=lambda ids: _says(letters_of(ids)[:, -1:].expand(-1, copying.ASKED)),
)
linear_time_task.mistakes(
    "It knows the first letter and little else. Does a new letter leave a trace in your state?",
    remembers_the_first_letter=lambda ids: _says(letters_of(ids)[:, :1].expand(-1, copying.ASKED)),
)
linear_time_task.mistakes(
    "It knows a part of the letters in short texts and hardly any in long ones, as a recurrence does whose steps are "
    "the same for every token. Change a token of noise to a letter. Does its delta change?",
    counts_places=_partly(0.76, 0.4),
)
linear_time_task.mistakes(
    "Short texts are read, and long ones are not. Which lengths did the model see in training, and does it train until "
    "the batches end?",
    short_texts_alone=_partly(0.99, 0.45),
)
linear_time_task.mistakes(
    "On the right track, and not there. Was the loss still falling at the end of the curve? How large is a step?",
    stopped_on_the_way=_partly(0.8, 0.72),
)
linear_time_task.mistakes(
    "Short texts are read, and long ones nearly. Does the learning rate fall to zero at the end?",
    nearly_there=_partly(0.97, 0.8),
)
