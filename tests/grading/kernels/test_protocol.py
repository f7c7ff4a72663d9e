"""What is said between whoever wants a kernel and its keeper arrives whole."""

from __future__ import annotations

import socket
import threading

from course.grading.kernels.protocol import Line


def test_a_message_that_comes_in_parts_is_waited_for():
    """An order with a long environment does not fit into one read."""
    ours, theirs = (Line(end) for end in socket.socketpair())
    order = {"environment": {"LONG": "x" * 300_000}}
    speaker = threading.Thread(target=theirs.say, kwargs=order)
    speaker.start()
    heard = ours.hear(30.0)
    ours.close()
    speaker.join()
    theirs.close()
    assert heard == [order]


def test_what_has_not_arrived_is_not_waited_for_too_long():
    ours, theirs = (Line(end) for end in socket.socketpair())
    theirs.connection.sendall(b'{"pid": 1}\n{"exit"')
    assert ours.hear() == [{"pid": 1}]
    assert ours.hear(0.01) == [] and not ours.closed
    theirs.connection.sendall(b": 0}\n")
    theirs.close()
    assert ours.hear() == [{"exit": 0}]
    assert ours.hear(30.0) == [] and ours.closed
