"""Read the students of nbgrader's gradebook, and update them from a class list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from course.problem import Problem

MOST_TOLD = 20
"""The most students named in a printed list."""


@dataclass(frozen=True)
class Person:
    """A person of a class list.

    Args:
        ids: the ids that the person may have in the gradebook, the preferred one first.
        about: nbgrader's fields of a student, without empty ones.
    """

    ids: tuple[str, ...]
    about: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """Return the id for a person who is not in the gradebook."""
        return self.ids[0]


@dataclass(frozen=True)
class Changes:
    """The changes that a class list made in the gradebook.

    Args:
        added: the ids of new students.
        updated: the changed fields of students who were in the gradebook, in words, by id.
        same: the number of unchanged students.
        unlisted: the ids of students who are not in the class list.
        renamed: the gradebook's ids that differ from the class list's, by the class list's.
        ids: the gradebook's id of each person of the class list, in its order.
    """

    added: tuple[str, ...]
    updated: dict[str, str]
    same: int
    unlisted: tuple[str, ...]
    renamed: dict[str, str] = field(default_factory=dict)
    ids: tuple[str, ...] = ()


def update_students(db_url: str, people: Sequence[Person], config: Any) -> Changes:
    """Add the people of a class list to the gradebook, or update their fields; nobody is removed.

    Students who are in the gradebook keep their id there, even if the class list has another one.

    nbgrader's authenticator, if `config` names one, adds them to the course, as `nbgrader db student import` does.

    Raises:
        Problem: the authenticator refuses a student.
    """
    from nbgrader.api import Gradebook
    from nbgrader.auth import Authenticator

    course = str(config.CourseDirectory.get("course_id", "") or "default_course")
    with Gradebook(db_url, course, Authenticator(config=config)) as gradebook:
        known = {student.id: student for student in gradebook.students}
        names = _whose(people, [person_of(student) for student in known.values()])
        added: list[str] = []
        updated: dict[str, str] = {}
        for person, name in zip(people, names, strict=True):
            news = list(_news(known.get(name), person.about))
            _write(gradebook, name, person.about)
            if name not in known:
                added.append(name)
            elif news:
                updated[name] = ", ".join(news)
    met = set(names)
    pairs = zip(people, names, strict=True)
    renamed = {one.id: name for one, name in pairs if name.casefold() not in map(str.casefold, one.ids)}
    same = len(met) - len(added) - len(updated)
    return Changes(tuple(added), updated, same, tuple(sorted(known.keys() - met)), renamed, tuple(names))


def _whose(people: Sequence[Person], known: Iterable[Person]) -> list[str]:
    """Return the id of each person: the gradebook's id of the matching student, else the person's own.

    Each rule of `TELLING` is tried on all people before the next. A rule matches a person and a student if they share a
    key that no other person or student has.
    """
    found: dict[int, str] = {}
    taken: set[str] = set()
    for keys_of in TELLING:
        persons = _holders((number, keys_of(person)) for number, person in enumerate(people))
        students = _holders((student.id, keys_of(student)) for student in known)
        for key, numbers in persons.items():
            ours = [number for number in numbers if number not in found]
            theirs = [student for student in students.get(key, ()) if student not in taken]
            if len(ours) == len(theirs) == 1:
                found[ours[0]] = theirs[0]
                taken.add(theirs[0])
    return [found.get(number, person.id) for number, person in enumerate(people)]


_Holder = TypeVar("_Holder")


def _holders(keys: Iterable[tuple[_Holder, Iterable[str]]]) -> dict[str, list[_Holder]]:
    """Return the owners of each key."""
    holders: dict[str, list[_Holder]] = {}
    for one, own in keys:
        for key in dict.fromkeys(own):
            holders.setdefault(key, []).append(one)
    return holders


def _plain(student: str) -> str:
    """Return an id in lower case and without leading zeros, which spreadsheet programs drop."""
    return student.casefold().lstrip("0")


TELLING: tuple[Callable[[Person], Iterable[str]], ...] = (
    lambda person: person.ids,
    lambda person: map(str.casefold, person.ids),
    lambda person: [person.about[name].casefold() for name in ("email", "lms_user_id") if name in person.about],
    lambda person: map(_plain, person.ids),
)
"""The keys by which students are matched, the most reliable first."""


def lookalikes(students: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Return those of `students` who are not `known`, each with a known student who differs only in case or zeros."""
    others = {_plain(student): student for student in known}
    return {one: others[_plain(one)] for one in students if one not in known and _plain(one) in others}


def known_people(db_url: str) -> list[Person]:
    """Return all students of the gradebook with their fields."""
    from nbgrader.api import Gradebook

    with Gradebook(db_url) as gradebook:
        return [person_of(student) for student in gradebook.students]


def person_of(student: Any) -> Person:
    """Return a student of the gradebook as a `Person`."""
    about = {name: getattr(student, name) for name in ("first_name", "last_name", "email", "lms_user_id")}
    return Person((student.id,), {name: value for name, value in about.items() if value})


def some(names: Sequence[str]) -> str:
    """Return the first `MOST_TOLD` names of a list, and the number of the others."""
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return ", ".join(names[:MOST_TOLD]) + more


def _write(gradebook: Any, student: str, about: dict[str, str]) -> None:
    try:
        gradebook.update_or_create_student(student, **about)
    except Exception as error:  # an authenticator calls JupyterHub, which raises its own errors
        if not type(error).__module__.startswith("nbgrader.auth"):
            raise
        raise Problem(f"nbgrader's authenticator did not let {student} into the course: {error}") from error


def _news(student: Any, about: dict[str, str]) -> Iterator[str]:
    """Yield the fields of `about` that are new to the gradebook, in words."""
    for name, value in about.items():
        before = getattr(student, name, None)
        if before != value:
            yield f"{name} {value}" + (f" (was {before})" if before else "")
