"""Find the answers that prove the hidden tests: right `ALTERNATIVES` and wrong `MUTANTS`, a module per exercise."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from course.syllabus import Topic


def answers(kind: str, topic: Topic, exercise: str) -> list[Any]:
    """Return the `alternatives` to an exercise, or its `mutants`. The list is empty where there are none."""
    name = f"tests.hidden.{kind}.{topic.name}.{exercise}"
    return getattr(import_module(name), kind.upper(), []) if find_spec(name) else []
