"""Rules that keep poor questions out, each on a small made-up answer."""

from __future__ import annotations

import ast
import itertools
import random
import re
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from course.questions import Apart, Question
from course.questions.changes import Text, all_changes
from course.questions.choosing import all_drafts
from course.questions.executing import Run
from course.questions.outcomes import said, seen
from course.questions.table import make_table
from course.questions.wording import tokens
from course.questions.wrong_choices import both
from tests.questions.made_up import COUNT, COUNT_CALLS, SOFTMAX, SOFTMAX_CALLS, asked, made


def drafted(source: str, calls: tuple[str, ...], seeds: int = 3) -> Iterator[Question]:
    """Everything that could be asked about a made-up answer, without what is asked as a last resort."""
    run, setup = Apart(90), "import math\nimport torch\nfrom collections import Counter"
    for seed in range(seeds):
        rng = random.Random(seed)
        table = make_table(made(source, calls, setup=setup), run, rng)
        yield from (draft.question for draft in all_drafts(table, run, rng) if draft.score > 0)


@pytest.mark.parametrize(
    "body",
    ["for k in y:\n        x += k", "if y:\n        x = 1", "while x < y:\n        x += 1",
     "if y:\n        x = y\n        x += 1\n    else:\n        x = 2"],
)  # fmt: skip
def test_a_body_keeps_a_statement(body: str) -> None:
    source = f"def f(x, y):\n    {body}\n    return x\n"
    gone = [change for change in all_changes(Text(source)) if change.kind == "statement removed"]
    assert gone
    for change in gone:
        lines = source.splitlines()
        del lines[change.line - 1 : change.last]
        ast.parse("\n".join(lines))
    assert not any(both(source, one, other) for one, other in itertools.combinations(gone, 2))


def test_one_wrong_choice_at_most_is_of_another_call_and_made_of_what_this_call_gives() -> None:
    source = "def joined(a, b):\n    return -torch.cat([a, b])\n"
    pairs = ((2, 3), (3, 2), (2, 2), (7, 9), (8, 5))
    calls = tuple(f"joined(tensor([{a}]), tensor([{b}]))" for a, b in pairs)
    found = [question for question in drafted(source, calls) if question.kind == "what happens"]
    borrowed = [[c.text for c in q.choices if c.reason.endswith("returns this.")] for q in found]
    assert any(borrowed) and all(len(texts) <= 1 for texts in borrowed)
    for question, texts in zip(found, borrowed, strict=True):
        assert all(tokens(text) <= tokens(question.text + question.choices[question.key].text) for text in texts)


def test_four_long_calls_that_share_nothing_are_not_compared() -> None:
    source = "def total_of_all_the_numbers(x):\n    return x.abs().sum()\n"
    kinds = []
    for ones in (3, 30):
        rows = [[sign * k, *[1] * ones] for sign, k in ((1, 2), (1, 3), (1, 5), (1, 8), (-1, 4))]
        calls = tuple(f"total_of_all_the_numbers(tensor({row}))" for row in rows)
        kinds.append({question.kind for question in drafted(source, calls)})
    assert "tell apart" in kinds[0] - kinds[1], kinds


@pytest.mark.parametrize(
    ("source", "argument", "values"),
    [
        ("def f(x, a=0.):\n    return x.sum() + a", "a", (0, 0, 0, 0, 3)),
        ("def f(x, a):\n    return x.sum() - a", "a", (0, 0, 0, 0, 3)),
        ("def f(x, a):\n    return x.sum() / a", "a", (1, 1, 1, 1, 2)),
        ("def f(x, a):\n    return a * x.sum()", "a", (0, 0, 0, 0, 1)),
    ],
)
def test_no_call_is_told_apart_by_the_only_other_value_of_what_changes(
    source: str, argument: str, values: tuple[int, ...]
) -> None:
    calls = tuple(f"f(tensor([{k}., 2.]), {argument}={value}.)" for k, value in enumerate(values))
    premises = [q.text.partition("\nFor which")[0] for q in drafted(source, calls) if q.kind == "tell apart"]
    assert not [text for text in premises if text.count("sum()") == 2], premises


@pytest.mark.parametrize(("source", "calls"), [(SOFTMAX, SOFTMAX_CALLS), (COUNT, COUNT_CALLS)])
def test_no_question_repeats_another_or_is_answered_by_an_earlier_reply(source: str, calls: tuple[str, ...]) -> None:
    for seed in range(6):
        questions = asked(source, calls, seed=seed, most=8)
        traced = [re.search(r"What is (.* right after lines? \d+)", q.text) for q in questions if q.kind == "trace"]
        assert max(Counter(one[1] for one in traced if one).values(), default=0) <= 1
        for earlier, later in itertools.combinations(questions, 2):
            if later.kind == "what happens":
                call = later.text.split("\n    ")[1]
                assert not any(call in choice.text and "oth return" in choice.reason for choice in earlier.choices), (
                    earlier,
                    later,
                )
            if later in questions[:3] and later.kind == earlier.kind in ("what happens", "find the change"):
                shared = set(_changes(earlier)) & set(_changes(later))
                assert len(shared) <= 1, (earlier, later)


def _changes(question: Question) -> list[str]:
    """The changes that a question names."""
    if question.kind == "find the change":
        return [choice.text for choice in question.choices]
    return re.findall(r"would come out if (.*)\.$", "\n".join(choice.reason for choice in question.choices), re.M)


def test_a_sign_that_only_the_right_change_has_is_not_asked_for() -> None:
    source = "def f(x):\n    y = x * 4\n    return y.masked_fill(x < 2, -math.inf) + x\n"
    calls = tuple(f"f(tensor([{k}., 2.]))" for k in range(4))
    found = [q for q in drafted(source, calls) if q.kind == "find the change"]
    assert found
    for question in found:
        wanted = re.search(r"this call return `(.*)`", question.text)
        assert not (wanted and re.search(r"(?<!-)inf", wanted[1])), question.text


@pytest.mark.parametrize(
    "line",
    ["seen = {}", "seen = Counter()", "seen = -2", "seen: dict[str, int] = {}", "seen = ()", "seen = 'ab'",
     "seen = [torch.empty(0, dtype=torch.long)]"],
)  # fmt: skip
def test_no_constant_is_traced(line: str) -> None:
    body = ("seen = [x, 7]", "seen = [x * 2, x]", line, "seen = [x + 3, 2]", "seen = [x - 1, 5]", "return seen + [x]")
    source = "def f(x):\n    " + "\n    ".join(body)
    calls = tuple(f"f({k})" for k in (4, 5, 6, 7))
    lines = {q.text.split("right after ")[1] for q in drafted(source, calls, 1) if q.kind == "trace"}
    assert lines and "line 4?" not in lines


def test_every_error_about_types_is_a_detail() -> None:
    source = "class Own(TypeError):\n    pass\n\ndef f(x):\n    raise Own\n"
    assert Apart(30)([Run("", source, "f(1)")])[0].outcome.parts[0] == "TypeError"


def test_a_helper_of_a_call_is_explained() -> None:
    source = (
        "def last(model, ids):\n    logits, cache = model(ids)\n    return logits[:, -1].argmax(-1) + cache[:, 0]\n"
    )
    calls = tuple(f"last(counter(), tensor([[{a}, {b}]]))" for a, b in ((0, 1), (2, 3), (4, 4), (1, 3), (3, 0)))
    questions = list(drafted(source, calls, 1))
    assert questions and all(
        "\n`counter`: Give the last token plus 1, modulo 5, a logit of 9 and all others 0. The" in q.text
        for q in questions
        if q.kind != "alters nothing"
    )
    assert not any("`set_all`" in q.text for q in questions)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([1.0, 2.0]), "array([1., 2.])"),
        (np.array([[1], [2]]), "array([[1], [2]])"),
        (np.zeros(0), "array([])"),
    ],
)
def test_an_array_is_shown_as_an_array(value: np.ndarray, text: str) -> None:
    assert said(seen(value)) == text
