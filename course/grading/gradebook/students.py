"""The students that nbgrader's gradebook knows, brought up to date by a class list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from course.grading.problem import Problem

MOST_TOLD = 20
"""Students named in a list: more would scroll away."""


@dataclass(frozen=True)
class Person:
    """Somebody of a class list.

    Args:
        ids: what the gradebook may know somebody by, first what it is to be.
        about: nbgrader's fields of a student, without those that are empty.
    """

    ids: tuple[str, ...]
    about: dict[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of somebody whom the gradebook does not know."""
        return self.ids[0]


@dataclass(frozen=True)
class Changes:
    """What a class list changed in the gradebook.

    Args:
        added: the ids of new students.
        updated: what is new of those whom the gradebook knew, in words.
        same: how many it knew just so.
        unlisted: whom it knows and the class list does not.
        renamed: whom it knows by another id than the class list has, by the class list's.
    """

    added: tuple[str, ...]
    updated: dict[str, str]
    same: int
    unlisted: tuple[str, ...]
    renamed: dict[str, str] = field(default_factory=dict)


def update_students(db_url: str, people: Sequence[Person], config: Any) -> Changes:
    """Add the people of a class list to the gradebook, or what it did not know of them; nobody is removed.

    Somebody whom it knows keeps their id there, whatever the class list has.

    nbgrader's authenticator, where `config` names one, lets them into the course, as `nbgrader db student import` does.

    Raises:
        Problem: the authenticator does not.
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
    return Changes(tuple(added), updated, same, tuple(sorted(known.keys() - met)), renamed)


def _whose(people: Sequence[Person], known: Iterable[Person]) -> list[str]:
    """The id of each person: by which the gradebook knows them, else their own.

    One of `TELLING` is tried on all before the next. It tells where one person and one student have in common what no
    other has.
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
    """Who has each key."""
    holders: dict[str, list[_Holder]] = {}
    for one, own in keys:
        for key in dict.fromkeys(own):
            holders.setdefault(key, []).append(one)
    return holders


def _plain(student: str) -> str:
    """An id without capitals, and without the zeros before a number, which spreadsheet programs drop."""
    return student.casefold().lstrip("0")


TELLING: tuple[Callable[[Person], Iterable[str]], ...] = (
    lambda person: person.ids,
    lambda person: map(str.casefold, person.ids),
    lambda person: [person.about[name].casefold() for name in ("email", "lms_user_id") if name in person.about],
    lambda person: map(_plain, person.ids),
)
"""What tells one student from another, the surest first."""


def lookalikes(students: Iterable[str], known: Sequence[str]) -> dict[str, str]:
    """Those of `students` who are not `known`, but differ only by capitals or zeros from somebody who is."""
    others = {_plain(student): student for student in known}
    return {one: others[_plain(one)] for one in students if one not in known and _plain(one) in others}


def known_people(db_url: str) -> list[Person]:
    """Everybody whom the gradebook knows, with all that it knows of them."""
    from nbgrader.api import Gradebook

    with Gradebook(db_url) as gradebook:
        return [person_of(student) for student in gradebook.students]


def person_of(student: Any) -> Person:
    """Return what the gradebook knows of one of its students."""
    about = {name: getattr(student, name) for name in ("first_name", "last_name", "email", "lms_user_id")}
    return Person((student.id,), {name: value for name, value in about.items() if value})


def some(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    return ", ".join(names[:MOST_TOLD]) + more


def _write(gradebook: Any, student: str, about: dict[str, str]) -> None:
    try:
        gradebook.update_or_create_student(student, **about)
    except Exception as error:  # an authenticator asks a hub, which has its own errors
        if not type(error).__module__.startswith("nbgrader.auth"):
            raise
        raise Problem(f"nbgrader's authenticator did not let {student} into the course: {error}") from error


def _news(student: Any, about: dict[str, str]) -> Iterator[str]:
    """What the gradebook does not know of a student yet."""
    for name, value in about.items():
        before = getattr(student, name, None)
        if before != value:
            yield f"{name} {value}" + (f" (was {before})" if before else "")
