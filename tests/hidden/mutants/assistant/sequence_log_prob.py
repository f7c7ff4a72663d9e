"""Wrong answers to `sequence_log_prob` that no misconception knows by name."""

from __future__ import annotations

from course.reference import assistant as reference


def cut_from_its_logits(logits, ids, learned):
    return reference.sequence_log_prob(logits.detach(), ids, learned) + 0 * logits.sum()


def negative(logits, ids, learned):
    return -reference.sequence_log_prob(logits, ids, learned)


def plain_softmax(logits, ids, learned):
    p = logits[:, :-1].softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    return (p.log() * learned[:, 1:]).sum(1)


def mean_over_all_places(logits, ids, learned):
    return reference.sequence_log_prob(logits, ids, learned) / max(1, ids.shape[1] - 1)


def in_double(logits, ids, learned):
    return reference.sequence_log_prob(logits.double(), ids, learned)


def two_ahead(logits, ids, learned):
    if ids.shape[1] < 3:
        return 0 * logits.sum((1, 2))
    log_p = logits[:, :-2].log_softmax(-1).gather(-1, ids[:, 2:, None]).squeeze(-1)
    return (log_p * learned[:, 2:]).sum(1)


def one_row_is_a_number(logits, ids, learned):
    return reference.sequence_log_prob(logits, ids, learned).squeeze()


MUTANTS = [
    cut_from_its_logits,
    negative,
    plain_softmax,
    mean_over_all_places,
    in_double,
    two_ahead,
    one_row_is_a_number,
]
