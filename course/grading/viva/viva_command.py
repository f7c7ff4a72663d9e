"""`course viva`: make the sheets of a class, and mark the answers."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from course.course import Course
from course.grading.classroom.classroom import Classroom
from course.grading.course_files.catalogue import counted
from course.grading.gradebook.extra_assignment import save_points
from course.grading.gradebook.students import known_people, some
from course.grading.gradebook.topic_lock import topic_lock
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.viva.answers import read_answers
from course.grading.viva.asking import Work, chance_of, pool_of, work_of
from course.grading.viva.marks import Marked, best_of_each, said_of_chance
from course.grading.viva.pages import save_pages
from course.grading.viva.round import FIRST_SEED, Round, rounds
from course.grading.viva.sheets import Given, Sheet, draw, numbered
from course.outline import VIVA
from course.problem import Problem
from course.syllabus import Topic

log = logging.getLogger(__name__)


def make_sheets(
    course: Course, topic: Topic, *, seed: int = FIRST_SEED, most: int = 4, only: Sequence[str] = ()
) -> int:
    """Make a sheet of `most` questions for each student, or for `only` some, print where, and return 0.

    A student keeps a sheet that was made before as long as the code behind it is the same.

    Raises:
        Problem: nothing was handed in, or nothing of one of the students.
    """
    this_round, classroom = Round(course.root, topic, seed), Classroom(course, topic)
    with topic_lock(course.root, topic.folder):
        works = _works(classroom, only)
        sheets, shared, reasons = _drawn(this_round, classroom, works, most)
        pages = _saved(this_round, sheets, classroom) if sheets else []
    print(f"{topic.folder}: {counted(len(works) - len(reasons), 'sheet')} with questions about students' own code")
    for path, what in zip(pages, ("prints all of them", "has the answers with their reasons, for you"), strict=False):
        print(f"  {path.relative_to(course.root)} {what}")
    for student, reason in reasons.items():
        print(f"  ask in person: {student}, {reason}")
    if shared:
        print(f"  these sheets share several questions with others, because the code is the same: {some(shared)}")
    return 0


def _works(classroom: Classroom, only: Sequence[str]) -> dict[str, Work | str]:
    """Return the graded work of each student, or of `only` some, or the reason why nothing is asked about it."""
    submissions, topic = classroom.handed_in.submissions(), classroom.topic.folder
    if not submissions:
        raise Problem(f"nothing was handed in for {topic}. Put submissions into submitted/*/{topic}")
    if unknown := [student for student in only if student not in submissions]:
        raise Problem(f"{unknown[0]} handed in nothing for {topic}. Check the name")
    return {student: work_of(classroom, student, submissions[student]) for student in only or submissions}


def _saved(this_round: Round, sheets: Sequence[Sheet], classroom: Classroom) -> list[Path]:
    """Write all files of a round, and return the paths of the pages for the grader."""
    this_round.save(sheets)
    people = known_people(classroom.coursedir().db_url)
    names = {one.id: " ".join(filter(None, map(one.about.get, ("first_name", "last_name")))) for one in people}
    return save_pages(this_round, sheets, names, classroom.course.outline.title)


def _drawn(
    this_round: Round, classroom: Classroom, works: Mapping[str, Work | str], most: int
) -> tuple[list[Sheet], list[str], dict[str, str]]:
    """Return all sheets of a round with new ones, the students whose sheets overlap, and why others have none."""
    others = [sheet for one in rounds(this_round.root, this_round.topic) if one != this_round for sheet in one.sheets()]
    sheets, shared, reasons = this_round.sheets(), list[str](), dict[str, str]()
    given, latest = Given(sheets, others), {sheet.student: sheet for sheet in sheets}
    chance = chance_of(classroom, this_round.seed)
    log.info("asking about the code of %s", counted(len(works), "student"))
    for student, work in works.items():
        if isinstance(work, str):
            reasons[student] = work
        elif student not in latest or not latest[student].is_of(work.code, work.passing, most):
            pool = pool_of(classroom, work, chance)
            if isinstance(pool, str):
                reasons[student] = pool
                continue
            asked = draw(pool, most, student, given, f"{chance}:{student}")
            if given.overlap(asked):
                shared.append(student)
            made = Sheet("", student, asked, work.code, most)
            sheets.append(numbered(made, this_round.before_number, {sheet.number for sheet in sheets}))
            given.add(sheets[-1])
    return sheets, shared, reasons


def mark_answers(course: Course, topic: Topic, path: Path, *, seed: int = FIRST_SEED) -> int:
    """Mark the answers in a table, write results.csv and points if course.toml asks for them, and return 0.

    Raises:
        Problem: there are no sheets, or the table is not right. Nothing is written then.
    """
    this_round = Round(course.root, topic, seed)
    with topic_lock(course.root, topic.folder):
        marked, away = read_answers(path, this_round)
        results = this_round.save_results(marked)
        best = best_of_each(one for each in rounds(course.root, topic) for one in each.results())
        points = _save_points(course, topic, best)
    print(f"{topic.folder}: {counted(len(marked), 'sheet')} marked, in {results.relative_to(course.root)}")
    for line in (*_distribution(marked), *_missing(away), points):
        print(f"  {line}")
    return 0


def _distribution(marked: Sequence[Marked]) -> list[str]:
    lines = []
    for questions in sorted({len(one.counted) for one in marked} - {0}):
        times = Counter(one.right for one in marked if len(one.counted) == questions)
        told = ", ".join(f"{right} by {counted(times[right], 'student')}" for right in sorted(times, reverse=True))
        lines += [f"right of {questions}: {told}", said_of_chance(questions)]
    return lines


def _missing(away: Sequence[str]) -> list[str]:
    return [f"not there, so neither marked nor given points: {some(away)}"] if away else []


def _save_points(course: Course, topic: Topic, best: Mapping[str, Marked]) -> str:
    """Write points into the gradebook where course.toml gives some for this viva, and return what was done."""
    most = course.outline.viva.get(topic.folder, 0)
    if not most:
        return f"no points, because course.toml has no line {topic.folder} in [viva]"
    name = f"{topic.folder}{VIVA}"
    database = Classroom(course, topic).coursedir().db_url
    with quiet():
        save_points(database, name, most, {student: most * one.share for student, one in best.items()})
    return f"points in the gradebook as {name}, at most {most:g}"
