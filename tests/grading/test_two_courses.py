"""Two courses in one process, in turns: other tests under the same names, other points, and other rules."""

from __future__ import annotations

import csv
import re
import zipfile
from pathlib import Path

import nbformat
import pytest
from nbgrader.apps import ZipCollectApp
from nbgrader.coursedir import CourseDirectory

from course.course import Course, course_in
from course.grading.cells import SOLUTION_SUFFIX
from course.grading.classroom.grade_command import grade_topic
from course.grading.course_folder import release_path
from course.grading.export import export_grades
from course.grading.gradebook.scores import Scores, read_scores
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.release.make_release import release

from .lesson import find

ROOT = Path(__file__).parents[2]
TOPIC = "20_smoothing"
PAGE = (ROOT / "docs" / "own-exercises.md").read_text("utf-8")
HIDDEN, NOTEBOOK = (re.findall(rf"```\w+ {name}\n(.*?)```", PAGE, re.S)[0] for name in ("hidden", "notebook"))
MEANS, LARGEST = "x.unfold(1, width, 1).mean(-1)", "x.unfold(1, width, 1).amax(-1)"
COURSES = {"means": (3, 10, MEANS), "largest": (6, 0, LARGEST)}
"""The points for the exercise, the percentage lost a day, and the right answer, by course."""


def make(root: Path) -> Course:
    """The course of the folder's name, whose topic asks for something else than that of the other course."""
    points, percent, right = COURSES[root.name]
    (root / "solutions").mkdir(parents=True)
    (root / "nbgrader_config.py").write_bytes((ROOT / "nbgrader_config.py").read_bytes())
    exercise = f'exercises = [{{ name = "moving_average", points = {points}, minutes = 10 }}]'
    topic = f'[topics.{TOPIC}]\ntitle = "Smoothing"\ndue = 2026-10-12T23:59:00+02:00\n{exercise}\n'
    (root / "course.toml").write_text(f"[late]\npercent_per_day = {percent}\n{topic}", "utf-8")
    own = root / "exercises" / TOPIC
    own.mkdir(parents=True)
    (own / "hidden.py").write_text(HIDDEN.replace(MEANS, right), "utf-8")
    asked = NOTEBOOK.replace(MEANS, right).partition("# %% [markdown]\n# What does a wide")[0]
    (own / "notebook.py").write_text(asked, "utf-8")
    return course_in(root)


def download(course: Course, student: str, answer: str) -> None:
    """Put a zip into the course's downloads that was packed a day and half an hour after the due date."""
    notebook = nbformat.read(release_path(course.root, course.find_topic(TOPIC)), as_version=4)
    cell = find(notebook, f"moving_average{SOLUTION_SUFFIX}")
    cell.source = cell.source.partition("    # YOUR CODE HERE")[0] + f"    return {answer}\n"
    inbox = course.root / "downloaded" / TOPIC / "archive"
    inbox.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(inbox / f"{TOPIC}-{student}-20261013T223000Z.zip", "w") as archive:
        archive.writestr(f"{TOPIC}.ipynb", nbformat.writes(notebook))


def collect(course: Course) -> None:
    """Run `nbgrader zip_collect` with the course's configuration."""
    config = load_config(course.root)
    config.CourseDirectory.assignment_id = TOPIC
    app = ZipCollectApp(config=config)
    app.coursedir = CourseDirectory(config=config)
    app.init_plugins()
    app.extract_archive_files()
    app.process_extracted_files()


def scores(course: Course, student: str) -> Scores:
    found = read_scores(f"sqlite:///{course.root / 'gradebook.db'}", TOPIC, student, TOPIC)
    assert found is not None
    return found


def test_two_courses_are_taught_in_turns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = [make(tmp_path / name) for name in COURSES]
    topics = [course.find_topic(TOPIC) for course in both]
    for course, topic in zip(both, topics, strict=True):
        release(course, [topic])
    for course in both:
        for student, answer in (("ada", MEANS), ("bea", LARGEST)):
            download(course, student, answer)
    for course in both:
        collect(course)
    for course, topic in zip(both, topics, strict=True):
        assert grade_topic(course, topic, workers=1, settings={"timeout": 60}) == 0
    means, largest = both
    assert [scores(means, student).score for student in ("ada", "bea")] == [3.0, 0.0]
    assert [scores(largest, student).score for student in ("ada", "bea")] == [0.0, 6.0]
    assert scores(means, "ada").late == pytest.approx(0.2 * 3) and scores(largest, "bea").late == 0
    for course, topic, most in zip(both, topics, (3.0, 6.0), strict=True):
        path, _ = export_grades(course, "csv", [topic])
        with path.open(encoding="utf-8") as file:
            assert {row["student_id"]: float(row["max_score"]) for row in csv.DictReader(file)} == dict.fromkeys(
                ("ada", "bea"), most
            )
