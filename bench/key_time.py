"""Seconds of processor time that the hidden tests of a topic take for one seed: cases, right answers, the message.

The judges of a class make a key for each of its sixteen seeds once and share it. What the first seed leaves behind in
the process, such as a corpus, is left out here. As in a worker, torch has one thread.
"""

from __future__ import annotations

import time
from statistics import median

import torch

from course.exercise import Exercise
from course.exercise.key import key_of, pack_cases
from course.hidden import exercises
from course.syllabus import OURS

SEEDS = range(101, 110)
"""The first one warms up: the medians are those of the others."""


def rows() -> list[list[str]]:
    """One row a topic: all its exercises together, and the two slowest."""
    torch.set_num_threads(1)
    table = [["topic", "seconds a seed", "the two slowest exercises"]]
    for topic in OURS:
        taken = {exercise.name: _seconds(exercise) for exercise in exercises(topic)}
        slowest = sorted(taken, key=taken.__getitem__, reverse=True)[:2]
        named = ", ".join(f"{name} {taken[name]:.3f}" for name in slowest)
        table.append([topic.folder, f"{sum(taken.values()):.3f}", named])
    return table


def _seconds(exercise: Exercise) -> float:
    taken = []
    for seed in SEEDS:
        started = time.process_time()
        pack_cases(key_of(exercise, seed))
        taken.append(time.process_time() - started)
    return median(taken[1:])
