"""The answers that prove the hidden tests: right `ALTERNATIVES`, wrong `MUTANTS`, a module for each exercise."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from course.syllabus import Topic


def answers(kind: str, topic: Topic, exercise: str) -> list[Any]:
    """The `alternatives` to an exercise, or its `mutants`; none where none are kept."""
    name = f"tests.hidden.{kind}.{topic.name}.{exercise}"
    return getattr(import_module(name), kind.upper(), []) if find_spec(name) else []
