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
from ..syllabus import OUTLINE, Topic, find_item


class Undeclared(Faulty):
    """A topic's tests are missing, do not run, or leave an exercise out."""


def find(name: str) -> Exercise:
    """The declaration of the exercise called `name`.

    Raises:
        KeyError: there is no such exercise, or it is graded by hand.
        Undeclared: its topic has no usable tests for it.
    """
    topic, item = find_item(name)
    if item.kind == "question":
        raise KeyError(f"{name!r} is not graded by the judge")
    found = getattr(_load(topic), name, None)
    if not isinstance(found, Exercise):
        raise _left_out(topic, name)
    return found


def own_tests(topic: Topic) -> Path:
    """The file with the hidden tests of an instructor's own topic.

    Raises:
        Undeclared: it is not there.
    """
    assert OUTLINE is not None, "only a course of an instructor's own has topics of its own"
    return _there(OUTLINE.own_folder(topic.folder) / "hidden.py")


def _there(path: Path, shown: Path | None = None) -> Path:
    """The path that is `shown` to people, of a file that must be there."""
    if not path.is_file():
        raise Undeclared(f"there is no {shown or path}: write it first")
    return shown or path


def _tests(topic: Topic) -> Path:
    """The file with a topic's hidden tests, for sentences: of ours as seen from the repository."""
    file = f"{topic.name}.py"
    return own_tests(topic) if topic.own else _there(Path(__file__).with_name(file), Path("course", "hidden", file))


def _load(topic: Topic) -> ModuleType:
    """A topic's module: executed once, and of an instructor's own topic complete."""
    name = f"{__name__}.{topic.name}"
    if topic.own and name in sys.modules:
        return sys.modules[name]
    path = _tests(topic)
    try:
        module = _execute(name, path) if topic.own else import_module(name)
    except MemoryError:  # a fault of the machine
        raise
    except (Exception, SystemExit) as error:
        raise Undeclared(f"{path} cannot be used: {type(error).__name__}: {error}") from error
    for item in topic.items:
        if topic.own and item.kind != "question" and not isinstance(getattr(module, item.name, None), Exercise):
            del sys.modules[name]
            raise _left_out(topic, item.name)
    return module


def _execute(name: str, path: Path) -> ModuleType:
    spec = spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _left_out(topic: Topic, name: str) -> Undeclared:
    return Undeclared(f"{_tests(topic)} declares no exercise {name}, which {topic.named_in} names")


def exercises(topic: Topic) -> list[Exercise]:
    """The declarations of a topic, in the order of its notebook."""
    return [find(item.name) for item in topic.items if item.kind != "question"]


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
