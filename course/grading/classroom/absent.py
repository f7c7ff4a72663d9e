"""Who handed in nothing for a topic, as far as the gradebook knows the class, and whom `course.toml` misspells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from course.grading.classroom.classroom import Classroom
from course.grading.gradebook.scores import others
from course.grading.gradebook.students import known_people, some
from course.syllabus import OUTLINE, Topic


def absent_notes(classroom: Classroom) -> Iterator[str]:
    """A line on those who handed in nothing, and one on names of `course.toml` that the gradebook does not know."""
    database, topic = classroom.coursedir().db_url, classroom.topic
    submitted = classroom.handed_in.submissions()
    absent, _ = others(database, topic.folder, submitted)
    if absent:
        told = some(with_extensions(absent, topic))
        yield f"handed in nothing ({len(absent)} of {len(absent) + len(submitted)} students): {told}"
    named = OUTLINE.students_named(topic.folder) if OUTLINE is not None else set()
    known = {person.id for person in known_people(database)} if named else set()
    if unknown := sorted(named - known - submitted.keys()):
        yield f"course.toml names {some(unknown)}, but the gradebook has nobody of that name. Check the spelling"


def with_extensions(students: Sequence[str], topic: Topic) -> list[str]:
    """The students, with the time until which one has an extension."""
    due = extended_due(topic)
    return [f"{name} (has until {due[name]:%Y-%m-%d %H:%M %z})" if name in due else name for name in students]


def extended_due(topic: Topic) -> dict[str, datetime]:
    """When a topic is due for those with an extension."""
    return OUTLINE.extended_due(topic.folder) if OUTLINE is not None else {}
