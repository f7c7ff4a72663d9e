"""Record what cells print with the real language model: `python -m tests.training.see_language_model 15`.

A cell with `language_model.seen("name")` prints what was recorded under that name, or, with the weights, something of
its own. This executes the solved notebook's cells in one process, leaves out what is checked, trained or drawn, and
writes what those cells print to `course/data/language_model/seen/`. It prints each one's seconds and memory, too.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course.data import language_model
from course.grading.authoring.setup_cell import is_setup
from course.grading.authoring.source import build
from course.grading.course_folder import source_path
from course.syllabus import Topic
from tests.original import ORIGINAL, find_topic

ROOT = Path(__file__).parents[2]
SEEN = re.compile(r"language_model\.seen\(\"(\w+)\"\)")
LEFT_OUT = re.compile(r"^(check|fit|predict|progress|rubric|record)\b|\bfit\(|\bshow\.|\brecord\.", re.MULTILINE)
"""Cells that are not needed for those at the end, and take long or need a notebook around them."""


def cells(topic: Topic) -> Iterator[str]:
    """Yield the code of the solved notebook's cells, in order, without those that are left out."""
    for cell in build(ORIGINAL, source_path(ROOT, topic), topic).cells:
        if cell.cell_type == "code" and not is_setup(cell) and not LEFT_OUT.search(cell.source):
            yield cell.source


def see(topic: Topic) -> Iterator[tuple[str, str]]:
    """Execute a topic's notebook, and yield the name and the output of each cell that was recorded."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for source in cells(topic):
        began, found, said = time.perf_counter(), SEEN.search(source), io.StringIO()
        with contextlib.redirect_stdout(said):
            exec(compile(source, f"<{topic.folder}>", "exec"), names)
        if found:
            megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
            print(f"{found[1]}: {time.perf_counter() - began:.1f} s, {megabytes:.0f} MB at most so far", flush=True)
            yield found[1], said.getvalue()


def main() -> None:
    """Write what the cells of a topic print."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("topic", type=find_topic)
    if language_model.load(download=True) is None:
        raise SystemExit(1)
    for name, said in see(arguments.parse_args().topic):
        language_model.SEEN.mkdir(exist_ok=True)
        (language_model.SEEN / f"{name}.txt").write_text(said.rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
