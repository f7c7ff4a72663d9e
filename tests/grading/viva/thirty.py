"""A class of thirty that hands in topic 06: some the same code, some code of their own, some wrong or hostile."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from course.course import Course, course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.classroom.last_grading import LastGrading
from course.grading.course_files.cells import SOLUTION_SUFFIX, grade_id
from course.grading.course_files.course_folder import notebook_path
from course.grading.demo.made_up_students import standalone_source
from course.grading.gradebook.students import Person, update_students
from course.grading.nbgrader_bridge.config_file import load_config
from course.grading.release.make_release import render
from course.grading.release.source import refresh
from tests.grading.lesson import TOPIC
from tests.hidden.answers import answers

NAMES = (
    "Ada Lovelace", "Bob Núñez", "Cy Young", "Dan Ross", "Eve Stone", "Fay Wong", "Gus Hill", "Hal Berg", "Ida Noor",
    "Jan Novák", "Kim Seo", "Lea Roth", "Max Cruz", "Nia Obi", "Otto Frei", "Pia Lund", "Quin Xu", "Rita Sen",
    "Sam Ito", "Tia Vega", "Uma Rao", "Vic Dahl", "Wes Cole", "Xia Lin", "Yan Wu", "Zoe Katz", "Abe Fox", "Bea Kay",
    "Cal Moss", "Dot Ames",
)  # fmt: skip
COPIES, OWN = 12, 14
"""Students with the course's own solutions, as an assistant might write them, and after them those with other code."""

WRONG = {"softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"}
HOSTILE = "<script>alert('sheet')</script>"
MARKUP = f"""def softmax(x, dim):
    note = "{HOSTILE}\u202e"
    weights = (x - x.amax(dim, keepdim=True)).exp()
    return weights / weights.sum(dim, keepdim=True)"""

EXERCISES = [item.name for item in TOPIC.items if item.kind == "exercise"]


def student_id(name: str) -> str:
    """The id by which somebody hands in."""
    return name.split()[0].lower()


def answers_of(number: int) -> dict[str, str]:
    """The code of a student for each exercise that is not the solution's. Only the last two leave some out."""
    if number < COPIES:
        return {}
    if number < COPIES + OWN:
        rng = random.Random(number)
        chosen = {name: rng.choice(answers("alternatives", TOPIC, name)) for name in EXERCISES}
        return {name: standalone_source(answer, name) for name, answer in chosen.items()}
    return (WRONG, {"softmax": MARKUP}, dict.fromkeys(EXERCISES[1:], "pass"), dict.fromkeys(EXERCISES, "pass"))[
        number - COPIES - OWN
    ]


def make_thirty(root: Path, points: float = 0.0) -> Course:
    """A course with topic 06 in `root`, its class list, and what thirty students handed in, without trained models."""
    repository = Path(__file__).parents[3]
    (root / "solutions").mkdir(parents=True)
    shutil.copy(repository / "solutions" / f"{TOPIC.folder}.py", root / "solutions")
    shutil.copy(repository / "nbgrader_config.py", root)
    viva = f"[viva]\n{TOPIC.folder} = {points}\n" if points else ""
    (root / "course.toml").write_text(f"[topics.{TOPIC.folder}]\n{viva}")
    (root / ".course-secret").write_text("the same for all")
    course = course_in(root)
    refresh(course, (TOPIC,))
    solution = nbformat.read(notebook_path(root, TOPIC), as_version=4)
    release = nbformat.read(render(course, TOPIC, root / "assignments"), as_version=4)
    blank = {grade_id(cell): cell.source for cell in release.cells}
    for number, name in enumerate(NAMES):
        folder = root / "submitted" / student_id(name) / TOPIC.folder
        folder.mkdir(parents=True)
        untrained = {f"{TOPIC.name}_task": blank[f"{TOPIC.name}_task{SOLUTION_SUFFIX}"]}
        text = nbformat.writes(_answering(solution, answers_of(number) | untrained))
        (folder / f"{TOPIC.folder}.ipynb").write_text(text)
    people = [
        Person((student_id(name),), {"first_name": name.split()[0], "last_name": name.split()[1]}) for name in NAMES
    ]
    config = load_config(root)
    update_students(config.CourseDirectory.db_url, people, config)
    return course


def _answering(solution: NotebookNode, sources: dict[str, str]) -> NotebookNode:
    nb = nbformat.from_dict(solution)
    for cell in nb.cells:
        name = grade_id(cell).removesuffix(SOLUTION_SUFFIX)
        if grade_id(cell).endswith(SOLUTION_SUFFIX) and name in sources:
            cell.source = sources[name]
    return nb


def grade(course: Course) -> None:
    """Grade the class."""
    grade_class(Classroom(course, TOPIC, {"timeout": 30}))


def passing(classroom: Classroom) -> dict[str, list[str]]:
    """The exercises that pass, by student, of a class that is graded."""
    verdicts = {student_id(name): LastGrading(classroom, student_id(name)).result().verdicts for name in NAMES}
    return {
        student: [name for name in EXERCISES if found[name].kind == "passed"] for student, found in verdicts.items()
    }
