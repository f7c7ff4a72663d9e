"""A class that hands in the lesson, with everything a report or an export should notice."""

from __future__ import annotations

import json
import re
from pathlib import Path

from nbformat import NotebookNode

from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.graded import Graded

from .lesson import NAME, TOPIC, answers, first, hand_in, make_course, solved

SETTINGS = {"timeout": 20, "secret": "the same for all"}

OVERFLOWS = {"softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"}

LONG_WAY = """
def softmax(x, dim):
    rows = x.movedim(dim, -1)
    largest = rows.max(dim=-1, keepdim=True).values
    shifted = torch.subtract(rows, largest)
    powers = torch.exp(shifted)
    totals = torch.zeros_like(largest)
    for position in range(powers.shape[-1]):
        totals = totals + powers[..., position : position + 1]
    weights = torch.divide(powers, totals)
    return weights.movedim(-1, dim)
"""
RENAMED = """
def softmax(x, dim):
    # every line my own
    a = x.movedim(dim, -1)
    m = a.max(dim=-1, keepdim=True).values
    s = torch.subtract(a, m)
    e = torch.exp(s)
    t = torch.zeros_like(m)
    for k in range(e.shape[-1]):
        t = t + e[..., k : k + 1]
    w = torch.divide(e, t)
    return w.movedim(-1, dim)
"""
HOSTILE = "<script>alert('score')</script>"


def question(text: str):
    def edit(nb: NotebookNode) -> None:
        for cell in nb.cells:
            if cell.metadata.get("nbgrader", {}).get("grade_id") == "self_attention_question":
                cell.source = text

    return edit


def given_out(root: Path) -> NotebookNode:
    """The lesson solved in the notebook that was given out, where hidden tests are not."""
    nb = solved(root)
    for cell in nb.cells:
        cell.source = re.sub(r"\n### BEGIN HIDDEN TESTS.*### END HIDDEN TESTS", "", cell.source, flags=re.S)
    return nb


def edited_check(nb: NotebookNode) -> None:
    for cell in nb.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "attention_cost":
            cell.source = "100"


def make_class(root: Path) -> Path:
    """A course in `root` and its class: nobody is graded yet."""
    make_course(root)
    hand_in(root, "ada", given_out(root))
    hand_in(root, "bea", given_out(root), answers(OVERFLOWS), question("It keeps the variance of the scores at one."))
    hand_in(root, "cy", given_out(root), answers(OVERFLOWS), first(f"import socket  # {HOSTILE}"))
    hand_in(root, "dan", given_out(root), answers({"softmax": LONG_WAY}), question("One."), edited_check)
    hand_in(root, "eve", given_out(root), answers({"softmax": RENAMED}), question(HOSTILE))
    hand_in(root, "fay", given_out(root)).write_text('{"cells": [')
    for student, facts in (("ada", 1), ("dan", 2), ("eve", 3)):
        checkpoint(root, student, 7.0 if student != "ada" else 1.0, seconds=facts)
    (root / ".course-secret").write_text("the same for all")
    return root


def checkpoint(root: Path, student: str, value: float, seconds: int) -> None:
    """Weights, and a record of their training that is nobody else's."""
    import torch
    from safetensors.torch import save_file

    folder = root / "submitted" / student / NAME / "checkpoints"
    folder.mkdir()
    record = {"record": json.dumps({"seconds": seconds})}
    save_file({"weight": torch.full((2, 3), value)}, folder / "self_attention_task.safetensors", metadata=record)


def grade(root: Path, **options) -> list[Graded]:
    return grade_class(Classroom(course_in(root), TOPIC, SETTINGS), workers=2, **options)
