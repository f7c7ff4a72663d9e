"""Reference and alternatives get full marks. Misconceptions and mutants get less, and misconceptions their hint."""

from __future__ import annotations

import inspect
import math
import random
from functools import cache

import pytest
import torch
from torch import Tensor

from course.exercise.watch import forbidden_in_source
from course.hidden import exercises
from course.judge.compare_values import distance
from course.judge.report import text
from course.syllabus import OURS
from tests.hidden.answers import answers
from tests.hidden.first_attempts import first_attempts, heard
from tests.hidden.judged import SEED, forget, key_at, points_for, verdict_on, verdict_on_misconception
from tests.original import find, points_of

MANY_SEEDS = tuple(random.Random(20261122).sample(range(2**31), 16))
"""As many as a class has, from the same range."""
FAR = 100.0
"""Misconceptions differ by at least so many tolerances: no rounding turns one into a right answer."""
EXERCISES = [(topic, exercise) for topic in OURS for exercise in exercises(topic)]
IDS = [exercise.name for _, exercise in EXERCISES]


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_alternatives_hold_nothing_forbidden(topic, exercise):
    for answer in answers("alternatives", topic, exercise.name):
        source = inspect.getsource(answer if inspect.isroutine(answer) or inspect.isclass(answer) else type(answer))
        assert not forbidden_in_source(source, exercise.forbidden)


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_reference_and_alternatives_get_full_marks(topic, exercise):
    enough = 2 if not exercise.name.endswith("_task") else 0
    found = len(answers("alternatives", topic, exercise.name))
    assert found >= enough, f"{exercise.name} has {found} alternatives"
    right_answers_pass(topic, exercise, SEED)


def right_answers_pass(topic, exercise, seed):
    for answer in [exercise.reference, *answers("alternatives", topic, exercise.name)]:
        verdict = verdict_on(exercise.name, answer, seed)
        assert verdict.kind == "passed", f"{exercise.name}: {answer} -> {verdict}"


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_misconceptions_score_below_full_and_are_named(topic, exercise, record_property):
    rows = []
    for misconception in exercise.misconceptions:
        verdict = verdict_on_misconception(exercise.name, misconception.name, SEED)
        score = misconception_is_named(exercise, misconception, verdict)
        rows.append(f"{exercise.name:<30} {misconception.name:<34} {score:>5g} of {points_of(exercise.name)}")
    record_property("matrix", "\n".join(rows))
    print("\n" + "\n".join(rows))


def misconception_is_named(exercise, misconception, verdict) -> float:
    assert verdict.score < points_of(exercise.name), f"{exercise.name}: {misconception.name} scores full marks"
    assert verdict.misconception == misconception.name, (
        f"{exercise.name}: {misconception.name} is taken for {verdict.misconception or 'nothing known'}: "
        f"{verdict.message} {[(case.title, case.message) for case in verdict.cases if not case.passed]}"
    )
    return verdict.score


TOLD_ALIKE = {
    ("lstm_gru_task", "sees_a_few_tokens_and_is_lost_beyond"): "sees_a_few_tokens",
    ("leaks_future", "own_word_taken_for_future"): "all_outputs_compared",
    ("decode_beam", "multiplied_by_the_length"): "best_by_the_plain_sum",
    ("decode_beam", "eos_not_counted"): "best_by_the_plain_sum",
}
"""What `check` takes for a neighbour, whose hint is true of it as well."""


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_public_checks_alone_recognise_what_they_reject(topic, exercise):
    key = key_at(exercise.name, None)
    assert key.cases, f"{exercise.name} has no public case"
    public = [case.title for case in exercise.cases() if case.public]
    assert [held.case.title for held in key.cases] == public, (
        f"{exercise.name}: a public case stands behind rest_hidden"
    )
    for misconception in exercise.misconceptions:
        verdict = verdict_on_misconception(exercise.name, misconception.name, None)
        if verdict.kind != "passed":
            assert verdict.misconception, f"{exercise.name}: {misconception.name} fails publicly without a hint"
            neighbour = TOLD_ALIKE.get((exercise.name, misconception.name), misconception.name)
            assert verdict.hint == misconception.hint or verdict.misconception == neighbour, (
                f"{exercise.name}: in public {misconception.name} is taken for {verdict.misconception}"
            )


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_what_check_says_is_said_at_grading_or_that_it_does_not_hold(topic, exercise):
    for misconception in exercise.misconceptions:
        public, graded = (verdict_on_misconception(exercise.name, misconception.name, seed) for seed in (None, SEED))
        neighbour = (exercise.name, misconception.name) in TOLD_ALIKE  # gives way to what all cases show
        if public.kind != "passed" and not graded.unconfirmed and not neighbour:
            assert public.hint in graded.hint, f"{exercise.name}: of {misconception.name}, grading takes back a hint"


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_mutants_are_killed(topic, exercise):
    mutants_fall(topic, exercise, SEED)


def mutants_fall(topic, exercise, seed):
    for mutant in answers("mutants", topic, exercise.name):
        points = points_for(exercise.name, mutant, seed)
        assert points < points_of(exercise.name), f"{exercise.name}: the mutant {mutant.__name__} survives"


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_first_attempts_hear_what_helps_from_check_and_at_grading(topic, exercise):
    for name, attempt, words in first_attempts(topic, exercise.name):
        for said in (heard(exercise.name, attempt), text(verdict_on(exercise.name, attempt, SEED))):
            assert words and words in said, f"{exercise.name}: {name} hears {said}"


@pytest.mark.slow
@pytest.mark.parametrize("seed", MANY_SEEDS)
@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_no_answer_owes_its_grade_to_the_seed(topic, exercise, seed):
    forget()
    right_answers_pass(topic, exercise, seed)
    for misconception in exercise.misconceptions:
        misconception_is_named(exercise, misconception, verdict_on(exercise.name, misconception.wrong, seed))
    mutants_fall(topic, exercise, seed)


@cache
def forty_seeds() -> list[int]:
    """Return all seeds that students of one class can get, and others from the same range, 40 in all."""
    from course.grading.nbgrader_bridge.judged_execute import SEEDS, JudgedExecute

    step = JudgedExecute(secret="a class that is graded")
    own = {step.seed_of({"student": f"student{number}"}) for number in range(16 * SEEDS)}
    assert len(own) == SEEDS
    return [*sorted(own), *random.Random(20261128).sample(range(2**31), 40 - SEEDS)]


@pytest.mark.slow
@pytest.mark.parametrize("part", range(5))
@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_right_answers_get_full_marks_at_forty_seeds(topic, exercise, part):
    for seed in forty_seeds()[part::5]:
        forget()
        for answer in [exercise.reference, *answers("alternatives", topic, exercise.name)]:
            points = points_for(exercise.name, answer, seed)
            assert points == points_of(exercise.name), f"{exercise.name}: {answer}, seed {seed}, gets {points}"


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_misconceptions_are_far_away(topic, exercise):
    key = key_at(exercise.name, SEED)
    for misconception in exercise.misconceptions:
        gaps = []
        for held in key.cases:
            wrong = held.wrong(misconception.name)
            if not held.case.values or wrong.raised or wrong.mutated or held.case.raises:
                gaps.append(FAR)  # recognised by other means than a number
                continue
            for name, value in held.expected.outputs.items():
                gaps += _gaps(value, wrong.outputs.get(name), held.case.tolerance)
        assert max(gaps, default=0.0) >= FAR, f"{exercise.name}: {misconception.name} is only {max(gaps)} away"


def _gaps(expected, seen, tolerance) -> list[float]:
    if isinstance(expected, Tensor) and isinstance(seen, Tensor):
        if expected.requires_grad != seen.requires_grad or (expected.dtype == torch.bool) != (seen.dtype == torch.bool):
            return [FAR]
        return [distance(expected, seen, tolerance)]
    if isinstance(expected, float) and isinstance(seen, float):
        if not math.isfinite(expected) or not math.isfinite(seen):
            return [0.0 if expected == seen else FAR]
        return [abs(expected - seen) / (tolerance * (1 + abs(expected)))]
    if isinstance(expected, list | tuple) and isinstance(seen, list | tuple) and len(expected) == len(seen):
        return [gap for one, other in zip(expected, seen, strict=True) for gap in _gaps(one, other, tolerance)]
    if isinstance(expected, dict) and isinstance(seen, dict) and set(expected) == set(seen):
        return [gap for name in expected for gap in _gaps(expected[name], seen[name], tolerance)]
    return [0.0 if type(expected) is type(seen) and not isinstance(seen, Tensor) and expected == seen else FAR]


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("bptt", "torch.func.jacfwd(f)(W_x)"),
        ("sinusoidal", "sinusoidal = blocks.sinusoids"),
        ("rnn_task", "class ElmanClassifier(nn.LSTM): ..."),
        ("vit_patches_task", "build = lambda: blocks.ViT(12, 3, 1, 10, 64, 4, 128, 2)"),
        ("GPT", "class GPT(blocks.GPT): ..."),
        ("gpt_task", "build = lambda: blocks.GPT(258, 64, 2, 4, 2, 128)"),
    ],
)
def test_what_does_the_exercise_for_one_is_forbidden(name, source):
    assert forbidden_in_source(source, find(name).forbidden)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("bptt", "with torch.set_grad_enabled(False):\n    grad = step.backward(grad)"),
        ("cbow_task", "loss = F.cross_entropy(model(contexts), targets)"),
        ("rms_norm", "longer = F.normalize(torch.cat([x, eps], -1), dim=-1)"),
    ],
)
def test_what_only_sounds_like_it_is_allowed(name, source):
    assert not forbidden_in_source(source, find(name).forbidden)


@pytest.mark.parametrize(("topic", "exercise"), EXERCISES, ids=IDS)
def test_hints_climb(topic, exercise):
    assert 2 <= len(exercise.hints) <= 4
    assert len(set(exercise.hints)) == len(exercise.hints)
    for misconception in exercise.misconceptions:
        assert 10 < len(misconception.hint) < 320, misconception.name
