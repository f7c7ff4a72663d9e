"""Write the message that goes with a student's points, and recognise such messages on a platform."""

from __future__ import annotations

import hashlib
import html
import re
from collections.abc import Mapping
from pathlib import Path

from course.grading.export.matching import Scale
from course.grading.gradebook.grades import Grade
from course.grading.intake.html_text import text_of_html
from course.grading.lms.platform import Parcel
from course.grading.nbgrader_bridge.page_text import said_by

_VERSION = re.compile(r"\bVersion ([0-9a-f]{8})\.")


def parcel(grade: Grade, scale: Scale, comments: Mapping[str, str], page: Path | None, *, has_most: bool) -> Parcel:
    """Return what a student gets for a grade. Its version changes with what the message or the page says.

    Args:
        comments: a person's comments by exercise.
        page: the page of feedback, or None if it could not be written or the platform takes none.
        has_most: whether the assignment has points on the platform.
    """
    points = f"{scale.of(grade.score):.6g}"
    lines = [f"{points} of {scale.most:g} points{_lost(grade, scale)}." if has_most else f"{points} points."]
    if grade.waiting:
        lines.append(f"{grade.waiting} of your answers are not graded yet, and count as 0 points until then.")
    lines += [f"{exercise}: {' '.join(text.split())}" for exercise, text in sorted(comments.items())]
    if page:
        lines.append(f"The page {page.name} has the details.")
    told = [points, *lines, said_by(page.read_text("utf-8", "replace")) if page else ""]
    version = hashlib.sha256("\n".join(told).encode()).hexdigest()[:8]
    return Parcel(points, "\n".join([*lines, f"Version {version}."]), page, version)


def _lost(grade: Grade, scale: Scale) -> str:
    lost = scale.of(grade.late)
    return f", after {lost:.6g} were taken off because it came late" if lost else ""


def versions_in(text: str) -> set[str]:
    """Return the versions of our messages that a text on a platform contains."""
    return set(_VERSION.findall(text))


def as_html(message: str) -> str:
    """Return a message as HTML, a paragraph for each line."""
    return "".join(f"<p>{html.escape(line, quote=False)}</p>" for line in message.splitlines())


def plain(text: str) -> str:
    """Return the text of HTML in one line, for comparison with what was sent."""
    return " ".join(text_of_html(text).split())
