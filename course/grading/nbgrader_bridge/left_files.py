"""Explain which files `nbgrader zip_collect` does not collect, and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from course.course import Course
from course.grading.intake.needed_files import MANIFEST, unfit
from course.grading.intake.untrusted import LARGEST, printable

MOST_TOLD = 20
"""The most files that are named for one reason, so that the list fits a screen."""

OTHER_ARCHIVES = frozenset((".7z", ".bz2", ".rar", ".tar", ".tgz", ".xz"))
"""The endings of archives that are not unpacked here."""

BESIDE = "uploaded beside the student's work. If the notebook needs it, put it beside that in submitted/ yourself"
"""The reason for a file whose sender has handed in a notebook or a zip without it."""

TYPED = "the student typed a text on the platform and handed in no file. Ask for the notebook"
"""The reason for a student of whom the platform has only a typed text."""


class LeftFiles:
    """Files and folders that are not collected, grouped by reason."""

    def __init__(self) -> None:
        self._paths: dict[str, dict[Path, None]] = {}

    def add(self, reason: str, *paths: Path) -> None:
        """Add paths to those left out for `reason`, each once."""
        self._paths.setdefault(reason, {}).update(dict.fromkeys(paths))

    def lines(self, extracted: Path) -> Iterator[str]:
        """Yield each reason, and below it its paths relative to `extracted`; typed texts come last."""
        for reason, paths in sorted(self._paths.items(), key=lambda item: item[0] == TYPED):
            yield f"{reason}:"
            ordered = sorted(paths, key=lambda path: (path.suffix != ".ipynb", path))
            yield from (f"  {printable(path.relative_to(extracted).as_posix())}" for path in ordered[:MOST_TOLD])
            if len(paths) > MOST_TOLD:
                yield f"  and {len(paths) - MOST_TOLD} more"


def of_another_topic(course: Course, topic: str, wanted: str) -> str:
    """Return why work on `topic` is left out while `wanted` is collected."""
    if course.topic_in(topic) is None:
        return f"work on {topic}, which is no topic of this course. Ask for the work on {wanted}"
    place = f"Put it into downloaded/{topic}/archive/ and collect {topic}"
    return f"work on {topic}, and not on {wanted}. {place}, or ask for the right one"


def unfit_file(path: Path, file: PurePosixPath) -> str:
    """Return why the file at `path`, named `file` in its zip, is not collected, or "" if it is collected."""
    if file.name == MANIFEST:
        return ""
    if path.is_file() and path.stat().st_size > LARGEST:
        return f"larger than the {LARGEST // 2**20} MB that are graded. Ask for a smaller file"
    if reason := unfit(path.name) or unfit(file.as_posix()):
        return f"not collected, because {reason}. If its notebook needs it, put it into submitted/ yourself"
    return ""
