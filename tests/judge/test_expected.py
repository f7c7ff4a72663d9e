"""Answer keys of a judge: made once, shared between processes unchanged, and made anew if a file is unreadable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import is_dataclass, replace

import pytest
import torch

from course.exercise import call, draws, exercise
from course.exercise.key import NoKey, key_of, pack_cases, unpack_cases, write_key_file
from course.exercise.runner import run
from course.exercise.values import Malformed
from course.exercise.wire import pack, unpack
from course.hidden import exercises
from course.judge import expected as module
from course.judge import judge
from course.judge.expected import expected, share
from course.syllabus import OURS
from tests.judge.sample import sample


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "held_keys", module.OrderedDict())
    share(tmp_path)
    yield tmp_path
    share(None)


def drawn(monkeypatch) -> list[int]:
    """Return a list that collects the seeds for which keys are made from now on."""
    seeds: list[int] = []
    monkeypatch.setattr(module, "key_of", lambda exercise, seed: seeds.append(seed) or key_of(exercise, seed))
    return seeds


def verdict(key, answer, points=4.0):
    return replace(judge(key, lambda script: run(script, answer), points), seconds=0.0)


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_every_key_survives_being_shared(topic):
    for declared in exercises(topic):
        key = key_of(declared, 11)
        shared = unpack_cases(pack_cases(key), declared)
        assert facts(unpack(pack_cases(shared))) == facts(unpack(pack_cases(key)))


def facts(value):
    """Convert a value so that `==` compares it, with tensors as dtype, shape and bits."""
    if isinstance(value, torch.Tensor):
        bits = value.detach().contiguous().flatten().view(torch.uint8)  # numpy knows no bfloat16
        return value.dtype, value.shape, value.requires_grad, bits.numpy().tobytes()
    if isinstance(value, Mapping):
        return [(name, facts(part)) for name, part in value.items()]
    if isinstance(value, list | tuple):
        return type(value), [facts(part) for part in value]
    return facts(vars(value)) if is_dataclass(value) else value


def counted(make_cases):
    """Return an exercise with these cases, and a list that collects the arguments of its reference."""
    asked: list[torch.Tensor] = []
    return exercise(lambda x: asked.append(x) or x + 0.0, name="softmax")(make_cases), asked


X = torch.eye(3)


def by_laws_alone(rng):
    yield call("rows", X, grad=False).laws_only().law("finite")


def by_values(rng):
    yield call("rows", X, grad=False)


def beside_the_reference(rng):
    yield draws("tosses", 3, torch.zeros(5, dtype=torch.long)).law("tossed_one_by_one", p=1.0)


def test_where_laws_alone_decide_the_reference_is_not_asked():
    declared, asked = counted(by_laws_alone)
    key = key_of(declared, 5)
    shared = unpack_cases(pack_cases(key), declared)
    for made in (key, shared):
        assert verdict(made, lambda x: x * 2).kind == "passed"
        assert verdict(made, lambda x: x / 0).kind == "wrong"
    assert not asked
    flood = verdict(shared, lambda x: torch.zeros(10**6))
    assert "far more numbers" in flood.message and len(asked) == 1, "how many are right is the reference's to say"


@pytest.mark.parametrize("make_cases", [by_values, beside_the_reference])
def test_where_answers_are_held_against_the_reference_it_is_asked_once_for_all_judges(make_cases):
    declared, asked = counted(make_cases)
    key = key_of(declared, 5)
    before = len(asked)
    shared = unpack_cases(pack_cases(key), declared)
    assert before and verdict(shared, lambda x: x + 0.0).kind == verdict(key, lambda x: x + 0.0).kind == "passed"
    assert len(asked) == before


def test_a_reference_that_raises_where_it_should_not_makes_no_key():
    def fails(x):
        raise ArithmeticError("no")

    said = "right answer of softmax fails in the case 'rows': ArithmeticError: no, at `raise ArithmeticError"
    with pytest.raises(NoKey, match=said):
        key_of(exercise(fails, name="softmax")(by_values), 5)
    held = key_of(exercise(fails, name="softmax")(by_laws_alone), 5).cases[0]
    with pytest.raises(NoKey, match=said):
        held.expected  # noqa: B018


def test_cases_that_cannot_be_drawn_make_no_key():
    def forgets(rng):
        yield call("rows", X[rows])  # noqa: F821

    def invents(rng):
        yield call("rows", X).law("as_it_should_be")

    line = forgets.__code__.co_firstlineno + 1
    for make_cases, said in (
        (forgets, rf"cases of softmax cannot be made: NameError: name 'rows' is not defined \(line {line}\)"),
        (invents, "cases of softmax cannot be made: ValueError: no law is called 'as_it_should_be'$"),
    ):
        with pytest.raises(NoKey, match=said):
            key_of(exercise(lambda x: x, name="softmax")(make_cases), 5)


def many(n):
    return [0] * n


def deep(n):
    return [deep(n - 1)] if n else []


@pytest.mark.parametrize(
    ("reference", "given", "said"),
    [
        (
            many,
            300_000,
            "the case 'much' of softmax is too large, because the right answer holds more than can be sent",
        ),
        (deep, 60, "the case 'much' of softmax is too large, because the right answer holds more than can be sent"),
        (
            len,
            [0] * 300_000,
            "the case 'much' of softmax is too large, because what it asks holds more than can be sent",
        ),
    ],
)
def test_what_is_too_large_to_send_makes_no_key(reference, given, said):
    """Refuse it, because a truncated value would be an unknown object in the key, and any answer would match."""

    def much(rng):
        yield call("much", given, public=True)

    with pytest.raises(NoKey, match=said):
        key_of(exercise(reference, name="softmax")(much), 5)


def test_cases_that_are_too_large_together_are_kept_by_each_judge_and_written_by_none(folder, tmp_path):
    def much(rng):
        for n in (150_000, 150_001):
            yield call(f"{n} zeros", n, public=True)

    declared = exercise(many, name="softmax")(much)
    key = expected(declared, 5)
    assert [len(held.expected.outputs["out"]) for held in key.cases] == [150_000, 150_001]
    assert list(folder.glob("*.cases")) == []
    with pytest.raises(NoKey, match="the key of softmax holds more than can be sent"):
        pack_cases(key)
    with pytest.raises(NoKey, match="the key of recurrence holds more than can be sent"):
        write_key_file(tmp_path / "recurrence.key", [declared])
    assert not (tmp_path / "recurrence.key").exists()


@pytest.mark.parametrize("answer", [sample.reference, *(mistake.wrong for mistake in sample.misconceptions)])
def test_a_key_that_was_shared_judges_as_the_one_it_was_made_from(answer):
    key = key_of(sample, 11)
    assert verdict(unpack_cases(pack_cases(key), sample), answer) == verdict(key, answer)


def test_a_key_is_made_once_for_judges_that_share_a_folder(folder, monkeypatch):
    seeds = drawn(monkeypatch)
    first = expected(sample, 5)
    assert expected(sample, 5) is first
    module.held_keys.clear()  # another process
    other = expected(sample, 5)
    assert seeds == [5] and other is not first
    assert verdict(other, sample.reference) == verdict(first, sample.reference)
    expected(sample, 6)
    assert seeds == [5, 6]


@pytest.mark.parametrize("damage", [b"", b"\x00" * 40, b"half a message"])
def test_a_damaged_file_costs_a_drawing_and_nothing_else(folder, monkeypatch, damage):
    expected(sample, 5)
    for path in folder.iterdir():
        path.write_bytes(damage)
    module.held_keys.clear()
    seeds = drawn(monkeypatch)
    assert verdict(expected(sample, 5), sample.reference).kind == "passed"
    assert seeds == [5]


def test_what_is_no_list_of_cases_is_malformed():
    with pytest.raises(Malformed, match="no cases"):
        unpack_cases(pack([{"title": "half"}]), sample)


def test_a_folder_that_is_gone_is_no_fault(folder):
    folder.rmdir()
    assert verdict(expected(sample, 5), sample.reference).kind == "passed"


def test_memory_holds_a_few(folder, monkeypatch):
    monkeypatch.setattr(module, "MOST_HELD", 2)
    seeds = drawn(monkeypatch)
    for seed in (1, 2, 3, 1):
        expected(sample, seed)
    assert len(module.held_keys) == 2
    assert seeds == [1, 2, 3], "the one that was let go came back from the folder"
