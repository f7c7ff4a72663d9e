"""Wrong answers to `hmm_forward` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.hidden_states import hmm_forward


def start_left_out(log_start, log_A, log_E, seen):
    return hmm_forward(torch.zeros_like(log_start), log_A, log_E, seen)


def read_backwards(log_start, log_A, log_E, seen):
    log_alpha, log_p = hmm_forward(log_start, log_A, log_E, seen.flip(1))
    return log_alpha.flip(1), log_p


def mean_of_a_step(log_start, log_A, log_E, seen):
    log_alpha, log_p = hmm_forward(log_start, log_A, log_E, seen)
    return log_alpha, log_p / seen.shape[1]


def graph_cut(log_start, log_A, log_E, seen):
    return hmm_forward(log_start, log_A.detach(), log_E, seen)


def steps_first(log_start, log_A, log_E, seen):
    log_alpha, log_p = hmm_forward(log_start, log_A, log_E, seen)
    return log_alpha.transpose(0, 1), log_p


MUTANTS = [start_left_out, read_backwards, mean_of_a_step, graph_cut, steps_first]
