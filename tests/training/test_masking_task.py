"""The language model over ten seeds: honest ones clear every bar and are called no cheats, leaking ones are caught.

Measured with the budget of the syllabus, 10 s of one core a model, in nats a word above the grammar. Honest, ten seeds:
0.08 to 0.15 on sentences cut short, 0.10 to 0.13 on whole ones, by 28 standard errors and more; with other learning
rates up to 0.19. Leaking, two seeds each: 4 to 25 above it where sentences are cut short, and 1.5 to 2.5 *below* it on
whole ones, by 130 standard errors. A model that looks at one word ends 0.36 to 0.39 above it.
"""

from __future__ import annotations

from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from course import blocks
from course.data import grammar
from course.hidden.masking.masking_task import MARGIN, asked_everywhere, asked_once
from course.reference.masking import (
    causal_mask,
    combine_masks,
    leaks_future,
    masked_cross_entropy,
    padding_mask,
)
from tests.training.judged import trained, verdict_on

pytestmark = pytest.mark.slow

SEEDS = range(10)
V = len(grammar.language().words)


class Model(nn.Module):
    """The notebook's model."""

    def __init__(self, width=64, n_heads=4, n_layers=2):
        super().__init__()
        self.words, self.places = nn.Embedding(V, width), nn.Embedding(64, width)
        self.look = nn.ModuleList(blocks.MultiHeadAttention(width, n_heads) for _ in range(n_layers))
        self.think = nn.ModuleList(self.thoughts(width) for _ in range(n_layers))
        self.read = nn.Linear(width, V)

    def thoughts(self, width):
        return nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def visible(self, lengths, T):
        return combine_masks(padding_mask(lengths, T), causal_mask(T))

    def marked(self, ids):
        return self.words(ids) + self.places(torch.arange(ids.shape[1]))

    def forward(self, ids, lengths):
        mask, x = self.visible(lengths, ids.shape[1]), self.marked(ids)
        for look, think in zip(self.look, self.think, strict=True):
            x = x + look(x, x, mask)[0]
            x = x + think(x)
        return self.read(x)


class NoCausalMask(Model):
    def visible(self, lengths, T):
        return combine_masks(padding_mask(lengths, T))


class NoMask(Model):
    def visible(self, lengths, T):
        return None


class OneWordAhead(Model):
    def visible(self, lengths, T):
        return combine_masks(padding_mask(lengths, T), torch.ones(T, T, dtype=torch.bool).tril(1))


class UpperTriangle(Model):
    def visible(self, lengths, T):
        return combine_masks(padding_mask(lengths, T), causal_mask(T).T)


class EitherMask(Model):
    def visible(self, lengths, T):
        return padding_mask(lengths, T)[:, None, None] | causal_mask(T)


class HeadsOnTheWrongAxis(Model):
    """The commonest bug of home-made heads: merged without a transpose, a place holds other places' numbers."""

    def forward(self, ids, lengths):
        mask, x = self.visible(lengths, ids.shape[1]), self.marked(ids)
        for look, think in zip(self.look, self.think, strict=True):
            q, k, v = (W(x).unflatten(-1, (4, -1)).movedim(2, 1) for W in (look.W_q, look.W_k, look.W_v))
            heads = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)  # (B, h, T, D/h)
            x = x + look.W_o(heads.reshape(x.shape))
            x = x + think(x)
        return self.read(x)


class NormOverTime(Model):
    def thoughts(self, width):
        return nn.Sequential(CentredOverTime(), *super().thoughts(width))


class CentredOverTime(nn.Module):
    def forward(self, x):
        return (x - x.mean(1, keepdim=True)) / (x.std(1, keepdim=True) + 1e-3)


class StrictTriangle(Model):
    """No leak: a word reaches its own place around the attention. `causal_mask` is examined on its own."""

    def visible(self, lengths, T):
        return combine_masks(padding_mask(lengths, T), causal_mask(T).tril(-1))


class NoPlaces(Model):
    def marked(self, ids):
        return self.words(ids)


class OneLayer(Model):
    def __init__(self):
        super().__init__(n_layers=1)


class ItselfOnly(Model):
    def visible(self, lengths, T):
        return torch.eye(T, dtype=torch.bool)


class SoftmaxInside(Model):
    def forward(self, ids, lengths):
        return super().forward(ids, lengths).softmax(-1)


def softmax_before_the_loss(logits, targets, mask):
    return masked_cross_entropy(logits.softmax(-1), targets, mask)


def pads_counted(logits, targets, mask):
    return masked_cross_entropy(logits, targets, torch.ones_like(mask))


def loss(model, ids, lengths, ahead=1, loss_of=masked_cross_entropy):
    """The notebook's, or with targets that stand `ahead` places further on."""
    inputs, targets, real = ids[:, : ids.shape[1] - ahead], ids[:, ahead:], lengths - ahead
    return loss_of(model(inputs, real), targets, padding_mask(real, inputs.shape[1]))


train = partial(trained, "masking_task", loss=loss, lr=3e-3)


@torch.no_grad()
def measured(model):
    """Nats a word above the grammar: one word a sentence, cut before it, and whole sentences, with standard errors."""
    found = {}
    for name, questions in (("cut short", asked_once), ("whole", asked_everywhere)):
        ids, lengths, targets, best = questions(2000, 77)
        losses = F.cross_entropy(model(ids, lengths).mT, targets, reduction="none").sum(1)
        apart = losses.double() - best
        found[name] = float(apart.sum() / (targets >= 0).sum())
        found[f"{name}, standard errors"] = float(apart.mean() / (apart.std() / len(apart) ** 0.5))
    return found


def written(found):
    return ", ".join(f"{name} {value:+.3f}" for name, value in found.items())


def leaks(model):
    ids = torch.randint(1, V, (2, 9), generator=torch.Generator().manual_seed(6))
    with torch.no_grad():
        return leaks_future(lambda ids: model(ids, torch.full((len(ids),), ids.shape[1])), ids)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_honest_model_clears_the_bar_and_is_no_cheat_with_every_seed(seed):
    model = train(Model, seed)
    found = measured(model)
    print(f"seed {seed}: {written(found)}")
    assert found["cut short"] < MARGIN - 0.05
    for judged in (seed, seed + 100):
        verdict = verdict_on("masking_task", model, judged)
        assert verdict.kind == "passed", [case.message for case in verdict.cases if not case.passed]
    assert not leaks(model)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        (Model, {"lr": 1e-3}),
        (Model, {"lr": 1e-2}),
        (Model, {"loss": partial(loss, loss_of=pads_counted)}),
        (StrictTriangle, {}),
        (NoPlaces, {}),
        (OneLayer, {}),
    ],
    ids=["lr 1e-3", "lr 1e-2", "pads counted", "strict triangle", "no places", "one layer"],
)
def test_other_honest_models_clear_it_too(model, options):
    honest = train(model, 1, **options)
    print(model.__name__, options, written(measured(honest)))
    assert verdict_on("masking_task", honest, 1).kind == "passed"
    assert not leaks(honest)


MISTAKES = [
    (NoCausalMask, {}, "sees_the_whole_sentence"),
    (NoMask, {}, "sees_the_whole_sentence"),
    (UpperTriangle, {}, "sees_the_whole_sentence"),
    (EitherMask, {}, "sees_the_whole_sentence"),
    (NormOverTime, {}, "sees_the_whole_sentence"),
    (OneWordAhead, {}, "sees_one_word_ahead"),
    (HeadsOnTheWrongAxis, {}, None),
    (Model, {"loss": partial(loss, ahead=0)}, "says_what_it_reads"),
    (Model, {"loss": partial(loss, ahead=2)}, "never_trained"),
    (Model, {"loss": partial(loss, loss_of=softmax_before_the_loss)}, "another_question"),
    (SoftmaxInside, {}, "softmax_in_the_model"),
    (ItselfOnly, {}, "looks_at_one_word"),
    (Model, {"lr": 1e-3, "share": 0.2}, "stopped_on_the_way"),
    (Model, {"lr": 1e-6}, "never_trained"),
    (Model, {"lr": 0.3, "share": 0.1}, "diverged"),
]
LEAKING = (NoCausalMask, NoMask, UpperTriangle, EitherMask, NormOverTime, OneWordAhead, HeadsOnTheWrongAxis)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("model", "options", "name"), MISTAKES, ids=[f"{model.__name__}-{name}" for model, _, name in MISTAKES]
)
def test_the_commonest_mistakes_do_not(model, options, name, seed):
    wrong = train(model, seed, **options)
    verdict = verdict_on("masking_task", wrong, seed)
    print(model.__name__, options, written(measured(wrong)), f"{verdict.score} points, {verdict.misconception}")
    print([case.title for case in verdict.cases if not case.passed])
    assert leaks(wrong) == (model in LEAKING)
    assert verdict.score < verdict.points
    if model in LEAKING:
        assert verdict.score <= 0.6 * verdict.points, "whoever peeks gets little"
        assert any("which no honest model can be" in case.message for case in verdict.cases)
    if name:
        assert verdict.misconception == name
