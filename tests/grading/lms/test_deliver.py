"""Each student gets everything once or nothing, whenever a run is stopped, and what others changed stays."""

from __future__ import annotations

import random
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest

from course.grading.export.matching import Scale
from course.grading.gradebook.grades import Grade
from course.grading.lms.changes import Change, counts, table
from course.grading.lms.journal import Entry, Journal, journal_of
from course.grading.lms.message import parcel, plain, versions_in
from course.grading.lms.moodle import Moodle
from course.grading.lms.patience import Patience
from course.grading.lms.platform import Assignment, Parcel, Platform, Standing
from course.grading.lms.secret import Token
from course.grading.lms.send import decide_all, deliver
from course.grading.nbgrader_bridge.page_text import QUESTION
from course.outline import Place
from course.problem import Problem
from tests.grading.lesson import NAME, TOPIC

from .canvas_site import CanvasSite
from .conftest import DUE, NUMBERS
from .moodle_site import COURSE as MOODLE_COURSE
from .moodle_site import MOODLE_TOKEN, MoodleSite
from .sites import Site

POINTS = {"ada": 10.0, "bea": 7.123456789, "cy": 0.0, "dan": 9.99}
SCALE = Scale(10.0, 20.0)


@dataclass
class Class:
    """A class on one of the servers: what a run decides and sends, and what is there then."""

    site: Site
    platform: Platform
    folder: Path

    @property
    def assignment(self) -> Assignment:
        return self.platform.find(TOPIC)

    def parcels(self, points: dict[str, float]) -> dict[str, Parcel]:
        made = {}
        for student, score in points.items():
            page = self.folder / student / f"{NAME}.html"
            page.parent.mkdir(exist_ok=True)
            page.write_text(f"<p>{student} {score}</p>")
            made[student] = parcel(Grade(score), SCALE, {"softmax": "Look at <this>."}, page, has_most=True)
        return made

    def decide(self, journal: Journal, points: dict[str, float], *, replace: bool = False) -> list[Change]:
        known, there = {str(number): student for student, number in NUMBERS.items()}, self.assignment
        standings = self.platform.standings(there)
        return decide_all(self.platform, there, standings, known, self.parcels(points), journal, replace=replace)

    def run(self, points: dict[str, float] = POINTS, *, replace: bool = False) -> tuple[list[Change], list[str]]:
        """One whole run: a new journal read from the disk, as in a process of its own."""
        journal = Journal(self.folder / "journal.jsonl")
        changes = self.decide(journal, points, replace=replace)
        return changes, deliver(self.platform, self.assignment, changes, journal, replace=replace)

    @property
    def scores(self) -> dict[str, float | None]:
        there = self.platform.standings(self.assignment)
        return {student: there[str(number)].score for student, number in NUMBERS.items()}

    def set_score(self, student: str, score: float | None) -> None:
        """What an instructor enters there."""
        if isinstance(self.site, CanvasSite):
            self.site.work(11, NUMBERS[student]).score = score
        elif isinstance(self.site, MoodleSite):
            self.site.grade_of(11, NUMBERS[student]).grade = score

    def copies(self, student: str) -> int:
        """How many comments of ours a student sees, or mails a student got."""
        if isinstance(self.site, CanvasSite):
            return len(self.site.work(11, NUMBERS[student]).comments)
        page = self.site.grade_of(11, NUMBERS[student]).comment
        return len(versions_in(plain(page)))


@pytest.fixture(params=["canvas", "moodle"])
def there(request: pytest.FixtureRequest, tmp_path: Path) -> Class:
    site = request.getfixturevalue(f"{request.param}_site")
    if isinstance(site, MoodleSite):
        for number in NUMBERS.values():
            site.hand_in(11, number, DUE, ("a.ipynb", b"{}"))
    return Class(site, request.getfixturevalue(request.param), tmp_path)


WHOLE = {"ada": 20.0, "bea": 14.2469, "cy": 0.0, "dan": 19.98}


def writes(there: Class) -> int:
    """How many requests changed a grade."""
    return there.site.count("PUT") + sum(
        asked.one("wsfunction") == "mod_assign_save_grade" for asked in there.site.seen
    )


def test_sending_twice_changes_nothing(there: Class) -> None:
    changes, notes = there.run()
    assert there.scores == WHOLE and notes == [] and counts(changes) == "4 to send"
    done = writes(there)
    changes, notes = there.run()
    assert counts(changes) == "4 unchanged" and list(table(changes)) == [] and notes == []
    assert there.scores == WHOLE and writes(there) == done == 4


def test_only_what_is_new_is_sent(there: Class) -> None:
    there.run()
    changes, _ = there.run({**POINTS, "bea": 8.0})
    assert list(table(changes)) == ["  student    there  new", "  bea      14.2469   16"]
    assert there.scores == {**WHOLE, "bea": 16.0} and writes(there) == 5


def test_what_an_instructor_changed_there_stays(there: Class) -> None:
    """A grade that was raised, one that was removed, and one that was there before we sent anything."""
    there.set_score("dan", 3.0)
    changes, _ = there.run()
    assert counts(changes) == "3 to send, 1 changed there by somebody else, and kept"
    there.set_score("ada", 19.5)
    there.set_score("bea", None)
    changes, _ = there.run(dict.fromkeys(POINTS, 5.0))
    assert {one.student for one in changes if one.kind == "changed"} == {"ada", "bea", "dan"}
    assert there.scores == {"ada": 19.5, "bea": None, "cy": 10.0, "dan": 3.0}
    assert [line.split() for line in table(changes)][1:] == [
        ["ada", "19.5", "10", *["changed", "there", "by", "somebody", "else,", "and", "kept"]],
        ["bea", "-", "10", *["changed", "there", "by", "somebody", "else,", "and", "kept;", "removed", "there"]],
        ["dan", "3", "10", *["changed", "there", "by", "somebody", "else,", "and", "kept"]],
        ["cy", "0", "10"],
    ]
    there.run(dict.fromkeys(POINTS, 5.0), replace=True)
    assert there.scores == dict.fromkeys(POINTS, 10.0)


def test_an_equal_grade_there_is_no_change(there: Class) -> None:
    """Whoever entered our points by hand gets the feedback to them."""
    there.set_score("ada", 20.0)
    changes, _ = there.run()
    assert next(one.why for one in changes if one.student == "ada") == "only the feedback is new"
    assert there.copies("ada") == 1


class Stopped(BaseException):
    """The run is killed."""


class StoppedJournal(Journal):
    """A journal that ends the run at one of its lines, before it is written or after."""

    left = 0
    before = True

    def write(self, entry: Entry) -> None:
        type(self).left -= 1
        if self.left == 0 and self.before:
            raise Stopped
        super().write(entry)
        if self.left == 0:
            raise Stopped


@pytest.mark.parametrize("before", [True, False], ids=["before the line", "after the line"])
@pytest.mark.parametrize("line", [1, 2, 3, 4, 8])
def test_a_run_that_is_stopped_goes_on(line: int, before: bool, there: Class) -> None:
    StoppedJournal.left, StoppedJournal.before = line, before
    journal = StoppedJournal(there.folder / "journal.jsonl")
    with pytest.raises(Stopped):
        deliver(there.platform, there.assignment, there.decide(journal, POINTS), journal, replace=False)
    for student, score in there.scores.items():
        assert score in (None, WHOLE[student]) and there.copies(student) == (score is not None)
    with (there.folder / "journal.jsonl").open("ab") as file:
        file.write(b'\n{"student": "bea", "vers')  # a line that was cut off
    _, notes = there.run()
    assert there.scores == WHOLE and notes == []
    assert [there.copies(student) for student in POINTS] == [1] * 4
    assert counts(there.run()[0]) == "4 unchanged"


@pytest.mark.parametrize("fault", ["cut", "lost", "500", "half"])
def test_a_grade_whose_answer_is_lost_is_looked_for(fault: str, there: Class) -> None:
    """It is sent again only if it is not there."""

    def changing(number: int, asked: object) -> str | None:
        told = getattr(asked, "method", "") == "PUT" or asked.one("wsfunction") == "mod_assign_save_grade"  # type: ignore[attr-defined]
        return fault if told and writes(there) % 2 else None

    there.site.fault = changing
    _, notes = there.run()
    assert there.scores == WHOLE and notes == [] and [there.copies(student) for student in POINTS] == [1] * 4


def test_one_request_in_twenty_fails(there: Class) -> None:
    """A class of 64, whose sending is stopped twice; each student has the points once, and one message."""
    people = {f"s{number}": number for number in range(1001, 1061)} | NUMBERS
    for number in range(1001, 1061):
        if isinstance(there.site, CanvasSite):
            there.site.page = 100
            there.site.add_user(number, f"Last{number}, First", f"s{number}")
        elif isinstance(there.site, MoodleSite):
            there.site.add_user(number, "First", f"Last{number}", f"s{number}", f"s{number}@example.org")
            there.site.hand_in(11, number, DUE, ("a.ipynb", b"{}"))
    dice = random.Random(20)
    kinds = ["429", "500", "503", "cut", "lost", "half"]
    there.site.fault = lambda number, asked: dice.choice(kinds) if dice.randrange(20) == 0 else None
    platform = there.platform
    if isinstance(platform, Moodle):  # which reads the class once in a run
        platform = Moodle(
            Place(there.site.address, MOODLE_COURSE), Token(MOODLE_TOKEN), Patience("Moodle", there.site.address, wait)
        )
    parcels = {
        name: parcel(Grade(number % 10 + 0.25), SCALE, {}, None, has_most=True) for name, number in people.items()
    }
    known, assignment = {str(number): name for name, number in people.items()}, platform.find(TOPIC)
    for stop in (30, 71, 0):
        StoppedJournal.left, StoppedJournal.before = stop, stop == 71
        journal = StoppedJournal(there.folder / "journal.jsonl")
        standings = platform.standings(assignment)
        changes = decide_all(platform, assignment, standings, known, parcels, journal, replace=False)
        with pytest.raises(Stopped) if stop else nullcontext():
            assert deliver(platform, assignment, changes, journal, replace=False) == []
    there.site.fault = lambda number, asked: None
    found = {name: platform.standings(assignment)[str(number)].score for name, number in people.items()}
    assert found == {name: float(one.points) for name, one in parcels.items()}
    if isinstance(there.site, CanvasSite):
        assert {len(there.site.work(11, number).comments) for number in people.values()} == {1}


def wait(seconds: float) -> None:
    """Do not wait."""


def test_what_stays_unclear_is_left_for_the_next_run(canvas_site: CanvasSite, canvas: Platform, tmp_path: Path) -> None:
    there = Class(canvas_site, canvas, tmp_path)
    canvas_site.fault = lambda number, asked: "500" if asked.method == "PUT" else None
    with pytest.raises(Problem, match=r"Canvas answered with status 500, 3 times. Run the command again later"):
        there.run()
    canvas_site.fault = lambda number, asked: None
    there.run()
    assert there.scores == WHOLE


def test_a_refusal_about_one_student_stops_nobody_else(
    canvas_site: CanvasSite, canvas: Platform, tmp_path: Path
) -> None:
    there = Class(canvas_site, canvas, tmp_path)
    canvas_site.forbidden = {102}
    _, notes = there.run()
    assert notes == ["not sent to bea: Canvas does not let this token grade this student"]
    assert there.scores == {**WHOLE, "bea": None}
    canvas_site.forbidden = set()
    assert counts(there.run()[0]) == "1 to send, 3 unchanged"


def test_a_platform_that_keeps_another_grade_is_named(
    moodle_site: MoodleSite, moodle: Platform, tmp_path: Path
) -> None:
    """A rubric decides in Moodle, say: the first student shows it, and nobody else gets anything."""
    there = Class(moodle_site, moodle, tmp_path)
    for number in NUMBERS.values():
        moodle_site.hand_in(11, number, DUE, ("a.ipynb", b"{}"))
    real = moodle_site._mod_assign_save_grade

    def by_rubric(asked):
        answer = real(asked)
        moodle_site.grade_of(11, int(asked.one("userid"))).grade = 1.0
        return answer

    moodle_site._mod_assign_save_grade = by_rubric  # type: ignore[method-assign]
    with pytest.raises(Problem, match=r"Moodle has 1 points for ada in place of 20.*Nothing else is sent"):
        there.run()
    assert there.scores == {"ada": 1.0, "bea": None, "cy": None, "dan": None}


def test_who_is_excused_or_locked_stays_so(there: Class) -> None:
    if isinstance(there.site, CanvasSite):
        there.site.work(11, NUMBERS["cy"]).excused = True
    elif isinstance(there.site, MoodleSite):
        there.site.locked = {NUMBERS["cy"]}
    changes, _ = there.run(replace=True)
    assert next(one.kind for one in changes if one.student == "cy") in ("excused", "barred")
    assert there.scores == {**WHOLE, "cy": None}


def test_hidden_changes_of_others_stay(moodle_site: MoodleSite, moodle: Platform, tmp_path: Path) -> None:
    """Before Moodle's release nobody can read the comment of another, so the time of a change decides."""
    there = Class(moodle_site, moodle, tmp_path)
    moodle_site.assignments[11]["markingworkflow"] = 1
    for number in NUMBERS.values():
        moodle_site.hand_in(11, number, DUE, ("a.ipynb", b"{}"))
    touched = moodle_site.grade_of(11, NUMBERS["dan"])
    touched.created, touched.modified, touched.comment = 5, 9, "See me."
    changes, _ = there.run()
    assert [one.student for one in changes if one.kind == "changed"] == ["dan"]
    assert counts(there.run()[0]) == "3 unchanged, 1 changed there by somebody else, and kept"
    commented = moodle_site.grade_of(11, NUMBERS["ada"])
    commented.comment, commented.modified = "Not so fast.", commented.modified + 60
    changes, _ = there.run(dict.fromkeys(POINTS, 5.0))
    assert {one.student for one in changes if one.kind == "changed"} == {"ada", "dan"}
    assert commented.comment == "Not so fast." and touched.comment == "See me."


def test_a_message_says_what_the_points_consist_of() -> None:
    told = parcel(Grade(8.0, waiting=1, late=2.0), SCALE, {"b": "two\n lines", "a": "one"}, None, has_most=True)
    assert told.points == "16"
    assert told.message.splitlines() == [
        "16 of 20 points, after 4 were taken off because it came late.",
        "1 of your answers are not graded yet, and count as 0 points until then.",
        "a: one",
        "b: two lines",
        f"Version {told.version}.",
    ]
    other = parcel(Grade(8.0, waiting=1, late=2.0), SCALE, {"b": "two\n lines", "a": "One"}, None, has_most=True)
    assert other.version != told.version


PAGE = '<style>#toc a::after {{ content: ": softmax{}"; }}</style><p class="{}">softmax: {} of 2.</p>{}'


@pytest.mark.parametrize(
    ("other", "is_new"),
    [
        (PAGE.format("", "wide", "1", ""), False),
        (PAGE.format("", "", "1", QUESTION.format("<p>What does line 2 return?</p>")), False),
        (PAGE.format("", "", "2", ""), True),
        (PAGE.format(", not graded yet", "", "1", ""), True),
        (PAGE.format("", "", "1", "<p>The points stay at 1.</p>"), True),
    ],
    ids=["layout", "question", "points", "not graded", "decision"],
)
def test_only_what_a_page_says_makes_a_new_version(other: str, is_new: bool, tmp_path: Path) -> None:
    versions = []
    for page in (PAGE.format("", "", "1", ""), other):
        (tmp_path / "page.html").write_text(page, "utf-8")
        versions.append(parcel(Grade(8.0), SCALE, {}, tmp_path / "page.html", has_most=True).version)
    assert (versions[0] != versions[1]) == is_new


def test_two_runs_at_once_are_refused(tmp_path: Path) -> None:
    place, assignment = Place("https://x.example.org", 1), Assignment(11, NAME, 20.0)
    again = journal_of(tmp_path, NAME, place, assignment)
    with journal_of(tmp_path, NAME, place, assignment), pytest.raises(Problem, match="sent by another process"), again:
        pass


def test_another_course_has_another_journal(tmp_path: Path) -> None:
    """Next term's course does not believe that everything was sent."""
    entry = Entry("ada", "101", "0123abcd", 20.0, "", True)
    place, assignment = Place("https://x.example.org", 1), Assignment(11, NAME, 20.0)
    with journal_of(tmp_path, NAME, place, assignment) as journal:
        journal.write(entry)
    with journal_of(tmp_path, NAME, place, assignment) as journal:
        assert journal.sent == {"ada": entry}
    for other in (Place("https://y.example.org", 1), Place("https://x.example.org", 2)):
        with journal_of(tmp_path, NAME, other, assignment) as journal:
            assert journal.sent == {} and journal.is_ours("ada", Standing(None))


def test_a_group_member_who_handed_in_nothing_is_seen_on_moodle(
    moodle: Moodle, moodle_site: MoodleSite, tmp_path: Path
) -> None:
    """Moodle's list of grades has only students with a submission. Bea's grade there was entered by hand."""
    moodle_site.hand_in(11, NUMBERS["ada"], DUE, ("a.ipynb", b"{}"))
    moodle_site.grade_of(11, NUMBERS["bea"]).grade = 1.25
    there = Class(moodle_site, moodle, tmp_path)
    changes, notes = there.run()
    assert counts(changes) == "3 to send, 1 changed there by somebody else, and kept" and notes == []
    assert moodle_site.grade_of(11, NUMBERS["bea"]).grade == 1.25
    done = writes(there)
    changes, notes = there.run()
    assert counts(changes) == "3 unchanged, 1 changed there by somebody else, and kept" and notes == []
    assert writes(there) == done
    there.set_score("dan", None)
    assert next(change.why for change in there.run()[0] if change.student == "dan") == "removed there"
