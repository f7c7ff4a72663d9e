"""Hidden tests: a folder a topic, in it a module an exercise, which declares it, named as in the syllabus.

The module of an instructor's own topic lies in their course's folder, `exercises/20_smoothing/hidden.py`.
"""

from __future__ import annotations

import hashlib
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from ..course import Course
from ..exercise import Exercise
from ..exercise.key import NoKey, write_key_file
from ..exercise.prediction import Prediction
from ..outline import Faulty
from ..syllabus import Topic
from .written import Question


class Undeclared(Faulty):
    """A topic's tests are missing, do not run, or leave an exercise out."""


def find(course: Course, name: str) -> Exercise:
    """The declaration of the exercise of a course that is called `name`.

    Raises:
        KeyError: there is no such exercise, or it is graded by hand.
        Undeclared: its topic has no usable tests for it.
    """
    topic, item = course.find_item(name)
    if item.kind == "question":
        raise KeyError(f"{name!r} is not graded by the judge")
    return declared(topic, name)


def declared(topic: Topic, name: str) -> Exercise:
    """The declaration of a topic's exercise, as `find` returns it."""
    path = _tests(topic, name)
    try:
        found = getattr(_module(topic, name, path), name, None)
    except MemoryError:  # a fault of the machine
        raise
    except (Exception, SystemExit) as error:
        raise Undeclared(f"{path} cannot be used: {type(error).__name__}: {error}") from error
    if not isinstance(found, Exercise):
        raise Undeclared(f"{topic.named_in} names the exercise {name}, but {path} does not declare it")
    return found


def own_tests(topic: Topic) -> Path:
    """The file with the hidden tests of an instructor's own topic.

    Raises:
        Undeclared: it is not there.
    """
    assert topic.home is not None, f"{topic.folder} is an original topic"
    return _there(topic.home / "hidden.py")


def _there(path: Path, shown: Path | None = None) -> Path:
    """The path that is `shown` to people, of a file that must be there."""
    if not path.is_file():
        raise Undeclared(f"{shown or path} is missing. Write it first")
    return shown or path


def _tests(topic: Topic, name: str) -> Path:
    """The file with the hidden tests of an exercise, for sentences: of ours as seen from the repository."""
    if topic.own:
        return own_tests(topic)
    place = Path(topic.name, f"{name}.py")
    return _there(Path(__file__).parent / place, Path("course", "hidden") / place)


def _module(topic: Topic, name: str, path: Path) -> ModuleType:
    """The module that declares an exercise: of an instructor's own topic the one for all of them, executed once.

    Its name holds a digest of its path, because two courses may each have a topic of that name.
    """
    if not topic.own:
        return import_module(f"{__name__}.{topic.name}.{name}")
    module = f"{__name__}.{topic.name}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    return sys.modules.get(module) or _execute(module, path)


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


def exercises(topic: Topic) -> list[Exercise]:
    """The declarations of a topic, in the order of its notebook."""
    return [declared(topic, item.name) for item in topic.judged]


def predictions(topic: Topic) -> tuple[Prediction, ...]:
    """What a topic's notebook has its reader predict; an instructor's own topic has none."""
    if not topic.predictions:
        return ()
    declared: tuple[Prediction, ...] = import_module(f"{__name__}.{topic.name}.predictions").PREDICTIONS
    return declared


def question_hints(topic: Topic) -> dict[str, tuple[str, ...]]:
    """The hints for a topic's written question, by its name; an instructor's own topic has none."""
    return _of_question(topic, "hints")


def question_criteria(topic: Topic) -> dict[str, tuple[str, ...]]:
    """What a good answer to a topic's written question meets, by its name; an instructor's own topic has nothing."""
    return _of_question(topic, "criteria")


def _of_question(topic: Topic, what: str) -> dict[str, tuple[str, ...]]:
    """The hints or the criteria of the written question that the class gets."""
    names = [item.name for item in topic.items if item.kind == "question"]
    if topic.own or not names:
        return {}
    other = other_question(topic)
    first = import_module(f"{__name__}.{topic.name}.question")
    return dict.fromkeys(names, getattr(other, what) if other else getattr(first, what.upper()))


def other_question(topic: Topic) -> Question | None:
    """The written question that `course.toml` chooses for a topic, if not the one that stands in its notebook."""
    if topic.question == 1:
        return None
    others: tuple[Question, ...] = import_module(f"{__name__}.{topic.name}.question").OTHERS
    return others[topic.question - 2]


def write_key(folder: Path, topic: Topic) -> None:
    """Writes the answer key of one topic into `folder`.

    Raises:
        Undeclared: the tests of an instructor's own topic cannot be run.
    """
    try:
        path, about = folder / f"{topic.name}.key", (question_hints(topic), question_criteria(topic))
        write_key_file(path, exercises(topic), predictions(topic), *about)
    except NoKey as error:
        if not topic.own:
            raise
        raise Undeclared(f"{own_tests(topic)}: {error}") from error
