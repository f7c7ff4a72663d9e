"""Hidden tests, one module a topic, each full of `Exercise` declarations named as in the syllabus."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from ..exercise import Exercise
from ..exercise.key import write_key_file
from ..syllabus import TOPICS, Topic, find_item


def find(name: str) -> Exercise:
    """The declaration of the exercise called `name`.

    Raises:
        KeyError: there is no such exercise, or it is graded by hand.
    """
    topic, item = find_item(name)
    found = getattr(import_module(f"{__name__}.{topic.name}"), name, None)
    if item.kind == "question" or not isinstance(found, Exercise):
        raise KeyError(f"{name!r} is not graded by the judge")
    return found


def exercises(topic: Topic) -> list[Exercise]:
    """The declarations of a topic, in the order of its notebook."""
    return [find(item.name) for item in topic.items if item.kind != "question"]


def write_keys(folder: Path) -> None:
    """Writes the answer keys of the student edition, `<topic>.key` each, into `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for topic in TOPICS:
        write_key_file(folder / f"{topic.name}.key", exercises(topic))
