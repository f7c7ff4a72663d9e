"""Render sheets for students and the key for a grader as HTML that prints, from templates beside this module."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from course.grading.course_files.fill_template import filled
from course.grading.viva.round import LETTERS, Round
from course.grading.viva.sheets import Sheet
from course.notebook.choices import blocks

MOST_NOTED = 6
"""The most signs outside of ASCII that a note below the code explains."""


def save_pages(this_round: Round, sheets: Sequence[Sheet], names: Mapping[str, str], title: str) -> list[Path]:
    """Write a page for each sheet, one with all of them, and the key, and return the paths of the last two."""
    from course.files import write_atomically

    facts = {
        "names": names,
        "course": title,
        "topic": this_round.topic,
        "letters": LETTERS,
        "prose": _prose,
        "note": _note,
    }
    latest = [*{sheet.student: sheet for sheet in sheets}.values()]
    latest.sort(key=lambda sheet: sheet.student)
    pages = {this_round.folder / "sheets" / f"{sheet.student}.html": [sheet] for sheet in latest}
    pages[this_round.folder / "sheets.html"] = latest
    for path, those in pages.items():
        write_atomically(path, filled(Path(__file__).parent, "sheets.html.j2", sheets=those, **facts).encode())
    key = this_round.folder / "key.html"
    write_atomically(key, filled(Path(__file__).parent, "key.html.j2", sheets=sheets, latest=latest, **facts).encode())
    return [this_round.folder / "sheets.html", key]


def _prose(text: str) -> Markup:
    return Markup(blocks(text))  # noqa: S704, escaped there


def _note(code: str) -> str:
    """Return a note on letters of code that may look like others, or an empty text."""
    signs = dict.fromkeys(sign for sign in code if not sign.isascii())
    told = [f"{sign} is {unicodedata.name(sign, f'U+{ord(sign):04X}')}" for sign in [*signs][:MOST_NOTED]]
    return f"In this code, {', '.join(told)}{' and so on' * (len(signs) > MOST_NOTED)}." if told else ""
