"""Groups of `course.toml`: the newest submission of a member counts for all members, and so do manual points.

Each member gets a copy in `submitted/` and a grade in the gradebook, because nbgrader has no groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from course.course import Course
from course.grading.classroom.classroom import Classroom
from course.grading.gradebook.scores import Marks
from course.grading.gradebook.students import known_people
from course.grading.gradebook.topic_lock import topic_lock
from course.grading.intake.attempts import Attempt, attempt_in, share
from course.grading.intake.ownership import listed
from course.outline import Group
from course.syllabus import Topic


def group_of(course: Course, topic: Topic, student: str) -> tuple[str, ...]:
    """Return the members of a student's group in a topic, the student included."""
    groups = course.outline.groups_in(topic.folder)
    return next((group.members for group in groups if student in group.members), (student,))


def one_of_each(course: Course, topic: Topic, students: Iterable[str]) -> list[str]:
    """Return `students` with only the first of each group, because members share their work without copying."""
    students = list(students)
    groups = {student: group_of(course, topic, student) for student in students}
    firsts = {next((one for one in groups[student] if one in students), student) for student in students}
    return [student for student in students if student in firsts]


def share_work(classroom: Classroom) -> list[str]:
    """Copy each group's newest submission into the folders of all its members, and return notes on the changes.

    Replaced work is kept as an earlier attempt. If it is unknown which submission is the newest, nothing changes.

    Raises:
        Problem: the topic is being graded now.
    """
    groups = classroom.course.outline.groups_in(classroom.topic.folder)
    if not groups:
        return []
    known = {person.id for person in known_people(classroom.coursedir().db_url)}
    with topic_lock(classroom.root, classroom.topic.folder):
        return [note for group in groups for note in _share_work(classroom, group, known)]


def _share_work(classroom: Classroom, group: Group, known: Collection[str]) -> Iterator[str]:
    works = _works(classroom, group)
    if not works:
        return
    newest = _newest(works)
    if newest is None:
        stamp = "Put a timestamp.txt beside each of them"
        yield f"{group.name}: {listed(list(works))} handed in different work, and nothing says which is newer. {stamp}"
        return
    new = [one for one in group.members if one not in works or works[one].digest != works[newest].digest]
    for student in new:
        place = classroom.submitted(student)
        share(classroom.root, student, classroom.topic.folder, works[newest], place)
    if new:
        yield f"{group.name}: what {newest} handed in counts for {listed(new)}, too"
    for student in new:
        if known and student not in works and student not in known:
            undo = f"remove submitted/{student}, and run `nbgrader db student remove {student} --force`"
            yield f"{group.name}: the gradebook had no {student}. If that is misspelt, correct course.toml, {undo}"


def _works(classroom: Classroom, group: Group) -> dict[str, Attempt]:
    """Return each group member's work in `submitted/`, without members who have none."""
    works = {student: attempt_in(classroom.submitted(student)) for student in group.members}
    return {student: work for student, work in works.items() if work is not None}


def _newest(works: dict[str, Attempt]) -> str | None:
    """Return the student whose work came last; None if that is unknown and the works differ."""
    if len({work.digest for work in works.values()}) == 1:
        return next(iter(works))
    came = {student: work.came for student, work in works.items() if work.came}
    if len(came) < len(works):
        return None
    latest = max(came.values())
    last = [student for student in works if came[student] == latest]
    return last[0] if len({works[student].digest for student in last}) == 1 else None


def share_points(classroom: Classroom) -> list[str]:
    """Copy one member's manual points and comments to members with the same work who have none, and return notes."""
    from nbgrader.api import Gradebook

    groups = classroom.course.outline.groups_in(classroom.topic.folder)
    if not groups:
        return []
    with Gradebook(classroom.coursedir().db_url) as gradebook:
        notes = [note for group in groups for note in _share_points(classroom, gradebook, group)]
        gradebook.db.commit()
    return notes


def _share_points(classroom: Classroom, gradebook: Any, group: Group) -> Iterator[str]:
    works = _works(classroom, group)
    for first in works:
        same = [student for student in works if works[student].digest == works[first].digest]
        if first == same[0] and len(same) > 1:
            marks = _marks(classroom.topic, gradebook, same)
            for name in sorted(set().union(*(one.grades for one in marks.values()))):
                yield from _share_cell(name, marks, group)


def _marks(topic: Topic, gradebook: Any, students: Sequence[str]) -> dict[str, Marks]:
    """Return the gradebook's marks of those `students` who are graded."""
    from nbgrader.api import MissingEntry

    found = {}
    for student in students:
        try:
            found[student] = Marks.of(gradebook, topic.folder, topic.folder, student)
        except MissingEntry:
            continue
    return found


def _share_cell(name: str, marks: dict[str, Marks], group: Group) -> Iterator[str]:
    grades = {student: one.grades[name] for student, one in marks.items() if name in one.grades}
    given = [one for one in grades if grades[one].manual_score is not None and not grades[one].needs_manual_grade]
    new = [one for one in grades if one not in given] if given else []
    for student in new:
        grade, example = grades[student], grades[given[0]]
        grade.manual_score, grade.extra_credit = example.manual_score, example.extra_credit
        grade.needs_manual_grade = False
        theirs, ours = (marks[one].comments.get(name) for one in (student, given[0]))
        if theirs is not None and ours is not None and theirs.manual_comment is None:
            theirs.manual_comment = ours.manual_comment
    if new:
        yield f"{group.name}: the points that you gave {given[0]} for {name} count for {listed(new)}, too"
    if len({grades[one].manual_score for one in given}) > 1:
        told = listed([f"{one} ({grades[one].manual_score:g})" for one in given])
        yield f"{group.name}: you gave different points for {name} to {told}, so nothing is changed there"
