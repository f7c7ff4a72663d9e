"""Hidden tests of `ctc_collapse`."""

from __future__ import annotations

from itertools import groupby

from course.exercise import call, exercise
from course.reference import hidden_states as reference


@exercise(
    reference.ctc_collapse,
    hints=(
        "Write a path for `55` with seven frames. What must stand between the two fives?",
        "There are two things to do. Do both orders give the same result for 5, blank, 5?",
        "Begin with a loop over the path that also knows the label of the frame before. When does a frame begin "
        "something new?",
    ),
    calls=(
        "ctc_collapse([1, 1, 2])",
        "ctc_collapse([1, 0, 1])",
        "ctc_collapse([0, 0, 0])",
        "ctc_collapse([])",
        "ctc_collapse([2, 2, 0, 2, 1])",
        "ctc_collapse([1, 2, 1])",
    ),
)
def ctc_collapse(rng):
    """Doubled labels with a blank between them and without, blanks at the ends, another blank."""
    yield call("a doubled five", [0, 5, 5, 0, 0, 5, 0], public=True, weight=2.0)
    yield call("two numbers of many frames", [3, 3, 3, 0, 7, 7, 0, 0, 7, 3], public=True)
    yield call("no blank at all", [4, 4, 2, 2, 4]).counts_with("a doubled five")
    yield call("nothing but blanks", [0, 0, 0]).counts_with("a doubled five")
    yield call("no frames", [], weight=0.5).counts_with("a doubled five")
    yield call("some path", rng.integers(0, 3, 61).tolist(), weight=2.0)
    yield call("another blank", rng.integers(0, 4, 61).tolist(), blank=2, public=True, weight=2.0)


ctc_collapse.mistakes(
    "Collapse 5, blank, 5 by hand. What did the blank stand there for, and when does yours go?",
    blanks_out_first=lambda path, blank=0: [label for label, _ in groupby(k for k in path if k != blank)],
)
ctc_collapse.mistakes(
    "A tone of ten frames is one digit. How many does yours write?",
    repeats_stay=lambda path, blank=0: [label for label in path if label != blank],
)
ctc_collapse.mistakes(
    "Is the blank a label of the number that was dialled?",
    blanks_stay=lambda path, blank=0: [label for label, _ in groupby(path)],
)
ctc_collapse.mistakes(
    "Somebody dials 3 7 3. How many threes do you write?",
    each_label_once=lambda path, blank=0: list(dict.fromkeys(label for label in path if label != blank)),
)
ctc_collapse.mistakes(
    "Let the blank be 2. Which label does yours leave out?",
    blank_is_always_zero=lambda path, blank=0: reference.ctc_collapse(path),
)
