"""`course grade`: grade a class's submissions of a topic, or one notebook."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.course import Course
from course.grading.machine.faults import demand_short_names
from course.syllabus import Topic

if TYPE_CHECKING:
    from course.grading.classroom.classroom import Classroom
    from course.grading.classroom.graded import Graded


FORGOTTEN = (
    "autograded/ holds graded work that the gradebook did not know, so points and comments by hand are lost. If you "
    "have a copy of gradebook.db, put it back, and grade again"
)


def grade_topic(
    course: Course,
    topic: Topic,
    *,
    students: Sequence[str] = (),
    workers: int | None = None,
    scheduler: str | None = None,
    force: bool = False,
    spot_check: float = 0.0,
    stale: bool = False,
    feedback: bool = False,
    settings: dict[str, Any] | None = None,
) -> int:
    """Grade a class, print its summary, and return the exit status: 1 if anything was not graded.

    `spot_check` is the share of the class, from 0 to 1, whose models are trained again afterwards. `feedback` writes
    feedback pages for students whose page is older than their grading.

    Raises:
        Problem: `settings` require a sandbox or an accelerator that this machine does not have, or the path of its
            temporary folder is too long.
    """
    if scheduler is None:
        demand_short_names()
        _demand(settings or {})
        if force or _work_waits(course.root, topic):
            _begin_early(course, topic, (settings or {}).get("policy", "checkpoint"))

    from course.grading.classroom import summary
    from course.grading.classroom.absent import absent_notes
    from course.grading.classroom.classroom import Classroom
    from course.grading.classroom.grade_class import grade_class
    from course.grading.classroom.groups import share_points, share_work
    from course.grading.classroom.progress_bars import show_progress

    classroom = Classroom(course, topic, settings)
    shared = [] if stale else [*share_work(classroom), *share_points(classroom)]
    with show_progress(topic.folder) as progress:
        graded = grade_class(
            classroom,
            students=students,
            workers=workers,
            scheduler=scheduler,
            force=force,
            stale=stale,
            progress=progress,
        )
    shared += share_points(classroom)
    unreleased = classroom.unreleased()
    if stale and not graded:
        whose = "the release's" if unreleased else "today's"
        print(f"{topic.folder}: nothing is stale, because every verdict comes from {whose} tests")
        _say_what_is_unreleased(classroom, unreleased)
        return 0
    summary.show(topic, graded)
    is_whole_class = not students and not stale
    misplaced = list(classroom.handed_in.misplaced()) if is_whole_class else []
    for cell in classroom.demonstrated():
        print(f"  {cell}, so the cells that only show something run too, and grading takes longer")
    missing = absent_notes(classroom) if is_whole_class else ()
    for line in (
        *dict.fromkeys(shared),
        *summary.not_graded(misplaced),
        *missing,
        *([FORGOTTEN] if classroom.forgotten else []),
    ):
        print(f"  {line}")
    _say_what_is_unreleased(classroom, unreleased)
    if spot_check:
        _compare(course, topic, graded, spot_check, workers=workers, scheduler=scheduler, settings=settings)
    complete = all(work.complete for work in (*graded, *misplaced))
    if feedback:
        complete &= _give_feedback(classroom, graded, workers)
    return int(not complete)


def _say_what_is_unreleased(classroom: Classroom, cells: Sequence[str]) -> None:
    """Print what to do about points, a due date or an instructor's own `cells` that changed since the release."""
    topic = classroom.topic.folder
    commands = f"Run `course release {topic}`, then `course grade {topic}`"
    if again := classroom.changed():
        print(f"{topic}: course.toml has {', '.join(again)}, as it was released. {commands}")
    if cells:
        are = "is" if len(cells) == 1 else "are"
        print(f"{topic}: {', '.join(cells)} in solutions/ {are} not as released. {commands}")


def _demand(settings: dict[str, Any]) -> None:
    """Raise a Problem if this machine lacks what the settings require."""
    from course.grading.kernels.environment import demand_accelerator
    from course.grading.sandbox.probe import required

    if settings.get("require_sandbox"):
        required()
    if settings.get("gpu"):
        demand_accelerator()


def _work_waits(root: Path, topic: Topic) -> bool:
    """Whether a student has a submission but no graded work, judged by nbgrader's usual folders alone."""
    handed_in, graded = (
        {path.parent.name for path in root.glob(f"{step}/*/{topic.folder}")} for step in ("submitted", "autograded")
    )
    return bool(handed_in - graded)


def _begin_early(course: Course, topic: Topic, policy: str) -> None:
    """Start the processes whose imports take seconds, which saves half a second a class on two cores."""
    from course.grading.kernel_edition import assemble
    from course.grading.kernels.environment import environment
    from course.grading.workers.worker_pool import begin_early

    with tempfile.TemporaryDirectory() as home:
        begin_early(environment(Path(home), assemble(course.outline.public, [topic]), None, policy))


def _compare(
    course: Course, topic: Topic, graded: list[Graded], share: float, *, workers: int | None, **options: Any
) -> None:
    """Train a share of the class's models again, and print how their scores compare."""
    from course.grading.classroom.spot_check import spot_check
    from course.grading.workers.worker_pool import most_workers

    found = spot_check(course, topic, graded, share, workers=workers or most_workers(), **options)
    print("\nSpot check\n" + "\n".join(f"  {line}" for line in found))


def _give_feedback(classroom: Classroom, graded: list[Graded], workers: int | None) -> bool:
    """Write feedback pages, print the result, and return whether all could be written."""
    from course.grading.classroom.write_feedback import write_after_grading

    lines, is_whole = write_after_grading(classroom, graded, workers)
    print("\nFeedback\n" + "\n".join(f"  {line}" for line in lines))
    return is_whole


def grade_stale(course: Course, topics: Sequence[Topic], *, students: Sequence[str] = (), **options: Any) -> int:
    """Grade work in `topics` again whose tests have changed since it was graded; `options` go to `grade_topic`.

    If `students` are named, each topic skips those who have no graded work in it.

    Raises:
        Problem: nothing is graded yet, or one of `students` has no graded work.
    """
    from course.grading.problem import Problem

    graded = {topic: _graded_in(course.root, topic) for topic in topics}
    if not any(graded.values()):
        raise Problem("nothing is graded yet, so nothing can be stale. Run `course grade TOPIC` first")
    if unknown := set(students).difference(*graded.values()):
        raise Problem(
            f"nothing of {', '.join(sorted(unknown))} is graded yet, so nothing can be stale. Check the names"
        )
    chosen = {topic: [student for student in students if student in those] for topic, those in graded.items()}
    again = [topic for topic in topics if (chosen[topic] if students else graded[topic])]
    return max(grade_topic(course, topic, students=chosen[topic], stale=True, **options) for topic in again)


def _graded_in(root: Path, topic: Topic) -> set[str]:
    """Return the students with graded work in a topic, judged by nbgrader's usual folders alone."""
    return {path.parts[-3] for path in (root / "autograded").glob(f"*/{topic.folder}/{topic.folder}.ipynb")}
