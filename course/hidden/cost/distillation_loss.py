"""Hidden tests of `distillation_loss`: which way round, over what the mean runs, and the temperature."""

from __future__ import annotations

import math

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import cost as reference

PLAIN = "two texts of three tokens"
FROZEN = "a gradient flows back to the teacher, which should stay as it is"


@exercise(
    reference.distillation_loss,
    hints=(
        "Let the student say what the teacher says. What is the loss? And if both are shifted by a constant?",
        "Repeat a batch, so that it has twice as many positions. Should the loss change? And with twice the tokens "
        "of a vocabulary?",
        "Follow the worked example at T = 2. Divide both logits, and say where T² belongs.",
        "Begin with the log-probabilities of both at the temperature. KL(teacher || student) is a mean under one of "
        "them. Whose? What is 0 · log 0?",
    ),
    calls=(
        "distillation_loss(tensor([0., 0.]), tensor([0., 0.]))",
        "distillation_loss(tensor([0., 0.]), tensor([0., -inf]))",
        "distillation_loss(tensor([[0., 0.], [0., 0.]]), tensor([[0., -inf], [5., 5.]]))",
        "distillation_loss(tensor([0., 0.]), tensor([0., -inf]), 2.)",
        "distillation_loss(tensor([3., 3.]), tensor([7., 7.]), 5.)",
        "distillation_loss(tensor([0., 0.]), tensor([0., 0.]), 0.)",
    ),
)
def distillation_loss(rng):
    """Several numbers of axes and temperatures, a teacher that rules tokens out, values and gradients."""

    def logits(*shape, dtype=torch.float64):
        return 2 * rng.normal(*shape, dtype=dtype), 2 * rng.normal(*shape, dtype=dtype)

    def learns(case):
        return case.law("not_reached", of="gradients of out", places=[1], because=FROZEN)

    yield learns(call(PLAIN, *logits(2, 3, 7), public=True, weight=2.0))
    yield learns(call("a temperature of 2", *logits(3, 5, 2), 2.0, public=True, weight=2.0))
    yield call("a single position", *logits(11), weight=0.5)
    yield call("one axis of positions", *logits(7, 5), temperature=0.5)
    yield call("three axes of positions", *logits(2, 3, 5, 7), 3.0, weight=2.0)
    yield call("a high temperature", *logits(5, 3, 11), 20.0, weight=2.0)
    student, teacher = logits(2, 5, 7)
    teacher = teacher.masked_fill(rng.uniform(2, 5, 7) < 0.3, -math.inf)
    teacher[..., 0] = 1.0
    yield call("tokens that the teacher rules out", student.requires_grad_(), teacher, 1.5, grad=False).gradients()
    yield call("logits of thousands", *(500 * x for x in logits(2, 3, 5)), 2.0)
    yield call("float32", *logits(2, 7, 3, dtype=torch.float32), public=True)
    yield call("memory that is not contiguous", *map(noncontiguous, logits(2, 3, 5)), 2.0, public=True)
    for temperature in (0.0, -1.0):
        title = f"a temperature of {temperature:g}"
        yield call(title, *logits(2, 3), temperature, raises="ValueError", weight=0.25, public=True)


def _but(square=2, per=lambda p: p[..., 0].numel(), turned=False, entropy=True):
    """The loss with one change: the square, what is divided by, which way round, and whether p log p is in it."""

    def distilled(student, teacher, temperature=1.0):
        if temperature <= 0:
            raise ValueError("a temperature is above 0")
        log_q, log_p = (student / temperature).log_softmax(-1), (teacher.detach() / temperature).log_softmax(-1)
        if turned:
            log_p, log_q = log_q, log_p.clamp(min=-1e30)
        p = log_p.exp()
        terms = torch.where(p > 0, p * ((log_p if entropy else 0.0) - log_q), 0.0)
        return temperature**square * terms.sum() / per(p)

    return distilled


distillation_loss.mistakes(
    "Give the vocabulary ten tokens more that nobody ever says. Does your loss shrink?",
    mean_over_the_vocabulary=_but(per=lambda p: p.numel()),
)
distillation_loss.mistakes(
    "Repeat each text, so that it has twice as many positions. Does your loss grow?",
    divided_by_the_batch_alone=_but(per=lambda p: p.shape[0] if p.dim() > 1 else 1),
)
distillation_loss.mistakes(
    "Let the student say what the teacher says. Is your loss 0 there?",
    cross_entropy_for_the_divergence=_but(entropy=False),
)
distillation_loss.mistakes(
    "Print the gradient at T = 1 and at T = 10. It should hardly shrink. What brings it back?",
    no_square_of_the_temperature=_but(square=0),
)
distillation_loss.mistakes(
    "KL is a mean of log p - log q under one of both distributions. In the worked example the other one gives 0.223.",
    arguments_exchanged=_but(turned=True),
)


@distillation_loss.misconception(
    "Does `F.kl_div` take probabilities or their logarithms? Print your loss for two equals."
)
def probabilities_for_logarithms(student, teacher, temperature=1.0):
    if temperature <= 0:
        raise ValueError("a temperature is above 0")
    q, p = (student / temperature).softmax(-1), (teacher.detach() / temperature).softmax(-1)
    return temperature**2 * F.kl_div(q, p, reduction="none").sum(-1).mean()


@distillation_loss.misconception("Whose parameters should learn? Ask for the gradient at the teacher's logits.")
def the_teacher_learns(student, teacher, temperature=1.0):
    if temperature <= 0:
        raise ValueError("a temperature is above 0")
    log_q, log_p = (student / temperature).log_softmax(-1), (teacher / temperature).log_softmax(-1)
    p = log_p.exp()
    return temperature**2 * torch.where(p > 0, p * (log_p - log_q), 0.0).sum(-1).mean()
