"""Wrong answers to `ctc_loss` that no misconception knows by name."""

from __future__ import annotations

from course.reference.hidden_states import ctc_loss


def sign_turned(*inputs):
    return -ctc_loss(*inputs)


def mean_of_all(*inputs):
    losses = ctc_loss(*inputs)
    return losses.mean().expand_as(losses)


def frames_divided(log_p, lengths, *rest):
    return ctc_loss(log_p, lengths, *rest) / lengths


def graph_cut(log_p, *rest):
    return ctc_loss(log_p.detach(), *rest) + 0 * log_p.sum((1, 2)).nan_to_num()


def last_frame_lost(log_p, lengths, *rest):
    return ctc_loss(log_p, (lengths - 1).clamp(min=1), *rest)


MUTANTS = [sign_turned, mean_of_all, frames_divided, graph_cut, last_frame_lost]
