"""Makes the term, exports its grades, imports them as the platforms do, and compares all numbers."""

from __future__ import annotations

import argparse
import io
import json
import math
import resource
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import nbformat

from course.grading.intake.submit import MANIFEST, archive_name
from tests.mixed_class.__main__ import SECRET, course, edited
from tests.mixed_class.roster import ATTENTION, MARKOV

from . import canvas, moodle, work
from .people import Student, students

REPOSITORY = Path(__file__).parents[2]
RESULTS = Path(__file__).with_name("results.json")
TOPICS = (MARKOV, ATTENTION)
QUESTIONS = {MARKOV: "markov_ngrams_question", ATTENTION: "self_attention_question"}
NUMBERS = {9: "Quiz", 11: MARKOV, 12: ATTENTION}
"""The assignments in Canvas."""
MOST = {MARKOV: 21.0, ATTENTION: 100.0}
"""The points that the topics have on both platforms: as here, and others."""
NOW = datetime(2027, 2, 20, 9, 0)


@dataclass(frozen=True)
class Graded:
    """What the gradebook has for a student and a topic: `machine` and `hand` points, and the penalty."""

    machine: float
    hand: float
    penalty: float

    @property
    def score(self) -> float:
        """The grade, penalty taken off."""
        return max(0.0, self.machine + self.hand - self.penalty)


Grades = dict[tuple[str, str], Graded]


@dataclass
class Figures:
    """What was compared, and what differed; `minutes` are by the clock, `processor_minutes` those of all commands."""

    students: int
    minutes: float = 0.0
    processor_minutes: float = 0.0
    graded: int = 0
    rows: int = 0
    differences: list[str] = field(default_factory=list)

    def compare(self, where: str, expected: object, found: object) -> None:
        """Count a row, and note a difference: of numbers, beyond the six digits that an export carries."""
        self.rows += 1
        numbers = isinstance(expected, float) and isinstance(found, float)
        if not (is_carried(found, expected) if numbers else expected == found):  # type: ignore[arg-type]
            self.differences.append(f"{where}: {expected} expected, {found} found")


def is_carried(found: float, exact: float, digits: int = 6) -> bool:
    """Whether a number is another one in so many digits."""
    last = 10.0 ** (math.floor(math.log10(abs(exact))) + 1 - digits) if exact else 1e-12
    return abs(found - exact) <= 0.5 * last * (1 + 1e-9)


def make_course(root: Path, everybody: list[Student]) -> None:
    """A course of the two topics, with late work's loss, extensions and groups, released; and its class list."""
    course(REPOSITORY, "new", str(root), *TOPICS)
    outline = root / "course.toml"
    late = {"percent_per_day": work.PERCENT_PER_DAY, "grace_hours": work.GRACE_HOURS, "most_percent": work.MOST_PERCENT}
    lines = []
    for line in outline.read_text("utf-8").splitlines():
        name = line.partition(" ")[0]
        line = f"{name} = {late[name]}" if name in late else line
        lines.append(f"due = {work.DUE.isoformat()}" if line.startswith("# due = ") else line)
    outline.write_text("\n".join(lines) + work.outline(everybody), "utf-8")
    (root / ".course-secret").write_text(SECRET, "utf-8")
    course(root, "release")
    book = canvas.Gradebook(everybody, {9: "Quiz"}, {9: 10.0})
    for name, table in (("canvas.csv", book.export()), ("participants.csv", moodle.participants(everybody))):
        (root / name).write_text(table, "utf-8")
        course(root, "roster", name)


def notebooks(root: Path) -> dict[tuple[str, int | None], bytes]:
    """What is handed in, by topic and variant."""
    made: dict[tuple[str, int | None], bytes] = {(topic, None): work.UNREADABLE.encode() for topic in TOPICS}
    for topic in TOPICS:
        solved = nbformat.read(root / "solutions" / topic / f"{topic}.ipynb", as_version=4)
        released = nbformat.read(root / "assignments" / topic / f"{topic}.ipynb", as_version=4)
        for number, variant in enumerate(work.VARIANTS[topic]):
            made[topic, number] = nbformat.writes(edited(variant, solved, released)).encode()
    return made


def packed(files: Mapping[str, bytes | str]) -> bytes:
    """The bytes of a zip."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


def upload(student: Student, topic: str, attempt: work.Attempt, notebook: bytes) -> tuple[str, bytes]:
    """The name and the bytes of what a student uploads: a bare notebook, or what `course submit` packs."""
    name = f"{topic}.ipynb"
    if attempt.is_bare:
        return name, notebook
    about = {"topic": topic, "student": student.id, "time": attempt.came.isoformat(timespec="seconds")}
    zipped = packed({name: notebook, MANIFEST: json.dumps(about)})
    return f"{archive_name(topic, student.id, attempt.came)}.zip", zipped


def collect(root: Path, everybody: list[Student]) -> None:
    """Two downloads of each topic, once the first attempts are there and once the last; the second replaces."""
    made = notebooks(root)
    for topic in TOPICS:
        for place in (0, -1):
            handed_in = {one: plan.attempts[place] for one in everybody if (plan := work.plan(one, topic)).attempts}
            files = {one: upload(one, topic, it, made[topic, it.variant]) for one, it in handed_in.items()}
            if topic == work.BY_CANVAS:
                late = {one: (*told, handed_in[one].came > work.DUE) for one, told in files.items()}
                archive = canvas.download(late)
            else:
                archive = moodle.download(files)
            inbox = root / "downloaded" / topic / "archive"
            shutil.rmtree(inbox, ignore_errors=True)
            inbox.mkdir(parents=True)
            (inbox / f"download{place}.zip").write_bytes(packed(archive))
            run_nbgrader(root, "zip_collect", topic, "--force")


def run_nbgrader(root: Path, *arguments: str) -> str:
    """Run `nbgrader` in `root`, as an instructor does."""
    done = subprocess.run([sys.executable, "-m", "nbgrader", *arguments], cwd=root, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout + done.stderr


def grade(root: Path, everybody: list[Student]) -> str:
    """Grade both topics, then the earlier attempts that students asked for, then the questions by hand."""
    said = course(root, "grade", *TOPICS, may_fail=True)
    for one in everybody:
        for topic in TOPICS:
            if number := work.plan(one, topic).on_request:
                said += course(root, "attempts", one.id, topic, "--grade", str(number))
    give_points_by_hand(root, everybody)
    return said


def give_points_by_hand(root: Path, everybody: list[Student]) -> None:
    """What a person enters in formgrader."""
    from nbgrader.api import Gradebook, MissingEntry

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        for one in everybody:
            for topic in TOPICS if work.by_hand(one) is not None else ():
                try:
                    cell = book.find_grade(QUESTIONS[topic], topic, topic, one.id)
                except MissingEntry:  # handed in nothing that can be graded
                    continue
                cell.manual_score, cell.needs_manual_grade = work.by_hand(one), False
        book.db.commit()


def gradebook(root: Path) -> Grades:
    """What stands in `gradebook.db`, in its own tables, of everybody whom a machine graded."""
    query = """
        select assignment.name, work.student_id, book.late_submission_penalty,
               sum(coalesce(case when cell.name in (?, ?) then 0 else grade.auto_score end, 0)),
               sum(case when cell.name in (?, ?) then coalesce(grade.manual_score, 0) else 0 end),
               sum(grade.auto_score is not null)
        from grade
        join base_cell cell on cell.id = grade.cell_id
        join submitted_notebook book on book.id = grade.notebook_id
        join submitted_assignment work on work.id = book.assignment_id
        join assignment on assignment.id = work.assignment_id
        group by work.id
    """
    with sqlite3.connect(root / "gradebook.db") as book:
        rows = book.execute(query, [*QUESTIONS.values(), *QUESTIONS.values()]).fetchall()
    return {
        (student, topic): Graded(machine, hand, penalty or 0.0)
        for topic, student, penalty, machine, hand, judged in rows
        if judged
    }


def check_rules(found: Grades, everybody: list[Student], figures: Figures) -> None:
    """Hold the gradebook against the rules: equal work has equal points, and what is late loses its share."""
    machine: dict[tuple[str, int], float] = {}
    for one in everybody:
        for topic in TOPICS:
            where, due, graded = f"gradebook, {one.id}, {topic}", work.due(one, topic, everybody), None
            graded = found.get((one.id, topic))
            figures.compare(f"{where}, graded", due is not None, graded is not None)
            if due is None or graded is None:
                continue
            points = machine.setdefault((topic, due.variant), graded.machine)
            hand = work.points_by_hand(one, topic)
            figures.compare(f"{where}, machine", points, graded.machine)
            figures.compare(f"{where}, by hand", hand, float(graded.hand))
            figures.compare(f"{where}, penalty", (points + hand) * due.percent / 100, float(graded.penalty))
    for topic in TOPICS:  # else the comparison above could not tell two attempts apart
        told = [points for (other, _), points in machine.items() if other == topic]
        figures.compare(
            f"{topic}, variants with equal points", [], sorted({one for one in told if told.count(one) > 1})
        )


def scaled(graded: Graded, topic: str, points: Mapping[str, float]) -> float:
    """A grade in the points that a platform has for the topic."""
    return graded.score * MOST[topic] / points[topic]


def points_of(root: Path) -> dict[str, float]:
    """The points that each topic has here."""
    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        return {topic: float(book.find_assignment(topic).max_score) for topic in TOPICS}


def canvas_before(everybody: list[Student]) -> canvas.Gradebook:
    """The course in Canvas before the import: whoever hands in nothing has a grade, one is excused, one not asked."""
    scores: dict[tuple[int, int], canvas.Score] = {(one.canvas_id, 9): 7.5 for one in everybody}
    for one in everybody:
        for number, topic in ((11, MARKOV), (12, ATTENTION)):
            if work.due(one, topic, everybody) is None:
                scores[one.canvas_id, number] = 3.5
    scores[everybody[0].canvas_id, 11] = "EX"
    unassigned = frozenset({(everybody[1].canvas_id, 12)})
    return canvas.Gradebook(everybody, NUMBERS, {9: 10.0, 11: MOST[MARKOV], 12: MOST[ATTENTION]}, scores, unassigned)


def through_canvas(root: Path, everybody: list[Student], found: Grades, figures: Figures) -> Iterator[str]:
    """Export into Canvas's own gradebook, then without it, a topic at a time, and import both."""
    points = points_of(root)
    before = canvas_before(everybody)
    (root / "from-canvas.csv").write_text(before.export(), "utf-8")
    yield course(root, "export", "canvas", *TOPICS, "--into", "from-canvas.csv")
    filled = deepcopy(before)
    filled.take((root / "exports" / "canvas.csv").read_text("utf-8"))
    figures.compare("canvas, points possible", before.points, filled.points)
    plain = deepcopy(before)
    for topic in TOPICS:
        yield course(root, "export", "canvas", topic)
        plain.take((root / "exports" / "canvas.csv").read_text("utf-8"))
    for one in everybody:
        for number, topic in ((11, MARKOV), (12, ATTENTION)):
            key, graded = (one.canvas_id, number), found.get((one.id, topic))
            kept = graded is None or key in before.unassigned
            expected = (
                before.scores.get(key) if kept or before.scores.get(key) == "EX" else scaled(graded, topic, points)
            )  # type: ignore[arg-type]
            figures.compare(f"canvas --into, {one.id}, {topic}", expected, filled.scores.get(key))
            expected = before.scores.get(key) if kept else graded.score  # type: ignore[union-attr]
            figures.compare(f"canvas, {one.id}, {topic}", expected, plain.scores.get(key))
        figures.compare(f"canvas, {one.id}, quiz", 7.5, filled.scores[one.canvas_id, 9])


def through_moodle(root: Path, everybody: list[Student], found: Grades, figures: Figures) -> Iterator[str]:
    """Export into worksheets, and as tables for the gradebook, and import all of them."""
    points, earlier = points_of(root), datetime(2027, 2, 1, 8, 0)
    for topic in TOPICS:
        none = [one for one in everybody if work.due(one, topic, everybody) is None]
        grades = {one.username: moodle.Grade(3.5, earlier) for one in none}
        grades[everybody[0].username] = moodle.Grade(1.5, earlier)  # graded there before: replaced
        grades[everybody[1].username] = moodle.Grade(2.5, earlier, locked=True)
        sheet = moodle.Assignment(everybody, MOST[topic], grades)
        (root / "worksheet.csv").write_text(sheet.worksheet(), "utf-8")
        said = course(root, "export", "moodle", topic, "--into", "worksheet.csv")
        yield said
        skipped = sheet.take((root / "exports" / "moodle.csv").read_text("utf-8"), NOW)
        figures.compare(f"moodle worksheet, {topic}, skipped", [everybody[1].username], skipped)
        figures.compare(f"moodle worksheet, {topic}, skipped and told", True, f": {everybody[1].id}\n" in said)
        for one in everybody:
            graded, there = found.get((one.id, topic)), sheet.grades.get(one.username)
            expected = 2.5 if one is everybody[1] else scaled(graded, topic, points) if graded else 3.5
            figures.compare(f"moodle worksheet, {one.id}, {topic}", expected, there.points if there else None)
    yield course(root, "export", "moodle", *TOPICS)
    text = (root / "exports" / "moodle.csv").read_text("utf-8")
    imported = moodle.import_grades(text, "Email address", everybody, TOPICS)
    for one in everybody:
        for topic in TOPICS:
            graded = found.get((one.id, topic))
            there = imported.get((one.username, topic))
            figures.compare(f"moodle table, {one.id}, {topic}", graded.score if graded else None, there)


def run(root: Path, count: int) -> Figures:
    """The whole term in an empty folder `root`."""
    began = time.perf_counter()
    everybody = students(count)
    figures = Figures(count)
    make_course(root, everybody)
    collect(root, everybody)
    print(grade(root, everybody)[-4000:])
    # The first export shares what members of a group were given by hand and counts penalties anew.
    course(root, "export", "csv", *TOPICS)
    found = gradebook(root)
    figures.graded = len(found)
    check_rules(found, everybody, figures)
    for said in (*through_canvas(root, everybody, found, figures), *through_moodle(root, everybody, found, figures)):
        print(said)
    figures.compare("gradebook, after all exports", found, gradebook(root))
    figures.minutes = round((time.perf_counter() - began) / 60, 1)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    figures.processor_minutes = round((used.ru_utime + used.ru_stime) / 60, 1)
    return figures


def main(arguments: Iterable[str] = ()) -> int:
    """Run the term; the status is 1 if any number differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.term_of_300", description=__doc__)
    parser.add_argument("--students", type=int, default=300)
    parser.add_argument("--write", action="store_true", help="keep the figures in results.json")
    parser.add_argument("--keep", type=Path, help="a folder for the course, which stays afterwards")
    options = parser.parse_args(list(arguments))
    with tempfile.TemporaryDirectory(prefix="term-") as place:
        figures = run(options.keep or Path(place, "class"), options.students)
    about = {**vars(figures), "differences": len(figures.differences)}
    print("\n".join(figures.differences[:50]))
    print(", ".join(f"{name} {value}" for name, value in about.items()))
    if options.write:
        RESULTS.write_text(json.dumps({"date": f"{datetime.now(UTC):%Y-%m-%d}", **about}, indent=1) + "\n", "utf-8")
    return int(bool(figures.differences))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
