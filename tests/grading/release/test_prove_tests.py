"""What an instructor is told of hidden tests of their own: a sentence for each thing that would mislead a student."""

from __future__ import annotations

import pytest
import torch

from course.exercise import call, exercise
from course.grading.release.prove_tests import prove
from tests.original import find_topic

X = torch.tensor([[1.0, 2.0], [3.0, 5.0]])


def mean(x, dim):
    return x.mean(dim)


def proved(make_cases, monkeypatch, reference=mean, **mistakes) -> list[str]:
    """The complaints about an exercise with these cases and mistakes."""
    declared = exercise(reference, name="softmax")(make_cases)
    for name, wrong in mistakes.items():
        declared.misconception("What is divided by how many?", name=name)(wrong)
    monkeypatch.setattr("course.hidden.exercises", lambda topic: [declared])
    return list(prove(find_topic("06_self_attention")))


def good(rng):
    yield call("rows", X, 1, public=True)
    yield call("columns", X, 0)


def sums(x, dim):
    return x.sum(dim)


def test_good_tests_get_no_complaint(monkeypatch):
    assert proved(good, monkeypatch, sums=sums) == []
    assert proved(good, monkeypatch, sums=torch.sum) == [], "a builtin does not say what it takes"

    def by_place(x, dim, /):
        return x.mean(dim)

    assert proved(good, monkeypatch, by_place, sums=sums) == []


def hides_all(rng):
    yield call("rows", X, 1)


def asks_little(rng):
    yield call("one", torch.ones(1, 1), 1, public=True)


def knows_no_law(rng):
    yield call("rows", X, 1, public=True).law("as_it_should_be")


def forgets_what_a_law_needs(rng):
    yield call("rows", X, 1, public=True).law("shape_is", shap=(2,))


def yields_a_number(rng):
    yield call("rows", X, 1, public=True)
    yield 5


def yields_nothing(rng):
    call("rows", X, 1, public=True)


def stumbles(rng):
    yield call("rows", X[:, 7], 1, public=True)


@pytest.mark.parametrize(
    ("make_cases", "says"),
    [
        (hides_all, "softmax: no case is public=True, so `check` has nothing to run"),
        (asks_little, "softmax: the mistake sums earns full marks. Add a case in which it differs"),
        (knows_no_law, "the cases of softmax cannot be made: ValueError: no law is called 'as_it_should_be'"),
        (
            forgets_what_a_law_needs,
            "softmax, case 'rows': the law shape_is cannot be called like this: missing a required",
        ),
        (
            yields_a_number,
            "the cases of softmax cannot be made: TypeError: 5 is not a case. Begin a case with call, build",
        ),
        (yields_nothing, "the cases of softmax cannot be made: TypeError: nothing is yielded"),
        (stumbles, "the cases of softmax cannot be made: IndexError: index 7 is out of bounds"),
    ],
)
def test_a_fault_of_the_cases_gets_one_sentence(make_cases, says, monkeypatch):
    (complaint,) = proved(make_cases, monkeypatch, sums=sums)
    assert complaint.startswith(says)


def one_parameter_short(x):
    return x.sum(1)


def raises(x, dim):
    raise ValueError("not\n    today")


@pytest.mark.parametrize(
    ("reference", "mistakes", "says"),
    [
        (raises, {}, "the right answer of softmax fails in the case 'rows': ValueError: not today, at `raise ValueErr"),
        (mean, {"short": one_parameter_short}, "softmax: the mistake short cannot be called like the reference: t"),
        (mean, {"one": sums, "other": sums}, "softmax: the mistake other is recognised as one"),
    ],
)
def test_so_does_a_fault_of_the_answers(reference, mistakes, says, monkeypatch):
    (complaint,) = proved(good, monkeypatch, reference, **mistakes)
    assert complaint.startswith(says)


@pytest.mark.parametrize("single", [{"hints": "Average by hand."}, {"forbidden": ("F.avg_pool1d")}])
def test_a_single_text_for_many_is_refused(single):
    with pytest.raises(TypeError, match=r"is a single string. Write a tuple, with a comma"):
        exercise(lambda x: x, name="moving_average", **single)


def test_a_right_answer_that_is_no_right_answer_is_shown_with_its_verdict(monkeypatch):
    def by_law(rng):
        yield call("rows", X, 1, public=True).law("shape_is", shape=(3,))

    complaints = proved(by_law, monkeypatch)
    assert [line.partition(": ")[2][:38] for line in complaints] == ["its reference gets the verdict wrong: "]


def test_what_the_right_answer_leaves_to_a_default_a_mistake_may_leave_out(monkeypatch):
    def with_default(x, dim, keepdim=False):
        return x.mean(dim, keepdim=keepdim)

    assert proved(good, monkeypatch, with_default, sums=sums) == []
