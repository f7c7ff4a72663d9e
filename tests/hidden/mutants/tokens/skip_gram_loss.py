"""Wrong answers to `skip_gram_loss` that no misconception knows by name."""

from __future__ import annotations

from torch.nn.functional import logsigmoid

from course.reference import tokens as reference


def first_word_of_noise_only(E, O, centre, context, negative):
    return reference.skip_gram_loss(E, O, centre, context, negative[:, :1])


def noise_without_gradient(E, O, centre, context, negative):
    e = E[centre]
    noise = (O[negative].detach() * e[:, None]).sum(-1)
    return -(logsigmoid((e * O[context]).sum(-1)) + logsigmoid(-noise).sum(-1)).mean()


def cosine_for_product(E, O, centre, context, negative):
    unit = [table / table.norm(dim=1, keepdim=True).clamp(min=1e-12) for table in (E, O)]
    return reference.skip_gram_loss(*unit, centre, context, negative)


def noise_that_is_the_context_left_out(E, O, centre, context, negative):
    e = E[centre]
    noise = logsigmoid(-(O[negative] * e[:, None]).sum(-1)) * (negative != context[:, None])
    return -(logsigmoid((e * O[context]).sum(-1)) + noise.sum(-1)).mean()


MUTANTS = [noise_that_is_the_context_left_out, first_word_of_noise_only, noise_without_gradient, cosine_for_product]
