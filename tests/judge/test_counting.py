"""Cases that an empty answer passes earn nothing by themselves, and the report says why."""

from __future__ import annotations

from html import unescape

import pytest
import torch

from course.exercise import call, exercise
from course.exercise.key import NoKey, key_of, pack_cases, read_key_file, unpack_cases, write_key_file
from course.exercise.runner import run
from course.judge import judge
from course.judge.judging import Unanswered
from course.judge.report import html, text


def positive(x, least):
    if least > 0:
        raise ValueError("nothing to keep")
    return x.clamp(min=least)


@exercise(positive, name="rnn_cell")
def clamped(rng):
    """Yield two public values, one of them fixed, two hidden values, one of them always zero, and an error."""
    yield call("known to all", torch.tensor([1.0, -1.0]), 0.0, public=True)
    yield call("drawn", rng.normal(5) - 2, -1.0, public=True)
    yield call("hidden", rng.normal(7) - 2, -1.0, weight=2.0)
    yield call("nothing above zero", -rng.uniform(3), 0.0, grad=False).counts_with("drawn")
    yield call("a bound above zero", rng.normal(3), 1.0, raises="ValueError", public=True)


def judged(answer, key=None):
    verdict = judge(key or key_of(clamped, 5), lambda script: run(script, answer), 6)
    return verdict, {case.title: case.message for case in verdict.cases if not case.passed}


def refuses(x, least):
    raise ValueError("no")


def known_by_heart(x, least):
    return positive(x, least) if least > 0 or len(x) == 2 else x


def test_a_right_answer_keeps_all():
    assert judged(positive)[0].kind == "passed"


def test_an_error_for_everything_earns_nothing():
    verdict, failed = judged(refuses)
    assert (verdict.kind, verdict.score) == ("error", 0)
    assert failed["a bound above zero"].startswith("raises the right error, but earns points only once")
    for shown in (text(verdict), html(verdict)):
        assert "raises the right error" in shown


def test_an_error_counts_beside_one_value():
    verdict, failed = judged(lambda x, least: positive(x, least) if least > 0 or len(x) > 5 else x)
    assert set(failed) == {"known to all", "drawn", "nothing above zero"}
    assert verdict.score == 3.0


def test_what_is_public_earns_nothing_by_itself():
    verdict, failed = judged(known_by_heart)
    assert failed["known to all"].startswith("passes, but public checks earn points only")
    assert verdict.score == 0 and verdict.kind == "wrong"


def test_what_is_public_counts_where_time_ran_out_before_anything_hidden_was_asked():
    def respond(script):
        if len(script.steps[0].args[0]) == 7:
            raise Unanswered("time", "no answer in time")
        return run(script, positive)

    verdict = judge(key_of(clamped, 5), respond, 6)
    assert (verdict.kind, verdict.score) == ("time", 3.0)
    assert all(case.passed for case in verdict.cases)


def test_in_a_notebook_what_is_public_is_all_there_is(tmp_path):
    write_key_file(tmp_path / "a.key", [clamped])
    key = read_key_file(tmp_path / "a.key").exercises["rnn_cell"]
    assert set(judged(known_by_heart, key)[1]) == {"drawn"}
    assert judged(refuses, key)[1].keys() == {"known to all", "drawn", "a bound above zero"}


def test_a_case_counts_together_with_the_one_it_names(tmp_path):
    made = key_of(clamped, 5)
    for key in (made, unpack_cases(pack_cases(made), clamped)):
        verdict, failed = judged(lambda x, least: torch.zeros_like(x), key)
        assert "only together with 'drawn', which fails" in failed["nothing above zero"]
        assert verdict.score == 0
        for shown in (text(verdict), html(verdict)):
            told = unescape(shown)
            assert "✗ nothing above zero" not in told and "<b>nothing above zero" not in told
            assert "'nothing above zero' passes, but some wrong answers pass it, too." in told
            assert "It earns points only once 'drawn' passes." in told


def test_it_names_one_other_case():
    @exercise(positive, name="rnn_cell")
    def misspelt(rng):
        yield call("one", rng.normal(3), 0.0).counts_with("tow")
        yield call("two", rng.normal(3), 0.0)

    @exercise(positive, name="rnn_cell")
    def itself(rng):
        yield call("one", rng.normal(3), 0.0).counts_with("one")

    @exercise(positive, name="rnn_cell")
    def twins(rng):
        yield call("one", rng.normal(3), 0.0).counts_with("two")
        yield call("two", rng.normal(3), 0.0)
        yield call("two", rng.normal(3), 0.0)

    for declared, title in ((misspelt, "tow"), (itself, "one"), (twins, "two")):
        with pytest.raises(NoKey, match=f"case 'one': exactly one other case must be called '{title}'"):
            key_of(declared)
