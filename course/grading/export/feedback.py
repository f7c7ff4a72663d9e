"""Zip the feedback pages for Moodle and Canvas, each under the name by which the platform knows the student.

Sources of the names:

- Moodle's "Upload multiple feedback files in a zip" reads a folder's name, `Ada Lovelace_101_assignsubmission_file_`,
  for the participant's number (`mod/assign/feedback/file/importziplib.php` in github.com/moodle/moodle). Before 4.1 it
  needs the last `_`.
- Canvas's re-upload of submissions reads the numbers of the student and of a file that they handed in. It shows what
  comes back under that file's name (`infer_comment_context_from_filename` and `generate_comments_from_files` of
  `app/models/abstract_assignment.rb` in github.com/instructure/canvas-lms). So the feedback on a zip is a zip, too.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath

from course.course import Course
from course.files import whole
from course.grading import reproducible_zip
from course.grading.classroom.write_feedback import write_all
from course.grading.gradebook.grades import read_grades, submissions
from course.grading.intake.bare_notebooks import find_student
from course.grading.intake.downloaded import names_by_sender
from course.grading.intake.platforms import CANVAS
from course.grading.intake.senders import read_senders
from course.grading.nbgrader_bridge.class_list import class_list
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.problem import Problem
from course.syllabus import Topic

PLATFORMS = {"canvas": "Canvas", "moodle": "Moodle"}
"""The platforms that take feedback, by their names in `course export`."""


def export_feedback(course: Course, platform: str, topic: Topic, to: Path | None = None) -> tuple[Path, list[str]]:
    """Write the feedback pages of a topic again, and zip them for one of `PLATFORMS`.

    Args:
        to: the zip, by default `exports/<topic>-feedback-<platform>.zip`.

    Returns:
        The zip's path, and notes for the instructor, such as whose feedback is not in the zip.

    Raises:
        Problem: nothing is graded, no student's file on the platform is known, or the zip cannot be written.
    """
    root = course.root
    pages, failed = write_all(root, topic.folder)
    label = PLATFORMS[platform]
    sent = {student: place for student, place in _places(course, platform, topic).items() if student in pages}
    if not sent:
        raise Problem(
            f"no file in downloaded/{topic.folder}/archive/ is certainly a student's by the name that {label} gave it. "
            f"Put {label}'s download there as it is, and run `nbgrader zip_collect {topic.folder} --force` first, "
            "or send the pages in feedback/ yourself"
        )
    path = to or root / "exports" / f"{topic.folder}-feedback-{platform}.zip"
    try:
        with whole(path) as unfinished:
            _write(unfinished, {sent[student]: pages[student] for student in sent}, f"{topic.folder}.html")
    except OSError as error:
        raise Problem(f"{path} cannot be written: {error.strerror}") from error
    waiting = read_grades(load_config(root).CourseDirectory.db_url, [topic]).ungraded(topic.folder)
    told = f"{topic.folder}: {submissions(waiting)} with answers that you have not graded yet. Their pages say so"
    return path, [*([told] if waiting else []), *_notes(topic, label, sorted(pages), sent, failed)]


def _places(course: Course, platform: str, topic: Topic) -> dict[str, str]:
    """Return the path of each student's feedback in the zip, for students with their own sender on the platform.

    For a group's member, Moodle may have named the team instead, whose number can be another student's.
    """
    root = course.root
    groups = {student for group in course.outline.groups_in(topic.folder) for student in group.members}
    people = class_list(load_config(root).CourseDirectory.db_url) if groups else []
    senders = read_senders(root, topic.folder)
    senders = {student: sender for student, sender in senders.items() if sender.platform == PLATFORMS[platform]}
    count = Counter(senders.values())
    names = names_by_sender(root / "downloaded" / topic.folder / "archive", senders.values())
    places = {}
    for student, sender in senders.items():
        if sender not in names or count[sender] > 1:
            continue
        if platform == "canvas":
            name = max(names[sender], key=_rank)
            places[student] = name if name.lower().endswith(".zip") else f"{PurePosixPath(name).stem}.html"
        elif not sender.is_many and (student not in groups or find_student(sender, people) == student):
            places[student] = f"{sender.label}_assignsubmission_file_/{topic.folder}.html"
    return places


def _rank(name: str) -> tuple[bool, int]:
    """Return a sort key: notebooks and zips come first, then the latest, because Canvas's file numbers grow."""
    found = CANVAS.match(name)
    return bool(re.search(r"\.(zip|ipynb)\b", name.lower())), int(found["file"]) if found else 0


def _write(path: Path, pages: Mapping[str, Path], name: str) -> None:
    """Write each page to its path, inside a zip of its own if the path ends with .zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for place, page in sorted(pages.items()):
            content = page.read_bytes()
            is_zip = place.lower().endswith(".zip")
            reproducible_zip.add(archive, place, _zipped(name, content) if is_zip else content)


def _zipped(name: str, content: bytes) -> bytes:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        reproducible_zip.add(archive, name, content)
    return written.getvalue()


def _notes(
    topic: Topic, label: str, students: Sequence[str], sent: Mapping[str, str], failed: Mapping[str, str]
) -> list[str]:
    """Return notes on whose feedback is not in the zip, and whose has another name in Canvas."""
    notes = []
    if lost := [student for student in students if student not in sent]:
        notes.append(
            f"{topic.folder}: left out {', '.join(lost)}, as no file in {label}'s download is certainly theirs alone. "
            f"Send each of them feedback/<student>/{topic.folder}/{topic.folder}.html yourself"
        )
    notes += [
        f"{topic.folder}: left out {student}, because the page could not be written: {reason}"
        for student, reason in sorted(failed.items())
    ]
    bare = [student for student, place in sorted(sent.items()) if not place.lower().endswith(".zip")]
    if label == "Canvas" and bare:
        notes.append(
            f"{topic.folder}: Canvas calls a page of feedback what the student's file is called. These students did "
            f"not hand in a zip, so they have to rename what they download to {topic.folder}.html: {', '.join(bare)}"
        )
    return notes
