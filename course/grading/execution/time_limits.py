"""Set the time limits of the course's cells: more where the judge works, and where a model is trained."""

from __future__ import annotations

import re
from dataclasses import replace

from nbformat import NotebookNode

from course.course import Course
from course.grading.cells import checks_in, topics_of
from course.grading.execution.task import Limits

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
