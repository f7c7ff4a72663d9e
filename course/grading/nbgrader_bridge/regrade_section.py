"""Put a student's regrade requests with their decisions on the page of feedback, and offer new requests.

The page runs no script. So each request is a prepared file, which a link saves, and a line to copy.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape
from typing import Any
from urllib.parse import quote

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.course_files.cells import grade_id
from course.grading.gradebook.scores import Scores, read_scores
from course.grading.intake.regrade_requests import Request, kept_requests, line_of
from course.grading.nbgrader_bridge.course_of import course_of

SECTION = "course_regrade_section"
"""The key of a page's resources under which the section stands."""

BOX = "margin:0 0 1em;padding:.6em 1em;border:1px solid #8a97a5;border-left-width:4px;border-radius:4px"
SUMMARY = "display:list-item;cursor:pointer;font-weight:bold"

HOW = (
    "Write your reason behind the colon, and say which line of your answer or of the feedback you mean. Hand the "
    "file in where you handed in your notebook, or type the line there as a text. Your instructor reads it and "
    "decides. The decision stands here on your next page of feedback."
)


class OfferRequests(NbGraderPreprocessor):
    """A feedback step that makes the section, unless `course.toml` says that the class makes no requests."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Keep the section in `resources`, for `with_section`."""
        course, about = course_of(self), resources["nbgrader"]
        if course.topic_in(about["notebook"]) is None or not course.outline.takes_requests:
            return nb, resources
        scores = read_scores(about["db_url"], about["assignment"], about["student"], about["notebook"])
        kept = [one for one in kept_requests(course.root, about["assignment"]) if one.asked.student == about["student"]]
        names = list(dict.fromkeys(filter(None, map(grade_id, nb.cells))))
        resources[SECTION] = section(about["assignment"], about["student"], names, scores, kept)
        return nb, resources


def section(topic: str, student: str, names: Iterable[str], scores: Scores | None, kept: Iterable[Request]) -> str:
    """Return the section as HTML, or "" if there is nothing to tell and nothing to ask for.

    Args:
        names: the cells of the notebook, in its order.
    """
    kept = list(kept)
    open_now = {one.asked.exercise for one in kept if one.decision is None}
    known = scores.cells if scores else {}
    below = {
        name: (known[name] or 0.0, scores.maxima[name]) for name in names if scores and _may_be_asked(name, scores)
    }
    offers = [_offer(topic, student, name, *points) for name, points in below.items() if name not in open_now]
    parts = ["".join(map(_told, kept)), _offered(offers)]
    inside = "".join(filter(None, parts))
    return f'<section aria-label="Regrade requests" style="{BOX}">{inside}</section>' if inside else ""


def with_section(page: str, section: str) -> str:
    """Return the page with the section above the notebook. A template without that place gets it at its end."""
    if not section:
        return page
    place = re.search(r'<div\b[^>]*\bid="notebook"', page) or re.search("</body>", page)
    return f"{page[: place.start()]}{section}{page[place.start() :]}" if place else f"{page}{section}"


def _may_be_asked(name: str, scores: Scores) -> bool:
    """Return whether a cell has lost points by a decision that was made."""
    given = scores.cells.get(name)
    return given is not None and name not in scores.waiting and given < scores.maxima[name]


def _told(one: Request) -> str:
    asked = (
        f"<b>Your request about <code>{escape(one.asked.exercise)}</code></b> of {one.came}: {_lines(one.asked.reason)}"
    )
    if one.decision is None:
        return f"<p>{asked}<br><i>Not decided yet.</i></p>"
    return f"<p>{asked}<br><b>Decision</b> of {one.decision.at[:10]}: {_points(one)} {_lines(one.decision.because)}</p>"


def _points(one: Request) -> str:
    decision = one.decision
    assert decision is not None
    before, after = ("no points" if each is None else f"{each:g}" for each in (decision.before, decision.after))
    return f"the points change from {before} to {after}." if decision.changes else f"the points stay at {after}."


def _offered(offers: Iterable[str]) -> str:
    rows = "".join(offers)
    if not rows:
        return ""
    return (
        f'<details><summary style="{SUMMARY}">Was something graded wrongly? Ask for another look</summary>'
        f'<p style="margin-top:.5em">{HOW}</p><ul>{rows}</ul></details>'
    )


def _offer(topic: str, student: str, name: str, score: float, most: float) -> str:
    line = line_of(topic, name, student)
    text = f"{HOW}\r\n\r\n{line} \r\n"
    link = f"data:text/plain;charset=utf-8,{quote(text)}"
    file = f"regrade-{topic}-{name}.txt"
    return (
        f'<li><a href="#{escape(name)}"><code>{escape(name)}</code></a>, {score:.4g} of {most:g} points: '
        f'<a download="{escape(file)}" href="{link}">save the file</a>, '
        f"or copy the line <code>{escape(line)}</code></li>"
    )


def _lines(text: str) -> str:
    return "<br>".join(map(escape, text.splitlines()))
