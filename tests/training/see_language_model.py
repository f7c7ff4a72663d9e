"""Record what cells print with the real language model: `python -m tests.training.see_language_model 15`.

A cell with `language_model.seen("name")` prints what was recorded under that name, or, with the weights, something of
its own. This executes the solved notebook's cells in one process, leaves out what is checked, trained or drawn, and
writes what those cells print to `course/data/language_model/seen/`. It prints each one's seconds and memory, too. They
are seconds of one core, so that a busy machine does not make them longer.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import re
import resource
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from course.data import language_model
from course.grading.course_files.course_folder import source_path
from course.grading.course_files.setup_cell import is_setup
from course.grading.release.source import build
from course.syllabus import Topic
from tests.original import ORIGINAL, find_topic

ROOT = Path(__file__).parents[2]
SEEN = re.compile(r"language_model\.seen\(\"(\w+)\"\)")
LEFT_OUT = re.compile(r"^(check|fit|predict|progress|rubric|record)\b|\bfit\(|\bshow\.|\brecord\.", re.MULTILINE)
"""Statements that are not needed for the cells at the end, and take long or need a notebook around them."""


def cells(topic: Topic) -> Iterator[tuple[str, list[ast.stmt]]]:
    """Yield the solved notebook's cells, in order: the name of what was recorded, or "", and the statements to run."""
    for cell in build(ORIGINAL, source_path(ROOT, topic), topic).cells:
        if cell.cell_type == "code" and not is_setup(cell):
            found = SEEN.search(cell.source)
            statements = ast.parse(cell.source).body
            yield found[1] if found else "", [s for s in statements if found or not LEFT_OUT.search(ast.unparse(s))]


def see(topic: Topic) -> Iterator[tuple[str, str]]:
    """Execute a topic's notebook, and yield the name and the output of each cell that was recorded.

    Before those, a statement that fails for want of what was left out is left out, too.
    """
    names: dict[str, Any] = {"__name__": "__main__"}
    for name, statements in cells(topic):
        began, said = time.process_time(), io.StringIO()
        for statement in statements:
            with contextlib.redirect_stdout(said), contextlib.nullcontext() if name else contextlib.suppress(Exception):
                exec(compile(ast.Module([statement], []), f"<{topic.folder}>", "exec"), names)
        if name:
            megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6
            print(f"{name}: {time.process_time() - began:.1f} s, {megabytes:.0f} MB at most so far", flush=True)
            yield name, said.getvalue()


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
