"""Hidden tests of `majority_vote`: no vote is no vote, zero is one, and of equals the first stays."""

from __future__ import annotations

from collections import Counter

from course.exercise import call, exercise
from course.reference import reasoning as reference

CLEAR = "one answer is commonest"


@exercise(
    reference.majority_vote,
    hints=(
        "Count 7, None, 0, 0 by hand. How many votes are there, and for how many different answers?",
        "What does `max` do with an empty list? For which inputs of yours is nothing left to compare?",
        "Begin with an empty dict, and count 7, 3, 3, 7 into it one by one. In which order are its keys, and which of "
        "two equal counts does `max` find?",
    ),
    calls=(
        "majority_vote([None, 5, 3, 5, None, None])",
        "majority_vote([5, 3, 3, 5])",
        "majority_vote([0, 0, 2])",
        "majority_vote([None, None])",
        "majority_vote([])",
        "majority_vote([0, None])",
    ),
)
def majority_vote(rng):
    """A clear vote; None as the commonest; zero; equals in both orders; nobody votes."""
    a, b, c = (int(number) for number in rng.permutation(40)[:3] + 1)
    yield call(CLEAR, [a, b, c, b, a, b], public=True, weight=2.0)
    yield call("most tries have no answer", [None, a, None, b, b, None, None], public=True, weight=2.0)
    yield call("zero is an answer", [a, 0, 0, b], public=True).counts_with(CLEAR)
    yield call("zero among no answers", [None, 0, None]).counts_with(CLEAR)
    low, high = sorted((a, b))
    yield call("of equals the first", [low, high, low, high], public=True)
    yield call("of equals the first, the larger", [high, low, high, low], public=True)
    yield call("of equals the first, behind another", [c, low, high, high, low])
    yield call("a negative answer", [-a, b, -a]).counts_with(CLEAR)
    yield call("one vote", [c], weight=0.5).counts_with(CLEAR)
    yield call("nobody votes", [None, None], public=True, weight=0.5).counts_with(CLEAR)
    yield call("no tries", [], weight=0.5).counts_with(CLEAR)


def _vote(answers, key=None):
    counts = Counter(answers)
    return max(counts, key=key(counts) if key else counts.__getitem__, default=None)


@majority_vote.misconception("Let the answers be None, None and 5. How many of them are votes?")
def none_wins(answers):
    return _vote(answers)


@majority_vote.misconception("Let two tries of three say 0. Which of your conditions is 0 for Python?")
def zero_is_no_vote(answers):
    return _vote([answer for answer in answers if answer])


@majority_vote.misconception("Let the answers be 3, 5, 5, 3, then 5, 3, 3, 5. Which one came first each time?")
def of_equals_the_smallest(answers):
    return _vote(sorted(answer for answer in answers if answer is not None))


@majority_vote.misconception("Let the answers be 5, 3, 5, 3. Which of the two came first?")
def of_equals_the_last(answers):
    return _vote([answer for answer in reversed(answers) if answer is not None])


@majority_vote.misconception("Let the answers be 3, 5, 3. Does your result depend on how often each of them came?")
def the_middle_one(answers):
    votes = sorted(answer for answer in answers if answer is not None)
    return votes[len(votes) // 2] if votes else None
