"""Classes of a few kinds of submissions, and the results of executing one of each kind."""

from __future__ import annotations

import json
import time
from pathlib import Path
from statistics import median

from bench._classes import make_class
from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.make_task import make_task
from course.grading.workers.worker_pool import open_pool
from course.syllabus import Topic

KINDS = {
    "right": "",
    "wrong": "\nsoftmax = torch.sigmoid",
    "raises": "\nraise ValueError(softmax)",
}
"""What stands below the first solution of 06_self_attention, by the kind of submission. Students take turns."""

TIMES = 3
"""How often a submission of each kind is executed. The median of the seconds counts."""


def make_mixed_class(root: Path, topic: Topic, size: int) -> Path:
    """A course in `root`, with submissions of all kinds."""
    return make_class(root, topic, size, endings=tuple(KINDS.values()))


def record(folder: Path, topic: Topic) -> float:
    """Execute a submission of each kind, keep results and seconds in `folder`, and return the mean of the seconds."""
    classroom = Classroom(course_in(make_mixed_class(folder / "class", topic, len(KINDS))), topic)
    submissions = classroom.handed_in.submissions().items()
    tasks = [make_task(classroom, student, path).to_bytes() for student, path in submissions]
    seconds = []
    with open_pool(1, None, classroom.environment) as one:
        for task in tasks:
            one.submit(task).result()  # the first execution imports, and computes what is expected
        for kind, task in enumerate(tasks):
            taken = []
            for _ in range(TIMES):
                started = time.monotonic()
                outcome = one.submit(task).result()
                taken.append(time.monotonic() - started)
            (folder / f"{kind}.zip").write_bytes(outcome)
            seconds.append(median(taken))
    (folder / "seconds.json").write_text(json.dumps(seconds))
    return sum(seconds) / len(seconds)
