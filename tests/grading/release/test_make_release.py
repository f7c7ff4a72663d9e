"""Releases: reproducible, without a line of a solution, and never over somebody's work."""

from __future__ import annotations

import dataclasses
import os
import shutil
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook

from course.course import Course, course_in
from course.grading.authoring.source import build, refresh
from course.grading.course_folder import notebook_path, release_path, source_path
from course.grading.demo import run_demo
from course.grading.problem import Problem
from course.grading.release import make_release
from course.grading.release.lint import lint_release, solution_lines
from course.outline import Outline
from course.syllabus import OURS, Item, Topic
from tests.commands import output_of
from tests.grading.sample import SAMPLE, make_course
from tests.original import ORIGINAL, find_topic

ROOT = Path(__file__).parents[3]
every_topic = pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_course(tmp_path / "a course")


def _db(root: Path) -> str:
    return f"sqlite:///{root / 'gradebook.db'}"


def _leave_traces(root: Path) -> list[Path]:
    """What running the solved notebook in place leaves behind: weights and working state."""
    refresh(course_in(root), (SAMPLE,))
    folder = notebook_path(root, SAMPLE).parent
    traces = [folder / "checkpoints" / "sample_task.safetensors", folder / ".course" / "progress.json"]
    for path in traces:
        path.parent.mkdir()
        path.write_text("the instructor's own")
    return traces


@every_topic
def test_committed_releases_are_what_the_sources_give(topic: Topic, tmp_path: Path) -> None:
    rendered = make_release.render(course_in(ROOT), topic, tmp_path)
    committed = release_path(ROOT, topic)
    assert committed.is_file(), f"run `course release {topic.folder}` and commit {committed}"
    assert rendered.read_bytes() == committed.read_bytes(), f"run `course release {topic.folder}` and commit"


def test_a_question_that_has_answers_is_not_exchanged(tmp_path: Path) -> None:
    second = dataclasses.replace(find_topic("06"), question=2)
    course = run_demo.make_course(Course(ROOT, topics=(second,)), second, tmp_path / "course")
    make_release.release(course, [second])
    (course.root / "submitted" / "ada" / second.folder).mkdir(parents=True)
    make_release.release(course, [second])
    for number in (1, 3):
        with pytest.raises(
            Problem, match=f"answered question 2 of {second.folder}, and course.toml chooses .* {number}"
        ):
            make_release.release(course, [dataclasses.replace(second, question=number)])
    make_release.release(course, [dataclasses.replace(second, question=3)], force=True)


@every_topic
def test_no_line_of_a_solution_is_released(topic: Topic) -> None:
    solved = build(ORIGINAL, source_path(ROOT, topic), topic)
    released = nbformat.read(release_path(ROOT, topic), as_version=4)
    assert lint_release(released, solved, topic.folder) == []
    assert len(solution_lines(solved)) >= len(topic.judged)
    lines = {line.strip() for cell in released.cells for line in cell.source.splitlines()}
    assert not lines.intersection(solution_lines(solved))


def test_release_writes_the_notebook_and_fills_the_gradebook(root: Path) -> None:
    (path,) = make_release.release(course_in(root), [SAMPLE])
    assert path == root / "assignments" / "99_sample" / "99_sample.ipynb"
    with Gradebook(_db(root)) as gradebook:
        notebook = gradebook.find_notebook("99_sample", "99_sample")
        assert {cell.name: cell.max_score for cell in notebook.grade_cells} == {
            "double": 2.0,
            "Counter": 3.0,
            "sample_task": 4.0,
            "sample_question": 2.0,
        }


def test_what_a_solved_run_leaves_is_not_released(root: Path) -> None:
    _leave_traces(root)
    make_release.release(course_in(root), [SAMPLE])
    assert [path.name for path in (root / "assignments" / "99_sample").rglob("*")] == ["99_sample.ipynb"]


def test_what_a_solved_run_leaves_replaces_no_students_weights(root: Path) -> None:
    from nbgrader.converters import Autograde
    from nbgrader.coursedir import CourseDirectory

    _leave_traces(root)
    (released,) = make_release.release(course_in(root), [SAMPLE])
    weights = root / "submitted" / "ada" / "99_sample" / "checkpoints" / "sample_task.safetensors"
    weights.parent.mkdir(parents=True)
    weights.write_text("ada's own")
    shutil.copy(released, weights.parents[1])
    config = make_release.load_config(root)
    config.CourseDirectory.assignment_id = "99_sample"
    config.Autograde.autograde_preprocessors = []
    config.Autograde.sanitize_preprocessors = []
    Autograde(coursedir=CourseDirectory(config=config), config=config).start()
    graded = root / "autograded" / "ada" / "99_sample"
    assert (graded / "checkpoints" / "sample_task.safetensors").read_text() == "ada's own"
    assert not (graded / ".course").exists()
    solved = build(ORIGINAL, source_path(root, SAMPLE), SAMPLE)
    text = (graded / "99_sample.ipynb").read_text("utf-8")
    assert not [line for line in solution_lines(solved) if line in text]


def test_registering_leaves_the_releases_alone(root: Path) -> None:
    assert not make_release.is_registered(root, SAMPLE)
    make_release.register(course_in(root), SAMPLE)
    assert make_release.is_registered(root, SAMPLE)
    assert not (root / "assignments").exists()
    other = f"sqlite:///{root / 'other.db'}"
    make_release.register(course_in(root), SAMPLE, other)
    assert make_release.is_registered(root, SAMPLE, other)


def test_work_in_a_release_is_not_overwritten(root: Path) -> None:
    (path,) = make_release.release(course_in(root), [SAMPLE])
    make_release.release(course_in(root), [SAMPLE])
    notebook = nbformat.read(path, as_version=4)
    answer = next(cell for cell in notebook.cells if cell.source.startswith("def double"))
    answer.source = "def double(x):\n    return 2 * x"
    nbformat.write(notebook, path)
    with pytest.raises(Problem, match="worked in"):
        make_release.release(course_in(root), [SAMPLE])
    make_release.release(course_in(root), [SAMPLE], force=True)
    assert not make_release.is_worked_in(path)


def test_a_file_that_is_no_notebook_is_not_overwritten(root: Path) -> None:
    path = release_path(root, SAMPLE)
    path.parent.mkdir(parents=True)
    path.write_text("notes")
    with pytest.raises(Problem, match="cannot be read"):
        make_release.release(course_in(root), [SAMPLE])


def test_nbgraders_refusal_is_told_in_a_sentence(root: Path) -> None:
    source = source_path(root, SAMPLE)
    source.write_text(source.read_text("utf-8").replace("    ### END SOLUTION\n", "", 1), "utf-8")
    with pytest.raises(Problem, match="could not release 99_sample: no end solution statement found") as caught:
        make_release.release(course_in(root), [SAMPLE])
    assert "\n" not in str(caught.value)


NOTES = ("notes.txt", "mine.ipynb", "checkpoints/sample_task.safetensors", ".course/progress.json")


def _leave_notes(folder: Path) -> None:
    for name in NOTES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("somebody's own")


def _files(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_release_keeps_what_it_did_not_make(root: Path) -> None:
    (path,) = make_release.release(course_in(root), [SAMPLE])
    _leave_notes(path.parent)
    source = source_path(root, SAMPLE)
    source.write_text(source.read_text("utf-8").replace("Triple", "Quadruple"), "utf-8")
    make_release.release(course_in(root), [SAMPLE])
    assert "Quadruple" in path.read_text("utf-8")
    assert set(_files(path.parent)) == {path.name, *NOTES}
    assert not list((root / "assignments").glob(".*"))


def test_a_release_that_fails_changes_no_file(root: Path) -> None:
    (path,) = make_release.release(course_in(root), [SAMPLE])
    _leave_notes(path.parent)
    before = _files(root / "assignments")
    source = source_path(root, SAMPLE)
    whole = source.read_text("utf-8")
    source.write_text(whole.replace("    ### END SOLUTION\n", "", 1), "utf-8")
    good = dataclasses.replace(SAMPLE, number=97)
    source_path(root, good).write_text(whole, "utf-8")
    for topics in ([SAMPLE], [good, SAMPLE]):
        with pytest.raises(Problem, match="could not release 99_sample"):
            make_release.release(course_in(root), topics)
        assert _files(root / "assignments") == before


def test_a_topic_without_a_source_is_no_silent_success(root: Path) -> None:
    absent = dataclasses.replace(SAMPLE, number=98)
    with pytest.raises(Problem, match=r"there is no .*98_sample\.py"):
        make_release.release(course_in(root), [absent])
    with pytest.raises(Problem, match=r"there is no .*98_sample\.py"):
        make_release.release(course_in(root), [SAMPLE, absent])
    both = Course(root, topics=(SAMPLE, absent))
    assert len(make_release.release(both, [SAMPLE, absent])) == 1  # all of them: none was named
    with pytest.raises(Problem, match=r"there is no .*notebook\.py"):
        make_release.release(course_in(root), [dataclasses.replace(absent, home=root / "exercises" / absent.folder)])
    chosen = dataclasses.replace(both, outline=Outline(root / "course.toml"))  # nobody is given half of an instructor's
    with pytest.raises(
        Problem, match=r"98_sample\.py, .* Copy 98_sample\.py from solutions/ of the course's repository"
    ):
        make_release.release(chosen, [SAMPLE, absent])


def test_a_release_of_an_edited_notebook_that_is_outdated_is_refused(root: Path) -> None:
    (path,) = make_release.release(course_in(root), [SAMPLE])
    built = notebook_path(root, SAMPLE)
    built.write_text(built.read_text("utf-8").replace("Triple", "Quadruple"), "utf-8")
    os.utime(built, (0, 0))
    before = path.read_bytes()
    with pytest.raises(Problem, match="was edited after it was built"):
        make_release.release(course_in(root), [SAMPLE])
    assert path.read_bytes() == before
    assert (
        make_release.load_config(root).CourseDirectory.source_directory == "solutions"
    )  # nbgrader itself still starts


def test_an_exercise_that_is_added_after_submissions_came_in_gets_one_sentence(root: Path) -> None:
    """nbgrader says only that it cannot add or remove cells."""
    (path,) = make_release.release(course_in(root), [SAMPLE])
    with Gradebook(_db(root)) as gradebook:
        gradebook.add_student("ada")
        gradebook.add_submission(SAMPLE.folder, "ada")
    before = path.read_bytes()
    source = source_path(root, SAMPLE)
    more = '\n# %% [markdown]\n# Why?\n\n# %% [markdown] question="another_question"\n# Because.\n'
    source.write_text(source.read_text("utf-8") + more, "utf-8")
    longer = dataclasses.replace(SAMPLE, items=(*SAMPLE.items, Item("another_question", 1, 5, "question")))
    with pytest.raises(
        Problem, match=r"must stay as they are \(another_question new\). Put new ones into another topic"
    ):
        make_release.release(course_in(root), [longer])
    assert path.read_bytes() == before


def test_nbgraders_own_command_works_in_a_fresh_clone(root: Path) -> None:
    """The release is there and the gradebook is not: where stock nbgrader skips the assignment without a word."""
    released = make_release.render(course_in(root), SAMPLE, root / "assignments")
    before = released.read_bytes()
    refresh(course_in(root), (SAMPLE,))
    output_of(root, "nbgrader", "generate_assignment", "99_sample", PATH=os.defpath)
    assert make_release.is_registered(root, SAMPLE)
    assert released.read_bytes() == before


def test_stale_sources_are_rebuilt_when_nbgrader_starts(tmp_path: Path) -> None:
    topic = OURS[0]
    (tmp_path / "solutions").mkdir()
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copy(source_path(ROOT, topic), tmp_path / "solutions")
    output_of(tmp_path, "nbgrader", "generate_assignment", topic.folder, "--no-db")
    assert release_path(tmp_path, topic).read_bytes() == release_path(ROOT, topic).read_bytes()
