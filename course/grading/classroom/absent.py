"""List the students of the gradebook who handed in nothing for a topic, and names that `course.toml` misspells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from course.grading.classroom.classroom import Classroom
from course.grading.gradebook.scores import others
from course.grading.gradebook.students import known_people, lookalikes, some


def absent_notes(classroom: Classroom) -> Iterator[str]:
    """Yield lines on students who handed in nothing, and on names of `course.toml` that the gradebook does not have."""
    database, topic, outline = classroom.coursedir().db_url, classroom.topic.folder, classroom.course.outline
    submitted = classroom.handed_in.submissions()
    absent, _ = others(database, topic, {*submitted, *outline.excused_from(topic)})
    if absent:
        told = some(described(absent, outline.extended_due(topic), submitted))
        yield f"handed in nothing ({len(absent)} of {len(absent) + len(submitted)} students): {told}"
    for student, other in sorted(lookalikes(absent, list(submitted)).items()):
        yield (
            f"if {other} is {student}, rename submitted/{other} to submitted/{student} and grade again. Then "
            f"`nbgrader db student remove {other} --force` forgets {other}, and the points that {other} has by hand"
        )
    named = outline.students_named(topic)
    known = {person.id for person in known_people(database)} if named else set()
    if unknown := sorted(named - known - submitted.keys()):
        yield f"course.toml names {some(unknown)}, but the gradebook has nobody of that name. Check the spelling"


def described(absent: Sequence[str], due: Mapping[str, datetime], submitted: Iterable[str]) -> list[str]:
    """Return the absent names, each with its extension's end and the name in `submitted` that it may be a typo of.

    `due` has the due dates of the students with an extension.
    """
    others = lookalikes(absent, list(submitted))
    about = {name: f"has until {due[name]:%Y-%m-%d %H:%M %z}" for name in absent if name in due}
    about |= {name: f"but {other} did" for name, other in others.items()}
    return [f"{name} ({about[name]})" if name in about else name for name in absent]
