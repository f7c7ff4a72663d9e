"""Hidden tests of `self_attention_task`."""

import torch
from torch.nn import functional as F

from course.data import recall
from course.exercise import exercise, given_model
from course.hidden.self_attention.scaffold import BUILT_IN_ATTENTION
from course.reference import self_attention as reference

HALF = "better than guessing: half of them right"
"""The case that no constant passes. What holds in any order of the pairs counts together with it."""


@exercise(
    reference.recall_by_hand,
    name="self_attention_task",
    hints=(
        "The layer has S + 1 outputs. Which of them belongs to the question, and may the answer depend on the others?",
        "Print the accuracy on one batch beside the loss. Guessing gives 10 %, a frequent digit 25 %. And yours? Does "
        "the loss move at all, when you print it before and after one step?",
        "At 97 or 98 %, does the loss still jump at the end of the curve? Then try shorter steps of the optimizer.",
        "Begin `forward` with the words that `self.slots` makes, and print their shape. Your attention takes them and "
        "three matrices, and `self.read` takes one output. In `train`, begin with an optimizer of the model's "
        "parameters. A batch then takes the logits, their loss, new gradients and a step.",
    ),
    forbidden=BUILT_IN_ATTENTION,
)
def self_attention_task(rng):
    """Lists of the judge's own. The bar is 99 %: a trained layer has 100 %, an RNN of the same width 27 %."""

    def lists(n, slots=recall.SLOTS):
        return recall.draw(n, torch.Generator().manual_seed(rng.seed()), slots)

    def asked(title, keys, values, query, answer, bar, because="", **options):
        return (
            given_model(title, **options)
            .call(keys, values, query, into="logits")
            .law("accuracy_at_least", of="logits", targets=answer, bar=bar, because=because)
            .laws_only()
        )

    some = asked("lists of eight pairs", *lists(500), bar=0.99, public=True, weight=2.0)
    yield some.shows("accuracy_at_least", full=0.99, called="accuracy")
    yield some.judged_again("nine of ten right", bar=0.9, weight=0.1)
    yield some.judged_again(HALF, bar=0.5, weight=0.1)
    yield some.judged_again("more than by guessing: 15 % right", bar=0.15, weight=0.1)
    many = asked("two thousand other lists, 99 % right", *lists(2000), bar=0.99, weight=2.0)
    yield many
    yield many.judged_again("better than most: 90 % right", bar=0.9)
    yield many.judged_again("half of two thousand right", bar=0.5)

    keys, values, *_ = lists(500)
    values[:, 1:5] = values[:, 1:2]
    because = "a digit that stands in the list four times is not named when it is asked for"
    same = keys, values, keys[:, 3].clone(), values[:, 3]
    yield asked("a digit that stands there four times", *same, 0.9, because, weight=0.5, public=True)

    keys, values, query, _ = lists(200)
    yield (
        given_model("other lists, other scores", weight=0.1, public=True)
        .call(keys, values, query, into="first")
        .call(*lists(200)[:3], into="second")
        .law("different", of="first", to="second", within=1e-3, because="every list gets the same scores")
        .laws_only()
        .counts_with(HALF)
    )
    order = torch.arange(recall.SLOTS).roll(int(rng.integers(1, recall.SLOTS, 1)))
    yield (
        given_model("the same pairs in another order", weight=0.5, public=True)
        .call(keys, values, query, into="first")
        .call(keys[:, order], values[:, order], query, into="second")
        .law(
            "equal", of="first", to="second", within=1e-2, because="the same pairs in another order get another answer"
        )
        .laws_only()
        .counts_with(HALF)
    )


def _votes(values):
    """One vote for each digit in the list: (B, S, 10)."""
    return F.one_hot(values, len(recall.VALUES)).float()


def _right(keys, values, query):
    """The vote of the pair that is asked for: (B, 10)."""
    return _votes(values)[torch.arange(len(keys)), (keys == query[:, None]).int().argmax(1)]


def _noise(*numbers):
    """Scores (B, 10) that have nothing to do with the question, though they change with it."""
    return torch.cos((sum(numbers) + 1)[:, None] * (1.0 + torch.arange(len(recall.VALUES), device=numbers[0].device)))


self_attention_task.mistakes(
    "Your model is no better than guessing. Does the loss fall? Compare the parameters before and after a step.",
    no_better_than_guessing=lambda keys, values, query: _noise((keys * values).sum(1), 3 * query),
)
self_attention_task.mistakes(
    "Your model gives every list the same scores. Follow one list through forward. Where does it get lost?",
    the_same_for_every_list=lambda keys, *_: torch.linspace(1.0, 0.0, len(recall.VALUES)).expand(len(keys), -1),
)


@self_attention_task.misconception(
    "Your model is better than guessing, and far from 99 %. Does the loss still fall at the end of the curve? How "
    "large is a step, and is it made of this batch's gradient alone?"
)
def learns_too_little(keys, values, query):
    knows = (keys + values).sum(1) % 3 == 0
    return torch.where(knows[:, None], _right(keys, values, query), _noise((keys * values).sum(1), 3 * query))


self_attention_task.mistakes(
    "Your model names the digit that occurs most often. Does its answer change when you ask for another key?",
    names_the_most_frequent_digit=lambda keys, values, query: _votes(values).sum(1),
)


@self_attention_task.misconception(
    "Your answer depends on where pairs stand, and hardly on the question. Which position's output do you read?"
)
def place_matters_more_than_the_query(keys, values, query):
    later_counts_for_more = torch.linspace(1.0, 1.3, keys.shape[1])
    return (later_counts_for_more[:, None] * _votes(values)).sum(1)


@self_attention_task.misconception(
    "The right pair counts, but the others outweigh it. Do you read a single output? Where does its attention go?"
)
def other_pairs_join_in(keys, values, query):
    asked_for = (keys == query[:, None]).float()
    return ((1.0 + 1.5 * asked_for)[..., None] * _votes(values)).sum(1)


@self_attention_task.misconception(
    "Nearly all are right. Was the loss still falling at the end of the curve? If it jumped, how large is a step?"
)
def nearly_there(keys, values, query):
    right = _right(keys, values, query)
    return torch.where((query == 0)[:, None], right.roll(1, dims=-1), right)


self_attention_task.mistakes(
    "Your model answers with the pair it read last. Must your layer hand anything on from position to position?",
    remembers_only_the_last_pair=lambda keys, values, query: _votes(values)[:, -1],
)
