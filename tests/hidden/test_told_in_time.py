"""What a hidden case asks beyond an exercise's words, `check` asks as well; and no draw asks for more than there is."""

from __future__ import annotations

import random

import pytest
import torch
from torch.nn import functional as F

from course.data import phrases
from course.exercise.key import key_of
from course.exercise.runner import run
from course.hidden import find
from course.judge import judge

PLACES = 24
"""As many as the notebook's model for the task of topic 10 has."""


def loss_by_view(logits, targets, mask):
    flat = F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.view(-1), reduction="none")
    return (flat * mask.view(-1)).sum() / mask.sum()


def rope_by_complex_numbers(x, positions=None, base=10000.0):
    D = x.shape[-1]
    if D % 2:
        raise ValueError
    positions = torch.arange(x.shape[-2]) if positions is None else positions
    angles = torch.outer(positions.double(), base ** (-torch.arange(0, D, 2).double() / D))
    numbers = torch.view_as_complex(x.double().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(numbers * torch.polar(torch.ones_like(angles), angles)).flatten(3).type_as(x)


@pytest.mark.parametrize(
    ("name", "answer"),
    [("masked_cross_entropy", loss_by_view), ("rope", rope_by_complex_numbers)],
)
def test_who_needs_contiguous_memory_hears_of_it_from_check(name, answer):
    exercise = find(name)
    verdict = judge(key_of(exercise, public_only=True), lambda script: run(script, answer), exercise.points)
    assert [case.title for case in verdict.cases if not case.passed] == ["memory that is not contiguous"]
    assert not verdict.misconception


@pytest.mark.parametrize(
    ("task", "names"),
    [
        ("multi_head_attention_task", ("never_trained", "children_mixed_up", "questions_exchanged")),
        ("positional_encoding_task", ("names_a_frequent_letter", "says_it_at_once", "looks_ahead", "never_trained")),
        (
            "masking_task",
            ("never_trained", "frequencies_alone", "stopped_soon", "says_what_it_reads", "another_question"),
        ),
        ("masking_task", ("sees_the_whole_sentence",)),
        ("lora_task", ("trained_only_the_head", "trained_only_biases", "trained_only_biases_and_well")),
    ],
)
def test_check_does_not_take_one_failure_of_training_for_another(task, names):
    exercise = find(task)
    key = key_of(exercise, public_only=True)
    for misconception in exercise.misconceptions:
        if misconception.name in names:
            verdict = judge(key, lambda script, wrong=misconception.wrong: run(script, wrong), exercise.points)
            assert verdict.misconception == misconception.name


def test_a_padded_source_fits_into_the_model_however_long_a_sentence_is_drawn(monkeypatch):
    draw = phrases.draw

    def with_a_long_one(count, chance, *share):
        (english, french, places), *others = drawn = draw(count, chance, *share)
        if count != 20:
            return drawn
        return [(english + english[-1:] * (PLACES - 2 - len(english)), french, places), *others]

    monkeypatch.setattr(phrases, "draw", with_a_long_one)
    cases = find("encoder_decoder_task").make_cases(_Rng())
    padded = next(case for case in cases if getattr(case, "title", "") == "padding behind the source")
    assert max(step.args[0].shape[1] for step in padded.steps) <= PLACES


class _Rng:
    """Draws nothing but seeds."""

    def __init__(self):
        self.chance = random.Random(3)

    def seed(self):
        return self.chance.randrange(2**31)
