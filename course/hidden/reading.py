"""What topics 03 and 04 ask alike of classifiers that read tokens (B, T) with lengths (B,), untrained and trained."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from course.data import parentheses
from course.exercise import Exercise, build
from course.exercise.rng import Rng
from course.exercise.script import Case

ROWS = "one row of logits for each sequence"
"""The case that no constant passes, and no table of remembered answers. All others count together with it."""

# -- a classifier of the student's own -------------------------------------------------------------------------------


def classifier(rng: Rng, title: str, vocabulary=11, hidden=13, classes=3, scale=0.5, **settings) -> Case:
    """Build it and fill it with the judge's noise. Its parameters are the student's own, so laws decide."""
    case = build(title, vocabulary, hidden, classes, **settings).laws_only().fill(rng, scale=scale)
    return case if title == ROWS else case.counts_with(ROWS)


def cases(rng: Rng, *, shape=1.0, end=1.0, company=1.0, first=1.0, last=1.0) -> Iterator[Case]:
    """Logits for sequences of several lengths: what they must depend on with these weights, and what they must not."""
    lengths = torch.tensor([5, 1, 7, 2, 6])
    ids = rng.integers(0, 11, 5, 7)
    refilled = torch.where(torch.arange(7) < lengths[:, None], ids, (ids + rng.integers(1, 11, 5, 7)) % 11)
    rows = [(ids[k : k + 1, :n], lengths[k : k + 1]) for k, n in enumerate(lengths.tolist())]
    each = (rng.permutation(11)[:7] + torch.arange(5)[:, None]) % 11  # no two alike in any place
    copies = rng.integers(0, 5, 11)
    yield (
        classifier(rng, ROWS, weight=shape, public=True)
        .call(ids, lengths)
        .law("shape_is", shape=(5, 3), meaning="logits (B, classes), one row for each sequence")
        .law("finite")
        .call(each[copies], torch.full((11,), 7), into="copies")
        .law("rows_follow", of="copies", rows=copies, because="copies of a sequence should get the same logits, and "
             "other sequences others. Do yours depend on the tokens, and on nothing else?")
    )  # fmt: skip
    yield (
        classifier(rng, "read twice", public=True)
        .call(ids, lengths)
        .call(ids, lengths, into="again")
        .law("repeats", to="again", because="the second reading of a batch ends in other logits than the first. "
             "What do they depend on besides the weights and the tokens?")
    )  # fmt: skip
    yield (
        classifier(rng, "what stands behind the end", weight=end, public=True)
        .call(ids, lengths)
        .call(refilled, lengths, into="other")
        .law("equal", to="other", within=1e-5, because="other tokens behind a sequence's end change its logits")
    )
    yield (
        classifier(rng, "what stands two positions behind the end", public=True)
        .call(ids, lengths)
        .call(torch.where(torch.arange(7) <= lengths[:, None], ids, refilled), lengths, into="other")
        .law("equal", to="other", within=1e-5, because="other tokens far behind a sequence's end change its logits")
    )
    yield (
        classifier(rng, "alone and in company", weight=company, public=True)
        .call(ids, lengths)
        .map(rows, into="alone")
        .law("same_rows", to="alone", because="a sequence gets other logits in a batch than it gets alone")
    )
    full, words = words_of_one_length(rng)
    other_first, other_last = words.clone(), words.clone()
    other_first[:, 0], other_last[:, 4] = (words[:, 0] + 3) % 11, (words[:, 4] + 3) % 11
    yield (
        classifier(rng, "the first token counts", weight=first, public=True)
        .call(words, full)
        .call(other_first, full, into="other")
        .law(
            "different",
            to="other",
            because="another first token changes nothing. Is the state carried from step to step?",
        )
    )
    yield (
        classifier(rng, "the last token counts", weight=last, public=True)
        .call(words, full)
        .call(other_last, full, into="other")
        .law("different", to="other", because="another last token changes nothing. Which state do you read?")
    )
    zero_last = words.clone()
    zero_last[:, 4] = 0
    yield (
        classifier(rng, "token 0 at the end counts", public=True)
        .call(zero_last, full)
        .call(zero_last[:, :4], full - 1, into="without")
        .law("different", to="without", because="sequences that end in token 0 get the logits they get without it. "
             "Do you take 0 for padding?")
    )  # fmt: skip
    yield (
        classifier(rng, "other sizes", 2, 5, 7, weight=shape)
        .call(rng.integers(0, 2, 1, 3), torch.tensor([2]))
        .law("shape_is", shape=(1, 7))
    )
    yield (
        classifier(rng, "logits for many classes", classes=23, weight=shape, public=True)
        .call(ids, lengths)
        .law("no_probabilities")
        .law("some_below_zero")
    )


def words_of_one_length(rng: Rng) -> tuple[Tensor, Tensor]:
    """Six times five tokens, no two of a sequence alike, and their lengths."""
    return torch.full((6,), 5), torch.stack([rng.permutation(11)[:5] for _ in range(6)])


def over(right: type[nn.Module], **methods: Callable[..., Any]) -> type[nn.Module]:
    """A class like `right`, but with these methods."""
    return type(f"Wrong{right.__name__}", (right,), methods)


def declare_misreadings(exercise: Exercise, right: type[nn.Module]) -> None:
    """Declare wrong ways to read on `exercise`, over the class `right`, which reads its states by a method `read`."""
    exercise.mistakes(
        "Print the last columns of a padded batch. Are they tokens of the sequence, and do they reach your logits?",
        LastColumn=over(right, read=lambda self, states, lengths: states[:, -1]),
    )
    exercise.mistakes(
        "At which index does a sequence of length 3 end? Print the index that yours reads.",
        BeyondTheTable=over(right, read=lambda self, states, lengths: states[torch.arange(len(states)), lengths]),
    )


# -- a trained reader of parentheses ---------------------------------------------------------------------------------


def refilled(ids: Tensor, lengths: Tensor, rng: Rng) -> Tensor:
    """The same sequences, with random tokens for padding."""
    real = torch.arange(ids.shape[1]) < lengths[:, None]
    return torch.where(real, ids, rng.integers(0, parentheses.TOKENS, *ids.shape))


def answers(balanced: Tensor) -> Tensor:
    """Logits (B, 2) that leave no doubt."""
    return F.one_hot(balanced.long(), 2).double()


def with_a_stack(ids: Tensor, lengths: Tensor) -> Tensor:
    """Always right, by a stack, which no network of fixed width has."""
    return answers(parentheses.is_balanced(ids, lengths))


def up_to_the_zeros(ids: Tensor, lengths: Tensor) -> Tensor:
    """Leaves off the zeros at the end, which it takes for padding."""
    return with_a_stack(ids, last_but_zeros(ids))


def last_but_zeros(ids: Tensor) -> Tensor:
    """The number of tokens (B,) up to the last that is not zero, at least one."""
    return ((ids != 0) * torch.arange(1, ids.shape[1] + 1)).amax(1).clamp(min=1)
