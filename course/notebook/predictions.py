"""`predict`: ask what the next cell will show, with choices and a reply to each."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.util import find_spec

from ..exercise.prediction import LETTERS, Prediction
from ..judge.report import sentence
from ..syllabus import Topic, Unknown, near
from .choices import Asked, show_buttons
from .display import in_notebook, show
from .find_key import answer_key, passed_over
from .folder import note, now, read_progress
from .hide_traceback import hide_traceback
from .standing import choice_in
from .this_course import this_course


def predict(name: str, choice: str = "") -> None:
    """Ask what the next cell will show, or reply to a choice. It earns no points. `.course/` stores the choice.

    Args:
        name: of the prediction, such as `"scores_without_scaling"`.
        choice: `"a"`, `"b"` and so on. Without it, the question is shown, with buttons where they work.

    Raises:
        Unknown: no prediction has that name, or it has no such choice.
    """
    if elsewhere := passed_over(_topic_of(name)):
        print(elsewhere)
        return
    prediction = prediction_called(name)
    letters = LETTERS[: len(prediction.choices)]
    if choice:
        letter = letter_of(choice, letters, name)
        _remember(prediction, letter)
    else:
        letter = remembered(name)
    asked = as_asked(prediction, letter if letter in letters else "", lambda letter: _remember(prediction, letter))
    if in_notebook() and not choice:
        show_buttons([asked])
    else:
        show(asked.answered_html(), asked.answered_text())


def letter_of(choice: object, letters: str, name: str) -> str:
    """Return the letter that a choice means.

    Raises:
        Unknown: it is no letter of a choice.
    """
    letter = choice.strip().lower() if isinstance(choice, str) else ""
    if len(letter) != 1 or letter not in letters:
        raise hide_traceback(Unknown(f"{name} has no choice {choice!r:.40}. Choose one of {', '.join(letters)}"))
    return letter


def remembered(name: str) -> str:
    """Return the letter of the first choice for a prediction, or an empty string."""
    chosen = choice_in(read_progress().get(name, {}))
    return chosen if chosen in LETTERS else ""


def _remember(asked: Prediction, letter: str) -> None:
    """Store the first choice only, because later ones are made after reading the reply."""
    if not remembered(asked.name):
        note(asked.name, predicted=letter, predicted_at=now())


def prediction_called(name: str) -> Prediction:
    """Return the prediction of a name.

    Raises:
        Unknown: there is none.
    """
    return _declared(_topic_of(name), name)


@cache
def _declared(topic: Topic, name: str) -> Prediction:
    if find_spec("course.hidden") is not None:
        declared = {one.name: one for one in import_module("course.hidden").predictions(topic)}
    else:
        declared = answer_key(topic.name).predictions
    return declared[name]


def _topic_of(name: str) -> Topic:
    topics = this_course().topics
    for topic in topics:
        if name in topic.predictions:
            return topic
    names = [known for topic in topics for known in topic.predictions]
    raise hide_traceback(Unknown(f"no prediction is called {name!r:.60}{near(name, names)}"))


def as_asked(asked: Prediction, chosen: str, remember: Callable[[str], None], how_to_answer: str = "") -> Asked:
    """Return a prediction for the screen."""

    def reply(letter: str) -> tuple[bool, str]:
        choice = asked.choices[LETTERS.index(letter)]
        return choice.is_right, choice.reply

    return Asked(
        f"<b>Predict first.</b> {sentence(asked.question)}",
        f"Predict first. {asked.question}",
        tuple(choice.text for choice in asked.choices),
        chosen,
        reply,
        remember,
        how_to_answer or f'Answer with predict("{asked.name}", "a"), or another letter.',
    )
