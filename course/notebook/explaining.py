"""`explain`: three questions about a student's own code, after its check passes. They earn no points."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from ..exercise.prediction import LETTERS
from ..questions import Apart, Question, Unaskable, ask, gathered, subject
from ..surroundings import variable
from .checking import last_checked
from .choices import Asked, as_asked, show_buttons
from .display import in_notebook, say, show
from .find_key import called, key
from .folder import folder_number, keep_questions, note, now, read_questions
from .predictions import letter_of
from .this_course import this_course

ASKED = 3
"""Questions that `explain` asks. As many others are kept for `review`, so it never executes old code."""

DAYS = (7, 21, 60)
"""Days until a question comes again. After a right answer the next interval follows, after a wrong one the first."""


def explain(name: str, choice: str = "") -> None:
    """Ask three questions about your own code for an exercise, one after the other. They earn no points.

    Each question has four choices and a reply to each, which come from running your code and changed copies of it.
    `.course/` stores them with your first choices, so they are the same when you open the notebook again.

    Args:
        name: of the exercise, such as `"softmax"`. Its check must have passed.
        choice: `"a"`, `"b"` and so on answers the first open question, where buttons do not work.

    Raises:
        Unknown: no exercise has that name, or the question has no such choice.
    """
    item = called(name)[1]
    if variable("NBGRADER_EXECUTION"):
        print("No questions are asked while this notebook is graded.")
        return
    if item.kind != "exercise":
        say(f"`{name}` has no function or class of yours to ask about. Try an exercise instead.")
        return
    questions = _questions(name)
    if not questions:
        return
    _ask(name, questions, choice)


def _questions(name: str) -> list[Question]:
    """Return the stored questions about this code, or new ones, or none after saying why."""
    kept = read_questions().get(name, {})
    answer, verdict = last_checked.get(name, (None, None))
    is_written = "__main__" in sys.modules and name in vars(sys.modules["__main__"])
    if verdict is None and not is_written and (stored := _stored(kept)):
        return stored
    is_current = any(value is answer for value in vars(sys.modules["__main__"]).values())
    if verdict is None or verdict.kind != "passed" or not is_current:
        say(f'Run `check("{name}", {name})` first. Once it passes, `explain("{name}")` asks about your code.')
        return []
    try:
        return _made(name, answer, kept)
    except Unaskable as reason:
        say(f"There is nothing to ask about `{name}`, because {reason}.")
    except OSError:
        say("This machine cannot start the process that runs your code, so `explain` does not work here.")
    return []


def _made(name: str, answer: Any, kept: dict[str, Any]) -> list[Question]:
    exercises = {item.name for topic in this_course().topics for item in topic.items}
    calls = key(name).calls
    source, setup = gathered(answer, lambda other: other in exercises and other != name, calls)
    about = subject(answer.__name__, source, setup, calls, name)
    digest = hashlib.sha256("\0".join([about.source, setup, *about.calls]).encode()).hexdigest()
    if kept.get("digest") == digest and (stored := _stored(kept)):
        return stored
    questions = ask(about, Apart(), folder_number(), 2 * ASKED)
    asked, later = questions[:ASKED], [_later(one, step) for step, one in enumerate(questions[ASKED:])]
    plain = [question.to_plain() for question in asked]
    keep_questions(name, digest=digest, at=now(), asked=plain, chosen=[""] * ASKED, later=later)
    return asked


def _stored(kept: dict[str, Any]) -> list[Question]:
    """Return the questions in `.course/`, or none if somebody has edited them."""
    try:
        return [Question.from_plain(plain) for plain in kept["asked"]]
    except (KeyError, TypeError, ValueError):
        return []


def _chosen(name: str) -> list[str]:
    chosen = read_questions().get(name, {}).get("chosen")
    letters = [one if one in (*LETTERS, "") else "" for one in chosen] if isinstance(chosen, list) else []
    return [*letters, *[""] * ASKED][:ASKED]


def _ask(name: str, questions: list[Question], choice: str) -> None:
    def remember(number: int) -> Callable[[str], None]:
        return lambda letter: _remember(name, questions, number, letter)

    def asked(number: int, before: str) -> Asked:
        how = f'Answer with explain("{name}", "a"), or another letter.'
        title = f"Question {number + 1} of {len(questions)} about your `{name}`."
        return as_asked(questions[number], title, _chosen(name)[number], remember(number), how, before)

    chosen = _chosen(name)
    first = chosen.index("") if "" in chosen else len(questions)
    if choice and first < len(questions):
        remember(first)(letter_of(choice, LETTERS, f"question {first + 1}"))
    if in_notebook() and not choice:
        codes = ["", *(question.code for question in questions)]
        show_buttons([asked(number, codes[number]) for number in range(len(questions))], are_code=True)
        return
    shown = range(first, min(first + 2, len(questions))) if choice else range(min(first + 1, len(questions)))
    rows = [asked(number, "") for number in shown]
    show("".join(row.answered_html() for row in rows), "\n\n".join(row.answered_text() for row in rows))


def _remember(name: str, questions: list[Question], number: int, letter: str) -> None:
    """Store the first choice only, because later ones are made after reading the reply. A wrong one is asked again."""
    chosen = _chosen(name)
    if chosen[number]:
        return
    chosen[number] = letter
    later = read_questions().get(name, {}).get("later", [])
    if LETTERS.index(letter) != questions[number].key:
        later = [*later, _later(questions[number], 0)]
    keep_questions(name, chosen=chosen, later=later)
    right = sum(LETTERS.find(one) == asked.key for one, asked in zip(chosen, questions, strict=False) if one)
    note(name, explained=right, questions=len(questions))


def _later(question: Question, step: int) -> dict[str, Any]:
    """Return a question for `review`, after the interval of a step."""
    return {"question": question.to_plain(), "step": step, "due": in_days(DAYS[step])}


def in_days(days: int) -> str:
    """Return the time in so many days, in the form of `now`."""
    return (datetime.fromisoformat(now()) + timedelta(days)).isoformat()
