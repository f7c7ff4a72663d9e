"""Make and store keys: the recordings of the reference and of every misconception, for comparison with answers.

A key is made in memory from a declaration, or read from an answer key file. The file holds the public cases, their
recordings and the hints. So a student's machine makes the same diagnosis without one line of a solution.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from .declaration import PUBLIC_SEED, Exercise
from .laws import relative
from .nested import leaves
from .prediction import Prediction
from .randomness import randomness_put_back
from .recording import Recording
from .runner import run
from .script import Case, LawUse, Script, Step, tracks_gradients, without_gradients
from .values import Malformed, Other, TooLarge, demand_whole
from .wire import pack, unpack

SENDABLE = "Make it of tensors, arrays, numbers, text, bytes, and lists, tuples, dicts and sets of them"
"""The types that can be sent to an answer, for messages."""

Right = Callable[[], Recording]
"""A function that returns the reference's recording of a case."""
Wrong = Callable[[str], Recording]
"""A function that returns the recording of a case for the misconception of a name."""


class NoKey(Exception):
    """The cases of an exercise cannot be drawn or sent, or its reference fails. The message says how and where."""


@dataclass(frozen=True)
class KeyMisconception:
    """A misconception as stored in a key: its name, hint and convention, without code."""

    name: str
    hint: str
    convention: str = ""


@dataclass(frozen=True, eq=False)
class KeyCase:
    """A case with functions that return the recording of the reference and of a misconception. Compared by identity."""

    case: Case
    right: Right
    wrong: Wrong

    @property
    def expected(self) -> Recording:
        """Return the reference's recording."""
        return self.right()

    @property
    def is_relative(self) -> bool:
        """Return whether a law needs the reference's outputs."""
        found = [relative(use) for use in self.case.laws]  # no shortcut, so that a missing law raises an error here
        return any(found)

    @property
    def is_compared(self) -> bool:
        """Return whether the case compares an answer with the reference, rather than by independent laws only."""
        return self.is_relative or self.case.values


@dataclass(frozen=True)
class Key:
    """Return everything needed to judge one exercise."""

    name: str
    signature: tuple[str, ...]
    hints: tuple[str, ...]
    forbidden: tuple[str, ...]
    misconceptions: tuple[KeyMisconception, ...]
    cases: tuple[KeyCase, ...]
    calls: tuple[str, ...] = ()

    @cached_property
    def scripts(self) -> tuple[Script, ...]:
        """Return the scripts of all cases. They are cached, so every student's answer gets the same objects."""
        return tuple(held.case.script(self.forbidden) for held in self.cases)


def key_of(exercise: Exercise, seed: int = PUBLIC_SEED, *, public_only: bool = False) -> Key:
    """Make the key of a declared exercise.

    Misconceptions run only on demand, and so does the reference if only laws decide, because evaluating a model takes
    up to a second.

    Raises:
        NoKey: the cases cannot be drawn or sent, or the reference raises an error.
    """
    try:
        with randomness_put_back():
            return _declared(exercise, _key_cases(exercise, exercise.cases(seed, public_only=public_only)))
    except NoKey:
        raise
    except Exception as error:  # raised by the declaration's code
        declared = exercise.make_cases.__code__.co_filename
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == declared]
        where = f" (line {lines[-1]})" if lines else ""
        what = f"{type(error).__name__}: {_in_one_line(str(error))}{where}"
        raise NoKey(f"the cases of {exercise.name} cannot be made: {what}") from error


def _in_one_line(message: str) -> str:
    return " ".join(message.split())[:240]


def pack_cases(key: Key) -> bytes:
    """Pack the cases of a key and their expected recordings, for `unpack_cases` in the same version of the course.

    Raises:
        NoKey: the cases are too many or too large for one message.
    """
    return _packed([{**_case_to_plain(held.case), **_compared_to_plain(held)} for held in key.cases], key.name)


def unpack_cases(message: bytes, exercise: Exercise) -> Key:
    """Return the key of a declared exercise from packed cases. Misconceptions run on demand.

    Raises:
        Malformed: the message holds no cases.
    """
    try:
        return _declared(exercise, _held(unpack(message), lambda case, values: _rerun(exercise, case, values)))
    except (KeyError, TypeError, ValueError) as error:
        raise Malformed(f"these are no cases: {error}") from None


@dataclass(frozen=True)
class AnswerKey:
    """The content of a topic's answer key file by name: keys, predictions, hints and criteria for its questions."""

    exercises: dict[str, Key]
    predictions: dict[str, Prediction]
    question_hints: dict[str, tuple[str, ...]]
    question_criteria: dict[str, tuple[str, ...]]


def write_key_file(
    path: Path,
    exercises: Iterable[Exercise],
    predictions: Iterable[Prediction] = (),
    question_hints: Mapping[str, Sequence[str]] | None = None,
    question_criteria: Mapping[str, Sequence[str]] | None = None,
) -> None:
    """Write the answer key of a topic: its exercises' public cases, its predictions, hints and criteria.

    Raises:
        NoKey: an exercise cannot have one, or the keys together are too large for one file.
    """
    keys = [_to_plain(key_of(exercise, public_only=True)) for exercise in exercises]
    asked = [prediction.to_plain() for prediction in predictions]
    criteria = question_criteria or {}
    questions = [
        {"name": name, "hints": list(hints), "criteria": list(criteria.get(name, ()))}
        for name, hints in (question_hints or {}).items()
    ]
    path.write_bytes(_packed({"exercises": keys, "predictions": asked, "questions": questions}, path.stem))


def _packed(values: Any, name: str) -> bytes:
    """Pack the cases of `name`. Nothing may be cut off, because any answer would match a value that is missing.

    Raises:
        NoKey: the values are too large.
    """
    try:
        return pack(values, whole=True)
    except TooLarge as error:
        raise NoKey(f"the key of {name} holds more than can be sent ({error}). Make its cases smaller") from None


def read_key_file(path: Path) -> AnswerKey:
    """Read the answer key of a topic.

    Raises:
        Malformed: the file is no answer key.
    """
    try:
        held = unpack(path.read_bytes())
        keys = [_from_plain(values) for values in held["exercises"]]
        predictions = [Prediction.from_plain(values) for values in held["predictions"]]
        hints, criteria = (
            {values["name"]: tuple(values[what]) for values in held["questions"]} for what in ("hints", "criteria")
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Malformed(f"{path.name} is not an answer key: {error}") from None
    return AnswerKey({key.name: key for key in keys}, {asked.name: asked for asked in predictions}, hints, criteria)


def _key_cases(exercise: Exercise, cases: Iterable[Case]) -> Iterator[KeyCase]:
    held: KeyCase | None = None
    for case in cases:
        held = _again(held, case) if held and case.again else _key_case(exercise, case)
        yield held


def _again(held: KeyCase, case: Case) -> KeyCase:
    """Return a case that judges the same recordings as another one, with the same steps."""
    return KeyCase(replace(case, steps=held.case.steps, tolerance=held.case.tolerance), held.right, held.wrong)


def _key_case(exercise: Exercise, case: Case) -> KeyCase:
    case = replace(case, tolerance=case.tolerance or exercise.tolerance)
    right = _answered(exercise, case)
    if tracks_gradients(case) and right().outputs.get("gradients of out") is None:
        case = without_gradients(case)
        right = _answered(exercise, case)
    if unsent := _demand_whole(case.script().to_plain(), exercise, case, "what it asks"):
        what = f"a value of type `{unsent[0]}` is handed over, which cannot be sent to an answer"
        raise NoKey(f"in the case {case.title!r} of {exercise.name} {what}. {SENDABLE}")
    held = KeyCase(case, right, _mistaken(exercise, case))
    if held.is_compared:
        held.right()
    return held


def _answered(exercise: Exercise, case: Case) -> Right:
    """Return a cached function that runs the reference on a case."""

    def answer() -> Recording:
        expected = run(case.script(), exercise.reference)
        _demand_whole(expected.to_plain(), exercise, case, "the right answer")
        _demand_comparable(expected, exercise, case)
        if expected.raised is not None and not case.raises:
            raised = expected.raised
            where = f", at `{raised.line}`" if raised.line else ""
            what = f"{raised.name}: {_in_one_line(raised.message)}{where}"
            raise NoKey(f"the right answer of {exercise.name} fails in the case {case.title!r}: {what}")
        return expected

    return cache(answer)


def _demand_comparable(expected: Recording, exercise: Exercise, case: Case) -> None:
    """Check that the reference's answer can be told from a wrong one, if values are compared.

    An object may have any type if a later step examines it, or continues from it to a compared result. Then its
    behaviour counts and not its type.

    Raises:
        NoKey: an answer of any value would match.
    """
    if not case.values or case.raises:
        return
    compared = list(expected.outputs)
    for name, value in expected.outputs.items():
        if case.examines(name) or (isinstance(value, Other) and name != compared[-1]):
            continue
        if other := next((leaf for leaf in leaves(value) if isinstance(leaf, Other)), None):
            what = f"the right answer is of type `{other.type_name}`, of which nothing can be compared"
            raise NoKey(f"in the case {case.title!r} of {exercise.name} {what}. {SENDABLE}, or examine what it does")


def _demand_whole(sent: dict[str, Any], exercise: Exercise, case: Case, what: str) -> list[str]:
    """Check that a case or recording can be sent completely, because any answer would match a part that is cut off.

    Return the names of types that cannot be encoded.

    Raises:
        NoKey: it is too large.
    """
    try:
        return demand_whole(sent)
    except TooLarge as error:
        where = f"the case {case.title!r} of {exercise.name}"
        raise NoKey(f"{where} is too large, because {what} holds more than can be sent ({error})") from None


def _mistaken(exercise: Exercise, case: Case) -> Wrong:
    """Return a cached function that runs the misconception of a name on a case."""
    by_name = {m.name: m.wrong for m in exercise.misconceptions}
    return cache(lambda name: run(case.script(), by_name[name]))


def _declared(exercise: Exercise, cases: Iterable[KeyCase]) -> Key:
    known = tuple(KeyMisconception(m.name, m.hint, m.convention) for m in exercise.misconceptions)
    return Key(
        exercise.name, exercise.signature, exercise.hints, exercise.forbidden, known, tuple(cases), exercise.calls
    )


def _to_plain(key: Key) -> dict[str, Any]:
    return {
        "name": key.name,
        "signature": list(key.signature),
        "hints": list(key.hints),
        "forbidden": list(key.forbidden),
        "misconceptions": [[known.name, known.hint, known.convention] for known in key.misconceptions],
        "cases": [{**_case_to_plain(held.case), **_answers_to_plain(key, held)} for held in key.cases],
        "calls": list(key.calls),
    }


def _compared_to_plain(held: KeyCase) -> dict[str, Any]:
    """Return the reference's recording for a case that is compared with it."""
    return {"expected": held.expected.to_plain()} if held.is_compared and not held.case.again else {}


def _answers_to_plain(key: Key, held: KeyCase) -> dict[str, Any]:
    """Return the recordings of the reference and of every misconception."""
    if held.case.again:
        return {}
    wrong = {known.name: held.wrong(known.name).to_plain() for known in key.misconceptions}
    return {"expected": held.expected.to_plain(), "wrong": wrong}


def _case_to_plain(case: Case) -> dict[str, Any]:
    """Return plain values for `_case_from_plain`. A case that judges again shares the steps of the case before."""
    plain = {
        "title": case.title,
        "public": case.public,
        "weight": case.weight,
        "tolerance": case.tolerance,
        "values": case.values,
        "raises": case.raises,
        "laws": [[use.name, dict(use.params)] for use in case.laws],
        "seed": case.seed,
        "again": case.again,
        "needs": list(case.needs),
        "shown": list(case.shown),
        "by": case.by,
    }
    return plain if case.again else {**plain, "steps": [step.to_plain() for step in case.steps]}


def _from_plain(values: dict[str, Any]) -> Key:
    return Key(
        values["name"],
        tuple(values["signature"]),
        tuple(values["hints"]),
        tuple(values["forbidden"]),
        tuple(KeyMisconception(*known) for known in values["misconceptions"]),
        tuple(_held(values["cases"], _recorded)),
        tuple(values["calls"]),
    )


def _held(
    plain: Iterable[dict[str, Any]], answers: Callable[[Case, dict[str, Any]], tuple[Right, Wrong]]
) -> Iterator[KeyCase]:
    """Yield the cases in `plain`. `answers` returns the functions for the reference and the misconceptions."""
    held: KeyCase | None = None
    for values in plain:
        if values["again"] and held:
            held = _again(held, _case_from_plain(values, held.case.steps))
        else:
            case = _case_from_plain(values, tuple(Step.from_plain(step) for step in values["steps"]))
            held = KeyCase(case, *answers(case, values))
        yield held


def _recorded(_case: Case, values: dict[str, Any]) -> tuple[Right, Wrong]:
    """Return the recordings that a key file holds."""
    wrong = {name: Recording.from_plain(recording) for name, recording in values["wrong"].items()}
    return _read(values["expected"]), wrong.__getitem__


def _rerun(exercise: Exercise, case: Case, values: dict[str, Any]) -> tuple[Right, Wrong]:
    """Return the reference's recording from the message if it is there, and functions that run the rest."""
    right = _read(values["expected"]) if "expected" in values else _answered(exercise, case)
    return right, _mistaken(exercise, case)


def _read(plain: dict[str, Any]) -> Right:
    recording = Recording.from_plain(plain)
    return lambda: recording


def _case_from_plain(values: dict[str, Any], steps: tuple[Step, ...]) -> Case:
    return Case(
        values["title"],
        steps,
        values["public"],
        values["weight"],
        values["tolerance"],
        values["values"],
        values["raises"],
        tuple(LawUse(name, params) for name, params in values["laws"]),
        values["seed"],
        values["again"],
        needs=tuple(values["needs"]),
        shown=tuple(values["shown"]),
        by=values["by"],
    )
