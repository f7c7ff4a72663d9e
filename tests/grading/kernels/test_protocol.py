"""What is said between whoever wants a kernel and its supervisor arrives whole."""

from __future__ import annotations

import socket
import threading
from dataclasses import asdict

import msgspec

from course.grading.kernels.protocol import Line, Order
from course.grading.sandbox.spec import Allowance, Confines

ORDER = Order(
    "landlock",
    Confines("/private", ("/edition",), True, Allowance(memory=None, cpu=1.5), ("/class",)),
    "/private/work",
    {"LANG": "C.UTF-8", "PLACE": "\udce9t\udce9"},
    seed=7,
    arguments=("-f", "x.json"),
    command=("/usr/bin/python3", "-m", "ipykernel"),
)
"""With a value of its own in every field, and a path that is no UTF-8."""


def test_an_order_arrives_as_it_was_given():
    ours, theirs = (Line(end) for end in socket.socketpair())
    theirs.say(**asdict(ORDER))
    (heard,) = ours.hear(30.0)
    ours.close()
    theirs.close()
    assert msgspec.convert(heard, Order) == ORDER


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
