"""Milliseconds from moving a control of a widget to its new picture, without the way to the browser.

The course promises 100 ms. Each control is moved several times; the slowest control of each widget is named.
"""

from __future__ import annotations

import statistics
import time

from tests.show.widgets import WIDGETS, controls, move

MOVES = 7


def rows() -> list[list[str]]:
    """One row a widget: the median and the largest of each control's times, for the slowest control."""
    table = [["widget", "first picture", "median", "largest", "slowest control"]]
    for name, make in WIDGETS.items():
        started = time.perf_counter()
        widget = make()
        first = time.perf_counter() - started
        taken = {}
        for number, control in enumerate(controls(widget)):
            times = []
            for _ in range(MOVES):
                started = time.perf_counter()
                move(control)
                times.append(1000 * (time.perf_counter() - started))
            taken[number] = (statistics.median(times), max(times), control.description or control.tooltip)
        median, largest, slowest = max(taken.values())
        table.append([name, f"{1000 * first:.0f}", f"{median:.0f}", f"{largest:.0f}", slowest])
    return table
