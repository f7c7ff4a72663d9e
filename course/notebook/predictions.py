"""`predict`: ask what the next cell will show, with choices and a reply to each."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ..exercise.prediction import LETTERS, Prediction
from ..judge.report import sentence
from ..syllabus import Topic, Unknown, near
from .display import in_notebook, show
from .folder import note, now, read_progress
from .hide_traceback import hide_traceback
from .keys import answer_key, passed_over
from .standing import choice_in
from .this_course import this_course

_BUTTONS = "course-predict"
_STYLE = f"""<style>
.{_BUTTONS} button {{
  width: auto; max-width: 52em; height: auto; min-height: 28px; margin: 2px; padding: 5px 12px;
  text-align: left; white-space: normal; line-height: 1.4;
}}
.{_BUTTONS} .widget-toggle-button {{ display: block; }}
.widget-vbox .course-choices,
.jp-OutputArea-child:has(+ .jp-OutputArea-child .{_BUTTONS}) .course-choices {{ display: none; }}
</style>"""
"""Style of the choice buttons. The list of choices appears only if no buttons follow the question."""

_BOX = (
    "border-left:4px solid #8a63c9;padding:6px 12px;margin:4px 0;max-width:52em;line-height:1.45;color:inherit;"
    "font-family:system-ui,sans-serif;font-size:14px;white-space:normal"
)


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
    asked = _prediction(name)
    letters = LETTERS[: len(asked.choices)]
    if choice:
        letter = choice.strip().lower() if isinstance(choice, str) else ""
        if len(letter) != 1 or letter not in letters:
            raise hide_traceback(Unknown(f"{name} has no choice {choice!r:.40}. Choose one of {', '.join(letters)}"))
        _remember(asked, letter)
    else:
        letter = remembered(name)
    chosen = letter if letter and letter in letters else ""
    if in_notebook() and not choice:
        _show_buttons(asked, chosen)
        return
    text = "\n".join([_question_text(asked), _reply_text(asked, chosen) if chosen else _how_to_answer(asked)])
    show(_html(asked, _reply_html(asked, chosen) if chosen else escape(_how_to_answer(asked))), text)


def remembered(name: str) -> str:
    """Return the letter of the first choice for a prediction, or an empty string."""
    chosen = choice_in(read_progress().get(name, {}))
    return chosen if chosen in LETTERS else ""


def _remember(asked: Prediction, letter: str) -> None:
    """Store the first choice only, because later ones are made after reading the reply."""
    if not remembered(asked.name):
        note(asked.name, predicted=letter, predicted_at=now())


def _prediction(name: str) -> Prediction:
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


def _show_buttons(asked: Prediction, chosen: str) -> None:
    """Show the question, a button for each choice, and below them the reply to the chosen one."""
    import ipywidgets as widgets
    from IPython.display import display

    from ..show.panel import Panel

    pairs = zip(LETTERS, asked.choices, strict=False)
    options = [(f"{letter}) {choice.text.replace('`', '')}", letter) for letter, choice in pairs]
    buttons = widgets.ToggleButtons(options=options, value=chosen or None)
    buttons.add_class(_BUTTONS)
    reply = widgets.HTML(_reply_html(asked, chosen) if chosen else "")

    def answer(change: dict[str, Any]) -> None:
        if change["new"]:
            _remember(asked, change["new"])
            reply.value = _reply_html(asked, change["new"])

    buttons.observe(answer, "value")
    question = widgets.HTML(_STYLE + _html(asked, escape(_how_to_answer(asked))))
    display(Panel([question, buttons, reply]))


def _html(asked: Prediction, below: str) -> str:
    rows = "".join(f'<li style="margin:2px 0">{sentence(choice.text)}</li>' for choice in asked.choices)
    return (
        f'<div style="{_BOX}"><b>Predict first.</b> {sentence(asked.question)}<div class="course-choices">'
        f'<ol style="list-style-type:lower-alpha;margin:6px 0 0;padding-left:1.6em">{rows}</ol>'
        f'<div style="margin-top:6px">{below}</div></div></div>'
    )


def _reply_html(asked: Prediction, letter: str) -> str:
    choice = asked.choices[LETTERS.index(letter)]
    mark, colour = ("✓", "#2e9e5b") if choice.is_right else ("✗", "#d1493f")
    return (
        f'<div role="status" style="max-width:52em;line-height:1.45;font-size:14px;white-space:normal">'
        f'<span style="color:{colour}" aria-hidden="true">{mark}</span> <b>{letter}</b> '
        f"{_verdict(choice.is_right)} {sentence(choice.reply)}</div>"
    )


def _question_text(asked: Prediction) -> str:
    rows = (f"  {letter}) {choice.text}" for letter, choice in zip(LETTERS, asked.choices, strict=False))
    return "\n".join([f"Predict first. {asked.question}", *rows])


def _reply_text(asked: Prediction, letter: str) -> str:
    choice = asked.choices[LETTERS.index(letter)]
    return f"{'✓' if choice.is_right else '✗'} {letter} {_verdict(choice.is_right)} {choice.reply}"


def _verdict(is_right: bool) -> str:
    return "is right." if is_right else "is not right."


def _how_to_answer(asked: Prediction) -> str:
    return f'Answer with predict("{asked.name}", "a"), or another letter.'
