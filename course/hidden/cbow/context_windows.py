"""Hidden tests of `context_windows`: each word with the words around it."""

import torch
from torch.nn import functional as F

from course.exercise import call, exercise
from course.reference import cbow as reference


@exercise(
    reference.context_windows,
    hints=(
        "Write the letters a b c d e f on paper, radius 2. Which have two on both sides? What are their contexts?",
        "Call it with ids 0 … 6: every context can be checked against its target by eye.",
        "What is the first target, and what the last? T − 2r of them, from place r to place T − r − 1.",
    ),
)
def context_windows(rng):
    """Ids all different, so that a place shows; then repetitions, a text of one window, of none, too short."""
    yield call("ids in order, radius 1", torch.arange(10, 17), 1, public=True)
    yield call("ids in order, radius 2", torch.arange(20, 31), 2, public=True, weight=2.0)
    yield call("a mixed text, radius 3", rng.permutation(17), 3, weight=2.0)
    again = torch.tensor([3, 1, 3, 4, 1])  # a centre that stands before itself, too
    yield call("repeated words", torch.cat([again, rng.integers(0, 5, 18)]), 2)
    yield call("exactly one window", rng.permutation(5), 2)
    yield call("the shortest text of radius one", rng.permutation(3), 1)
    yield call("no word has all its neighbours", torch.arange(4), 2).counts_with("ids in order, radius 1")
    yield call("memory that is not contiguous", torch.arange(38)[::2], 3, public=True)
    yield call("too short a text", torch.arange(3), 2, raises="ValueError")


def _long_enough(ids, radius):
    if len(ids) < 2 * radius:
        raise ValueError("too short")


def _around(ids, radius, before, after):
    """Places relative to each centre."""
    _long_enough(ids, radius)
    centres = torch.arange(radius, max(radius, len(ids) - radius))
    return ids[(centres[:, None] + torch.tensor([*before, *after])).clamp(min=0)], ids[centres]


@context_windows.misconception(
    "Suspiciously easy: could the target be read off its own context? Print one beside the other."
)
def centre_included(ids, radius):
    return _around(ids, radius, range(-radius, 1), range(1, radius + 1))


@context_windows.misconception(
    "Your contexts have the right width, and hold their own target. Which word has fallen out instead?"
)
def centre_for_the_last_word(ids, radius):
    return _around(ids, radius, range(-radius, 0), range(radius))


@context_windows.misconception(
    "Take the text a b a c and radius 1. A centre is a place: what if the same word stands beside it, or before it?"
)
def centre_removed_by_its_value(ids, radius):
    whole, centres = centre_included(ids, radius)
    rows = [row.tolist() for row in whole]
    for row, centre in zip(rows, centres.tolist()):
        row.remove(centre)
    return torch.tensor(rows, dtype=torch.long).reshape(-1, 2 * radius), centres


@context_windows.misconception("Print the context of one word. Where are the words to its right?")
def words_before_only(ids, radius):
    contexts, _ = _around(ids, radius, range(-radius, 0), range(radius))
    return contexts, ids[2 * radius :]


@context_windows.misconception("From left to right, says the docstring. In which order does your left half stand?")
def nearest_word_first(ids, radius):
    return _around(ids, radius, range(-1, -radius - 1, -1), range(1, radius + 1))


@context_windows.misconception(
    "How many windows do you return for T words? The first word lacks neighbours on its left, so it is no target."
)
def padded_at_the_ends(ids, radius):
    _long_enough(ids, radius)
    return reference.context_windows(F.pad(ids, (radius, radius)), radius)[0], ids.clone()


@context_windows.misconception(
    "Who are the left neighbours of the first word? Are the last words of the text among them?"
)
def wrapped_around(ids, radius):
    _long_enough(ids, radius)
    return reference.context_windows(torch.cat([ids[-radius:], ids, ids[:radius]]), radius)[0], ids.clone()


@context_windows.misconception("Count the windows of a text of 2r + 1 words by hand. How many does yours find?")
def last_window_lost(ids, radius):
    contexts, targets = reference.context_windows(ids, radius)
    return contexts[:-1], targets[:-1]
