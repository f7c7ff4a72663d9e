"""Grades a class on a Dask cluster and prints what that took this process: `ROOT TOPIC ADDRESS CLOCK`."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from bench._cluster import usage_here
from bench._fair_clock import FairClock
from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.execution.task import Outcome


class Watch:
    """Notes the clocks when grading begins."""

    def __init__(self, clock: FairClock) -> None:
        self.clocks = {
            "seconds": clock.now,
            "wall": time.monotonic,
            "cpu": time.process_time,
            "saving": time.thread_time,
        }

    def begin(self, total: int) -> None:
        """Note what the clocks say, that of the process and that of the thread that saves among them."""
        self.begun = self._now()

    def done(self, student: str, outcome: Outcome | None) -> None:
        """Nothing."""

    def taken(self) -> dict[str, float]:
        """Seconds since, by every clock."""
        return {name: now - self.begun[name] for name, now in self._now().items()}

    def _now(self) -> dict[str, float]:
        return {name: clock() for name, clock in self.clocks.items()}


def main(root: str, topic: str, address: str, clock: str) -> None:
    """Grade, and print the seconds, the peak of memory, and how many were graded."""
    watch = Watch(FairClock(Path(clock)))
    course = course_in(Path(root))
    graded = grade_class(Classroom(course, course.find_topic(topic)), scheduler=address, progress=watch)
    complete = sum(one.scores is not None for one in graded)
    print(json.dumps({**watch.taken(), "peak": usage_here().peak, "graded": complete}))


if __name__ == "__main__":
    main(*sys.argv[1:])
