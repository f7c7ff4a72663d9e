"""Solved notebooks, executed for the site's figures and for the tests: `python -m website.executed`.

A notebook is trained once for all that decides its results, and what came of it is kept beside the other caches, as
the results of a class are. The executed copy stays in build/executed.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import nbformat

from course.data.cache import cache_folder
from course.grading.course_files.cells import notebook_bytes
from course.grading.course_files.course_folder import source_path
from course.grading.execution.execute import execute
from course.grading.execution.fingerprints import fingerprint
from course.grading.execution.limits import own_limits
from course.grading.execution.result_store import Store
from course.grading.execution.task import Limits, Outcome, Task
from course.grading.release.source import build, write
from course.syllabus import OURS, Topic
from tests.original import ORIGINAL
from website.frames import with_frames
from website.pages import SOURCE, digest

ROOT = Path(__file__).parents[1]
EXECUTED = ROOT / "build" / "executed"


def task_of(topic: Topic, nb: nbformat.NotebookNode, seconds: float = 120.0, **task: Any) -> Task:
    """Return the task that executes `nb` as a notebook of `topic`."""
    return Task(topic.folder, notebook_bytes(nb), seed=2718, limits=own_limits(ORIGINAL, nb, Limits(seconds)), **task)


def trained(topic: Topic, nb: nbformat.NotebookNode, **about: Any) -> Outcome:
    """Return what comes of executing `nb` with its trainings, from the cache where nothing has changed."""
    task = task_of(topic, nb, policy="retrain", engine=fingerprint(frozenset({topic})), **about)
    kept = Store(cache_folder() / "solved")
    outcome = kept.get(task)
    if outcome is None:
        outcome = Outcome.from_bytes(execute(task.to_bytes()))
        if all(verdict.score == verdict.points for verdict in outcome.verdicts):  # else it is tried again
            kept.put(task, outcome.to_bytes())
            kept.prune(days=30)
    return outcome


@cache
def solved(topic: Topic) -> Outcome:
    """Return what came of executing the topic's solved notebook, and write the executed copy."""
    outcome = trained(topic, with_frames(build(ORIGINAL, source_path(ROOT, topic), topic)))
    if not outcome.fault:
        executed = nbformat.reads(outcome.notebook.decode(), as_version=4)
        executed.metadata[SOURCE] = digest(source_path(ROOT, topic).read_text("utf-8"))
        write(executed, EXECUTED / f"{topic.folder}.ipynb")
    return outcome


def executed_copy(topic: Topic) -> nbformat.NotebookNode | None:
    """Return the executed copy of the topic's notebook, if it was made from the source as it stands."""
    copy, source = EXECUTED / f"{topic.folder}.ipynb", ROOT / "solutions" / f"{topic.folder}.py"
    if not copy.is_file():
        return None
    nb = nbformat.read(copy, as_version=4)
    return nb if nb.metadata.get(SOURCE) == digest(source.read_text("utf-8")) else None


def main() -> None:
    """Execute the solved notebooks that have no copy of their source as it stands."""
    missing = [topic for topic in OURS if executed_copy(topic) is None]
    for number, topic in enumerate(missing, 1):
        print(f"executing {topic.folder} for its figures ({number} of {len(missing)})", file=sys.stderr, flush=True)
        if fault := solved(topic).fault:
            sys.exit(f"{topic.folder} was not executed: {fault}")


if __name__ == "__main__":
    main()
