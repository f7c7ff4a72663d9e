"""A process in the sandbox that executes runs of a student's code, in children, for questions about the code.

It connects to the socket that `COURSE_JUDGE` names and answers requests until the other end closes it. The requests
come from `execution/question_sandbox.py`.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from functools import partial
from typing import Any

from course.exercise.wire import receive, send
from course.grading.sandbox.seccomp import Unsupported, refuse_children
from course.questions import Apart, Unaskable
from course.questions.executing import Run


def main() -> None:
    """Answer requests. The first one says how many seconds there are for all of them, and for a single result."""
    with socket.socket(socket.AF_UNIX) as connection:
        os.register_at_fork(after_in_child=partial(_leave_alone, connection))
        connection.connect(os.environ["COURSE_JUDGE"])
        apart: Apart | None = None
        while True:
            try:
                request = receive(connection)
            except ConnectionError:
                return
            apart = apart or Apart(request["seconds"], request["silence"])
            _answer(apart, request, connection)


def _leave_alone(connection: socket.socket) -> None:
    """Let this child, which executes a student's code, start no process and write to no connection of its parent."""
    connection.close()
    with suppress(Unsupported, OSError):  # macOS, for example
        refuse_children()


def _answer(apart: Apart, request: dict[str, Any], connection: socket.socket) -> None:
    """Send the results as JSON, one a message, or `late` if the time is up."""
    texts = request["texts"]
    runs = [Run(texts[a], texts[b], texts[c], seed, watched) for a, b, c, seed, watched in request["runs"]]
    try:
        for ran in apart(runs):
            send(connection, json.dumps(ran.to_plain()))
    except Unaskable:
        send(connection, "late")


if __name__ == "__main__":
    main()
