"""Every solved notebook from top to bottom: seconds and memory, training included.

First as on a laptop, then on a small machine: one processor, and 2 GB of memory that the notebook is held to. The
course promises less than 90 seconds and less than 1,500 MB.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

from course.course import find_course
from course.grading.authoring.source import build
from course.grading.cells import notebook_bytes
from course.grading.course_folder import source_path
from course.grading.execution.execute import execute
from course.grading.execution.task import Limits, Outcome, Task
from course.grading.execution.time_limits import own_limits
from course.grading.sandbox.spec import GIGABYTE, Allowance
from course.syllabus import OURS, Topic
from tests.original import ORIGINAL


def rows() -> Iterator[list[str]]:
    """A row for each notebook."""
    yield ["notebook", "seconds", "CPU s", "peak MB", "one core, 2 GB: seconds", "points"]
    for topic in OURS:
        usual = _execute(topic, None)
        with _one_processor():
            small = _execute(topic, 2 * GIGABYTE)
        score = sum(verdict.score for verdict in small.verdicts)
        points = sum(verdict.points for verdict in small.verdicts)
        cells = [f"{usual.seconds:.0f}", f"{usual.cpu:.0f}", f"{usual.memory / 2**20:.0f}", f"{small.seconds:.0f}"]
        yield [topic.folder, *cells, f"{score:g} of {points:g}"]


def _execute(topic: Topic, memory: int | None) -> Outcome:
    nb = build(ORIGINAL, source_path(find_course().root, topic), topic)
    limits = own_limits(ORIGINAL, nb, Limits(300.0, call=60.0, allowance=Allowance(memory=memory)))
    task = Task(topic.folder, notebook_bytes(nb), seed=1, policy="retrain", limits=limits)
    return Outcome.from_bytes(execute(task.to_bytes()))


class _one_processor:
    """For as long as the block lasts, this process and those it starts run on one processor."""

    def __enter__(self) -> None:
        from course.grading.kernels.zygote_client import close_all

        close_all()
        if sys.platform.startswith("linux"):
            self.before = os.sched_getaffinity(0)
            os.sched_setaffinity(0, {min(self.before)})

    def __exit__(self, *_: object) -> None:
        from course.grading.kernels.zygote_client import close_all

        close_all()
        if sys.platform.startswith("linux"):
            os.sched_setaffinity(0, self.before)
