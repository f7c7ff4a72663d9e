"""The term comes out right; without grading, what the exports write is what the platforms read."""

from __future__ import annotations

from dataclasses import replace

import pytest

from course.grading.export.canvas import write_canvas
from course.grading.export.moodle import write_moodle
from course.grading.gradebook.grades import Grade, Grades, StudentGrades
from tests.mixed_class.roster import ATTENTION, MARKOV
from tests.original import find_topic

from . import canvas, moodle
from .__main__ import MOST, NOW, NUMBERS, Figures, is_carried, main
from .online import compare_pages
from .online import main as go_online
from .people import Student, students

CLASS = students(60)
TOPICS = (MARKOV, ATTENTION)


def scores(student: Student) -> dict[str, float]:
    """Points with more digits than an export carries; some students have none for a topic."""
    points = {MARKOV: student.number * 1.234567 % 21, ATTENTION: 22 / (student.number + 1)}
    return {topic: score for place, (topic, score) in enumerate(points.items()) if student.number % 7 != place}


GRADES = Grades(
    tuple(find_topic(topic) for topic in TOPICS),
    {MARKOV: 21.0, ATTENTION: 22.0},
    tuple(
        StudentGrades(
            one.id,
            one.first,
            one.last,
            one.email,
            {topic: Grade(score) for topic, score in scores(one).items()},
            str(one.canvas_id),
        )
        for one in CLASS
    ),
)


def of_one(topic: str) -> Grades:
    """The grades for one topic, as `read_grades` gives them."""
    pupils = [
        replace(pupil, grades={name: grade for name, grade in pupil.grades.items() if name == topic})
        for pupil in GRADES.pupils
    ]
    return Grades((find_topic(topic),), {topic: GRADES.points[topic]}, tuple(pupils))


def same(expected: float | None, found: object) -> bool:
    if expected is None or not isinstance(found, float):
        return expected == found
    return is_carried(found, expected)


@pytest.mark.parametrize("topic", TOPICS)
@pytest.mark.parametrize("into", [False, True])
def test_canvas_reads_what_was_exported(tmp_path, topic, into):
    """Equal names and logins without their domain among them."""
    number = next(number for number, title in NUMBERS.items() if title == topic)
    book = canvas.Gradebook(CLASS, NUMBERS, {9: 10.0, 11: MOST[MARKOV], 12: MOST[ATTENTION]})
    (tmp_path / "from.csv").write_text(book.export(), "utf-8")
    write_canvas(of_one(topic), tmp_path / "to.csv", tmp_path / "from.csv" if into else None)
    book.take((tmp_path / "to.csv").read_text("utf-8"))
    factor = MOST[topic] / GRADES.points[topic] if into else 1.0
    expected = {one.id: score * factor for one in CLASS for name, score in scores(one).items() if name == topic}
    found = {one.id: book.scores.get((one.canvas_id, number)) for one in CLASS}
    assert [one.id for one in CLASS if not same(expected.get(one.id), found[one.id])] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_moodle_reads_the_worksheet(tmp_path, topic):
    sheet = moodle.Assignment(CLASS, MOST[topic])
    (tmp_path / "from.csv").write_text(sheet.worksheet(), "utf-8")
    write_moodle(of_one(topic), tmp_path / "to.csv", tmp_path / "from.csv")
    assert sheet.take((tmp_path / "to.csv").read_text("utf-8"), NOW) == []
    factor = MOST[topic] / GRADES.points[topic]
    expected = {one.username: score * factor for one in CLASS for name, score in scores(one).items() if name == topic}
    found = {name: grade.points for name, grade in sheet.grades.items()}
    assert set(found) == set(expected) and all(same(expected[name], found[name]) for name in found)


@pytest.mark.parametrize("existing", [(), TOPICS])
def test_moodle_reads_the_table(tmp_path, existing):
    """Who has no grade here has none there: not a zero."""
    write_moodle(GRADES, tmp_path / "to.csv")
    text = (tmp_path / "to.csv").read_text("utf-8")
    found = moodle.import_grades(text, "Email address", CLASS, TOPICS, existing)
    told = {(one.username, topic): scores(one).get(topic) for one in CLASS for topic in TOPICS}
    assert [key for key, expected in told.items() if not same(expected, found.get(key))] == []


def test_a_difference_is_seen():
    figures = Figures(1)
    figures.compare("ada", 12.3456789, 12.3457)
    figures.compare("bob", 12.3456789, 12.3456)
    figures.compare("cy", None, 0.0)
    assert figures.rows == 3
    assert figures.differences == ["bob: 12.3456789 expected, 12.3456 found", "cy: None expected, 0.0 found"]


def test_a_page_that_says_something_else_is_told_in_a_line():
    figures, page = Figures(1), f"<p>{'softmax ' * 10_000}2 of 2 points.</p>"
    compare_pages("ada", [("a.html", page.encode())], [("a.html", page.replace("<p>", "<p >").encode())], figures)
    assert figures.rows == 1 and figures.differences == []
    compare_pages("bea", [("a.html", page.encode())], [("a.html", page.replace("2 of", "1 of").encode())], figures)
    (line,) = figures.differences
    assert "a.html, 80014 characters, " in line and "softmax 2 of 2 points.' and " in line and len(line) < 500


def test_the_readers_refuse_what_the_platforms_refuse():
    book = canvas.Gradebook(CLASS[:1], {11: MARKOV}, {11: 21.0})
    with pytest.raises(canvas.Refused, match="Invalid header row"):
        book.take("Name,Points\nAda,3\n")
    with pytest.raises(canvas.Refused, match="a new assignment 03_rnn"):
        book.take("Student,ID,SIS User ID,SIS Login ID,Section,03_rnn\n")
    with pytest.raises(moodle.Refused, match="could not find user"):
        moodle.import_grades(f"Username,{MARKOV}\nnobody,3\n", "Username", CLASS, (MARKOV,))
    with pytest.raises(moodle.Refused, match="no number"):
        moodle.import_grades(f"Username,{MARKOV}\n{CLASS[0].username},three\n", "Username", CLASS, (MARKOV,))


@pytest.mark.slow
def test_all_grades_of_a_term_come_back(capsys):
    """A few minutes on two cores of their own: 300 students, of whom the machine executes a few notebooks."""
    assert main(["--students", "300"]) == 0, capsys.readouterr().out


@pytest.mark.slow
def test_all_grades_of_a_term_go_through_both_interfaces(capsys):
    """One request in twenty fails, and each sending is killed once."""
    assert go_online(["--students", "300"]) == 0, capsys.readouterr().out
