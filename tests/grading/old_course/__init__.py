"""A whole course that version 0.1.0 made and graded: what an instructor has in the middle of a term.

In `course_0_1_0.tar.xz` are its `nbgrader_config.py`, `course.toml` with late work's loss, the source of one topic of
ours, an exercise of its own, the zips that `course submit` packed (with checkpoints), what was collected and graded,
and the gradebook, with points and a comment of a person's.
"""

from __future__ import annotations

import tarfile
from pathlib import Path

ARCHIVE = Path(__file__).with_name("course_0_1_0.tar.xz")
SCORES = {
    ("ada", "06_self_attention"): (21.5, 2.15),
    ("bob", "06_self_attention"): (18.56, 1.856),
    ("ada", "20_smoothing"): (3.0, 0.0),
}
"""Points and the late penalty, by student and topic, as 0.1.0 graded them."""
REGRADED = SCORES | {("ada", "06_self_attention"): (20.5, 2.05), ("bob", "06_self_attention"): (17.56, 1.756)}
"""The same as graded now: `crossover_length` (1 point) asks another question than the notebook of 0.1.0."""


def unpack(place: Path) -> Path:
    """The course, in the folder `place`."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(place, filter="data")
    return place
