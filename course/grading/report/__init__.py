"""A class's results as one page to read: `course report TOPIC`, and `course report` for the term."""

from __future__ import annotations

import datetime
from pathlib import Path

from course.files import write_atomically
from course.syllabus import Topic


def write_report(root: Path, topic: Topic, to: Path | None = None) -> Path:
    """Write the report on a topic's class to `to`, by default `reports/<topic>.html`, and return where it is.

    Raises:
        Problem: nothing was handed in, nothing is graded yet, or the file cannot be written.
    """
    from course.grading.classroom.classroom import Classroom
    from course.grading.nbgrader_bridge.log_capture import quiet
    from course.grading.report.findings import collect
    from course.grading.report.page import render

    with quiet():
        page = render(collect(Classroom(root, topic)), datetime.datetime.now())
    return _write(to or root / "reports" / f"{topic.folder}.html", page)


def write_term_report(root: Path, to: Path | None = None, *, names: bool = False) -> Path:
    """Write the report on all topics so far to `to`, by default `reports/term.html`, and return where it is.

    It names students only with `names`, and then lies in `reports/term-with-names.html` by default.

    Raises:
        Problem: nothing is graded yet, or the file cannot be written.
    """
    from course.grading.nbgrader_bridge.log_capture import quiet
    from course.grading.report.term import collect_term
    from course.grading.report.term_page import render

    now = datetime.datetime.now().astimezone()
    with quiet():
        page = render(collect_term(root, now), now, names=names)
    return _write(to or root / "reports" / f"term{'-with-names' if names else ''}.html", page)


def _write(path: Path, page: str) -> Path:
    from course.grading.problem import Problem

    try:
        write_atomically(path, page.encode())
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error
    return path
