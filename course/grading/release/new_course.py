"""Make an instructor's course as a copy of ours (`course new`), and find sources of it that are older than ours."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import course
from course.course import Course, is_course
from course.files import write_atomically
from course.grading.course_files.catalogue import counted
from course.grading.course_files.course_folder import demand_course, demand_fit, source_path
from course.outline import FILE, SETTINGS, Assistants
from course.problem import Problem
from course.study_paths import left_out
from course.syllabus import Topic

COPIED = Path(".course", "sources.json")
"""The file with the hashes of our sources, by topic, when they were copied into an instructor's course."""

ORIGINALS = Path(".course", "originals")
"""The folder with our files as they were copied, each under its hash, for `course upgrade` to merge by."""

COPIED_FILES = ("nbgrader_config.py",)
"""The files that a course has from us beside its sources and the capstone."""

OURS = Path(course.__file__).parents[1]
"""The folder of our repository, if this package is in it."""


def note_copied(root: Path, topics: Sequence[Topic], ours: Path = OURS) -> None:
    """Save the hashes of our sources that equal the instructor's now, or that have no saved hash."""
    kept = copied_hashes(root)
    for topic, mine, theirs in _both(root, topics, ours):
        if (mine == theirs or topic.folder not in kept) and kept.get(topic.folder) != theirs:
            note_as_ours(root, topic.folder, source_path(ours, topic).read_bytes())


def note_as_ours(root: Path, key: str, content: bytes) -> None:
    """Save that our file called `key` was like this when it came into the course, and keep its content."""
    digest = hashlib.sha256(content).hexdigest()
    write_atomically(root / ORIGINALS / digest, content)
    write_atomically(root / COPIED, json.dumps(copied_hashes(root) | {key: digest}, indent=1).encode())


def older_than_ours(root: Path, topics: Sequence[Topic], ours: Path = OURS) -> Iterator[str]:
    """Yield a sentence for each source that is older than ours, with what to do."""
    kept = copied_hashes(root)
    for topic, mine, theirs in _both(root, topics, ours):
        copied = kept.get(topic.folder)
        if theirs in (mine, copied):
            continue
        path = source_path(root, topic)
        if copied == mine:
            renew = f"To renew it, run `course upgrade {topic.folder} --take`"
            yield f"{path.relative_to(root)} is older than ours. {renew}"
        else:
            why = "has your edits, and ours has changed since" if copied else "differs from ours, and may be older"
            yield f"{path.relative_to(root)} {why}. `course upgrade {topic.folder} --diff` shows both"


def _both(root: Path, topics: Sequence[Topic], ours: Path) -> Iterator[tuple[Topic, str, str]]:
    """Yield the topics that have a source in `root` and in ours, with the hashes of both."""
    for topic in topics if is_course(ours) and root.resolve() != ours.resolve() else ():
        paths = source_path(root, topic), source_path(ours, topic)
        if all(path.is_file() for path in paths):
            mine, theirs = (hashlib.sha256(path.read_bytes()).hexdigest() for path in paths)
            yield topic, mine, theirs


def copied_hashes(root: Path) -> dict[str, str]:
    """Return the hashes of our files when they came into the course, by topic or path."""
    try:
        return {str(topic): str(told) for topic, told in json.loads((root / COPIED).read_text("utf-8")).items()}
    except (OSError, ValueError, AttributeError):
        return {}


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
    "viva/",
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
# time_zone = "Europe/Berlin"  # your class's clock, for dates and days of late work (without it: this machine's)

[late]                # what late work loses, by the time stamps nbgrader collects
percent_per_day = 0   # of its score, for every day begun
grace_hours = 0       # it loses nothing within these
most_percent = 100    # and never more than this

[grading]
follow_through = "lose"      # or "keep": the points of an answer that is right but for an earlier mistake
without_points = "optional"  # or "drop": exercises with 0 points leave the notebook, or a list of those that do

# A topic is in the course while its table stands here. Give it a due date by taking the `#` away.
"""


PROJECT = "project"
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
    for name in COPIED_FILES:
        shutil.copy(repository / name, root)
        note_as_ours(root, name, (repository / name).read_bytes())
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
    for path in sorted((root / "exercises" / PROJECT).glob("*.py")):
        note_as_ours(root, path.relative_to(root).as_posix(), path.read_bytes())
    return (repository / "exercises" / PROJECT / "outline.toml").read_text("utf-8")


def _table(topic: Topic) -> str:
    width = max(len(item.name) for item in topic.items)
    points = "".join(f"{item.name:{width}} = {item.points}\n" for item in topic.items)
    return (
        f"\n[topics.{topic.folder}]  # {topic.title}\n# due = 2027-01-31T23:59:00+01:00\n"
        "question = 1  # of three written questions\n"
        f"[topics.{topic.folder}.points]\n{points}"
    )
