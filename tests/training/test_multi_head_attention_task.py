"""The playground over ten seeds: two heads clear every bar of the judge, one head and the commonest bugs do not.

Measured on one core with the budget of the syllabus, right answers for friends and for rivals, ten seeds for the
first five rows and one for the others:

    two heads                        99.9 - 100 %   and 99.9 - 100 %   (16 children: 99.7 - 100 %)
    one head of the same width       86.7 - 100 %   for one question, 10.5 - 24.3 % for the other
    merged by reshaping              31 %           and 31 %
    split by reshaping               30 %           and 30 %
    both by reshaping                48 %           and 49 %
    hears its first head only        89 %           for one question, 22 % for the other
    gradients never set to zero      36 %           and 35 %
    scaled by the width of the word, not scaled, mean of the heads, W_o left out: 99.8 - 100 %, only the checks tell

A hidden layer with a ReLU behind one head gets (ten seeds) 99 % of one question and 95 - 97 % of the other: still below
the bar.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course import blocks
from course.data import relations
from course.reference.multi_head_attention import MultiHeadAttention, merge_heads, split_heads
from tests.training.judged import trained, verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)


class Playground(nn.Module):
    """The notebook's model."""

    heads = 2

    def __init__(self, width=64):
        super().__init__()
        self.slots = blocks.ChildSlots(width)
        self.attend = MultiHeadAttention(width, self.heads)
        self.read = nn.Linear(width, 20)

    def forward(self, *playground):
        x = self.slots(*playground)
        return self.read(self.listen(x)).unflatten(-1, (2, 10))

    def listen(self, x):
        return self.attend(x, x)[0]


class OneHead(Playground):
    heads = 1


class FourHeads(Playground):
    heads = 4


class EightHeads(Playground):
    heads = 8


class Wrong(Playground):
    """The layer by hand, with one thing changed."""

    def split(self, x):
        return split_heads(x, 2)

    def merge(self, x):
        return merge_heads(x)

    def scale(self, d):
        return d**0.5

    def listen(self, x):
        layer = self.attend
        q, k, v = (self.split(W(x)) for W in (layer.W_q, layer.W_k, layer.W_v))
        weights = (q @ k.mT / self.scale(q.shape[-1])).softmax(-1)
        return layer.W_o(self.merge(weights @ v))


class MergesByReshaping(Wrong):
    def merge(self, x):
        return x.reshape(x.shape[0], x.shape[2], -1)


class SplitsByReshaping(Wrong):
    def split(self, x):
        return x.reshape(x.shape[0], 2, x.shape[1], -1)


class SplitsAndMergesByReshaping(SplitsByReshaping):
    merge = MergesByReshaping.merge


class HearsTheFirstHeadOnly(Wrong):
    def merge(self, x):
        return merge_heads(x[:, :1].expand(-1, 2, -1, -1))


class ScaledByTheWidthOfTheWord(Wrong):
    """Trains as well as the right one: only the check of the function tells."""

    def scale(self, d):
        return (2 * d) ** 0.5


class NobodyLooks(Playground):
    def listen(self, x):
        return x


def loss_of_friends(model, *batch):
    *playground, answers = batch
    return F.cross_entropy(model(*playground)[:, :, 0].flatten(0, -2), answers[..., 0].flatten())


train = partial(trained, "multi_head_attention_task", lr=3e-3)


def accuracy(model, children=8):
    """Right answers for friends, for rivals, and the share of children with both."""
    *playground, answers = relations.draw(2000, torch.Generator().manual_seed(10_001), children)
    with torch.no_grad():
        right = model(*playground).argmax(-1) == answers
    friend, rival = right.double().mean((0, 1)).tolist()
    return f"{children} children: friends {friend:.1%}, rivals {rival:.1%}, both {right.all(-1).double().mean():.1%}"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_right_model_clears_the_bar_with_every_seed(seed):
    model = train(Playground, seed)
    print(seed, accuracy(model), accuracy(model, 16))
    assert verdict_on("multi_head_attention_task", model, seed).kind == "passed"


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (FourHeads, {}),
        (EightHeads, {}),
        (Playground, {"lr": 1e-3}),
        (Playground, {"lr": 1e-2}),
    ],
    ids=["four heads", "eight heads", "lr 1e-3", "lr 1e-2"],
)
def test_other_honest_models_and_loops_clear_it_too(model, options):
    model = train(model, 1, **options)
    print(options, accuracy(model), accuracy(model, 16))
    assert verdict_on("multi_head_attention_task", model, 1).kind == "passed"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model", [OneHead, MergesByReshaping, SplitsByReshaping, SplitsAndMergesByReshaping])
def test_the_commonest_mistakes_do_not(model, seed):
    wrong = train(model, seed)
    verdict = verdict_on("multi_head_attention_task", wrong, seed)
    print(model.__name__, accuracy(wrong), f"{verdict.score} points", verdict.misconception)
    assert verdict.score < verdict.points


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (HearsTheFirstHeadOnly, {}),
        (NobodyLooks, {}),
        (Playground, {"forgets": "zero_grad"}),
        (Playground, {"forgets": "step"}),
        (Playground, {"loss": loss_of_friends}),
    ],
    ids=["hears the first head only", "nobody looks", "zero_grad", "step", "rivals"],
)
def test_other_mistakes_do_not_either(model, options):
    wrong = train(model, 0, **options)
    verdict = verdict_on("multi_head_attention_task", wrong, 0)
    print(model.__name__, options, accuracy(wrong), f"{verdict.score} points", verdict.misconception)
    assert verdict.score < verdict.points


def test_a_wrong_scale_trains_as_well():
    """Why every function is checked on its own: a trained model does not show this mistake."""
    model = train(ScaledByTheWidthOfTheWord, 0)
    print(accuracy(model))
    assert verdict_on("multi_head_attention_task", model, 0).kind == "passed"
