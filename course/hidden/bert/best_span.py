"""Hidden tests of `best_span`: the best of all allowed spans, and texts without an answer."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.reference import bert as reference

MANY = "many texts"


@exercise(
    reference.best_span,
    hints=(
        "Write the sums start[i] + end[j] of four words as a table. Which of its sixteen fields are allowed?",
        "Which fields of the table go when an answer has at most two words? Which ones when a word is padding?",
        "What is the largest of sixteen minus infinities, and where does `argmax` say it is?",
        "Begin with one row, and make its table (T, T) of sums by broadcasting. Make a second table of the same shape "
        "that says which fields are allowed, and print both.",
    ),
    calls=(
        "best_span(tensor([[9., 0., 0.]]), tensor([[0., 9., 0.]]), tensor([[True, True, True]]), 3)",
        "best_span(tensor([[0., 9., 0.]]), tensor([[9., 0., 0.]]), tensor([[True, True, True]]), 3)",
        "best_span(tensor([[9., 0., 0.]]), tensor([[0., 1., 9.]]), tensor([[True, True, True]]), 2)",
        "best_span(tensor([[9., 5., 0.]]), tensor([[0., 0., 9.]]), tensor([[True, True, False]]), 3)",
        "best_span(tensor([[0., 0., 9.]]), tensor([[0., 0., 9.]]), tensor([[True, True, True]]), 1)",
        "best_span(tensor([[9., 0.]]), tensor([[0., 5.]]), tensor([[True, True]]), 1)",
    ),
)
def best_span(rng):
    """Random scores, so nothing ties. The two best ends are often in the wrong order, or too far apart."""

    def stretch(B, T):
        """Masks of one stretch each, where an answer may be."""
        first = rng.integers(1, T // 2, B)[:, None]
        last = first + 1 + rng.integers(1, T // 2, B)[:, None]
        return (torch.arange(T) >= first) & (torch.arange(T) < last)

    def asked(title, B, T, longest, mask=None, dtype=torch.float64, **settings):
        mask = stretch(B, T) if mask is None else mask
        return call(title, *rng.normal(2, B, T, dtype=dtype), mask, longest, grad=False, **settings)

    yield asked(MANY, 31, 13, 5, public=True, weight=2.0)
    yield asked("answers of at most two words", 17, 11, 2, weight=2.0)
    yield asked("answers of one word", 13, 7, 1)
    yield asked("answers as long as the text", 11, 7, 19)
    yield asked("everything is allowed", 23, 11, 3, torch.ones(23, 11, dtype=torch.bool), public=True)
    one_word = torch.arange(7) == torch.arange(1, 6)[:, None]
    yield asked("one word is allowed", 5, 7, 3, one_word)
    none = stretch(7, 11)
    none[1::2] = False
    yield asked("no answer in some texts", 7, 11, 4, none, public=True, weight=2.0)
    far = -100.0 - rng.uniform(2, 5, 11)
    yield call("all scores are low", *far, stretch(5, 11), 4, grad=False)
    up_to_the_end = torch.arange(7) >= torch.tensor([[3], [5], [6]])
    yield asked("the last word may end an answer", 3, 7, 3, up_to_the_end, weight=0.5)
    yield asked("a hundred words", 5, 101, 11, dtype=torch.float32, weight=0.5)
    start = torch.tensor([[200.0, 1, 2], [200, 1, 2], [0, 0, 300]])  # too far apart for probabilities in float32
    end = torch.tensor([[0.0, 3, 1], [0, 1, 3], [0, 200, 0]])
    mask = torch.tensor([[False, True, True]]).repeat(3, 1)
    sure = call("scores that lie far apart", start, end, mask, 3, grad=False, public=True, weight=0.5)
    yield sure.counts_with(MANY)
    yield call(
        "memory that is not contiguous",
        *map(noncontiguous, (*rng.normal(2, 7, 11), stretch(7, 11))),
        4,
        grad=False,
        public=True,
    )


def _table(start, end, mask, longest, allowed=None):
    T = start.shape[1]
    i, j = torch.arange(T)[:, None], torch.arange(T)
    rule = ((lambda i, j: (i <= j) & (j - i < longest)) if allowed is None else allowed)(i, j)
    scores = start[:, :, None] + end[:, None]
    scores = scores.masked_fill(~(rule & mask[:, :, None] & mask[:, None]), -torch.inf)
    best = scores.flatten(1).argmax(1)
    return torch.stack([best // T, best % T], 1)


def _two_bests(start, end, mask):
    """The best start and the best end, each by itself."""
    return [part.masked_fill(~mask, -torch.inf).argmax(1) for part in (start, end)]


best_span.mistakes(
    "Print texts in which your answer ends before it begins. Were both chosen by themselves?",
    two_argmaxes=lambda start, end, mask, longest: torch.stack(_two_bests(start, end, mask), 1),
)


@best_span.misconception(
    "Take the best start, then the best end behind it. Is their sum always the largest? Try starts 5, 4 and ends 0, 3, "
    "with one word allowed."
)
def best_end_behind_the_best_start(start, end, mask, longest):
    i = start.masked_fill(~mask, -torch.inf).argmax(1)
    places = torch.arange(start.shape[1])
    allowed = mask & (places >= i[:, None]) & (places < i[:, None] + longest)
    j = torch.where(allowed.any(1), end.masked_fill(~allowed, -torch.inf).argmax(1), 0)
    return torch.stack([i, j], 1)


@best_span.misconception("Change the scores where the mask is False. Does your answer move?")
def mask_not_used(start, end, mask, longest):
    found = _table(start, end, torch.ones_like(mask), longest)
    return torch.where(mask.any(1, keepdim=True), found, 0)


@best_span.misconception("Print the length of your longest answer. How many words may it have?")
def any_length(start, end, mask, longest):
    return _table(start, end, mask, longest, lambda i, j: i <= j)


@best_span.misconception("How many words has an answer from place 3 to place 4? And from 3 to 3?")
def one_word_too_many(start, end, mask, longest):
    return _table(start, end, mask, longest, lambda i, j: (i <= j) & (j - i <= longest))


@best_span.misconception("May an answer have a single word? Look for one in which first and last are equal.")
def no_answers_of_one_word(start, end, mask, longest):
    return _table(start, end, mask, longest, lambda i, j: (i < j) & (j - i < longest))


@best_span.misconception("Give it a text in which nothing is allowed. Which place says that there is no answer?")
def where_nothing_is_allowed_the_best_of_all(start, end, mask, longest):
    return _table(start, end, mask | ~mask.any(1, keepdim=True), longest)


@best_span.misconception(
    "Lower all scores by a hundred. Does your answer move? What do you fill forbidden places with?"
)
def forbidden_scores_become_zero(start, end, mask, longest):
    right = reference.best_span(start, end, mask, longest)
    zeroed = [torch.where(mask, part, 0.0) for part in (start, end)]
    found = _table(*zeroed, torch.ones_like(mask), longest)
    return torch.where(mask.any(1, keepdim=True), found, right)
