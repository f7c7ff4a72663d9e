"""Hidden tests of `extract_answer`: the integer behind the last equals sign, or nothing."""

from __future__ import annotations

import re

from course.exercise import call, exercise
from course.reference import reasoning as reference


@exercise(
    reference.extract_answer,
    hints=(
        "Split `=1*5=5` at its equals signs by hand. Which part is the answer? And in `=1+6`?",
        'What does `int("2_9")` return, and would you accept it from a pupil?',
        "Begin with what stands behind the last `=`, without the blanks around it. Then say what an integer looks "
        "like: a sign or none, and digits from 0 to 9.",
    ),
    calls=(
        "extract_answer('3+8=11+5=16')",
        "extract_answer('=1+6')",
        "extract_answer('= 007 ')",
        "extract_answer('=29.')",
        "extract_answer('29')",
        "extract_answer('=5=')",
        "extract_answer('=-4')",
    ),
)
def extract_answer(rng):
    """Steps before the answer, forms that are allowed, and forms that are not, each beside a right answer."""
    a, b, c = (int(number) for number in rng.permutation(8_000)[:3] + 1_001)
    ordinary = "steps, and an answer"
    yield call(ordinary, f"{a}+{b}={a + b}={c}", public=True, weight=2.0)
    yield call("an answer at once", f"={b}")
    yield call("one digit", f"={a % 9 + 1}", weight=0.5).counts_with(ordinary)
    yield call("a word before it", f"We get {a}. So x = {c}", public=True)
    yield call("blanks and zeros in front", f"= 00{a} \n")
    yield call("a negative number", f"={a}-{b + 100}=-{c}", public=True)
    yield call("a plus in front", f"=+{b}")
    yield call("a long text", f"={c}" + f"+{a}" * 200 + f"={b}")
    for title, text, public in (
        ("no equals sign", f"{a}", True),
        ("an empty text", "", False),
        ("nothing behind the last sign", f"={a}=", True),
        ("a sum that is not worked out", f"={a}+{b}", True),
        ("a full stop behind it", f"={a}.", False),
        ("two numbers", f"={a} {b}", False),
        ("two signs in front", f"=--{a}", False),
        ("a sign apart from its digits", f"=- {a}", False),
        ("an underscore between digits", f"={a}_{b}", True),
        ("digits of another script", "=\u0664\u0662", False),
        ("a fraction", f"={a}.0", False),
        ("an earlier answer is no answer", f"={a}={b}?", True),
        ("letters", f"={a}=x", False),
        ("a letter in front", f"=x{a}", False),
    ):
        yield call(title, text, public=public, weight=0.5).counts_with(ordinary)


def _number(text):
    return int(text) if re.fullmatch(r"[+-]?[0-9]+", text.strip()) else None


@extract_answer.misconception("Take 3+8=11+5=16. How many numbers are in it, and which of them is the answer?")
def first_number(text):
    found = re.search(r"[+-]?[0-9]+", text)
    return int(found[0]) if found else None


def _last(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else None


extract_answer.mistakes(
    "Take `=5+7`. A pupil hands it in. Has the pupil answered?",
    last_number=lambda text: _last(r"[+-]?[0-9]+", text),
    last_number_behind_a_sign=lambda text: _last(r"=\s*([+-]?[0-9]+)", text),
)


@extract_answer.misconception("Take =1*5=5. Which equals sign do you cut at?")
def behind_the_first_sign(text):
    return _number(text.partition("=")[2])


@extract_answer.misconception("Try `=2_9` and `= ٤٢`. Which texts does `int` take?")
def what_int_takes(text):
    try:
        return int(text.rpartition("=")[2]) if "=" in text else None
    except ValueError:
        return None


@extract_answer.misconception("Take `=4=4?`. Which `=` is the last, and does an integer stand behind it?")
def back_to_an_earlier_sign(text):
    found = [number for number in map(_number, text.split("=")[1:]) if number is not None]
    return found[-1] if found else None


@extract_answer.misconception("Hand in `29`, without any equals sign. What stands behind the last one?")
def without_a_sign(text):
    return _number(text.rpartition("=")[2])
