"""Wrong answers to `sequence_log_prob` that no misconception knows by name."""

from __future__ import annotations

from course.reference import assistant as reference


def cut_from_its_logits(logits, ids, learned):
    return reference.sequence_log_prob(logits.detach(), ids, learned) + 0 * logits.sum()


def plain_softmax(logits, ids, learned):
    p = logits[:, :-1].softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)
    return (p.log() * learned[:, 1:]).sum(1)


def in_double(logits, ids, learned):
    return reference.sequence_log_prob(logits.double(), ids, learned)


def one_row_is_a_number(logits, ids, learned):
    return reference.sequence_log_prob(logits, ids, learned).squeeze()


MUTANTS = [cut_from_its_logits, plain_softmax, in_double, one_row_is_a_number]
