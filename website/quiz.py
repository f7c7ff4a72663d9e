"""A prediction as a question on a page: its choices are buttons, and each has its reply."""

from __future__ import annotations

from html import escape

from course.exercise.prediction import LETTERS, Prediction
from course.judge.report import sentence


def quiz(asked: Prediction) -> str:
    """Return a prediction in HTML; replies are folded, so it works without a script, too."""
    choices = "".join(
        f'<details name="{escape(asked.name)}"><summary>{letter}) {sentence(choice.text)}</summary>'
        f'<p><b class="{"yes" if choice.is_right else "no"}">{"Right." if choice.is_right else "Not quite."}</b> '
        f"{sentence(choice.reply)}</p></details>"
        for letter, choice in zip(LETTERS, asked.choices, strict=False)
    )
    question = f"<p><b>Predict first.</b> {sentence(asked.question)}</p>"
    return f'<div class="quiz" id="{escape(asked.name)}">{question}{choices}</div>'
