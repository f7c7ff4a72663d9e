"""A class whose written answers wait for a person, with a rubric in `course.toml`; nothing is executed for it."""

from __future__ import annotations

import shutil
from pathlib import Path

from nbformat import NO_CONVERT, writes
from nbgrader.api import Gradebook

from tests.grading.lesson import NAME, make_course, solved

QUESTION = "self_attention_question"

RUBRIC = f"""
[topics.{NAME}]

[rubrics.{NAME}]
{QUESTION} = [
    {{ points = 0.75, text = "Names the variance of a dot product." }},
    {{ points = 0.5, text = "Says what large scores do to the softmax." }},
    {{ points = 1, text = "Shows it with numbers of their own.", group = "Evidence" }},
    {{ points = 0.25, text = "Names an experiment without its numbers.", group = "Evidence" }},
    {{ points = -0.5, text = "Mixes up width and length." }},
]
"""


def waiting_class(root: Path, *students: str, outline: str = RUBRIC) -> Path:
    """A course whose `students` handed in the model solution, which waits for a person."""
    make_course(root)
    if outline:
        (root / "course.toml").write_text(outline, "utf-8")
    text = writes(solved(root), version=NO_CONVERT)
    with Gradebook(db_url(root)) as book:
        for student in students:
            book.add_student(student)
            book.add_submission(NAME, student)
            folder = root / "autograded" / student / NAME
            folder.mkdir(parents=True)
            (folder / f"{NAME}.ipynb").write_text(text, "utf-8")
    shutil.copytree(root / "autograded", root / "submitted")
    return root


def db_url(root: Path) -> str:
    """The address of the course's gradebook."""
    return f"sqlite:///{root / 'gradebook.db'}?timeout=60"


def submission_id(root: Path, student: str) -> str:
    """By what formgrader knows a student's notebook."""
    with Gradebook(db_url(root)) as book:
        return str(book.find_submission_notebook(NAME, NAME, student).id)


def kept(root: Path, student: str) -> tuple[float | None, str | None, bool]:
    """What the gradebook has of the written answer: points, comment, and whether it still waits."""
    with Gradebook(db_url(root)) as book:
        grade = book.find_grade(QUESTION, NAME, NAME, student)
        comment = book.find_comment(QUESTION, NAME, NAME, student)
        return grade.manual_score, comment.manual_comment, grade.needs_manual_grade
