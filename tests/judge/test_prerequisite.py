"""A failing answer's report names the earlier exercise that it calls, if that one fails, too."""

from __future__ import annotations

import inspect
import sys
from pathlib import Path

import pytest
import torch

import course
from course import check
from course.exercise.key import key_of
from course.exercise.runner import run
from course.hidden import exercises
from course.judge.judging import judge
from course.judge.prerequisite import (
    CORRECT_OTHERWISE,
    answer_with,
    failing_prerequisite,
    knowing_prerequisite,
    with_prerequisite,
)
from course.judge.report import html, text
from course.judge.session import Session
from course.judge.verdict import Verdict
from course.source import definitions
from course.syllabus import OURS, Topic
from tests.few import few
from tests.original import ORIGINAL, find, find_item
from tests.recorded import recorded

from .sample import FORWARD

BACK = "%matplotlib inline\ndef bptt(xs, h0, *weights):\n    hs, _ = rnn_forward(xs, h0, *weights)\n    return hs"


def wrong(name, **more):
    return Verdict(name, "wrong", 0, 2, **more)


@pytest.mark.parametrize("kind", ["partial", "wrong", "error", "time", "memory", "missing"])
def test_what_an_answer_calls_and_fails_is_its_ground(kind):
    earlier = {"softmax": wrong("softmax"), "rnn_cell": Verdict("rnn_cell", kind, 0, 2)}
    assert failing_prerequisite("rnn_forward", FORWARD, earlier) == "rnn_cell"


@pytest.mark.parametrize("kind", ["passed", "not-graded"])
def test_what_stands_is_no_ground_for_a_failure(kind):
    assert not failing_prerequisite("rnn_forward", FORWARD, {"rnn_cell": Verdict("rnn_cell", kind, 2, 2)})


@pytest.mark.parametrize(
    "source",
    [
        "",
        "def rnn_forward(xs) ->",
        "def rnn_forward(xs):\n    return xs  # not by rnn_cell",
        "def rnn_forward(xs):\n    return rnn_forward(xs)",
        "def rnn_cell(x):\n    return x\ndef rnn_forward(xs):\n    return rnn_cell(xs)",
        "rnn_cell = None\ndef rnn_forward(xs):\n    return rnn_cell(xs)",
    ],
)
def test_there_is_no_ground_where_nothing_is_called(source):
    earlier = {"rnn_cell": wrong("rnn_cell"), "rnn_forward": wrong("rnn_forward")}
    assert not failing_prerequisite("rnn_forward", source, earlier)


THROUGH = {
    "a given class": (
        "def GPT(x):\n    return Norm()(x)",
        "class Norm:\n    def forward(self, x):\n        return f(x)",
    ),
    "two given functions": (
        "def g(x):\n    return outer(x)",
        "def outer(x):\n    return inner(x)\ninner = lambda x: f(x)",
    ),
    "an object of a given class": ("net(1)", "class Net:\n    scale = f\nnet, other = Net(), 2"),
    "a model that a given cell trains": (
        'check("task", record.model)',
        'record = fit("task", build, train)\ndef build():\n    return nn.Sequential(Layer())\n'
        "class Layer:\n    __call__ = f",
    ),
    "a cell with a magic": ("outer(1)", "%matplotlib inline\ndef outer(x):\n    return outer(f(x))"),
    "a cell that defines it twice": ("h(1)", "def h(x):\n    return x\ndef h(x):\n    return f(x)"),
}


@pytest.mark.parametrize(("source", "given"), THROUGH.values(), ids=THROUGH)
def test_what_an_answer_calls_through_given_cells_is_its_ground(source, given):
    assert failing_prerequisite("GPT", source, {"f": wrong("f")}, definitions(given)) == "f"
    assert not failing_prerequisite("GPT", source, {"f": wrong("f")})


@pytest.mark.parametrize(
    ("source", "given"),
    [
        ("def g(shown):\n    return shown", "shown = f(1)"),
        ("def g(x):\n    return helper(x)", "def helper(f):\n    return f(1)"),
        ("def g(x):\n    return helper(x)", "def helper(x):\n    return f(x)\ndef helper(x):\n    return x"),
        ("def helper(x):\n    return x\nhelper(1)", "def helper(x):\n    return f(x)"),
        ("between(1)", "def between(x):\n    return f(x)"),
    ],
    ids=["a parameter", "a helper's parameter", "written anew", "the answer's own", "an exercise that passes"],
)
def test_a_name_that_means_something_else_leads_to_no_ground(source, given):
    earlier = {"f": wrong("f"), "between": Verdict("between", "passed", 2, 2)}
    assert not failing_prerequisite("GPT", source, earlier, definitions(given))


def test_told_is_where_it_begins():
    earlier = {"rnn_cell": wrong("rnn_cell"), "rnn_forward": wrong("rnn_forward", rests_on="rnn_cell")}
    assert failing_prerequisite("bptt", BACK, earlier) == "rnn_cell"
    earlier["rnn_cell"] = Verdict("rnn_cell", "passed", 2, 2)  # mended, and what rests on it not checked again
    assert not failing_prerequisite("bptt", BACK, earlier)


@pytest.mark.parametrize("kind", ["passed", "forbidden", "not-graded"])
def test_what_does_not_fail_by_it_is_not_blamed_on_anything(kind):
    verdict = Verdict("rnn_forward", kind, 0, 3)
    assert with_prerequisite(verdict, "rnn_cell", key_of(find("rnn_forward"), public_only=True)) == verdict


def test_the_report_says_where_to_begin_before_any_hint():
    verdict = wrong("rnn_forward", rests_on="rnn_cell", hint="Does the state move?")
    for said in (text(verdict), html(verdict)):
        assert said.index("rnn_cell") < said.index("Fix that first") < said.index("Does the state move?")
    assert "This solution is right except for your `rnn_cell`" in text(
        wrong("bptt", rests_on="rnn_cell", correct_given_prerequisite=True)
    )
    assert Verdict.from_dict(verdict.to_dict()) == verdict


PAIRS = [
    ("rnn_forward", "rnn_cell"),
    ("bptt", "rnn_cell"),
    ("attention_for_one", "softmax"),
    ("scaled_dot_product_attention", "softmax"),
    ("self_attention", "softmax"),
    ("multi_head_attention", "split_heads"),
    ("embed_patches", "patchify"),
    ("GPT", "rms_norm"),
    ("GPT", "cached_attention"),
    ("cached_attention", "grouped_attention"),
]
some_pairs = pytest.mark.parametrize(("name", "called"), few(PAIRS, *PAIRS[:5]))


THE_SAME = {
    "exponentials_that_overflow",
    "exponentials_overflow_for_one",
    "split_by_reshaping",
    "words_of_strips",
}
"""Mistakes that answer just what the first mistake in what is called comes to: softmax overflows, too."""


@some_pairs
def test_the_reference_on_a_mistaken_ground_is_right_but_for_that(name, called):
    exercise, prerequisite = find(name), find(called)
    plain, reference = key_of(exercise, 5), exercise.reference
    seen = 0
    for mistake in prerequisite.misconceptions:
        key = knowing_prerequisite(plain, exercise, prerequisite, mistake.name)
        answer = answer_with(reference, prerequisite.reference, mistake.wrong)
        verdict = with_prerequisite(judge(key, lambda script, answer=answer: run(script, answer), 3), called, key)
        seen += verdict.correct_given_prerequisite
        assert verdict.misconception != CORRECT_OTHERWISE and (verdict.kind == "passed") != (verdict.rests_on == called)
        assert with_prerequisite(judge(key, lambda script: run(script, reference), 3), called, key).kind == "passed"
    assert seen, "no mistake in what is called is ever recognised in what calls it"


@some_pairs
def test_a_mistake_of_its_own_is_not_right_but_for_another(name, called):
    exercise, prerequisite = find(name), find(called)
    key = knowing_prerequisite(key_of(exercise, 5), exercise, prerequisite, prerequisite.misconceptions[0].name)
    for mistake in exercise.misconceptions:
        verdict = judge(key, recorded(key, mistake.name), 3)
        assert with_prerequisite(verdict, called, key).correct_given_prerequisite == (mistake.name in THE_SAME), (
            mistake.name
        )


def test_who_only_calls_what_raises_has_shown_nothing():
    exercise, prerequisite = find("multi_head_attention"), find("split_heads")
    left_behind = next(known for known in prerequisite.misconceptions if known.name == "heads_left_behind_the_words")
    key = knowing_prerequisite(key_of(exercise, 5), exercise, prerequisite, left_behind.name)
    answer = answer_with(exercise.reference, prerequisite.reference, left_behind.wrong)
    verdict = with_prerequisite(judge(key, lambda script: run(script, answer), 3), "split_heads", key)
    assert verdict.kind == "error" and verdict.rests_on and not verdict.correct_given_prerequisite


def test_a_mistake_nobody_knows_and_a_ground_elsewhere_say_nothing():
    exercise = find("bptt")
    key = key_of(exercise, 5)
    assert knowing_prerequisite(key, exercise, find("rnn_cell"), "unheard_of") is key
    assert knowing_prerequisite(key, exercise, find("softmax"), find("softmax").misconceptions[0].name) is key


def softmax(x, dim):
    return x / x.sum(dim, keepdim=True)


def attention_for_one(query, keys, values):
    weights = softmax(keys @ query / keys.shape[-1] ** 0.5, 0)
    return weights @ values


def attention_in_reverse(query, keys, values):
    return softmax(keys @ query / keys.shape[-1] ** 0.5, 0) @ values.flip(0)


@pytest.mark.parametrize(
    ("answer", "correct_given_prerequisite"), [(attention_for_one, True), (attention_in_reverse, False)]
)
def test_at_grading(monkeypatch, tmp_path, answer, correct_given_prerequisite):
    monkeypatch.chdir(tmp_path)
    sources = {"softmax": inspect.getsource(softmax), "attention_for_one": inspect.getsource(answer)}
    with Session(find, ORIGINAL.item_of, seed=5, sources=sources) as session:
        monkeypatch.setenv("COURSE_JUDGE", session.address)
        for name, given in (("softmax", softmax), ("attention_for_one", answer)):
            session.enter(name)
            check(name, given)
            session.leave()
    first, second = session.verdicts.values()
    assert first.misconception and not first.rests_on
    assert (second.rests_on, second.correct_given_prerequisite) == ("softmax", correct_given_prerequisite)


@pytest.fixture
def notebook(monkeypatch, tmp_path):
    """Return a function that defines a name in the notebook, which runs in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COURSE_JUDGE", raising=False)
    monkeypatch.setattr("course.notebook.checking.last_checked", {})
    return lambda name, value: monkeypatch.setattr(sys.modules["__main__"], name, value, raising=False)


def test_in_a_notebook_until_it_is_written_anew(notebook, capsys):
    notebook("softmax", softmax)
    check("softmax", softmax)
    assert "It uses" not in capsys.readouterr().out
    check("attention_for_one", attention_for_one)
    assert "It uses your `softmax`, which fails too. Fix that first, and check again." in capsys.readouterr().out
    notebook("softmax", torch.softmax)
    check("attention_for_one", attention_for_one)
    assert "It uses" not in capsys.readouterr().out


def rnn_cell(x, h, W_x, W_h, b):
    # YOUR CODE HERE
    raise NotImplementedError()


def rnn_forward(xs, h0, W_x, W_h, b):
    return rnn_cell(xs[:, 0], h0, W_x, W_h, b)


def test_in_a_notebook_what_is_not_written_need_not_be_checked(notebook, capsys):
    notebook("rnn_cell", rnn_cell)
    check("rnn_forward", rnn_forward)
    assert "It uses `rnn_cell`, which is not written yet" in capsys.readouterr().out


def shares(scores):
    return softmax(scores, 0)


class Shares:
    def __call__(self, scores):
        return shares(scores)


def attention_by_a_given_class(query, keys, values):
    return Shares()(keys @ query / keys.shape[-1] ** 0.5) @ values


def test_in_a_notebook_given_functions_and_classes_are_read(notebook, monkeypatch, capsys):
    for given in (shares, Shares):
        monkeypatch.setattr(given, "__module__", "__main__")
        notebook(given.__name__, given)
    notebook("softmax", softmax)
    check("softmax", softmax)
    check("attention_for_one", attention_by_a_given_class)
    assert "It uses your `softmax`, which fails too" in capsys.readouterr().out


def test_in_a_notebook_methods_are_read_and_models_known_by_their_class(notebook, capsys):
    class ElmanClassifier(torch.nn.Module):
        def __init__(self, *sizes):
            super().__init__()

        def forward(self, ids, lengths):
            return softmax(torch.ones(len(ids), 2), 1) + 1

    notebook("softmax", softmax)
    check("softmax", softmax)
    check("ElmanClassifier", ElmanClassifier)
    assert "It uses your `softmax`" in capsys.readouterr().out
    notebook("ElmanClassifier", ElmanClassifier)
    check("rnn_task", ElmanClassifier())
    assert "It uses your `softmax`" in capsys.readouterr().out


ELSEWHERE = {("multi_head_attention_task", "MultiHeadAttention")}
"""Answers that call an earlier one, where the reference does not."""


def cells(topic: Topic) -> list[str]:
    """Return the cells of a topic's notebook source, each with its `# %%` line's options."""
    source = Path(course.__file__).parents[1] / "solutions" / f"{topic.folder}.py"
    return source.read_text("utf-8").split("\n# %%")


def answered(topic: Topic) -> dict[str, str]:
    """Return the solution cells of a topic, by exercise."""
    found = (cell for cell in cells(topic) if cell.startswith(' solution="'))
    return {cell.split('"')[1]: cell.partition("\n")[2] for cell in found}


def given(topic: Topic) -> dict[str, str]:
    """Return the definitions in the topic's other code cells, by name."""
    code = (cell.partition("\n")[2] for cell in cells(topic) if not cell.startswith((" solution", " [markdown]")))
    return {name: text for cell in code for name, text in definitions(cell).items()}


def counting(right, called: list[str]):
    """Return the same function or class, which adds an entry to `called` at each call."""

    def call(*given, **named):
        called.append("once")
        return right(*given, **named)

    def begin(self, *given, **named):
        called.append("once")
        right.__init__(self, *given, **named)

    return type(right.__name__, (right,), {"__init__": begin}) if inspect.isclass(right) else call


@pytest.mark.parametrize(
    ("name", "prerequisite"),
    [
        ("GPT", "rms_norm"),
        ("GPT", "cached_attention"),
        ("cached_attention", "grouped_attention"),
        ("gpt_task", "GPT"),
        ("Transformer", "EncoderLayer"),
        ("encoder_decoder_task", "Transformer"),
        ("multi_head_attention_task", "MultiHeadAttention"),
        ("rnn_task", "ElmanClassifier"),
        ("vit_patches_task", "ViT"),
        ("linear_time_task", "selective_scan"),
    ],
)
def test_the_courses_notebooks_lead_from_an_answer_to_what_it_rests_on(name, prerequisite):
    topic = find_item(name)[0]
    (check_cell,) = (cell for cell in cells(topic) if cell.startswith(f' check="{name}"'))
    sources = answered(topic)[name], check_cell.partition("\n")[2]
    earlier = {item.name: Verdict(item.name, "passed", 2, 2) for item in topic.items if item.name != name}
    earlier[prerequisite] = wrong(prerequisite)
    assert [found for source in sources if (found := failing_prerequisite(name, source, earlier, given(topic)))] == [
        prerequisite
    ]


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.name)
def test_a_reference_calls_the_earlier_one_that_the_solution_calls(topic):
    """Require this, because the judge tells from it that an answer is right except for an earlier mistake."""
    declared, written = {exercise.name: exercise for exercise in exercises(topic)}, given(topic)
    for name, source in answered(topic).items():
        earlier = [*declared][: [*declared].index(name)] if name in declared else []
        for prerequisite in (
            other for other in earlier if failing_prerequisite(name, source, {other: wrong(other)}, written)
        ):
            called: list[str] = []
            counted = counting(declared[prerequisite].reference, called)
            answer = answer_with.__wrapped__(declared[name].reference, declared[prerequisite].reference, counted)
            if answer is None:
                continue
            for case in declared[name].cases(5):
                run(case.script(declared[name].forbidden), answer)
            assert bool(called) != ((name, prerequisite) in ELSEWHERE), (name, prerequisite)
