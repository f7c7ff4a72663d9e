"""Find the key of an exercise: made from the hidden tests if installed, else read from an answer key file."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from ..exercise.key import AnswerKey, Key, key_of, read_key_file
from ..exercise.settings import as_torch_comes
from ..surroundings import variable
from ..syllabus import Item, Topic, Unknown
from .hide_traceback import hide_traceback
from .this_course import this_course

KEYS = Path(__file__).parent.parent / "keys"


def key(name: str) -> Key:
    """Return the public part of an exercise's key.

    Raises:
        TypeError: `name` is not a string, so another argument came first.
        Unknown: there is no such exercise. The message names similar ones.
    """
    topic, item = called(name)
    if item.kind == "question":
        raise hide_traceback(Unknown(f"{name!r} is graded by a person, so there is nothing to check"))
    return cached_key(topic, item.name)


def called(name: str) -> tuple[Topic, Item]:
    """Return the topic and the item of a name.

    Raises:
        TypeError: `name` is not a string, so another argument came first.
        Unknown: there is no such item. The message names similar ones.
    """
    if not isinstance(name, str):
        such = meant(name)
        got = f"{such} itself" if getattr(name, "__name__", "") == such else f"{name!r:.60}"
        raise hide_traceback(
            TypeError(f"the first argument must be an exercise's name in quotes, such as {such!r}, but it is {got}")
        )
    course = this_course()
    try:
        return course.find_item(name)
    except Unknown as error:
        raise hide_traceback(Unknown(f"{error.args[0]}{course.similar(name)}")) from None


def meant(given: object) -> str:
    """Return the exercise that `given` names, or whose name it has as `__name__`, or the first one as an example."""
    names = [item.name for topic in this_course().topics for item in topic.items]
    name = getattr(given, "__name__", given)
    return name if isinstance(name, str) and name in names else names[0]


@cache
def cached_key(topic: Topic, name: str) -> Key:
    """Make or read the key of a topic's exercise, and cache it in this process."""
    if find_spec("course.hidden") is not None:
        with as_torch_comes():
            return key_of(import_module("course.hidden").declared(topic, name), public_only=True)
    return answer_key(topic.name).exercises[name]


def passed_over(topic: Topic) -> str:
    """Return a message if a graded notebook checks another topic's exercise, whose key its kernel lacks, or nothing."""
    graded = variable("NBGRADER_EXECUTION") == "autograde"
    if not graded or find_spec("course.hidden") is not None or (KEYS / f"{topic.name}.key").exists():
        return ""
    return f"This belongs to {topic.folder}. It is not run while this notebook is graded."


@cache
def answer_key(topic: str) -> AnswerKey:
    """Return the answer key of a topic from its file, as an edition without hidden tests holds it.

    Raises:
        Unknown: the file is missing.
    """
    path = KEYS / f"{topic}.key"
    if not path.exists():
        raise hide_traceback(Unknown(f"the answer key {path.name} is missing. Install the course again"))
    with as_torch_comes():
        return read_key_file(path)
