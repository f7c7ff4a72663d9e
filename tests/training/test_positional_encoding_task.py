"""The echo over ten seeds: the right model clears every bar of the judge, the commonest wrong ones do not.

Measured with the budget of the syllabus, 2 s of one core a model. RoPE in one head of 64, over seventy seeds: 100 % at
16, 32 and 64 letters, at least 99.9 % at 128. Sinusoidal and learned positions, four seeds each: 100 % at 16, 47 % at
32, 25 % at 64. ALiBi with eight heads: 22 to 24 % at 16, 21 to 22 % at 64. No positions: 16 to 17 % at 16, 9 % at 64.

Letters that start at PyTorch's usual size, ten times as large, are right at 16 letters eighty times of eighty, and
below 90 % at 32 or 80 % at 64 three times.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn

from course import blocks
from course.data import order
from course.reference.positional_encoding import LearnedPositions, alibi_bias, rope, sinusoidal
from tests.training.judged import loss, trained, verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)


class Echo(nn.Module):
    """The notebook's model."""

    n_heads = 1

    def __init__(self, width=64):
        super().__init__()
        self.letters = nn.Embedding(26, width)
        nn.init.normal_(self.letters.weight, std=0.1)
        self.attend = blocks.MultiHeadAttention(width, self.n_heads)
        self.read = nn.Linear(width, 26)
        self.table = LearnedPositions(128, width)

    def forward(self, ids):
        return self.read(self.echo(self.letters(ids))[0])

    def echo(self, x):
        return self.attend(x, x, rotate=rope)


class WithoutPositions(Echo):
    def echo(self, x):
        return self.attend(x, x)


class Waves(Echo):
    def echo(self, x):
        x = x + sinusoidal(*x.shape[1:])
        return self.attend(x, x)


class Learned(Echo):
    def echo(self, x):
        x = self.table(x)
        return self.attend(x, x)


class Sloping(Echo):
    n_heads = 8

    def echo(self, x):
        return self.attend(x, x, score_bias=alibi_bias(8, x.shape[1]))


class MarkedByTheBatch(Echo):
    """The commonest bug: positions sliced along the batch."""

    def echo(self, x):
        x = x + sinusoidal(len(x), x.shape[-1])[:, None]
        return self.attend(x, x)


class TurnsByTheHead(Echo):
    """RoPE over (B, T, h, D): every word of a list is turned alike."""

    n_heads = 4

    def echo(self, x):
        return self.attend(x, x, rotate=lambda heads: rope(heads.transpose(1, 2)).transpose(1, 2))


def loss_without_the_delay(model, ids, targets):
    return loss(model, ids, ids)


train = partial(trained, "positional_encoding_task", lr=3e-3)


def accuracy(model, length, seed=1):
    ids, targets = order.draw(200, torch.Generator().manual_seed(seed), length)
    with torch.no_grad():
        right = model(ids).argmax(-1) == targets
    return right[targets >= 0].double().mean().item()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_right_model_clears_the_bar_with_every_seed(seed):
    model = train(Echo, seed)
    print(seed, *(f"{length}: {accuracy(model, length):.1%}" for length in (16, 32, 64, 128)))
    assert verdict_on("positional_encoding_task", model, seed).kind == "passed"


@pytest.mark.parametrize("lr", [1e-3, 1e-2])
def test_other_honest_loops_clear_it_too(lr):
    model = train(Echo, 1, lr=lr)
    print(lr, *(f"{length}: {accuracy(model, length):.1%}" for length in (16, 32, 64)))
    assert verdict_on("positional_encoding_task", model, 1).kind == "passed"


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("model", "options", "known_as"),
    [
        (WithoutPositions, {}, "names_another_letter_of_the_list"),
        (Waves, {}, "knows_only_the_trained_places"),
        (Learned, {}, "knows_only_the_trained_places"),
        (Sloping, {}, None),
        (MarkedByTheBatch, {}, "names_another_letter_of_the_list or names_a_frequent_letter"),
        (TurnsByTheHead, {}, None),
        (Echo, {"forgets": "step"}, None),
        (Echo, {"loss": loss_without_the_delay}, "says_it_at_once"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_the_commonest_mistakes_do_not(model, options, known_as, seed):
    wrong = train(model, seed, **options)
    verdict = verdict_on("positional_encoding_task", wrong, seed)
    at = " ".join(f"{length}: {accuracy(wrong, length):.1%}" for length in (16, 32, 64))
    print(model.__name__, options, at, f"{verdict.score} points", verdict.misconception)
    assert verdict.score < verdict.points
    if known_as:
        assert verdict.misconception in known_as.split(" or ")
