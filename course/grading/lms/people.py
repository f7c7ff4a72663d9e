"""Know which student of the gradebook is which user of a platform: by the platform's numbers, and never by name.

`course roster canvas` and `moodle` save the numbers of the whole class in `.course/people/<platform>.json`. The intake
saved those of who handed in a topic in `.course/owners/<topic>.json`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from course.course import Course
from course.files import write_atomically
from course.grading.classroom.roster import update_roster
from course.grading.intake.ownership import read_senders
from course.grading.intake.platforms import BY_USER
from course.grading.lms.connect import connect
from course.syllabus import Topic

FOLDER = Path(".course", "people")
"""The folder, within the course's folder, with a file for each platform."""

SENDERS = {"canvas": "Canvas", "moodle": BY_USER}
"""The platforms of those senders whose keys are the numbers of users."""


def take_roster(course: Course, platform: str, id_column: str | None = None) -> tuple[list[str], list[str]]:
    """Read the class from a platform into the gradebook, and return lines on the changes and notes to check.

    Raises:
        Problem: the platform cannot be read, or a student has no id.
    """
    told, notes, numbers = update_roster(course.root, connect(course, platform).class_list(), id_column)
    write_atomically(_path(course.root, platform), json.dumps(numbers, indent=1, ensure_ascii=False).encode())
    return told, notes


def students_by_number(course: Course, platform: str, topic: Topic) -> tuple[dict[str, str], list[str]]:
    """Return the gradebook's students by their numbers on a platform, and notes on those who are left out.

    The platform's own list counts more than who handed in, because members of a group send each other's work. A student
    with several numbers, or a number of several students, is left out.
    """
    known = _read(course.root, platform)
    pairs = set(known.items())
    for student, one in read_senders(course.root, topic.folder).items():
        if one.platform == SENDERS[platform] and one.key not in known and student not in known.values():
            pairs.add((one.key, student))
    numbers, students = Counter(number for number, _ in pairs), Counter(student for _, student in pairs)
    sure = {number: student for number, student in pairs if numbers[number] == students[student] == 1}
    unsure = sorted({student for _, student in pairs} - set(sure.values()))
    file = FOLDER / f"{platform}.json"
    told = f"{', '.join(unsure)}: {file} and the work that was collected disagree on who this is. Correct that file"
    return sure, [told] if unsure else []


def _read(root: Path, platform: str) -> Mapping[str, str]:
    try:
        kept = json.loads(_path(root, platform).read_text("utf-8"))
        return {str(number): str(student) for number, student in kept.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _path(root: Path, platform: str) -> Path:
    return root / FOLDER / f"{platform}.json"
