"""Make an instructor's course as a copy of ours (`course new`)."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from course.course import Course, is_course
from course.grading.catalogue import counted
from course.grading.course_folder import demand_course, demand_fit, source_path
from course.grading.problem import Problem
from course.grading.release.own_sources import OURS, note_copied
from course.outline import FILE, SETTINGS, Assistants
from course.study_paths import left_out
from course.syllabus import Topic

IGNORED = (
    "solutions/*/*.ipynb",
    ".course*",
    "checkpoints/",
    ".ipynb_checkpoints/",
    "downloaded/",
    "submitted/",
    "attempts/",
    "autograded/",
    "feedback/",
    "reports/",
    "exports/",
    "gradebook.db*",
    "graded_by.db*",
    "grades.csv",
    ".nbgrader.log",
    "dist/",
)
"""Files in a course's folder that git ignores, because they are generated or private."""

HEAD = """\
# This course, as its students get it. `course list` shows what stands here; after a change, run `course release`.
title = "Sequence models"
assistants = "{assistants}"  # or {others}: what AI assistants may do for students

[late]                # what late work loses, by the time stamps nbgrader collects
percent_per_day = 0   # of its score, for every day begun
grace_hours = 0       # it loses nothing within these
most_percent = 100    # and never more than this
# time_zone = "Europe/Berlin"  # whose clock counts the days (without it: this machine's)

[grading]
follow_through = "lose"      # or "keep": the points of an answer that is right but for an earlier mistake
without_points = "optional"  # or "drop": exercises with 0 points leave the notebook, or a list of those that do

# A topic is in the course while its table stands here. Give it a due date by taking the `#` away.
"""


PROJECT = "19_project"
"""The capstone: a folder of `exercises/` with its notebook and its tables for `course.toml`, including a rubric."""


def begin(
    here: Course, folder: Path, topics: Sequence[Topic], *, project: bool = False, assistants: Assistants = "tutor"
) -> str:
    """Make a course of `topics` in `folder`, with the capstone if requested, and return what to do next.

    The notebooks are built there later, by `course release` or nbgrader; built here, they would get our badges.

    Raises:
        Problem: the folder is not empty, `here` is an instructor's course, or our own course is not found.
    """
    if not here.is_original:
        raise Problem(f"this folder belongs to the course in {here.root}. Run `course new` outside it")
    repository = OURS if is_course(OURS) else demand_course(here)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Problem(f"{folder} is not empty. Name an empty folder, or one that does not exist yet")
    root = folder.resolve()
    demand_fit(root)
    for name in ("solutions", "exercises"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for topic in topics:
        shutil.copy(source_path(repository, topic), source_path(root, topic))
    note_copied(root, topics, repository)
    shutil.copy(repository / "nbgrader_config.py", root)
    (root / ".gitignore").write_text("\n".join(IGNORED) + "\n", encoding="utf-8")
    tables = [_table(topic) for topic in topics]
    if project:
        tables.append(_add_project(repository, root))
    (root / FILE).write_text(_head(assistants) + "".join(tables), encoding="utf-8")
    told = [f"{counted(len(tables), 'topic')} in {root}"]
    if missing := left_out(topics):
        build = "It builds" if len(topics) == 1 else "They build"
        told.append(f"{build} on {_listed(missing)}, which this course leaves out.")
    return "\n".join([*told, f"Next: edit {root / FILE}, then run `course release` there."])


def _head(assistants: Assistants) -> str:
    others = " or ".join(f'"{other}"' for other in SETTINGS["assistants"] if other != assistants)
    return HEAD.format(assistants=assistants, others=others)


def _listed(topics: Sequence[Topic]) -> str:
    *others, last = [topic.folder for topic in topics]
    return f"{', '.join(others)} and {last}" if others else last


def _add_project(repository: Path, root: Path) -> str:
    """Copy the capstone into a course, and return its tables."""
    shutil.copytree(repository / "exercises" / PROJECT, root / "exercises" / PROJECT)
    return (repository / "exercises" / PROJECT / "outline.toml").read_text("utf-8")


def _table(topic: Topic) -> str:
    width = max(len(item.name) for item in topic.items)
    points = "".join(f"{item.name:{width}} = {item.points}\n" for item in topic.items)
    return (
        f"\n[topics.{topic.folder}]  # {topic.title}\n# due = 2027-01-31T23:59:00+01:00\n"
        "question = 1  # of three written questions\n"
        f"[topics.{topic.folder}.points]\n{points}"
    )
