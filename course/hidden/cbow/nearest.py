"""Hidden tests of `nearest`: neighbours by cosine, nearest first."""

import math

import torch
from torch.nn import functional as F

from course.exercise import call, exercise, noncontiguous
from course.reference import cbow as reference

CLEAR = 1e-5
"""The gap between two cosines that float32 tells apart, with room for what it rounds."""


@exercise(
    reference.nearest,
    hints=(
        "Draw three arrows. Two of them point nearly the same way, but differ greatly in length. Which two should "
        "be neighbours?",
        "Multiply one row of E by 100. The neighbours of every word should stay the same. Which part of the cosine "
        "sees to that?",
        "Begin with the cosine of two rows, and check it on (3, 4) and (6, 8). Then compute a row of V cosines at "
        "once. Which word has the largest one, and should it be in the list?",
    ),
    calls=(
        "nearest(tensor([[1., 0.], [0., 1.], [1., 1.]]), 0, 1)",
        "nearest(tensor([[1., 0.], [0., 1.], [1., 1.]]), 0, 2)",
        "nearest(tensor([[1., 0.], [9., 9.], [1., 0.1]]), 0, 1)",
        "nearest(tensor([[1., 0.], [-1., 0.], [0., 1.]]), 0, 2)",
        "nearest(tensor([[1., 0.], [-1., 0.]]), 0, 1)",
        "nearest(tensor([[5., 0.], [1., 0.], [3., 3.]]), 1, 2)",
    ),
)
def nearest(rng):
    """Vectors of very different lengths, so that no other measure gives the same order. A small k, and all words.

    No two words are so nearly at one angle to the chosen one that rounding, even to float32, decides their order.
    """

    def words(V, D, index, dtype=torch.float64):
        while True:
            lengths = (1.5 * rng.normal(V, 1)).exp()
            vectors = lengths * F.normalize(rng.normal(V, D), dim=1)
            if bool((_cosines(vectors, index).sort().values.diff() > CLEAR).all()):
                return vectors.to(dtype)

    yield call("seven words, three neighbours", words(7, 3, 2), 2, 3, public=True)
    yield call("all other words, nearest first", words(11, 5, 0), 0, 10, public=True, weight=2.0)
    yield call("many words", words(101, 7, 53), 53, 13, weight=2.0)
    yield call("one neighbour", words(13, 3, 12), 12, 1)
    longer = torch.tensor([100.0] + 16 * [1.0], dtype=torch.float64)[:, None]
    yield call("the chosen word has a long vector", words(17, 2, 0) * longer, 0, 5)
    yield call("another word has a long vector", words(17, 2, 3) * longer.flip(0), 3, 5)
    yield call("float32", words(23, 5, 7, dtype=torch.float32), 7, 11)
    twins = words(7, 3, 4)
    twins[1] = twins[4]  # a cosine of one, and the earlier word of the two
    yield call("a twin that stands earlier", twins, 4, 3)
    yield call("memory that is not contiguous", noncontiguous(words(7, 5, 1)), 1, 4, public=True)


def _ranked(similarity, index, k):
    similarity = similarity.detach().clone()
    similarity[index] = -math.inf
    return similarity.topk(k).indices


def _cosines(E, index):
    return F.cosine_similarity(E, E[index][None], dim=1).detach()


nearest.mistakes(
    "Multiply one row of E by 100 and ask again. Is it now a neighbour of every word?",
    dot_product=lambda E, index, k: _ranked(E @ E[index], index, k),
    dot_product_and_itself=lambda E, index, k: (E @ E[index]).detach().topk(k).indices,
)
nearest.mistakes(
    "Halve every vector but that of the chosen word. Have the directions changed? Has your list?",
    euclidean_distance=lambda E, index, k: _ranked(-(E - E[index]).norm(dim=1), index, k),
)


@nearest.misconception("Print the length of each row after your division. Are they all 1?")
def columns_of_length_one(E, index, k):
    unit = E / E.norm(dim=0)
    return _ranked(unit @ unit[index], index, k)


@nearest.misconception(
    "Give two words the same vector. Which of them does your list leave out? How does it know which word was asked for?"
)
def the_head_of_the_list_left_out(E, index, k):
    return _cosines(E, index).argsort(descending=True)[1 : k + 1]


@nearest.misconception("Print the first word of your list. Should a word be its own neighbour?")
def self_included(E, index, k):
    return _cosines(E, index).topk(k).indices


@nearest.misconception("Print your list. Is each of its numbers the number of a word?")
def cosines_for_words(E, index, k):
    return _cosines(E, index).sort(descending=True).values[1 : k + 1]


@nearest.misconception("Print the cosines of your list in order. Should the first one be the largest or the smallest?")
def farthest_first(E, index, k):
    return _ranked(_cosines(E, index), index, len(E) - 1).flip(0)[:k]
