"""`review`: two minutes of what is due, questions about a student's own older code and predictions that were wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ..exercise.prediction import LETTERS
from ..questions import Question
from ..surroundings import variable
from ..syllabus import Topic
from .choices import Asked, as_asked, show_buttons
from .display import in_notebook, say, show
from .explaining import DAYS, in_days
from .folder import keep_questions, now, read_progress, read_questions
from .predictions import as_asked as prediction_asked
from .predictions import letter_of, prediction_called
from .standing import choice_in, date, notebook_of, time_of
from .this_course import this_course

MOST = 5
"""Questions of one review, which take about two minutes."""


@dataclass(frozen=True)
class Due:
    """Something to ask at a time, and how to ask it. `answered` stores when it comes again."""

    at: datetime
    ask: Callable[[Callable[[str], None]], Asked]
    key: int
    answered: Callable[[bool], None]

    def asked(self) -> Asked:
        """Return the question for the screen."""
        stored = False

        def remember(letter: str) -> None:
            nonlocal stored
            if not stored:
                stored = True
                self.answered(LETTERS.index(letter) == self.key)

        return self.ask(remember)


def review(choice: str = "") -> None:
    """Ask up to five questions that are due: about your own code of some weeks ago, and predictions that were wrong.

    A question comes again after 7, 21 and 60 days. They earn no points.

    Args:
        choice: `"a"`, `"b"` and so on answers the first question, where buttons do not work.
    """
    if variable("NBGRADER_EXECUTION"):
        return
    found, today = sorted(_all(), key=lambda due: due.at), datetime.fromisoformat(now())
    due = [one for one in found if one.at <= today][:MOST]
    if not due:
        later = f" The next one is due on {date(found[0].at)}." if found else ""
        how = "" if found else " `explain` and `predict` in the notebooks bring something to review."
        say(f"Nothing is due.{later}{how}")
        return
    rows = [one.asked() for one in due]
    if in_notebook() and not choice:
        show_buttons(rows, are_code=True)
        return
    first, reply = rows[0], ""
    if choice:
        letter = letter_of(choice, first.letters, "this question")
        first.remember(letter)
        show(first.question_html(first.reply_html(letter)), f"{reply}{first.reply_text(letter)}")
    if len(rows) > bool(choice):
        row = rows[bool(choice)]
        show(row.answered_html(), row.answered_text())


def _all() -> Iterator[Due]:
    """Yield everything that is kept, from the folders beside this one, or from this folder."""
    topics = this_course().topics
    folders = [notebook_of(topic).parent for topic in topics if notebook_of(topic).is_file()] or [Path()]
    for folder in folders:
        for name, kept in read_questions(folder).items():
            yield from _questions(name, kept, folder)
        for topic in topics:
            yield from _predictions(topic, folder)


def _questions(name: str, kept: dict[str, Any], folder: Path) -> Iterator[Due]:
    later = kept.get("later")
    for number, entry in enumerate(later if isinstance(later, list) else []):
        try:
            question, step, at = Question.from_plain(entry["question"]), int(entry["step"]), time_of(entry, "due")
        except (KeyError, TypeError, ValueError):
            continue
        if at is not None:

            def answered(is_right: bool, number: int = number, step: int = step) -> None:
                entries = list(read_questions(folder)[name]["later"])
                entries[number] = {**entries[number], **_next(step, is_right)}
                keep_questions(name, folder, later=entries)

            def ask(remember: Callable[[str], None], question: Question = question) -> Asked:
                when = time_of(kept, "at")
                title = f"Your `{name}`{f' of {date(when)}' if when else ''}."
                return as_asked(question, title, "", remember, _HOW)

            yield Due(at, ask, question.key, answered)


_HOW = 'Answer with review("a"), or another letter.'


def _predictions(topic: Topic, folder: Path) -> Iterator[Due]:
    known, kept = read_progress(folder), read_questions(folder)
    for name in topic.predictions:
        first, made = choice_in(known.get(name, {})), time_of(known.get(name, {}), "predicted_at")
        if not first or made is None:
            continue
        prediction = prediction_called(name)
        key = next(number for number, choice in enumerate(prediction.choices) if choice.is_right)
        if LETTERS.find(first) == key:
            continue
        facts = kept.get(name, {})
        at = time_of(facts, "due") or (made + timedelta(DAYS[0]) if "due" not in facts else None)
        step = facts.get("step", 0)
        if at is not None and isinstance(step, int):

            def answered(is_right: bool, name: str = name, step: int = step) -> None:
                keep_questions(name, folder, **_next(step, is_right))

            def ask(remember: Callable[[str], None], prediction: Any = prediction) -> Asked:
                return prediction_asked(prediction, "", remember, _HOW)

            yield Due(at, ask, key, answered)


def _next(step: int, is_right: bool) -> dict[str, Any]:
    """Return when a question comes again. Without a time, it does not."""
    following = step + 1 if is_right else 0
    if following >= len(DAYS):
        return {"step": following, "due": ""}
    return {"step": following, "due": in_days(DAYS[following])}
