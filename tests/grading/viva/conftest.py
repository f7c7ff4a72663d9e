"""Patience with a busy machine, on which an answer would otherwise take longer than a question can wait."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from course.grading.execution import question_sandbox


@pytest.fixture(scope="session", autouse=True)
def patience() -> Iterator[None]:
    """Wait a minute for the outcomes of an answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(question_sandbox, "SECONDS", 60.0)
        patch.setattr(question_sandbox, "SILENCE", 20.0, raising=False)
        yield
