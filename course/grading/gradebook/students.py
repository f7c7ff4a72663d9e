"""The students that nbgrader's gradebook knows, brought up to date by a class list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

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
    """

    added: tuple[str, ...]
    updated: dict[str, str]
    same: int
    unlisted: tuple[str, ...]


def update_students(db_url: str, people: Iterable[Person], config: Any) -> Changes:
    """Add the people of a class list to the gradebook, or what it did not know of them; nobody is removed.

    nbgrader's authenticator, where `config` names one, lets them into the course, as `nbgrader db student import` does.

    Raises:
        Problem: the authenticator does not.
    """
    from nbgrader.api import Gradebook
    from nbgrader.auth import Authenticator

    course = str(config.CourseDirectory.get("course_id", "") or "default_course")
    with Gradebook(db_url, course, Authenticator(config=config)) as gradebook:
        known = {student.id: student for student in gradebook.students}
        by_case = {name.casefold(): name for name in known}
        added: list[str] = []
        updated: dict[str, str] = {}
        met: set[str] = set()
        for person in people:
            exact = next((one for one in person.ids if one in known), None)
            name = exact or next(filter(None, (by_case.get(one.casefold()) for one in person.ids)), person.id)
            news = list(_news(known.get(name), person.about))
            met.add(name)
            _write(gradebook, name, person.about)
            if name not in known:
                added.append(name)
            elif news:
                updated[name] = ", ".join(news)
    same = len(met) - len(added) - len(updated)
    return Changes(tuple(added), updated, same, tuple(sorted(known.keys() - met)))


def known_people(db_url: str) -> list[Person]:
    """Everybody whom the gradebook knows, with all that it knows of them."""
    from nbgrader.api import Gradebook

    names = ("first_name", "last_name", "email", "lms_user_id")
    with Gradebook(db_url) as gradebook:
        known = [(one.id, {name: getattr(one, name) or "" for name in names}) for one in gradebook.students]
    return [Person((student,), {name: value for name, value in about.items() if value}) for student, about in known]


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
