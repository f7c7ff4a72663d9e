"""Wrong answers to `nearest` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference import cbow as reference


def _top(similarity, index, k):
    similarity = similarity.detach().clone()
    similarity[index] = -torch.inf
    return similarity.topk(k).indices


def centred_first(E, index, k):
    return reference.nearest(E - E.mean(0), index, k)


def sum_norm(E, index, k):
    unit = F.normalize(E, p=1, dim=1)
    return _top(unit @ unit[index], index, k)


def in_order_of_their_numbers(E, index, k):
    return reference.nearest(E, index, k).sort().values


def first_word_excluded(E, index, k):
    return _top(F.cosine_similarity(E, E[index][None], dim=1), 0, k)


def normalised_in_place(E, index, k):
    E /= E.norm(dim=1, keepdim=True)
    return _top(E @ E[index], index, k)


MUTANTS = [centred_first, sum_norm, in_order_of_their_numbers, first_word_excluded, normalised_in_place]
