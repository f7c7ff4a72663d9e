"""`course take`: give a student a file that intake could only list, through the intake's own unpacking and checks."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from nbformat import from_dict

from course.course import Course
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.groups import group_of
from course.grading.course_files.cells import grade_id, topics_of
from course.grading.gradebook.students import known_people
from course.grading.gradebook.topic_lock import topic_lock
from course.grading.intake import attempts
from course.grading.intake.arrival_time import ARRIVAL, in_utc
from course.grading.intake.bare_notebooks import bare_work
from course.grading.intake.needed_files import MANIFEST, unfit
from course.grading.intake.ownership import HandIn, read_manifest
from course.grading.intake.platforms import Sender
from course.grading.intake.submit import STAMP
from course.grading.intake.untrusted import everything, parse_notebook, plain_files
from course.grading.nbgrader_bridge.log_capture import quiet
from course.grading.nbgrader_bridge.unpacking import TolerantExtractor
from course.problem import Problem
from course.syllabus import Topic


def take(course: Course, student: str, file: Path, topic: Topic | None, came: datetime | None) -> list[str]:
    """Make a file a student's submission that counts, and return what was done. Replaced work stays in `attempts/`.

    Args:
        file: a notebook, an archive, or a folder with a notebook.
        topic: its topic, or None for the one whose exercises the notebook has.
        came: when it was handed in, with a zone; without it, the time in the manifest that `course submit` packed, and
            without that, the work counts as on time.

    Raises:
        Problem: the student is unknown, or the file is unreadable, of another topic, or unclear.
    """
    with tempfile.TemporaryDirectory(prefix="course-take-") as place:
        found = _unpacked(file, Path(place))
        topic = _topic(course, [path for path in found if path.suffix == ".ipynb"], topic, file)
        classroom = Classroom(course, topic)
        _demand_known(student, [person.id for person in known_people(classroom.coursedir().db_url)])
        work = _work(student, found, topic, file, Path(place))
        came = came or _packed_at(found, topic)
        if came:
            (work / ARRIVAL).write_text(came.isoformat(" "), encoding="utf-8")
        return _give(classroom, student, work, in_utc(came.isoformat()) if came else None, file)


def _unpacked(file: Path, place: Path) -> list[Path]:
    """Return the files of `file`, unpacked below `place` as a download is."""
    source, target = place / "in", place / "out"
    source.mkdir()
    try:
        if file.is_dir():
            shutil.copytree(file, source / file.name, symlinks=True)
        else:
            shutil.copy(file, source)
    except OSError as error:
        raise Problem(f"{file} cannot be read: {error.strerror or error}") from None
    extractor = TolerantExtractor()
    with quiet():
        extractor.extract(str(source), str(target))
    if extractor.left:
        raise Problem(f"{file} is {next(iter(extractor.left.values()))}")
    return [path for path in everything(target) if path.is_file() and not path.is_symlink()]


def _topic(course: Course, notebooks: Sequence[Path], topic: Topic | None, file: Path) -> Topic:
    """Return the topic of a file: the one that was named, if it fits, or the one whose exercises are in a notebook."""
    if not notebooks:
        raise Problem(f"{file} holds no notebook. Ask for a file that ends in .ipynb")
    cells = [cell for path in notebooks for cell in _cells(path)]
    there = topics_of(course, map(grade_id, cells))
    if topic is None and len(there) != 1:
        what = "exercises of several topics" if there else "no exercise of this course"
        raise Problem(f"{file} has {what}. Name its topic with --topic")
    if topic is None:
        (topic,) = there
    if there and topic not in there:
        others = ", ".join(sorted(other.folder for other in there))
        raise Problem(f"{file} has the exercises of {others}, and none of {topic.folder}. Correct --topic")
    return topic


def _cells(path: Path) -> Sequence[dict[str, object]]:
    cells = parse_notebook(path.read_bytes(), path.name).get("cells")
    return [from_dict(cell) for cell in cells if isinstance(cell, dict)] if isinstance(cells, list) else []


def _demand_known(student: str, known: Sequence[str]) -> None:
    if student not in known:
        alike = get_close_matches(student, known, n=1)
        which = f"Did you mean {alike[0]}?" if alike else "Add them with `course roster` first"
        raise Problem(f"the gradebook has no student {student}. {which}")


def _work(student: str, found: Sequence[Path], topic: Topic, file: Path, place: Path) -> Path:
    """Put the files of a submission where it wants them, in a new folder below `place`, and return that folder."""
    below = {PurePosixPath(path.relative_to(place / "out").as_posix()): path for path in found}
    hand_in = bare_work(student, Sender("", str(file), str(file)), list(below), topic.folder)
    if not isinstance(hand_in, HandIn):
        raise Problem(f"{hand_in}. Take one of them by its own name")
    work = place / "work"
    for name, path in hand_in.files.items():
        if name == PurePosixPath(MANIFEST) or not unfit(str(name)):
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(below[path], work / name)
    return work


def _packed_at(found: Sequence[Path], topic: Topic) -> datetime | None:
    """Return when `course submit` packed the work, as its only manifest says, or None."""
    said = [read_manifest(path) for path in found if path.name == MANIFEST]
    times = [attempts.parsed_time(one.time) for one in said if one is not None and one.topic == topic.folder]
    return times[0].replace(tzinfo=UTC) if len(times) == 1 and times[0] else None


def _give(classroom: Classroom, student: str, work: Path, came: datetime | None, file: Path) -> list[str]:
    """Make the folder `work` count for a student and the members of the group, and return what was done."""
    root, name, told = classroom.root, classroom.topic.folder, []
    now = came or datetime.now()
    with topic_lock(root, name):
        for member in group_of(classroom.course, classroom.topic, student):
            there = classroom.submitted(member)
            before = attempts.attempt_in(there)
            one = attempts.Attempt(work, f"{now:{STAMP}}", came, attempts.digest(dict(plain_files(work))))
            if before and before.digest == one.digest and came in (None, before.came):
                told.append(f"{name}: {member} has this work already, and nothing changed")
                continue
            attempts.put_back(root, member, name, one, there)
            kept = f", and what counted before is in {attempts.FOLDER}/{member}/{name}" if before else ""
            told.append(f"{name}: {file.name} counts for {member} now{kept}")
    return [*told, f"Next: course grade {name}"]
