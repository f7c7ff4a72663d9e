"""What weak students write, otherwise than the misconceptions do: named as what it is, at grading and by `check`."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from course.exercise.key import Key, key_of
from course.exercise.runner import run
from course.hidden import find
from course.judge import Verdict, judge

SEEDS = (3, 42)


@cache
def key_at(name: str, seed: int | None) -> Key:
    """The key at grading; that of `check` without a seed."""
    return key_of(find(name), public_only=True) if seed is None else key_of(find(name), seed)


def verdict_on(name: str, answer, seed: int | None) -> Verdict:
    key = key_at(name, seed)
    return judge(key, lambda script: run(script, answer), find(name).points)


def named(name: str, answer) -> set[str]:
    """What it is taken for, at grading and by `check` where this fails it."""
    verdicts = [verdict_on(name, answer, seed) for seed in SEEDS]
    assert all(verdict.score < verdict.points for verdict in verdicts)
    checked = verdict_on(name, answer, None)
    return {verdict.misconception for verdict in [*verdicts, checked] if verdict.kind != "passed"}


# -- 01: perplexity ----------------------------------------------------------------------------------------------------


def one_token_too_few_below(log_probs):
    return float(torch.exp(-log_probs.sum())) / max(len(log_probs) - 1, 1)


# -- 03: scheduled sampling --------------------------------------------------------------------------------------------


def coins_begun_anew(targets, own, p, generator):
    return torch.where(torch.rand(targets.shape, generator=generator.manual_seed(0)) < p, targets, own)


def another_seed_of_its_own(targets, own, p, generator):
    torch.manual_seed(42)
    return torch.where(torch.rand(targets.shape) < p, targets, own)


def teacher_where_the_coin_says_no(targets, own, p, generator):
    return torch.where(torch.bernoulli(torch.full(targets.shape, 1 - p), generator=generator).bool(), targets, own)


def coins_of_a_column(targets, own, p, generator):
    return torch.where(torch.rand(targets.shape[1], generator=generator) < p, targets, own)


def coins_of_a_sentence(targets, own, p, generator):
    return torch.where((torch.rand(len(targets), generator=generator) < p)[:, None], targets, own)


@pytest.mark.parametrize(
    ("name", "answer", "mistake"),
    [
        ("scheduled_inputs", coins_begun_anew, "a_seed_of_its_own"),
        ("scheduled_inputs", another_seed_of_its_own, "a_seed_of_its_own"),
        ("scheduled_inputs", teacher_where_the_coin_says_no, "the_other_way_round"),
        ("scheduled_inputs", coins_of_a_column, "one_coin_for_a_column"),
        ("scheduled_inputs", coins_of_a_sentence, "one_coin_for_a_sentence"),
    ],
)
def test_a_mistake_is_known_in_other_words(name, answer, mistake):
    assert named(name, answer) == {mistake}


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("perplexity", one_token_too_few_below),  # infinite for a long text, as a product is
    ],
)
def test_a_mistake_that_nobody_knows_is_taken_for_no_other(name, answer):
    assert named(name, answer) == {""}
