"""Send grades and feedback: `course send canvas 06` and `course send moodle 06`, or `final` for the final grade.

Each student's grade, comment and page go out in one request, between two lines of a journal, so that a run that is
stopped at any moment leaves each student with all of it or with nothing, and the next run knows.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace as altered
from datetime import UTC, datetime

from course.course import Course
from course.grading.classroom.current_grades import current_grades
from course.grading.classroom.final_grades import AS_TOPIC, final_grades
from course.grading.classroom.write_feedback import write_all
from course.grading.export.matching import Scale
from course.grading.gradebook.grades import Grades
from course.grading.gradebook.scores import class_comments
from course.grading.gradebook.students import some
from course.grading.lms.changes import Change, counts, decide, left_out, table
from course.grading.lms.connect import connect
from course.grading.lms.journal import Entry, Journal, is_equal, journal_of
from course.grading.lms.message import parcel
from course.grading.lms.people import students_by_number
from course.grading.lms.platform import Assignment, Parcel, Platform, Refused, Standing, Unclear
from course.problem import Problem
from course.syllabus import Topic

logger = logging.getLogger(__name__)

TRIES = 3
"""How often a grade is sent whose arrival is unclear."""

MOST_REFUSED = 5
"""The command stops after so many refusals in a row, because these are not about single students."""

EVERY = 25
"""The progress is told after so many students."""


def send(
    course: Course,
    platform: str,
    topic: Topic,
    tell: Callable[[str], None],
    *,
    dry_run: bool = False,
    replace: bool = False,
    only: Collection[str] = (),
) -> tuple[int, list[str]]:
    """Send the grades of a topic, each with a comment and a page of feedback, or of `AS_TOPIC`, the final ones.

    Args:
        tell: prints a line of the table of what will change.
        dry_run: show the table and send nothing.
        replace: send also where somebody changed the grade on the platform.
        only: send only to these students.

    Returns:
        The exit status, 1 if somebody did not get what they should have, and notes.

    Raises:
        Problem: nothing is graded, the assignment takes no points, or the platform cannot be reached.
    """
    grades, notes, db_url = _grades(course, topic)
    if unknown := sorted(set(only) - {pupil.id for pupil in grades.pupils}):
        raise Problem(f"the gradebook has no student {', '.join(unknown)}. Correct --student")
    site = connect(course, platform)
    assignment = site.find(topic)
    excused = course.outline.excused_from(topic.folder)
    wanted_by = {*only} or {pupil.id for pupil in grades.pupils}
    graded = [pupil.id for pupil in grades.pupils if topic.folder in pupil.grades and pupil.id in wanted_by - excused]
    _refuse(assignment, grades, topic, site.name)
    with journal_of(course.root, topic.folder, course.outline.places[platform], assignment) as journal:
        known, unsure = students_by_number(course, platform, topic)
        there = site.standings(assignment)
        parcels, failed = _parcels(course, grades, topic, assignment, db_url)
        wanted = {student: parcels[student] for student in graded if student in parcels}
        changes = decide_all(site, assignment, there, known, wanted, journal, replace=replace)
        tell(f"{topic.folder} to {assignment.name} on {site.name}: {counts(changes)}")
        for line in table(changes):
            tell(line)
        notes += [*unsure, *assignment.notes, *grades.notes(), *left_out(graded, known, there, platform)]
        if excused & wanted_by:
            notes.append(f"nothing is sent to {some(sorted(excused & wanted_by))}, whom course.toml excuses")
        notes += _about_points(grades.points[topic.folder], assignment, site.name)
        no_page = "nothing is sent, because the page could not be written"
        notes += [f"{student}: {no_page}: {reason}" for student, reason in sorted(failed.items())]
        if dry_run:
            return 0, notes
        lost = deliver(site, assignment, changes, journal, replace=replace)
        kept = _kept(changes, site.name)
        return int(bool(lost or failed or kept)), [*notes, *kept, *lost]


def _grades(course: Course, topic: Topic) -> tuple[Grades, list[str], str]:
    """Return the grades, notes, and the address of the gradebook with the comments, or "" for final grades."""
    if topic == AS_TOPIC:
        final = final_grades(course, datetime.now(UTC))
        return final.as_topic(), list(final.notes), ""
    grades, notes, config = current_grades(course, [topic])
    return grades, notes, config.CourseDirectory.db_url


def _refuse(assignment: Assignment, grades: Grades, topic: Topic, name: str) -> None:
    """Refuse assignments that take no points, or that would take points off late work a second time.

    Raises:
        Problem: this is such an assignment.
    """
    if assignment.obstacle:
        raise Problem(assignment.obstacle)
    late = [pupil.id for pupil in grades.pupils if topic.folder in pupil.grades and pupil.grades[topic.folder].late]
    if assignment.penalises and late:
        raise Problem(
            f"{name} takes points off late work by a rule of its own, and so does course.toml, for {some(late)}. "
            "Turn one of the two rules off"
        )


def decide_all(
    site: Platform,
    assignment: Assignment,
    there: Mapping[str, Standing],
    known: Mapping[str, str],
    parcels: Mapping[str, Parcel],
    journal: Journal,
    *,
    replace: bool,
) -> list[Change]:
    """Return what happens to each student who should get one of the `parcels`, in the order of their names.

    Args:
        there: what the platform has, by its numbers.
        known: the students by these numbers.
        replace: whether a grade goes out even if somebody changed it on the platform.
    """
    changes = []
    for user, student in sorted(known.items(), key=lambda pair: pair[1]):
        if student in parcels and user in there:
            standing = there[user]
            if standing.unlisted or student in journal.begun:
                standing = _looked_at(site, assignment, user, standing)
            changes.append(decide(student, user, parcels[student], standing, journal, replace=replace))
    return changes


def _looked_at(site: Platform, assignment: Assignment, user: str, there: Standing) -> Standing:
    """Return what a student has by the list and by a look: an earlier run may have been stopped while it sent."""
    try:
        seen = site.look(assignment, user)
    except Refused:
        return there
    return altered(there, versions=seen.versions, score=seen.score if there.unlisted else there.score)


def _parcels(
    course: Course, grades: Grades, topic: Topic, assignment: Assignment, db_url: str
) -> tuple[dict[str, Parcel], dict[str, str]]:
    """Return what each graded student gets, and why those get nothing whose page could not be written."""
    name, points = topic.folder, grades.points[topic.folder]
    pages, failed = write_all(course.root, name) if db_url and assignment.takes_pages else ({}, {})
    comments = class_comments(db_url, name) if db_url else {}
    scale = Scale(points, assignment.points or points)
    parcels = {
        pupil.id: parcel(
            pupil.grades[name], scale, comments.get(pupil.id, {}), pages.get(pupil.id), has_most=assignment.points > 0
        )
        for pupil in grades.pupils
        if name in pupil.grades and pupil.id not in failed
    }
    return parcels, failed


def _about_points(points: float, assignment: Assignment, name: str) -> Iterator[str]:
    """Yield a note if grades are scaled, or cannot be."""
    if not assignment.points:
        yield f"{assignment.name} has no points on {name}, so grades are not scaled. Give it {points:g} points there"
    elif assignment.points != points:
        yield f"scaled from {points:g} points to {name}'s {assignment.points:g}"


def _kept(changes: Sequence[Change], name: str) -> list[str]:
    """Return a note on the students whose grade somebody else changed on the platform."""
    kept = [change.student for change in changes if change.kind == "changed"]
    advice = "To replace such a grade, run it again with --replace-changed, and --student for each student you mean"
    return [f"changed on {name} by somebody else, and kept: {some(kept)}. {advice}"] if kept else []


def deliver(
    site: Platform, assignment: Assignment, changes: Sequence[Change], journal: Journal, *, replace: bool
) -> list[str]:
    """Send to all students who get something, and return notes on those who did not get it as it was sent.

    Raises:
        Problem: the platform refuses everybody, or cannot be reached. The journal has what was sent until then.
    """
    wanted = [change for change in changes if change.kind == "send"]
    for change in changes:
        if change.kind == "same" and change.student in journal.begun:
            journal.write(_entry(change, done=True))
    notes, sent, refused = [], [], 0
    for change in wanted:
        goes = altered(change.parcel, before=journal.messages(change.student), replace=replace)
        journal.write(_entry(change, done=False))
        try:
            after = _send(site, assignment, change.user, goes)
        except Refused as refusal:
            refused += 1
            notes.append(f"not sent to {change.student}: {refusal}")
            if refused == MOST_REFUSED:
                stops = f"{site.name} refuses one student after the other, so the command stops"
                raise Problem(f"{stops}. {'; '.join(notes[-MOST_REFUSED:])}") from None
            continue
        refused = 0
        journal.write(_entry(change, done=True))
        sent.append(change)
        notes += [f"{change.student}: {after.note}"] if after.note else []
        if len(sent) == 1 and (wrong := list(_check(site, assignment, sent, journal))):
            raise Problem(f"{wrong[0]}. Nothing else is sent, so that you can look at it there")
        if len(sent) % EVERY == 0:
            logger.info("%d of %d sent", len(sent), len(wanted))
    return [*notes, *_check(site, assignment, sent, journal)] if len(sent) > 1 else notes


def _send(site: Platform, assignment: Assignment, user: str, goes: Parcel) -> Standing:
    """Send to one student, and look again where it is unclear whether it arrived.

    Raises:
        Refused: the platform refuses it.
        Problem: it stays unclear. The next run looks again.
    """
    for _ in range(TRIES):
        try:
            return site.send(assignment, user, goes)
        except Unclear as error:
            why = error
        there = site.look(assignment, user)
        if goes.version in there.versions and there.score is not None and is_equal(there.score, float(goes.points)):
            return there
    raise Problem(f"{why}, {TRIES} times. Run the command again later")


def _check(site: Platform, assignment: Assignment, sent: Sequence[Change], journal: Journal) -> Iterator[str]:
    """Yield notes on students whose grade is not there as it was sent; and note how it stands there."""
    there = site.standings(assignment)
    for change in sent:
        now = there.get(change.user, Standing())
        if now.unlisted:
            now = _looked_at(site, assignment, change.user, now)
        if now.score is None or not is_equal(now.score, float(change.parcel.points)):
            has = "no grade" if now.score is None else f"{now.score:g} points"
            why = "a rubric, a lock or a rule there may decide"
            yield f"{site.name} has {has} for {change.student} in place of {change.parcel.points}, as {why}"
        elif now.stamp:
            journal.write(altered(_entry(change, done=True), stamp=now.stamp))


def _entry(change: Change, *, done: bool) -> Entry:
    parcel = change.parcel
    return Entry(change.student, change.user, parcel.version, float(parcel.points), parcel.message, done)
