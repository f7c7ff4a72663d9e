"""A class's results as one page to read: `course report TOPIC`."""

from __future__ import annotations

import datetime
from pathlib import Path

from course.files import write_atomically
from course.syllabus import Topic


def write_report(root: Path, topic: Topic, to: Path | None = None, *, names: bool = True) -> Path:
    """Write the report on a topic's class to `to`, by default `reports/<topic>.html`, and return where it is.

    Without `names` it shows the class as a whole, and by default lies in `reports/<topic>-no-names.html`.

    Raises:
        Problem: nothing was handed in, nothing is graded yet, or the file cannot be written.
    """
    from course.grading.classroom.classroom import Classroom
    from course.grading.nbgrader_bridge.log_capture import quiet
    from course.grading.problem import Problem
    from course.grading.report.findings import collect
    from course.grading.report.page import render

    with quiet():
        page = render(collect(Classroom(root, topic)), datetime.datetime.now(), names=names)
    path = to or root / "reports" / f"{topic.folder}{'' if names else '-no-names'}.html"
    try:
        write_atomically(path, page.encode())
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error
    return path
