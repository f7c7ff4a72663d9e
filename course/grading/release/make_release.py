"""Make releases: the notebooks for students, without solutions, and the gradebook's records for grading them."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import course as package
from course.course import Course
from course.grading.authoring.index_notebook import write_home
from course.grading.authoring.source import refresh
from course.grading.authoring.without_points import needed_by, without
from course.grading.catalogue import counted
from course.grading.cells import SOLUTION_SUFFIX, grade_id, read_notebook
from course.grading.course_folder import notebook_path, release_path, source_path
from course.grading.kernel_edition import answer_key
from course.grading.machine.faults import advice_for
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.nbgrader_bridge.course_of import hand_on
from course.grading.nbgrader_bridge.log_capture import quiet, reason_of
from course.grading.problem import Problem
from course.grading.release.assistants import write_agreement
from course.outline import QUESTIONS
from course.syllabus import Topic


def release(course: Course, topics: Sequence[Topic], force: bool = False) -> list[Path]:
    """Write the student notebooks of `topics` into `assignments/` and record their cells in the gradebook.

    The home notebook and the rule for AI assistants are written again, too, and other files in `assignments/` stay. If
    all topics are requested, those of our repository without a source are skipped. Returns the notebooks written.

    Raises:
        Problem: a source is missing or faulty, nbgrader refuses it, or, without `force`, somebody has worked in the
            released notebook, or students have answered another written question than the one chosen now.
    """
    root = course.root
    ready = [topic for topic in topics if source_path(root, topic).is_file()]
    for topic in topics:
        if topic not in ready and (topic.own or not course.is_original or not ready or tuple(topics) != course.topics):
            raise Problem(_without_source(course, topic))
    if not force:
        for topic in ready:
            _refuse_if_worked_in(release_path(root, topic))
            _refuse_another_question(root, topic)
    _try_tests(ready)
    logging.getLogger(__name__).info("Building %s.", counted(len(ready), "notebook"))
    _generate(course, ready)
    write_home(course)
    write_agreement(root / "assignments", course.outline.assistants)
    return [release_path(root, topic) for topic in ready]


def _without_source(course: Course, topic: Topic) -> str:
    path = source_path(course.root, topic)
    ours = Path(__file__).parents[3] / "solutions" / path.name
    where = ours if ours.is_file() else f"{path.name} from solutions/ of the course's repository"
    what = "Write it first" if topic.own or course.is_original else f"Copy {where} there"
    return f"there is no {path}, which {topic.folder} is released from. {what}"


def register(course: Course, topic: Topic, db_url: str | None = None) -> None:
    """Record the topic's cells in the gradebook (`db_url`, or the course's own); `assignments/` stays as it is."""
    with tempfile.TemporaryDirectory() as folder:
        _generate(course, [topic], db_url=db_url, release_directory=folder)


def render(course: Course, topic: Topic, folder: Path) -> Path:
    """Write the release of `topic` below `folder` without a gradebook, and return the notebook's path."""
    _generate(course, [topic], release_directory=str(folder), no_database=True)
    return folder / topic.folder / f"{topic.folder}.ipynb"


def is_registered(root: Path, topic: Topic, db_url: str | None = None) -> bool:
    """Return whether the gradebook has the topic's notebook."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(db_url or load_config(root).CourseDirectory.db_url) as gradebook:
        try:
            gradebook.find_notebook(topic.folder, topic.folder)
        except MissingEntry:
            return False
    return True


def is_worked_in(notebook: Path) -> bool:
    """Return whether a released notebook holds outputs or changed answers."""
    import nbformat
    from nbgrader.utils import compute_checksum, is_solution

    from course.grading.authoring.widget_pictures import is_still

    cells = nbformat.read(notebook, as_version=nbformat.NO_CONVERT).cells
    answers = [cell for cell in cells if is_solution(cell)]
    changed = any(compute_checksum(cell) != cell.metadata.nbgrader.get("checksum") for cell in answers)
    return changed or not all(is_still(output) for cell in cells for output in cell.get("outputs", ()))


def _refuse_if_worked_in(notebook: Path) -> None:
    if not notebook.is_file():
        return
    try:
        worked_in = is_worked_in(notebook)
    except Exception as error:
        raise Problem(f"{notebook} cannot be read as a notebook. Move it away, or use --force to replace it") from error
    if worked_in:
        raise Problem(f"somebody has worked in {notebook}. Move it away, or use --force to replace it")


def _refuse_another_question(root: Path, topic: Topic) -> None:
    released = release_path(root, topic)
    if topic.own or not released.is_file() or not any(root.glob(f"submitted/*/{topic.folder}")):
        return
    from course.hidden import other_question  # imported late because it loads torch

    given = "\n".join(cell.source for cell in read_notebook(released.read_bytes()).cells)
    others = {number: other_question(replace(topic, question=number)) for number in QUESTIONS}
    answered = next((number for number, question in others.items() if question and question.prompt in given), 1)
    if answered != topic.question:
        raise Problem(
            f"students have answered question {answered} of {topic.folder}, and course.toml chooses question "
            f"{topic.question}. Write question = {answered} there, or use --force to release the other one"
        )


def _generate(
    course: Course,
    topics: Sequence[Topic],
    db_url: str | None = None,
    release_directory: str | None = None,
    no_database: bool = False,
) -> None:
    """Run nbgrader's `generate_assignment` with the course's own configuration.

    nbgrader empties its output folder, and removes it when it fails. So it writes to a temporary folder, whose files
    are moved to `release_directory` (by default `assignments/`) once all topics are made.
    """
    from nbgrader.converters import GenerateAssignment
    from nbgrader.converters.base import NbGraderException
    from nbgrader.coursedir import CourseDirectory

    root = course.root
    for topic in topics:
        if topic.own:
            _demand_tests(topic)
    refresh(course, topics)
    for topic in topics:
        _demand_droppable(root, topic)
    config = load_config(root)
    hand_on(config, course)
    if db_url:
        config.CourseDirectory.db_url = db_url
    config.SaveCells.enabled = not no_database
    target = root / (release_directory or config.CourseDirectory.release_directory)
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".course-release-", dir=target) as made:
        config.CourseDirectory.release_directory = made
        for topic in topics:
            config.CourseDirectory.assignment_id = topic.folder
            coursedir = CourseDirectory(config=config)
            with quiet() as said:
                converter = GenerateAssignment(coursedir=coursedir, config=config, no_database=no_database)
                try:
                    converter.start()
                except (NbGraderException, SystemExit) as error:
                    reason = advice_for(said.cause) or reason_of(said, error)
                    if reason.startswith("Cannot add or remove cells"):
                        raise Problem(_already_graded(root, topic, coursedir.db_url)) from error
                    raise Problem(f"nbgrader could not release {topic.folder}: {reason}") from error
            if not course.is_original and not no_database:
                set_due(topic, coursedir.db_url)
        _move(Path(made), target)


def _already_graded(root: Path, topic: Topic, db_url: str) -> str:
    """Return why a topic with submissions in the gradebook cannot be released, and what to do."""
    import nbformat

    from course.grading.gradebook.released_notebook import read_released

    cells = nbformat.read(notebook_path(root, topic), as_version=4).cells
    now = {grade_id(cell) for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")}
    released = read_released(db_url, topic.folder, topic.folder)
    then = {cell.name for cell in (*released.grade_cells, *released.task_cells)}
    told = [
        f"{', '.join(sorted(names))} {what}" for names, what in ((now - then, "new"), (then - now, "gone")) if names
    ]
    changed = f" ({'; '.join(told)})" if told else ""
    return (
        f"submissions of {topic.folder} are in the gradebook, so its exercises must stay as they are{changed}. "
        "Put new ones into another topic, or delete all grades of this one, also those given by hand, with "
        f"`nbgrader db assignment remove {topic.folder} --force`"
    )


def _move(made: Path, target: Path) -> None:
    """Move the files below `made` to the same places below `target`, overwriting only files of the same name."""
    for path in sorted(made.rglob("*")):
        place = target / path.relative_to(made)
        if path.is_dir():
            place.mkdir(exist_ok=True)
        else:
            path.replace(place)


def set_due(topic: Topic, db_url: str) -> None:
    """Set the topic's due date in the gradebook, in UTC, or remove it."""
    from nbgrader.api import Gradebook

    due = topic.due.astimezone(UTC).replace(tzinfo=None) if topic.due else None
    with Gradebook(db_url) as gradebook:
        gradebook.update_or_create_assignment(topic.folder, duedate=due)


def _demand_tests(topic: Topic) -> None:
    """Raise `Undeclared` unless the tests of an instructor's own topic can be used."""
    from course.hidden import exercises

    exercises(topic)


def _demand_droppable(root: Path, topic: Topic) -> None:
    """Raise `Problem` if the course drops exercises that other cells of the notebook use."""
    import nbformat

    if not topic.dropped:
        return
    cells = nbformat.read(notebook_path(root, topic), as_version=4).cells
    left = without(cells, {item.name for item in topic.dropped})
    used = {}
    for item in topic.dropped:
        definitions = [cell for cell in cells if grade_id(cell) == item.name + SOLUTION_SUFFIX]
        if users := list(dict.fromkeys(needed_by([*definitions, *left], item.name))):
            used[item.name] = f"because other cells use it ({', '.join(users[:3])})"
    if used:
        told = "; ".join(f"{name} cannot be dropped, {why}" for name, why in used.items())
        what = "Give it points" if len(used) == 1 else "Give these points"
        instead = f"or let without_points in course.toml name only what can be dropped (`course list {topic.folder}`)"
        raise Problem(f"{topic.folder}: {told}. {what}, {instead}")


def _try_tests(topics: Sequence[Topic]) -> None:
    """Raise `Undeclared` if the tests of an instructor's own topic cannot be run, before anything is written.

    Running them makes the topic's answer key, which students get later.
    """
    for topic in topics:
        if topic.own:
            answer_key(topic, Path(package.__file__).parent)
