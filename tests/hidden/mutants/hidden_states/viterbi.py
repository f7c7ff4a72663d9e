"""Wrong answers to `viterbi` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference.hidden_states import viterbi


def start_left_out(log_start, *inputs):
    return viterbi(torch.zeros_like(log_start), *inputs)


def probability_for_its_logarithm(*inputs):
    path, score = viterbi(*inputs)
    return path, score.exp()


def first_text_for_all(*inputs):
    path, score = viterbi(*inputs)
    return path[:1].expand_as(path), score


MUTANTS = [start_left_out, probability_for_its_logarithm, first_text_for_all]
