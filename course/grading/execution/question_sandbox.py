"""Execute runs of a student's code in the kernel's sandbox, and read the outcomes as values from a hostile process."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from course.course import Course
from course.exercise.values import Malformed
from course.exercise.wire import receive_sized, send
from course.grading.execution.cell_end import KernelFault
from course.grading.execution.execute import assembled, class_paths, private_folder
from course.grading.kernels.environment import environment
from course.grading.kernels.protocol import Order
from course.grading.kernels.zygote_client import Handle, NoKernel, cold_kernel, zygote_for
from course.grading.machine.faults import advice_for
from course.grading.sandbox.probe import Tier
from course.grading.sandbox.spec import MEGABYTE, Allowance, Confines
from course.questions import Unaskable
from course.questions.executing import Ran, Run
from course.questions.processes import WALL
from course.syllabus import Topic

MODULE = "course.grading.kernels.runs_for_questions"

START, GRACE = 60.0, 0.5
"""Seconds on the clock until the sandbox must have started, and for the last of its results."""

SECONDS, SILENCE = 8.0 if sys.platform == "linux" else 60.0, 1.0
"""Seconds of processor time for all runs of one answer, and for a child that gives no further result."""

MOST_BYTES = 64 * MEGABYTE
"""Bytes of all outcomes of one answer. A typical answer has three megabytes."""

ALLOWED = Allowance(memory=2048 * MEGABYTE, processes=32, file=MEGABYTE, disk=16 * MEGABYTE, cpu=2 * SECONDS)


class Unfinished(Unaskable):
    """The process in the sandbox gave no outcomes, and may do so another time."""


class Sandboxed:
    """A runner for the questions about one answer: `connection` leads to the process in the sandbox."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection, self._left = connection, MOST_BYTES
        self._until = time.monotonic() + WALL * SECONDS + GRACE

    def __call__(self, runs: list[Run]) -> list[Ran]:
        """Return what the runs give.

        Raises:
            Unfinished: the time is up, the process ended, or what it sends is no outcome.
        """
        texts = list(dict.fromkeys(text for run in runs for text in (run.setup, run.source, run.call)))
        place = {text: number for number, text in enumerate(texts)}
        plain = [[place[r.setup], place[r.source], place[r.call], r.seed, r.is_watched] for r in runs]
        try:
            send(self._connection, {"seconds": SECONDS, "silence": SILENCE, "texts": texts, "runs": plain})
            return [self._ran() for _ in runs]
        except TimeoutError:
            raise Unfinished("it takes longer than a question can wait") from None
        except OSError:
            raise Unfinished("it ended the process that executed it") from None
        except (Malformed, ValueError, TypeError, RecursionError):
            raise Unfinished("what came back from executing it is no value") from None

    def _ran(self) -> Ran:
        answer, size = receive_sized(self._connection, self._until, self._left)
        self._left -= size
        if answer == "late":
            raise TimeoutError
        return Ran.from_plain(json.loads(answer))


@contextmanager
def sandboxed(course: Course, topic: Topic, tier: Callable[[], Tier]) -> Iterator[Sandboxed]:
    """Yield a runner whose process in the sandbox is of no other use, because the code may leave it spoilt.

    Raises:
        KernelFault: the process cannot be started.
        Problem: there is no sandbox, and `tier` demands one.
    """
    with private_folder({}) as private, socket.socket(socket.AF_UNIX) as server:
        address, edition = private / "home" / "runs", assembled(course.outline.public, (topic,))
        server.bind(str(address))
        server.listen(1)
        server.settimeout(START)
        confines = Confines(str(private), (str(edition),), False, ALLOWED, tuple(map(str, class_paths())))
        variables = environment(private / "home", edition, str(address), "checkpoint")
        handle = _started(Order(tier().name, confines, str(private / "work"), variables, module=MODULE))
        try:
            connection, _ = server.accept()
            server.close()
            with connection:
                yield Sandboxed(connection)
        except TimeoutError as error:
            raise KernelFault("the process that executes code for questions does not answer") from error
        finally:
            handle.kill()


def _started(order: Order) -> Handle | subprocess.Popen[bytes]:
    command = (sys.executable, "-P", "-m", MODULE)
    try:
        if sys.platform != "linux":  # where kernels have no sandbox, either
            return subprocess.Popen(command, env=order.environment, cwd=order.folder)
        try:
            return zygote_for(order.environment).kernel(order)
        except NoKernel:
            return cold_kernel(replace(order, command=command))
    except (NoKernel, OSError) as error:
        raise KernelFault(f"code for questions cannot be executed: {advice_for(error) or error}") from error
