"""Hidden tests of `context_windows`: each word with the words around it."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise
from course.reference import cbow as reference


@exercise(
    reference.context_windows,
    hints=(
        "Write a b c d e f on paper and take a radius of 2. Which letters have two neighbours on both sides? What "
        "are their contexts?",
        "Take a text of T words and the radius r. At which position does the first target stand, and at which the "
        "last?",
        "Begin with one window. For the ids 0 to 6, a radius of 2 and the centre 3, print the words before it, the "
        "words after it, and both joined. Then let the centre move from its first position to its last.",
    ),
    calls=(
        "context_windows(tensor([10, 11, 12, 13]), 1)",
        "context_windows(tensor([10, 11, 12]), 1)",
        "context_windows(tensor([10, 11]), 1)",
        "context_windows(tensor([10]), 1)",
        "context_windows(tensor([10, 11, 12, 13, 14]), 2)",
        "context_windows(tensor([10, 11, 12]), 0)",
    ),
)
def context_windows(rng):
    """Distinct ids, so that a position shows. Then repetitions, a text of one window, of none, and one too short."""
    yield call("ids in order, radius 1", torch.arange(10, 17), 1, public=True)
    yield call("ids in order, radius 2", torch.arange(20, 31), 2, public=True, weight=2.0)
    yield call("a mixed text, radius 3", rng.permutation(17), 3, weight=2.0)
    again = torch.tensor([3, 1, 3, 4, 1])  # a centre that stands before itself, too
    yield call("repeated words", torch.cat([again, rng.integers(0, 5, 18)]), 2)
    yield call("exactly one window", rng.permutation(5), 2)
    yield call("the shortest text of radius one", rng.permutation(3), 1)
    yield call("no word has all its neighbours", torch.arange(4), 2).counts_with("ids in order, radius 1")
    yield call("memory that is not contiguous", torch.arange(38)[::2], 3, public=True)
    yield call("too short a text", torch.arange(3), 2, public=True, raises="ValueError")


def _long_enough(ids, radius):
    if len(ids) < 2 * radius:
        raise ValueError("too short")


def _around(ids, radius, before, after):
    """Positions relative to each centre."""
    _long_enough(ids, radius)
    centres = torch.arange(radius, max(radius, len(ids) - radius))
    return ids[(centres[:, None] + torch.tensor([*before, *after])).clamp(min=0)], ids[centres]


@context_windows.misconception("Print each target beside its context. Can you read the target there?")
def centre_included(ids, radius):
    return _around(ids, radius, range(-radius, 1), range(1, radius + 1))


@context_windows.misconception(
    "Your contexts have the right width, but they hold their own target. Which word is missing instead?"
)
def centre_for_the_last_word(ids, radius):
    return _around(ids, radius, range(-radius, 0), range(radius))


@context_windows.misconception(
    "Take the text `a b a c d` and a radius of 2. The centre is one position. What happens to the same word at "
    "another position?"
)
def centre_removed_by_its_value(ids, radius):
    whole, centres = centre_included(ids, radius)
    rows = [row.tolist() for row in whole]
    for row, centre in zip(rows, centres.tolist()):
        row.remove(centre)
    return torch.tensor(rows, dtype=torch.long).reshape(-1, 2 * radius), centres


@context_windows.misconception(
    "Print one context for a radius of 2. How many words does it have on each side of its centre?"
)
def last_word_missing(ids, radius):
    return _around(ids, radius, range(-radius, 0), range(1, radius))


@context_windows.misconception(
    "Print the length of the context of the first word, and of a word in the middle. Should both be targets?"
)
def ends_cut_short(ids, radius):
    around = [torch.cat([ids[t - radius : t], ids[t + 1 : t + radius + 1]]) for t in range(len(ids))]
    return torch.stack(around), ids


@context_windows.misconception("Print the context of one word. Where are the words to its right?")
def words_before_only(ids, radius):
    contexts, _ = _around(ids, radius, range(-radius, 0), range(radius))
    return contexts, ids[2 * radius :]


@context_windows.misconception(
    "How many windows do you return for T words? How many neighbours does the first word have on its left?"
)
def padded_at_the_ends(ids, radius):
    _long_enough(ids, radius)
    return reference.context_windows(F.pad(ids, (radius, radius)), radius)[0], ids.clone()


@context_windows.misconception("Count the windows of a text of 2r + 1 words by hand. How many does yours find?")
def last_window_lost(ids, radius):
    contexts, targets = reference.context_windows(ids, radius)
    return contexts[:-1], targets[:-1]
