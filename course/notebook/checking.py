"""`check`: judge an answer in this process, or answer the judge's requests while the notebook is graded."""

from __future__ import annotations

import inspect
import socket
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from textwrap import dedent
from typing import Any, ParamSpec

from torch import Tensor, nn

from ..exercise.runner import run
from ..exercise.script import Script
from ..exercise.settings import NOTES, as_examined
from ..exercise.values import Malformed
from ..exercise.weights import weights_of
from ..exercise.wire import receive, send
from ..judge.judging import judge
from ..judge.prerequisite import failing_prerequisite, with_prerequisite
from ..judge.report import html, text
from ..judge.verdict import Verdict
from ..source import is_stub
from ..surroundings import keep_surroundings, variable
from ..syllabus import Topic
from .display import in_notebook, say, show
from .find_key import called, key, meant, passed_over
from .folder import note, now, read_progress
from .hide_traceback import hide_traceback
from .machine import compute_on_one_thread
from .overwritten import watch_over_names
from .time_limit import TimeIsUp, at_most
from .unfinished import judged_early, said_of
from .unwritten import speak_plainly
from .vscode import work_beside_notebook

speak_plainly()  # at import, so in the notebook's first cell
work_beside_notebook()
compute_on_one_thread()
watch_over_names()
if in_notebook() and variable("NBGRADER_EXECUTION"):
    keep_surroundings()  # a kernel of nbgrader's own (Validate)


P = ParamSpec("P")
_PLAIN = (type(None), str, int, float, list, tuple, dict, Tensor)
"""Types of values that a function may return and that are never an answer."""

SECONDS = 20.0
"""Processor time in seconds for an exercise's public checks, three times that for a model. Grading takes as long."""

last_checked: dict[str, tuple[Any, Verdict]] = {}
"""The answer that was checked last, and its verdict, by exercise."""


class CheckFailed(AssertionError):
    """The public checks of an exercise fail under nbgrader's Validate."""

    def _render_traceback_(self) -> list[str]:
        """Return the report alone as IPython's traceback, because the course's lines would not help a student."""
        return str(self).splitlines()


def _completely(checks: Callable[P, None]) -> Callable[P, None]:
    """Wrap `check` so that a call with missing or extra arguments raises an error that says what it takes."""
    takes = inspect.signature(checks)

    @wraps(checks)
    def called(*given: P.args, **named: P.kwargs) -> None:
        try:
            takes.bind(*given, **named)
        except TypeError:
            raise _what_it_takes(given[0] if given else named.get("name", "")) from None
        checks(*given, **named)

    return called


def _what_it_takes(name: object) -> TypeError:
    if isinstance(name, str) and name:
        key(name)  # raises an error unless there is such an exercise
    whose = meant(name)
    written = whose if called(whose)[1].budget is None else "record.model"
    said = f"check takes an exercise's name, in quotes, and what you wrote for it: check({whose!r}, {written})"
    return hide_traceback(TypeError(said))


@_completely
def check(name: str, answer: Any) -> None:
    """Check `answer` for the exercise `name` with its public checks, and show the result.

    While a notebook is graded, the judge outside this process requests the outputs instead. While nbgrader
    validates, a failing check raises an error.

    Raises:
        KeyError: no exercise has that name.
        TypeError: an argument is missing; `name` is no name; or `answer` is a name, a value, what `fit` returned, or
            an object instead of its class.
        TimeoutError: the checks exceed their time limit.
        CheckFailed: under nbgrader's Validate, when a public check fails.
    """
    address = variable("COURSE_JUDGE")
    if address and _serve(address, name, answer):
        return
    if elsewhere := passed_over(called(name)[0]):
        print(elsewhere)
        return
    _demand_an_answer(name, answer)
    seconds = SECONDS * (1 if called(name)[1].budget is None else 3)
    try:
        with at_most(seconds):
            verdict = public_verdict(name, answer)
    except TimeIsUp as stopped:
        said = f"The check was stopped after {seconds:g} seconds, at this line of yours. Does a loop never end?"
        raise hide_traceback(TimeoutError(said).with_traceback(stopped.__traceback__)) from None
    except KeyboardInterrupt as stopped:  # probably an endless loop, at the line that ran
        stopped.args = ("You interrupted the check, at this line of yours.",)
        raise hide_traceback(stopped)  # noqa: B904  # the same error with a new message
    if verdict.kind != "passed":
        verdict = judged_early(verdict, said_of(answer))
        prerequisite = failing_prerequisite(name, _made_of(answer), _standing(called(name)[0]), _written())
        verdict = with_prerequisite(verdict, prerequisite, key(name))
    if not isinstance(answer, nn.Module):  # a model may be large, and no other answer calls it
        last_checked[name] = answer, verdict
    passed = sum(case.passed for case in verdict.cases)
    known = read_progress().get(name, {})
    first = verdict.kind == "passed" != known.get("kind") and "passed_at" not in known
    when = {"passed_at": now()} if first else {}
    is_news = first and not any("passed_at" in facts for facts in read_progress().values())
    note(name, kind=verdict.kind, passed=passed, of=len(key(name).cases), misconception=verdict.misconception, **when)
    if variable("NBGRADER_EXECUTION") == "validate" and verdict.kind != "passed":
        raise CheckFailed(text(verdict, public=True))
    show(html(verdict, public=True), text(verdict, public=True))
    if is_news and not isinstance(answer, nn.Module):
        say(f'Can you explain your code? `from course import explain`, then `explain("{name}")` asks about it.')


def _demand_an_answer(name: str, answer: Any) -> None:
    """Raise TypeError for a mistake in the call itself, as opposed to a wrong answer."""
    cases = key(name).cases  # raises an error unless there is such an exercise
    if isinstance(getattr(answer, "model", None), nn.Module) and not callable(answer):
        given = f"Give check({name!r}, …) the model in it, record.model"
        raise hide_traceback(TypeError(f"this is the record of a training. {given}"))
    made = any(step.into == "model" for held in cases for step in held.case.steps[:1])
    if made and (isinstance(answer, nn.Module) or not callable(answer)) and not isinstance(answer, _PLAIN):
        kind = type(answer).__name__
        raise hide_traceback(
            TypeError(f"check({name!r}, …) takes the class itself, {kind}, but got an object of it, {kind}(…)")
        )
    called = any(step.on == "answer" for held in cases for step in held.case.steps)
    if isinstance(answer, _PLAIN) or (called and not callable(answer)):
        got = f"{answer!r:.60}"
        raise hide_traceback(
            TypeError(f"check({name!r}, …) takes what you wrote, the function or class itself, but got {got}")
        )


def public_verdict(name: str, answer: Any) -> Verdict:
    """Judge an answer in this process with the public checks."""
    points = called(name)[1].points
    with as_examined(answer) as examined:
        verdict = judge(key(name), lambda script: run(script, examined.answer), points, _source(examined.answer))
    return replace(verdict, notes=tuple(NOTES[note] for note in examined.notes))


def _standing(topic: Topic) -> dict[str, Verdict]:
    """Return verdicts of a topic's answers: those unchanged since their check, and "missing" for unwritten ones."""
    now = vars(sys.modules["__main__"])
    unwritten = [item for item in topic.items if item.name in now and is_stub(_source(now[item.name]))]
    missing = {item.name: Verdict.without_points(item.name, "missing", item.points, "") for item in unwritten}
    return missing | {name: verdict for name, (answer, verdict) in last_checked.items() if now.get(name) is answer}


def _written() -> dict[str, str]:
    """Return the functions, classes and models of the notebook by name, each with its text."""
    return {name: _made_of(value) for name, value in vars(sys.modules["__main__"]).items() if _is_written(value)}


def _is_written(value: Any) -> bool:
    """Return whether a value is a model, or a function or class that the notebook defines."""
    if isinstance(value, nn.Module):
        return True
    return (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == "__main__"


def _made_of(answer: Any) -> str:
    """Return the text of an answer or, for a trained model, the names of the classes of its parts."""
    if isinstance(answer, nn.Module):
        return "\n".join(sorted({type(part).__name__ for part in answer.modules()}))
    return _source(answer)


def _source(answer: Any) -> str:
    """Return the source of a function, or of a class's methods. Python finds no more for a class in a notebook."""
    written = filter(inspect.isfunction, vars(answer).values()) if inspect.isclass(answer) else [answer]
    try:
        return "\n".join(dedent(inspect.getsource(part)) for part in written)
    except Exception:  # noqa: BLE001 - the source is not from a cell, or has changed since
        return ""


def _serve(address: str, name: str, answer: Any) -> bool:
    """Run the judge's scripts for `answer`. Return False if the judge does not expect this check."""
    with as_examined(answer) as examined, socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        send(connection, {"ready": name})
        while True:
            try:
                request = receive(connection)
            except (ConnectionError, Malformed):
                return True
            if "run" in request:
                send(connection, run(Script.from_plain(request["run"]), examined.answer).to_plain())
            elif "weights" in request:
                send(connection, weights_of(examined.answer))
            elif "notes" in request:
                send(connection, examined.notes)
            elif "done" in request:
                print(request["done"])
                return True
            else:
                return False
