"""Wrong answers to `nearest` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F


def _top(similarity, index, k):
    similarity = similarity.detach().clone()
    similarity[index] = -torch.inf
    return similarity.topk(k).indices


def only_the_asker_normalised(E, index, k):
    return _top(E @ F.normalize(E[index], dim=0), index, k)


def centred_first(E, index, k):
    centred = E - E.mean(0)
    return _top(F.cosine_similarity(centred, centred[index][None], dim=1), index, k)


def one_too_many(E, index, k):
    return F.cosine_similarity(E, E[index][None], dim=1).topk(min(k + 1, len(E))).indices


def a_python_list(E, index, k):
    return _top(F.cosine_similarity(E, E[index][None], dim=1), index, k).tolist()


def sum_norm(E, index, k):
    unit = F.normalize(E, p=1, dim=1)
    return _top(unit @ unit[index], index, k)


def in_order_of_their_numbers(E, index, k):
    return _top(F.cosine_similarity(E, E[index][None], dim=1), index, k).sort().values


def first_word_excluded(E, index, k):
    return _top(F.cosine_similarity(E, E[index][None], dim=1), 0, k)


def normalised_in_place(E, index, k):
    E /= E.norm(dim=1, keepdim=True)
    return _top(E @ E[index], index, k)


MUTANTS = [
    only_the_asker_normalised,
    centred_first,
    one_too_many,
    a_python_list,
    sum_norm,
    in_order_of_their_numbers,
    first_word_excluded,
    normalised_in_place,
]
