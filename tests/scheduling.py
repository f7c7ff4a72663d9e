"""What each worker of a run gets: a module or a part of one at a time, and what takes longest first."""

from __future__ import annotations

import re

import pytest
from xdist.scheduler import LoadScopeScheduling

LONGEST = (
    "tests/attacks/test_attacks.py",
    "tests/grading/kernels/test_kernels.py",
    "tests/grading/test_notebooks_score.py",
    "tests/browser/test_accessibility.py",
    "tests/grading/test_resume.py",
    "tests/grading/test_traps.py",
    "tests/test_walkthroughs.py",
    "tests/grading/execution/test_worker_pool.py",
    "tests/grading/test_follow_through.py",
    "tests/browser/test_assignment.py",
    "tests/browser/test_nbgrader.py",
    "tests/browser/test_widgets.py",
    "tests/grading/execution/test_weight_origin.py",
    "tests/grading/test_cluster.py",
    "tests/browser/test_home.py",
    "tests/grading/test_stock_commands.py",
    "tests/grading/report/test_detours.py",
    "tests/grading/test_ordinary_course.py",
    "tests/judge/test_expected.py",
    "tests/show/test_widgets.py",
    "tests/grading/export/test_tables.py",
    "tests/grading/export/test_gradescope.py",
    "tests/grading/execution/test_kernel_edition.py",
    "tests/notebook/test_hide_traceback.py",
    "tests/grading/test_own_course.py",
    "tests/grading/test_by_hand.py",
    "tests/grading/test_conformance.py",
    "tests/grading/test_formgrader.py",
    "tests/grading/intake/test_mending.py",
)
"""Modules that take ten seconds or more: whichever is missing here only makes the end of a run less even."""

_PARTS = re.compile(
    r"(tests/hidden/|tests/grading/test_notebooks_score\.py)(?:\w+\.py)?::\w+\[(?:\d+-)?([A-Za-z0-9]\w*)"
)
"""Of the hidden tests, the exercise; of the solved notebooks, the topic."""


def unit(nodeid: str) -> str:
    """What a test is run together with: its module, or there the tests of its exercise, which share a key, or topic."""
    found = _PARTS.match(nodeid)
    return f"{found[1]}:{found[2]}" if found else nodeid.partition("::")[0]


def longest_first(items: list[pytest.Item]) -> None:
    """Sort tests by how early their unit should begin: those known to be long, then those of many tests."""
    size: dict[str, int] = {}
    for item in items:
        size[unit(item.nodeid)] = size.get(unit(item.nodeid), 0) + 1
    place = {module: position for position, module in enumerate(LONGEST)}

    def rank(item: pytest.Item) -> tuple[int, int]:
        return place.get(item.nodeid.partition("::")[0], len(place)), -size[unit(item.nodeid)]

    items.sort(key=rank)


class ByUnit(LoadScopeScheduling):
    """Gives workers one unit after the other, in the order of the tests."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        super().__init__(config, log)  # type: ignore[arg-type]
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)
