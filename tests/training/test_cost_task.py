"""The draft over ten seeds: the notebook's loop gets full marks, and the commonest bugs do not.

Measured as the share Σ min(p, q) in every place of the texts of grading: 0.408 to 0.412 over nine seeds, in 30 seconds
of one busy core. With one seed: the likeliest token as target 0.304, the place before 0.086, the place behind 0.158,
probabilities for logarithms 0.143, a temperature of 2 for the student alone 0.363.
"""

from __future__ import annotations

from functools import lru_cache, partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.optim.lr_scheduler import OneCycleLR

from course.data import definitions, wordnet
from course.reference.cost import Draft, distillation_loss
from course.reference.gpt import GPT
from tests.original import points_of
from tests.training import judged
from tests.training.judged import verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)


@lru_cache(maxsize=1)
def known():
    """What the dictionary says to every text, (1024, 64, V), in half precision."""
    dictionary = GPT(**wordnet.SIZES).load_published(wordnet.weights()).eval()
    with torch.no_grad():
        return torch.cat([dictionary(ids)[0].half() for ids in definitions.texts().split(32)])


def trained(seed, loss=distillation_loss, lr=0.03, **options):
    """The notebook's draft and loop, and its budget."""

    def held_against_it(draft, rows, ids):
        return loss(draft(ids), known()[rows].float())

    options = {
        "optimizer": partial(torch.optim.Adam, betas=(0.9, 0.99)),
        "schedule": lambda optimizer, steps: OneCycleLR(optimizer, lr, total_steps=steps, pct_start=0.1),
        "clip": partial(nn.utils.clip_grad_norm_, max_norm=1.0),
        **options,
    }
    build = partial(Draft, len(wordnet.pieces()))
    return judged.trained("cost_task", build, seed, lr=lr, loss=held_against_it, **options)


def likeliest_token(student, teacher):
    return F.cross_entropy(student.flatten(0, 1), teacher.argmax(-1).flatten())


def place_before(student, teacher):
    return distillation_loss(student[:, 1:], teacher[:, :-1])


def place_behind(student, teacher):
    return distillation_loss(student[:, :-1], teacher[:, 1:])


def probabilities_for_logarithms(student, teacher):
    return F.kl_div(student.softmax(-1), teacher.softmax(-1), reduction="batchmean")


def temperature_of_the_student_alone(student, teacher):
    return distillation_loss(student / 2, teacher)


def temperature_of_the_teacher_alone(student, teacher):
    return distillation_loss(student, teacher / 2)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_notebooks_loop_gets_full_marks(seed):
    assert verdict_on("cost_task", trained(seed), seed).kind == "passed"


BUGS = [
    likeliest_token,
    place_before,
    place_behind,
    probabilities_for_logarithms,
    temperature_of_the_student_alone,
    temperature_of_the_teacher_alone,
]


@pytest.mark.parametrize("loss", BUGS)
def test_the_commonest_bugs_do_not(loss):
    assert verdict_on("cost_task", trained(0, loss), 0).score < points_of("cost_task")


def test_tiny_steps_do_not():
    assert verdict_on("cost_task", trained(0, lr=1e-3), 0).score < points_of("cost_task")


@pytest.mark.parametrize(
    ("loss", "words"),
    [(place_before, "one place earlier"), (place_behind, "one place later"), (likeliest_token, "sure of itself")],
)
def test_what_is_aimed_at_wrongly_is_named(loss, words):
    assert words in verdict_on("cost_task", trained(0, loss), 0).hint
