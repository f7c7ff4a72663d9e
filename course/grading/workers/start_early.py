"""Start the fork server and the zygote early, while the grader still imports and reads."""

from __future__ import annotations

import multiprocessing
import sys
import tempfile
from pathlib import Path
from typing import Any

from course.syllabus import Topic

FORKS = sys.platform == "linux"
"""Whether workers and kernels are forked; elsewhere each is begun anew."""

PRELOAD = "course.grading.workers.preload"
"""What the server that workers are forked from has imported."""


def get_ready(topic: Topic, policy: str) -> None:
    """Begin the server that workers are forked from, and a zygote for the kernels of a topic's notebooks.

    The zygote is for kernels without an instructor's own variables; where there are some, a crew begins another.
    """
    if not FORKS:
        return
    from multiprocessing.forkserver import ensure_running

    from course.grading.kernel_edition import assemble

    edition = assemble([topic])
    origin_of_workers()  # which tells the server what to import
    ensure_running()

    from course.grading.kernels.environment import environment
    from course.grading.kernels.zygote_client import zygote_for

    with tempfile.TemporaryDirectory() as home:
        zygote_for(environment(Path(home), edition, None, policy))


def origin_of_workers() -> Any:
    """How worker processes come to be: where there is a fork server, from one that has imported their hands."""
    context: Any = multiprocessing.get_context("forkserver" if FORKS else "spawn")
    if FORKS:
        context.set_forkserver_preload([PRELOAD])
    return context
