"""What every test may rely on."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# nbgrader starts programs of its environment by name; that environment need not be activated to run the tests.
os.environ["PATH"] = os.pathsep.join([sysconfig.get_path("scripts"), os.environ.get("PATH", os.defpath)])

settings.register_profile("course", deadline=None)  # how fast something is depends on what else the machine does
settings.load_profile("course")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have `--dist loadscope` share out what `tests.scheduling` calls a unit."""
    from tests.scheduling import ByUnit

    return ByUnit(config, log) if config.getoption("dist") == "loadscope" else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Begin with what takes longest where workers share the tests out, so that all of them end together."""
    if hasattr(config, "workerinput"):
        from tests.scheduling import longest_first

        longest_first(items)


@pytest.fixture(autouse=True)
def torch_as_it_was() -> Iterator[None]:
    """A test leaves torch as it found it: with a second thread, whatever follows could take ten times as long."""
    before = _state_of_torch()
    yield
    after = _state_of_torch()
    assert not before or before == after, "the test leaves torch otherwise than it found it"


@pytest.fixture(autouse=True)
def nothing_is_graded() -> Iterator[None]:
    """No test runs as part of a grading before it: nbgrader leaves its variable behind where grading raises."""
    yield
    os.environ.pop("NBGRADER_EXECUTION", None)


def _state_of_torch() -> tuple[Any, ...]:
    torch = sys.modules.get("torch")
    return (torch.get_num_threads(), torch.get_default_dtype(), torch.is_grad_enabled()) if torch else ()
