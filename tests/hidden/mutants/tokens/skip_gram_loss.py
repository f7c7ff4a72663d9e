"""Wrong answers to `skip_gram_loss` that no misconception knows by name."""

from __future__ import annotations

from torch.nn.functional import logsigmoid


def noise_without_gradient(E, O, centre, context, negative):
    e = E[centre]
    noise = (O[negative].detach() * e[:, None]).sum(-1)
    return -(logsigmoid((e * O[context]).sum(-1)) + logsigmoid(-noise).sum(-1)).mean()


def noise_that_is_the_context_left_out(E, O, centre, context, negative):
    e = E[centre]
    noise = logsigmoid(-(O[negative] * e[:, None]).sum(-1)) * (negative != context[:, None])
    return -(logsigmoid((e * O[context]).sum(-1)) + noise.sum(-1)).mean()


MUTANTS = [noise_that_is_the_context_left_out, noise_without_gradient]
