"""Limit the time of the course's cells, and how much they may print."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from nbformat import NotebookNode, ValidationError, from_dict, validate

from course.course import Course
from course.grading.course_files.cells import checks_in, notebook_bytes, topics_of
from course.grading.execution.task import Limits
from course.grading.intake.untrusted import MOST_NESTED, depth

TRAINING = re.compile(r"\bfit\(\s*[\"'](\w+)[\"']")
"""A pattern for the call that trains a model, with the name of its task."""


MOST_TRAININGS = 8
"""How many cells get the extra time of a training; the course's own notebooks have up to six."""


def own_limits(course: Course, nb: NotebookNode, limits: Limits) -> Limits:
    """Return `limits` with more time for cells that the judge checks and for cells that train.

    A cell gets a task's budget once, however often it names the task, and none for tasks of other notebooks. The time
    that a training may wait on a busy machine, beyond its seconds of work, is added once to the notebook's limit.
    """
    cells: dict[int, float | None] = {}
    trainings: list[float] = []
    patience = 0.0
    checks = checks_in(course, nb)
    topics = topics_of(course, checks.values())
    tasks = {item.name: item.budget for topic in topics for item in topic.items if item.budget}
    for index, cell in enumerate(nb.cells):
        if index in checks:
            cells[index] = max(limits.cell or 0.0, limits.judging(checks[index]) + 10.0)
        budgets = [tasks[name] for name in set(TRAINING.findall(cell.source)) & tasks.keys()]
        if cell.cell_type == "code" and budgets and len(trainings) < MOST_TRAININGS:
            cells[index] = limits.cell and limits.cell + sum(budget.wall for budget in budgets)
            trainings.append(sum(budget.seconds for budget in budgets))
            patience = max(patience, *(budget.wall - budget.seconds for budget in budgets))
    return replace(limits, cells=cells, notebook=limits.notebook and limits.notebook + sum(trainings) + patience)


MOST_CELLS_FULL = 4
"""The limit of a whole notebook's output, as a multiple of the limit of one cell."""

BOX = 100
"""Characters that a list or a dict counts for, because even an empty one takes two kilobytes of memory while a
notebook is written."""


def output_size(value: Any) -> int:
    """Return about how many characters an output holds."""
    if isinstance(value, dict):
        return BOX + sum(output_size(key) + output_size(part) for key, part in value.items())
    if isinstance(value, list | tuple):
        return BOX + sum(map(output_size, value))
    return 8 + len(value) if isinstance(value, str | bytes) else 8


def can_be_saved(cell: NotebookNode) -> bool:
    """Whether a notebook with this cell is valid, as a kernel can send any output."""
    nb = from_dict({"nbformat": 4, "nbformat_minor": 4, "metadata": {}, "cells": [{**cell}]})
    nb.cells[0].pop("id", None)
    return is_whole(nb)


def is_whole(nb: NotebookNode) -> bool:
    """Whether a notebook is valid and can be written to a file."""
    try:
        validate(nb)
        return depth(nb) <= MOST_NESTED and bool(notebook_bytes(nb))
    except (ValidationError, ValueError, TypeError, RecursionError):
        return False


def millions(count: int) -> str:
    """Return a number of characters in words, in millions."""
    return f"{count / 1e6:.1f} million characters"
