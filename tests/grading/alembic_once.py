"""A plugin for pytest: nbgrader starts `alembic` for each new gradebook, which takes seconds to say the same.

Here a process asks it once.
"""

from __future__ import annotations

from functools import cache

from nbgrader import api


def pytest_configure() -> None:
    """Keep the answer of the first time."""
    api.get_alembic_version = cache(api.get_alembic_version)
