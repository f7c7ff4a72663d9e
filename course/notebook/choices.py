"""Show a question with its choices as buttons and a reply, for `predict`, `explain` and `review`.

Question and reply are outputs of their own, in HTML, so a saved notebook keeps them. The buttons are another one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..exercise.prediction import LETTERS
from ..judge.report import sentence

if TYPE_CHECKING:
    from ..questions import Question

BUTTONS = "course-predict"
STYLE = f"""<style>
.{BUTTONS} button {{
  width: auto; max-width: 52em; height: auto; min-height: 28px; margin: 2px; padding: 5px 12px;
  text-align: left; white-space: pre-wrap; line-height: 1.4;
}}
.{BUTTONS} .widget-toggle-button {{ display: block; }}
.{BUTTONS}-code button {{ font-family: var(--jp-code-font-family, monospace); font-size: 13px; }}
.widget-vbox .course-choices,
.jp-OutputArea-child:has(+ .jp-OutputArea-child .{BUTTONS}) .course-choices {{ display: none; }}
</style>"""
"""Style of the choice buttons. The list of choices appears only if no buttons follow the question."""

_BOX = (
    "border-left:4px solid #8a63c9;padding:6px 12px;margin:4px 0;max-width:52em;line-height:1.45;color:inherit;"
    "font-family:system-ui,sans-serif;font-size:14px;white-space:normal"
)
_PRE = (
    "margin:4px 0;padding:6px 10px;background:rgba(128,128,128,.12);color:inherit;border-radius:4px;overflow-x:auto;"
    "font-family:var(--jp-code-font-family,monospace);font-size:13px;line-height:1.4"
)


@dataclass(frozen=True)
class Asked:
    """A question on the screen: its HTML and text, its choices, the first choice if there is one, and the replies.

    `reply` returns whether the choice of a letter is right, and the reason. `remember` stores it.
    """

    html: str
    text: str
    choices: tuple[str, ...]
    chosen: str
    reply: Callable[[str], tuple[bool, str]]
    remember: Callable[[str], None]
    how_to_answer: str

    @property
    def letters(self) -> str:
        """Return the letters of the choices."""
        return LETTERS[: len(self.choices)]

    def answered_html(self) -> str:
        """Return the question with the reply, or with how to answer, where no buttons work."""
        return self.question_html(self.reply_html(self.chosen) if self.chosen else "")

    def answered_text(self) -> str:
        """Return the same as text."""
        return "\n".join([self.question_text(), self.reply_text(self.chosen) if self.chosen else self.how_to_answer])

    def question_html(self, below: str = "") -> str:
        """Return the question with a list of its choices and what stands below, which hide where buttons follow."""
        rows = "".join(f'<li style="margin:2px 0">{blocks(choice)}</li>' for choice in self.choices)
        return (
            f'{STYLE}<div style="{_BOX}">{self.html}<div class="course-choices">'
            f'<ol style="list-style-type:lower-alpha;margin:6px 0 0;padding-left:1.6em">{rows}</ol>'
            f'<div style="margin-top:6px">{below or escape(self.how_to_answer)}</div></div></div>'
        )

    def reply_html(self, letter: str) -> str:
        """Return the reply to a choice."""
        is_right, reason = self.reply(letter)
        mark, colour = ("✓", "#2e9e5b") if is_right else ("✗", "#d1493f")
        return (
            f'<div role="status" style="max-width:52em;line-height:1.45;font-size:14px;white-space:normal">'
            f'<span style="color:{colour}" aria-hidden="true">{mark}</span> <b>{letter}</b> '
            f"{_verdict(is_right)} {sentence(reason)}</div>"
        )

    def question_text(self) -> str:
        """Return the question and its choices as text."""
        rows = (f"  {letter}) {choice}" for letter, choice in zip(self.letters, self.choices, strict=True))
        return "\n".join([self.text, *rows])

    def reply_text(self, letter: str) -> str:
        """Return the reply to a choice as text."""
        is_right, reason = self.reply(letter)
        return f"{'✓' if is_right else '✗'} {letter} {_verdict(is_right)} {reason}"


def _verdict(is_right: bool) -> str:
    return "is right." if is_right else "is not right."


def blocks(text: str) -> str:
    """Return text as HTML. Lines that begin with four spaces are a block of code."""
    parts = []
    for is_code, lines in groupby(text.strip("\n").split("\n"), lambda line: line.startswith("    ")):
        if is_code:
            parts.append(listing("\n".join(line[4:] for line in lines), "pre-wrap"))
        else:
            parts.append("<br>".join(map(sentence, lines)))
    return "".join(parts)


def listing(code: str, space: str = "pre") -> str:
    """Return lines of code as HTML. A long line scrolls, or it wraps with `pre-wrap`."""
    style = f"{_PRE};white-space:{space};word-break:normal;overflow-wrap:anywhere"  # JupyterLab breaks inside numbers
    return f'<pre tabindex="0" style="{style}">{escape(code)}</pre>'


def as_asked(
    question: Question, title: str, chosen: str, remember: Callable[[str], None], how_to_answer: str, before: str = ""
) -> Asked:
    """Return a question about code for the screen. The code is left out if it is that of the question `before`."""

    def reply(letter: str) -> tuple[bool, str]:
        number = LETTERS.index(letter)
        return number == question.key, question.choices[number].reason

    code = "" if question.code == before else question.code
    return Asked(
        f"<b>{blocks(title)}</b>{listing(code) if code else ''}<div>{blocks(question.text)}</div>",
        "\n".join(filter(None, [title, code, question.text])),
        tuple(choice.text for choice in question.choices),
        chosen,
        reply,
        remember,
        how_to_answer,
    )


def show_buttons(questions: Sequence[Asked], are_code: bool = False) -> None:
    """Show questions one after the other: the next one appears when the one before is answered."""
    import ipywidgets as widgets
    from IPython.display import display

    from ..show.panel import Panel

    rows = [_row(widgets, asked, are_code) for asked in questions]

    def appear(number: int) -> None:
        if number < len(rows):
            question, buttons, _ = rows[number]
            question.value, buttons.layout.display = questions[number].question_html(), None

    for number, (asked, (_, buttons, reply)) in enumerate(zip(questions, rows, strict=True)):

        def answer(
            change: dict[str, Any], asked: Asked = asked, reply: Any = reply, following: int = number + 1
        ) -> None:
            if change["new"]:
                asked.remember(change["new"])
                reply.value = asked.reply_html(change["new"])
                appear(following)

        buttons.observe(answer, "value")
        if all(before.chosen for before in questions[:number]):
            appear(number)
    display(Panel([part for row in rows for part in row]))


def _row(widgets: Any, asked: Asked, are_code: bool) -> tuple[Any, Any, Any]:
    """Return the question, which is empty until it appears, its buttons, and the reply to the first choice."""
    pairs = zip(asked.letters, asked.choices, strict=True)
    options = [(f"{letter}) {_plain(choice, are_code)}", letter) for letter, choice in pairs]
    buttons = widgets.ToggleButtons(options=options, value=asked.chosen or None)
    buttons.layout.display = "none"
    buttons.add_class(BUTTONS)
    if are_code:
        buttons.add_class(f"{BUTTONS}-code")
    return widgets.HTML(), buttons, widgets.HTML(asked.reply_html(asked.chosen) if asked.chosen else "")


def _plain(choice: str, is_code: bool) -> str:
    """Return a choice for a button. Signs for code stay where a question about code has words beside them."""
    text = choice.replace("\n    ", "\n").strip("\n")
    return text if is_code and not text.startswith("`") else text.replace("`", "")
