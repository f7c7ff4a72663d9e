"""A report shows what a training task's public cases measured, with their bars and the bar of full marks."""

from __future__ import annotations

import math

import pytest
import torch

from course.exercise import exercise, given_model
from course.exercise.key import key_of, read_key_file, write_key_file
from course.exercise.laws.measure import Measure
from course.exercise.runner import run
from course.exercise.script import Case
from course.judge import judge
from course.judge.report import html, text

INPUTS, TARGETS = torch.eye(4), torch.arange(4)


@exercise(lambda x: x, name="rnn_task")
def task(rng):
    """Require half of four rows, then all of them, in public cases and in hidden ones."""
    for begin, public in (("public", True), ("hidden", False)):
        some = given_model(f"{begin}, half", public=public).call(INPUTS).laws_only()
        some = some.law("accuracy_at_least", targets=TARGETS, bar=0.5)
        yield some.shows("accuracy_at_least", full=1.0, called="accuracy")
        yield some.judged_again(f"{begin}, all", bar=1.0, weight=3.0)


def right_in_three(x):
    return x * torch.tensor([1.0, 1.0, 1.0, -1.0])


def refuses(x):
    raise ValueError("no")


SHOWN = "Accuracy is 75.0%. The public check passes from 50%, and full marks need 100% at grading."


def test_check_and_grading_show_the_public_measurement_once(tmp_path):
    write_key_file(tmp_path / "a.key", [task])
    for key in (key_of(task, 5), read_key_file(tmp_path / "a.key").exercises["rnn_task"]):
        verdict = judge(key, lambda script: run(script, right_in_three), 4)
        assert text(verdict, public=True).count(SHOWN) == html(verdict).count(SHOWN) == 1
        assert [case.measured for case in verdict.cases if not case.public] == [""] * (len(verdict.cases) - 2)


def test_a_measurement_is_shown_where_everything_passes_and_not_where_nothing_came():
    key = key_of(task, public_only=True)
    assert "Accuracy is 100.0%." in text(judge(key, lambda script: run(script, lambda x: x), 4), public=True)
    for answer in (refuses, lambda x: None, lambda x: x * math.nan):
        assert "Accuracy" not in text(judge(key, lambda script, one=answer: run(script, one), 4), public=True)


@pytest.mark.parametrize(
    ("measure", "found", "bar", "full", "words"),
    [
        (Measure(lambda _, value, **__: value), 0.9599, 0.5, 0.96, "is 95.9%. The public check passes from 50%, and"),
        (Measure(lambda _, value, **__: value), 0.29, 0.29, 0.29, "is 29.0%. Full marks need 29% at grading."),
        (Measure(lambda _, value, **__: value, at_most=True, is_share=False), 1.1001, 1.6, 1.1,
         "is 1.101. The public check passes up to 1.6, and full marks need 1.1 or less at grading."),
        (Measure(lambda _, value, **__: value, at_most=True, is_share=False), math.inf, 1.1, 1.1, "is inf. Full marks"),
    ],
)  # fmt: skip
def test_a_number_never_looks_as_if_it_met_a_bar_that_it_misses(measure, found, bar, full, words):
    said = measure.sentence({}, {"value": found, "bar": bar, "full": full, "called": "it"})
    assert said.startswith("It ") and words in said


def test_only_a_law_of_the_case_can_be_shown():
    with pytest.raises(ValueError, match="the case 'a title' has no law 'bleu_at_least' to show"):
        Case("a title", ()).shows("bleu_at_least", full=0.8, called="BLEU")
