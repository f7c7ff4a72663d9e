"""`course report`: write an HTML page on a topic's class, on one student with `--student`, or on the whole term."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from course.course import Course
from course.files import write_atomically
from course.syllabus import Topic


def write_report(course: Course, topic: Topic, to: Path | None = None, *, names: bool = True) -> Path:
    """Write the report on a topic's class to `to`, by default `reports/<topic>.html`, and return its path.

    Without `names` it shows no single student, and its default is `reports/<topic>-no-names.html`.

    Raises:
        Problem: nothing was handed in, nothing is graded yet, or the file cannot be written.
    """
    from course.grading.classroom.classroom import Classroom
    from course.grading.nbgrader_bridge.log_capture import quiet
    from course.grading.report.findings import collect
    from course.grading.report.page import render

    with quiet():
        page = render(collect(Classroom(course, topic)), datetime.datetime.now(course.outline.zone), names=names)
    return _write(to or course.root / "reports" / f"{topic.folder}{'' if names else '-no-names'}.html", page)


def write_student_reports(course: Course, topics: Sequence[Topic], student: str, to: Path | None = None) -> list[Path]:
    """Write a page on a student's work for each of `topics`, by default all graded ones, and return the paths.

    Raises:
        Problem: the student handed in nothing for a topic, or the work is not graded, or a file cannot be written.
    """
    from course.grading.classroom.classroom import Classroom
    from course.grading.gradebook.scores import read_comments
    from course.grading.nbgrader_bridge.log_capture import quiet
    from course.grading.report.student_page import render, work_of
    from course.problem import Problem

    autograded = course.root / "autograded"
    graded = [topic for topic in course.topics if (autograded / student / topic.folder).is_dir()]
    if not topics and not graded:
        raise Problem(
            f"no work by {student} is graded in {autograded}. Name a topic and a student as `submitted/` does"
        )
    if to is not None and len(topics or graded) > 1:
        raise Problem("--to names one file. Name one topic")
    paths = []
    for topic in topics or graded:
        with quiet():
            classroom, name = Classroom(course, topic), topic.folder
            work = work_of(classroom, student)
            comments = read_comments(classroom.coursedir().db_url, name, student, name)
            page = render(topic, work, datetime.datetime.now(course.outline.zone), comments)
        paths.append(_write(to or course.root / "reports" / f"{topic.folder}-{student}.html", page))
    return paths


def write_term_report(course: Course, to: Path | None = None, *, names: bool = False) -> tuple[Path, Sequence[str]]:
    """Write the report on all topics so far to `to`, by default `reports/term.html`, and return its path and notes.

    With `names` it names students, and its default is `reports/term-with-names.html`. With final grades in it, late
    penalties are computed again, as in an export.

    Raises:
        Problem: nothing is graded yet, or the file cannot be written.
    """
    from course.grading.classroom.final_grades import final_grades
    from course.grading.nbgrader_bridge.log_capture import quiet
    from course.grading.report.term import collect_term
    from course.grading.report.term_page import render

    now = datetime.datetime.now(datetime.UTC).astimezone(course.outline.zone)
    with quiet():
        term = collect_term(course, now)
        final = final_grades(course, now) if course.outline.final else None
        page = render(term, now, final, names=names)
    path = _write(to or course.root / "reports" / f"term{'-with-names' if names else ''}.html", page)
    return path, final.notes if final else ()


def _write(path: Path, page: str) -> Path:
    from course.problem import Problem

    try:
        write_atomically(path, page.encode())
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error
    return path
