"""A report says how many checks pass, of how many, and how the points follow from them."""

from __future__ import annotations

from html import unescape

import pytest

from course.exercise import call, exercise
from course.exercise.key import key_of
from course.exercise.runner import run
from course.judge import Verdict, judge
from course.judge.judging import Unanswered
from course.judge.points import held_back
from course.judge.report import html, text
from course.judge.verdict import CaseResult


def doubled(n):
    if n < 0:
        raise ValueError("no numbers below zero")
    return 2 * n


@exercise(doubled, name="rnn_cell")
def evenly(rng):
    """Yield four values. Returning the argument is right for one of them, which counts with another."""
    yield call("one", 1, public=True)
    yield call("two", 2)
    yield call("five", 5)
    yield call("nothing", 0).counts_with("five")


@exercise(doubled, name="rnn_cell")
def unevenly(rng):
    yield call("one", 1, public=True)
    yield call("two", 2, weight=2.5)
    yield call("five", 5, weight=0.5)
    yield call("below zero", -1, raises="ValueError")


def right_for(*numbers):
    def answer(n):
        if n < 0:
            raise ValueError("no")
        return 2 * n if n in numbers else n

    return answer


def judged(declared, answer, points=4, respond=None) -> Verdict:
    return judge(key_of(declared, 5), respond or (lambda script: run(script, answer)), points)


@pytest.mark.parametrize(
    ("declared", "right", "score", "said"),
    [
        (evenly, (2, 5), 3, "3 of 4 checks pass. All checks weigh the same: 4 points × 3/4 = 3."),
        (
            evenly,
            (1, 2),
            2,
            "2 of 4 checks pass. 'nothing' passes, but some wrong answers pass it, too. "
            "It earns points only once 'five' passes. "
            "All checks weigh the same: 4 points × 2/4 = 2.",
        ),
        (
            evenly,
            (1,),
            0,
            "None of 4 checks earns points. 'nothing' passes, but some wrong answers pass it, too. "
            "It earns points only once 'five' passes. "
            "'one' passes, but public checks earn points only once a hidden check passes.",
        ),
        (
            unevenly,
            (1, 5),
            2,
            "3 of 4 checks pass. Some checks weigh more than others, and the 3 that pass weigh 2.5 of 5: "
            "4 points × 2.5/5 = 2.",
        ),
        (
            unevenly,
            (),
            0,
            "None of 4 checks earns points. "
            "'below zero' raises the right error, but it earns points only once a check that asks for a value passes.",
        ),
    ],
)
def test_how_the_points_follow(declared, right, score, said):
    verdict = judged(declared, right_for(*right))
    assert verdict.score == score
    assert said in text(verdict) and said in unescape(html(verdict))
    assert "points ×" not in text(verdict, public=True) + html(verdict, public=True), "a notebook has no points"


def held(title, needs, public=False):
    return CaseResult(title, False, public, held_back="together", needs=needs)


@pytest.mark.parametrize(
    ("cases", "all_named", "hidden_counted"),
    [
        (
            [held("a", "x"), held("b", "x")],
            "'a' and 'b' pass, but some wrong answers pass them, too. They earn points only once 'x' passes.",
            "2 hidden checks pass, but some wrong answers pass them, too. They earn points only once 'x' passes.",
        ),
        (
            [*(held(title, "x") for title in "abc"), held("d", "y"), held("e", "y", True)],
            "'a', 'b', 'c' and 2 others pass, but some wrong answers pass them, too. "
            "They earn points only once 'x' and 'y' pass.",
            "'e' and 4 others pass, but some wrong answers pass them, too. "
            "They earn points only once 'x' and 1 other pass.",
        ),
        (
            [held("a", "late", True)],
            "'a' passes, but some wrong answers pass it, too. It earns points only once 'late' passes.",
            "'a' passes, but some wrong answers pass it, too. It earns points only once 1 hidden check passes.",
        ),
        (
            [held("stored before there was a title", "", True)],
            *2
            * [
                "'stored before there was a title' passes, but some wrong answers pass it, too. "
                "It earns points only once another one passes."
            ],
        ),
    ],
)
def test_what_earns_nothing_is_named_with_what_it_needs(cases, all_named, hidden_counted):
    failing = [CaseResult("x", False, True, message="wrong"), CaseResult("y", False, False, message="wrong")]
    late = (CaseResult("late", False, False),)
    verdict = Verdict("softmax", "wrong", 0.0, 2.0, cases=(*failing, *cases), unreached=late)
    assert held_back(verdict) == all_named
    assert held_back(verdict, naming_hidden=False) == hidden_counted


def test_a_rounded_sum_says_so():
    verdict = judged(evenly, right_for(2), points=1.9)
    assert "1 of 4 checks passes." in text(verdict) and "1.9 points × 1/4 ≈ 0.47." in text(verdict)


def test_all_that_passes_is_counted():
    assert text(judged(evenly, doubled)).endswith("4 of 4 points, all 4 checks pass")


def test_checks_that_did_not_run_are_in_the_sum():
    def respond(script):
        if script.steps[0].args[0] == 5:
            raise Unanswered("time", "no answer in time")
        return run(script, doubled)

    verdict = judged(unevenly, doubled, respond=respond)
    assert [case.title for case in verdict.unreached] == ["five", "below zero"]
    assert "2 of 4 checks pass. 2 did not run." in text(verdict)
    assert "the 2 that pass weigh 3.5 of 5: 4 points × 3.5/5 = 2.8." in text(verdict)
    assert Verdict.from_dict(verdict.to_dict()) == verdict


def test_an_answer_that_keeps_its_points_is_told_what_its_checks_give():
    verdict = judged(evenly, right_for(2, 5))
    kept = Verdict.from_dict({**verdict.to_dict(), "rests_on": "softmax", "correct_given_prerequisite": True}).under(
        "keep"
    )
    said = text(kept)
    assert "4 of 4 points" in said and "4 points × 3/4 = 3." in said and "get the other 1 points back" in said


def test_an_exercise_without_points_is_optional():
    assert text(judged(evenly, doubled, points=0)).endswith("optional, all 4 checks pass")
    said = text(judged(evenly, right_for(2, 5), points=0))
    assert "optional\n  3 of 4 checks pass.\n" in said and "points ×" not in said
