"""Start the fork server and the zygote early, while the grader still imports and reads."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import tempfile
from pathlib import Path
from typing import Any

from course.grading.machine.shutdown import delay_signals
from course.syllabus import Topic

FORKS = sys.platform == "linux"
"""Whether workers and kernels are forked; elsewhere each is begun anew."""

LIBRARIES = "course.grading.workers.preload_libraries"
PRELOAD = "course.grading.workers.preload"
"""What the server that workers are forked from imports, one after the other."""

_begun = False
"""Whether this process has begun such a server, or is about to."""


def get_ready(topic: Topic, policy: str) -> None:
    """Begin the server that workers are forked from, and a zygote for the kernels of a topic's notebooks.

    The zygote is for kernels without an instructor's own variables; where there are some, a crew begins another. A
    server that is only now begun forks the zygote, for which one import of torch does for both.
    """
    if not FORKS:
        return
    from course.grading.kernel_edition import assemble
    from course.grading.kernels.environment import environment
    from course.grading.kernels.zygote_client import zygote_for

    edition = assemble([topic])
    forks_zygote = not (_begun or sys.flags.ignore_environment)
    with delay_signals(), tempfile.TemporaryDirectory() as home:  # what is begun halfway is nobody's to end
        zygote_for(environment(Path(home), edition, None, policy), begin_server if forks_zygote else None)
        begin_server()


def begin_server() -> None:
    """Begin the server that workers are forked from, unless it runs.

    A terminal sends Ctrl-C to every process. The server would end with a traceback while it imports. So it begins with
    SIGINT blocked, and `preload_libraries` has it ignore the signal. This process hears Ctrl-C just afterwards.
    """
    from multiprocessing import forkserver, resource_tracker

    origin_of_workers()
    resource_tracker.ensure_running()  # else the next call begins it, and that unblocks SIGINT
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def origin_of_workers() -> Any:
    """How worker processes come to be: where there is a fork server, from one that has imported their hands."""
    global _begun
    context: Any = multiprocessing.get_context("forkserver" if FORKS else "spawn")
    if FORKS:
        _begun = True
        context.set_forkserver_preload([LIBRARIES, PRELOAD])
    return context
