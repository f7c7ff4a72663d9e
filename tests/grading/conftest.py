"""Running nbgrader as an instructor would."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.shared import once


@pytest.fixture(scope="session", autouse=True)
def version_of_gradebooks() -> Iterator[None]:
    """For each new gradebook nbgrader starts `alembic`, which takes seconds to say the same: here it is asked once."""
    from nbgrader import api

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(api, "get_alembic_version", cache(api.get_alembic_version))
        yield


@pytest.fixture(scope="session")
def graded_class(tmp_path_factory) -> Path:
    """A course whose class is graded. Whoever changes anything works on a copy."""
    from .classes import grade, make_class

    return once(tmp_path_factory, "graded", lambda folder: grade(make_class(folder)))


@pytest.fixture
def heard() -> Iterator[None]:
    """Ctrl-C is heard in this process: whoever runs the tests in the background has it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
