"""`course grade`: a class's submissions of a topic, or one notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from course.syllabus import Topic


def grade_one(path: Path, policy: str) -> int:
    """Grade one notebook, print what the judge says, and return the exit status."""
    from course.grading.alone import grade_notebook

    marked = grade_notebook(path, policy)
    print(marked.text())
    return int(any(verdict.kind == "not-graded" for verdict in marked.verdicts))


def grade_topic(
    root: Path,
    topic: Topic,
    *,
    students: Sequence[str] = (),
    workers: int | None = None,
    force: bool = False,
    settings: dict[str, Any] | None = None,
) -> int:
    """Grade a class, print its summary, and return the exit status: 1 when anything was not graded."""
    from course.grading import summary
    from course.grading.classroom import Classroom, grade_class

    classroom = Classroom(root, topic, settings)
    with progress(topic.folder) as advance:
        graded = grade_class(classroom, students=students, workers=workers, force=force, progress=advance)
    summary.show(topic, graded)
    return int(not all(work.complete for work in graded))


@contextmanager
def progress(title: str) -> Iterator[Callable[[int, int, str], None] | None]:
    """A bar on the terminal, to be told how many are done; silent where there is none."""
    if not sys.stderr.isatty():
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        yield _line
        return
    with Progress(console=Console(stderr=True), transient=True) as bar:
        job = bar.add_task(title, total=None)

        def advance(done: int, total: int, student: str) -> None:
            bar.update(job, completed=done, total=total, description=f"{title}  {student}")

        yield advance


def _line(done: int, total: int, student: str) -> None:
    print(f"{done} of {total}: {student}", file=sys.stderr)
