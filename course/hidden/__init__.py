"""Hidden tests, one module a topic, each full of `Exercise` declarations named as in the syllabus.

The module of an instructor's own topic lies in their course's folder, `exercises/13_smoothing/hidden.py`.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from ..exercise import Exercise
from ..exercise.key import NoKey, write_key_file
from ..outline import Faulty
from ..syllabus import OUTLINE, TOPICS, Topic, find_item


def find(name: str) -> Exercise:
    """The declaration of the exercise called `name`.

    Raises:
        KeyError: there is no such exercise, or it is graded by hand.
        Undeclared: an instructor's own topic has no usable tests for it.
    """
    topic, item = find_item(name)
    module = _load(topic) if topic.own else import_module(f"{__name__}.{topic.name}")
    found = getattr(module, name, None)
    if item.kind == "question" or not isinstance(found, Exercise):
        raise KeyError(f"{name!r} is not graded by the judge")
    return found


class Undeclared(Faulty):
    """The tests of an instructor's own topic are missing, do not run, or leave an exercise out."""


def own_tests(topic: Topic) -> Path:
    """The file with the hidden tests of an instructor's own topic."""
    assert OUTLINE is not None, "only a course of an instructor's own has topics of its own"
    return OUTLINE.own_folder(topic.folder) / "hidden.py"


def _load(topic: Topic) -> ModuleType:
    """The module of an instructor's own topic: executed once, and complete."""
    name, path = f"{__name__}.{topic.name}", own_tests(topic)
    if name in sys.modules:
        return sys.modules[name]
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
        for item in topic.items:
            if item.kind != "question" and not isinstance(getattr(module, item.name, None), Exercise):
                raise Undeclared(f"{path} declares no exercise {item.name}, which course.toml names")
    except Undeclared:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise Undeclared(f"{path} cannot be used: {type(error).__name__}: {error}") from error
    return module


def exercises(topic: Topic) -> list[Exercise]:
    """The declarations of a topic, in the order of its notebook."""
    return [find(item.name) for item in topic.items if item.kind != "question"]


def write_keys(folder: Path) -> None:
    """Writes the answer keys of the student edition, `<topic>.key` each, into `folder`.

    Raises:
        Undeclared: as `write_key` does.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for topic in TOPICS:
        write_key(folder, topic)


def write_key(folder: Path, topic: Topic) -> None:
    """Writes the answer key of one topic into `folder`.

    Raises:
        Undeclared: the tests of an instructor's own topic cannot be run.
    """
    try:
        write_key_file(folder / f"{topic.name}.key", exercises(topic))
    except NoKey as error:
        if not topic.own:
            raise
        raise Undeclared(f"{own_tests(topic)}: {error}") from error
