"""Note the points of graded work before newer work replaces them in the gradebook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from course.grading.cells import METADATA
from course.grading.gradebook.scores import read_scores
from course.grading.intake.attempts import note_points


def keep_points(coursedir: Any, topic: str, student: str) -> None:
    """Note the points of a student's graded work, if it has any, for `course attempts`."""
    place = Path(coursedir.format_path(coursedir.autograded_directory, student, topic), f"{topic}.ipynb")
    try:
        submission = json.loads(place.read_text("utf-8"))["metadata"][METADATA]["submission"]
    except (OSError, ValueError, KeyError):
        return
    scores = read_scores(coursedir.db_url, topic, student, topic)
    if scores is not None and any(points is not None for points in scores.cells.values()):
        points = f"{scores.score:g} / {scores.points:g}"
        note_points(Path(coursedir.root), student, topic, submission, points)
