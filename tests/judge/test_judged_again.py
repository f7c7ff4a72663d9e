"""A case may judge the outputs of the case before it, so that the answer runs once for both."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from course.exercise import exercise, given_model
from course.exercise.key import key_of, pack_cases, read_key_file, unpack_cases, write_key_file
from course.exercise.runner import run
from course.judge import judge

INPUTS, TARGETS = torch.eye(4), torch.arange(4)


@exercise(lambda x: x, name="rnn_task")
def task(rng):
    """Require half of four rows, then all of them, in public cases and again in hidden ones."""
    for begin, public in (("public", True), ("hidden", False)):
        some = given_model(f"{begin}, half", public=public).call(INPUTS).laws_only()
        some = some.law("accuracy_at_least", targets=TARGETS, bar=0.5)
        yield some
        yield some.judged_again(f"{begin}, all", bar=1.0, weight=3.0)


@task.misconception("Is one row right?")
def always_the_first(x):
    return torch.eye(4)[torch.zeros(len(x), dtype=torch.long)]


@task.misconception("Which rows are wrong?")
def right_in_three(x):
    return x * torch.tensor([1.0, 1.0, 1.0, -1.0])


def judged(key, answer):
    """Return the verdict on an answer, and how often the answer ran."""
    asked = []
    verdict = judge(key, lambda script: asked.append(script) or run(script, answer), 4)
    return verdict, len(asked)


def keys(tmp_path):
    """Return the key as made, as shared between judges, and as in a student's key file."""
    key = key_of(task, 5)
    write_key_file(tmp_path / "a.key", [task])
    return key, unpack_cases(pack_cases(key), task), read_key_file(tmp_path / "a.key").exercises["rnn_task"]


def test_an_answer_is_asked_once_and_each_case_counts(tmp_path):
    made, shared, public = keys(tmp_path)
    for key, of in ((made, 2), (shared, 2), (public, 1)):
        verdict, asked = judged(key, task.reference)
        assert verdict.kind == "passed" and asked == of
        assert [case.weight for case in verdict.cases] == [1.0, 3.0] * of
        verdict, asked = judged(key, right_in_three)
        assert [case.passed for case in verdict.cases] == [True, False] * of and asked == of
        assert verdict.score == 1.0 and verdict.misconception == "right_in_three"
        assert judged(key, always_the_first)[0].misconception == "always_the_first"


def test_the_reference_answers_once_for_both():
    asked = []
    counted = exercise(lambda x: asked.append(x) or x, name="rnn_task")(task.make_cases)
    recordings = [held.expected for held in key_of(counted, 5).cases]
    assert len(recordings) == 4 and len(asked) == 2
    assert recordings[0] is recordings[1] is not recordings[2] is recordings[3]


def test_both_are_drawn_with_one_number():
    first, second, third, fourth = task.cases(5)
    assert first.seed == second.seed != third.seed == fourth.seed
    assert first.steps is second.steps


def test_parameters_that_a_law_does_not_have_are_not_given_to_it():
    case = given_model("one").call(INPUTS).law("accuracy_at_least", targets=TARGETS, bar=0.5).law("no_probabilities")
    again = case.judged_again("other", bar=0.9, because="")
    assert again.laws[0].params == {"targets": TARGETS, "bar": 0.9} and not again.laws[1].params


def test_it_must_stand_behind_the_case_it_judges_again():
    case = given_model("one").call(INPUTS)

    @exercise(lambda x: x, name="rnn_task")
    def torn(rng):
        yield case
        yield given_model("between").call(INPUTS)
        yield case.judged_again("too late")

    @exercise(lambda x: x, name="rnn_task")
    def first(rng):
        yield case.judged_again("before anything")

    for broken, title in ((torn, "too late"), (first, "before anything")):
        with pytest.raises(ValueError, match=f"'{title}'.* must come right after the case"):
            broken.cases(5)


def test_a_trained_model_is_evaluated_without_autograd():
    layer = nn.Linear(4, 4)
    recording = run(given_model("one").call(INPUTS).call(INPUTS, into="other").script(), layer)
    assert recording.raised is None
    assert not any(value.requires_grad for value in recording.outputs.values())
