"""Wrong answers to `nearest`: a beginner's first attempts, and others that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference import cbow as reference

# -- first attempts ----------------------------------------------------------------------------------------------------


def products_alone(E, index, k):
    return (E @ E[index]).topk(k).indices


def itself_in_front(E, index, k):
    cosines = (E @ E[index]) / (E.norm(dim=1) * E[index].norm())
    return cosines.topk(k).indices


def cosines_for_indices(E, index, k):
    cosines = (E @ E[index]) / (E.norm(dim=1) * E[index].norm())
    return cosines.topk(k + 1).values[1:]


def sorted_the_wrong_way(E, index, k):
    cosines = (E @ E[index]) / (E.norm(dim=1) * E[index].norm())
    return cosines.argsort()[:k]


def one_norm_for_the_table(E, index, k):
    similarity = E @ E[index] / (E.norm() * E[index].norm())
    similarity[index] = -1
    return similarity.topk(k).indices


FIRST_ATTEMPTS = {
    products_alone: "Multiply one row of E by 100",
    itself_in_front: "Should a word be its own neighbour?",
    cosines_for_indices: "the number of a word?",
    sorted_the_wrong_way: "the largest or the smallest?",
    one_norm_for_the_table: "Multiply one row of E by 100",
}

# -- others ------------------------------------------------------------------------------------------------------------


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
