"""Wrong answers to `distillation_loss`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

# -- first attempts ----------------------------------------------------------------------------------------------------


def refuses(temperature):
    if temperature <= 0:
        raise ValueError("a temperature is above 0")


def kl_div_with_its_default(student, teacher, temperature=1.0):
    refuses(temperature)
    p = (teacher.detach() / temperature).softmax(-1)
    return temperature**2 * F.kl_div((student / temperature).log_softmax(-1), p)


def mean_over_the_batch(student, teacher, temperature=1.0):
    refuses(temperature)
    p = (teacher.detach() / temperature).softmax(-1)
    return temperature**2 * F.kl_div((student / temperature).log_softmax(-1), p, reduction="batchmean")


def one_loss_for_each_position(student, teacher, temperature=1.0):
    refuses(temperature)
    log_p = (teacher.detach() / temperature).log_softmax(-1)
    return temperature**2 * (log_p.exp() * (log_p - (student / temperature).log_softmax(-1))).sum(-1)


def any_temperature(student, teacher, temperature=1.0):
    log_p = (teacher.detach() / temperature).log_softmax(-1)
    terms = log_p.exp() * (log_p - (student / temperature).log_softmax(-1))
    return temperature**2 * torch.where(log_p.exp() > 0, terms, 0.0).sum(-1).mean()


FIRST_ATTEMPTS = {
    kl_div_with_its_default: "Give the vocabulary ten tokens more",
    mean_over_the_batch: "Repeat each text",
    one_loss_for_each_position: "expected the shape (), got (2, 3)",
    any_temperature: "your code should raise ValueError",
}

# -- others ------------------------------------------------------------------------------------------------------------


def nought_times_minus_infinity(student, teacher, temperature=1.0):
    refuses(temperature)
    return one_loss_for_each_position(student, teacher, temperature).mean()


def probabilities_at_the_temperature(student, teacher, temperature=1.0):
    """Probabilities are divided, and not logits."""
    refuses(temperature)
    log_q = student.log_softmax(-1) / temperature
    return temperature**2 * F.kl_div(log_q, teacher.detach().softmax(-1), reduction="none").sum(-1).mean()


def temperature_not_squared(student, teacher, temperature=1.0):
    refuses(temperature)
    return any_temperature(student, teacher, temperature) / temperature


def temperature_of_the_student_alone(student, teacher, temperature=1.0):
    return any_temperature(student, temperature * teacher, temperature)


MUTANTS = [
    nought_times_minus_infinity,
    probabilities_at_the_temperature,
    temperature_not_squared,
    temperature_of_the_student_alone,
]
