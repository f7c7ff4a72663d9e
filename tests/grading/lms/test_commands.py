"""`course roster`, `fetch` and `send` with both platforms, from the class to the grades that are there in the end."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from course import cli
from course.grading.execution import own_questions
from course.grading.execution.question_sandbox import Unfinished
from course.grading.intake.attempts import attempts_of
from course.grading.intake.ownership import read_senders
from course.grading.intake.regrade_requests import Asked, Decision, decide, keep_requests, kept_requests
from course.grading.intake.submit import MANIFEST, archive_name
from course.grading.lms.secret import variable
from course.questions.executing import Runner
from tests.grading.lesson import NAME
from tests.grading.test_ways_in import packed

from .canvas_site import COURSE as CANVAS_COURSE
from .canvas_site import CanvasSite
from .conftest import DUE, NUMBERS
from .moodle_site import COURSE as MOODLE_COURSE
from .moodle_site import MOODLE_TOKEN, MoodleSite
from .sites import TOKEN

TOKENS = {"canvas": TOKEN, "moodle": MOODLE_TOKEN}
EARLY, LATE = DUE - timedelta(hours=3), DUE + timedelta(hours=3)


@pytest.fixture(params=["canvas", pytest.param("moodle", marks=pytest.mark.slow)])
def platform(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def site(request: pytest.FixtureRequest, platform: str) -> CanvasSite | MoodleSite:
    found = request.getfixturevalue(f"{platform}_site")
    assert isinstance(found, (CanvasSite, MoodleSite))
    return found


@pytest.fixture
def root(
    graded_class: Path, tmp_path: Path, platform: str, site: CanvasSite | MoodleSite, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Path]:
    """The course of a graded class, which knows where the class is. Afterwards its token stands in no file."""
    root = shutil.copytree(graded_class, tmp_path / "course")
    number = CANVAS_COURSE if platform == "canvas" else MOODLE_COURSE
    outline = f"[topics.{NAME}]\ndue = {DUE.isoformat()}\n[{platform}]\naddress = '{site.address}'\ncourse = {number}\n"
    (root / "course.toml").write_text(outline, "utf-8")
    monkeypatch.chdir(root)
    monkeypatch.setenv(variable(platform), TOKENS[platform])
    yield root
    for path in root.rglob("*"):
        if path.is_file():
            assert TOKENS[platform].encode() not in path.read_bytes(), path


def notebook(root: Path, student: str) -> bytes:
    return (root / "submitted" / student / NAME / f"{NAME}.ipynb").read_bytes()


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> str:
    """What a command says, which never contains a token."""
    assert cli.main(list(words)) == status, capsys.readouterr()
    told = "".join(capsys.readouterr())
    assert not any(token in told for token in TOKENS.values())
    return told


def test_the_class_is_read(root: Path, platform: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The numbers are kept beside the gradebook, under the ids that the gradebook has."""
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        book.update_or_create_student("BEA", email="bea@example.org")
        book.remove_student("bea")
    told = said(capsys, "roster", platform)
    assert "1 added" not in told and "ada" in told
    kept = json.loads((root / ".course" / "people" / f"{platform}.json").read_text("utf-8"))
    assert kept == {"101": "ada", "102": "BEA", "103": "cy", "104": "dan"}


def submitted(root: Path, student: str, name: str = "") -> tuple[str, bytes]:
    """What `course submit` packs, by the student's clock, which is wrong; under the name given, if any."""
    about = {"topic": NAME, "student": student, "time": "2027-01-01T00:00:00+00:00"}
    files = {f"{NAME}.ipynb": notebook(root, student), MANIFEST: json.dumps(about).encode()}
    return name or f"{archive_name(NAME, student, EARLY.replace(year=2026))}.zip", packed(files)


def test_work_comes_with_the_platforms_times(
    root: Path, site: CanvasSite | MoodleSite, platform: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """All attempts, zips and bare notebooks, whoever they are called; and fetching twice brings nothing twice."""
    works = {name: notebook(root, name) for name in ("ada", "bea", "cy", "dan")}
    site.hand_in(11, 101, EARLY, (f"{NAME}.ipynb", works["bea"]))
    site.hand_in(11, 101, LATE, (f"{NAME}-1.ipynb", works["ada"]), ("w.safetensors", b"w"))
    site.hand_in(11, 102, EARLY, submitted(root, "bea"))
    site.hand_in(11, 103, EARLY, submitted(root, "cy", "my work.zip"))
    site.hand_in(11, 104, LATE, ("all.zip", packed({"deep/task.ipynb": works["dan"], "deep/data.csv": b"1"})))
    said(capsys, "roster", platform)
    site.users[999] = {**site.users[101], "id": 999}  # of ada's very name, and joined since
    site.active.add(999)
    site.hand_in(11, 999, EARLY, (f"{NAME}.ipynb", works["bea"]))
    shutil.rmtree(root / "submitted")
    told = said(capsys, "fetch", platform, "6")
    assert f"{NAME}: 6 attempts on {platform.title()}, of which 5 are new here" in told
    assert "999, whom the class list does not have. Run `course roster" in told
    for student, came in (("ada", LATE), ("bea", EARLY), ("cy", EARLY), ("dan", LATE)):
        assert notebook(root, student) == works[student]
        stamp = (root / "submitted" / student / NAME / "timestamp.txt").read_text()
        assert stamp.startswith(f"{came:%Y-%m-%d %H:%M:%S}"), student
    assert (root / "submitted" / "ada" / NAME / "checkpoints" / "w.safetensors").read_bytes() == b"w"
    assert (root / "submitted" / "dan" / NAME / "data.csv").read_bytes() == b"1"
    attempts = attempts_of(root, "ada", NAME, root / "submitted" / "ada" / NAME)
    assert [one.came for one in attempts] == [EARLY.replace(tzinfo=None), LATE.replace(tzinfo=None)]
    senders = read_senders(root, NAME)
    assert {name: sender.key for name, sender in senders.items()} == {name: str(NUMBERS[name]) for name in works}
    asked = len(site.seen)
    assert "of which 0 are new here" in said(capsys, "fetch", platform, "6")
    assert not any("file" in one.path for one in site.seen[asked:]), "nothing is downloaded twice"


@pytest.mark.parametrize("platform", ["moodle"], indirect=True)
def test_a_teams_work_goes_to_the_group_of_its_name(
    root: Path, moodle_site: MoodleSite, platform: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two attempts with bare notebooks, which nothing but the team's name assigns."""
    outline = root / "course.toml"
    outline.write_text(f"{outline.read_text('utf-8')}[groups]\nnight_owls = ['cy', 'dan']\n", "utf-8")
    first, second = notebook(root, "cy"), notebook(root, "ada")
    moodle_site.assignments[11]["teamsubmission"] = 1
    moodle_site.groups[44] = ("Night_Owls", (103, 104))
    moodle_site.hand_in(11, 0, EARLY, (f"{NAME}.ipynb", first), group=44)
    moodle_site.hand_in(11, 0, LATE, (f"{NAME}.ipynb", second), group=44)
    said(capsys, "roster", platform)
    shutil.rmtree(root / "submitted")
    assert "2 attempts on Moodle, of which 2 are new" in said(capsys, "fetch", platform, "6")
    assert notebook(root, "cy") == second
    attempts = attempts_of(root, "cy", NAME, root / "submitted" / "cy" / NAME)
    assert [one.came for one in attempts] == [EARLY.replace(tzinfo=None), LATE.replace(tzinfo=None)]


@pytest.mark.parametrize("platform", ["canvas"], indirect=True)
def test_a_member_of_a_group_who_sent_anothers_zip_stays_who_they_are(
    root: Path, canvas_site: CanvasSite, capsys: pytest.CaptureFixture[str]
) -> None:
    outline = root / "course.toml"
    outline.write_text(f"{outline.read_text('utf-8')}[groups]\nowls = ['cy', 'dan']\n", "utf-8")
    said(capsys, "roster", "canvas")
    newer = notebook(root, "ada")
    canvas_site.hand_in(11, 103, EARLY, submitted(root, "dan"))
    shutil.rmtree(root / "submitted")
    said(capsys, "fetch", "canvas", "6")
    canvas_site.hand_in(11, 103, LATE, (f"{NAME}.ipynb", newer))
    assert "2 attempts on Canvas, of which 1 are new here" in said(capsys, "fetch", "canvas", "6")
    assert notebook(root, "cy") == newer


@pytest.mark.parametrize("platform", ["moodle"], indirect=True)
def test_a_request_on_moodle_leaves_the_work_and_its_time(
    root: Path, moodle_site: MoodleSite, capsys: pytest.CaptureFixture[str]
) -> None:
    """Moodle has one submission that a student edits: Ada adds a file, then a text, to what she handed in."""
    said(capsys, "roster", "moodle")
    work = (f"{NAME}.ipynb", notebook(root, "ada"))
    shutil.rmtree(root / "submitted")
    moodle_site.hand_in(11, 101, EARLY, work)
    said(capsys, "fetch", "moodle", "6")
    line = f"regrade {NAME}, softmax, ada:"
    moodle_site.hand_in(11, 101, LATE, work, ("regrade-06.txt", f"{line} a file".encode()), new=False)
    said(capsys, "fetch", "moodle", "6")
    moodle_site.hand_in(11, 101, LATE + timedelta(hours=1), work, new=False)
    text = {"name": "onlinetext", "text": f"<p>{line} a text</p>", "format": 1}
    moodle_site.works[11, 101, 0][-1]["plugins"].append({"type": "onlinetext", "name": "x", "editorfields": [text]})
    said(capsys, "fetch", "moodle", "6")
    assert [one.asked.reason for one in kept_requests(root, NAME)] == ["a file", "a text"]
    (one,) = attempts_of(root, "ada", NAME, root / "submitted" / "ada" / NAME)
    assert one.came == EARLY.replace(tzinfo=None)


def test_what_is_no_work_is_named(
    root: Path, site: CanvasSite | MoodleSite, platform: str, capsys: pytest.CaptureFixture[str]
) -> None:
    site.hand_in(11, 101, EARLY)
    site.hand_in(11, 102, EARLY, ("a.ipynb", b"{}"), ("b.ipynb", b"{ }"))
    site.hand_in(11, 103, EARLY, ("broken.zip", b"PK\3\4broken"))
    if isinstance(site, CanvasSite):
        site.work(11, 104).excused = True
    said(capsys, "roster", platform)
    told = said(capsys, "fetch", platform, "6", status=1)
    assert ("excused on Canvas and not here: dan. Write it under" in told) == isinstance(site, CanvasSite)
    assert "handed in without a file: " in told and "101, attempt 1. Look at these" in told
    assert "nothing says which notebook of" in told and "a.ipynb" in told and "b.ipynb" in told
    assert "broken" in told and "not unpacked, because it is damaged" in told


def test_grades_go_there_and_stay(
    root: Path, site: CanvasSite | MoodleSite, platform: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """First the table alone; then grades, comments and pages; then nothing, because nothing is new."""
    if isinstance(site, MoodleSite):
        for number in NUMBERS.values():
            site.hand_in(11, number, EARLY, ("a.ipynb", b"{}"))
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        comment = book.find_comment("self_attention_question", NAME, NAME, "bea")
        comment.manual_comment = "The variance of what?"
        book.db.commit()
        most = float(book.find_assignment(NAME).max_score)
        scores = {one.student.id: one.score for one in book.assignment_submissions(NAME)}
    said(capsys, "roster", platform)
    told = said(capsys, "send", platform, "6", "--dry-run")
    assert f"{NAME} to {NAME} on {platform.title()}: 4 to send" in told and re.search(r"\n  ada +- ", told)
    assert _scores(site) == dict.fromkeys(NUMBERS)
    told = said(capsys, "send", platform, "6")
    assert "left out eve, as nothing says who they are" in told and f"scaled from {most:g} points" in told
    there = _scores(site)
    assert there == pytest.approx({name: scores[name] * 20 / most for name in NUMBERS}, abs=1e-4)
    comment, name, page = _feedback(site, NUMBERS["bea"])
    assert "self_attention_question: The variance of what?" in comment
    assert (name, page) == (f"{NAME}.html", (root / "feedback" / "bea" / NAME / f"{NAME}.html").read_bytes())
    changes = site.count("PUT"), getattr(site, "mails", 0)
    assert "4 unchanged" in said(capsys, "send", platform, "6")
    assert (site.count("PUT"), getattr(site, "mails", 0)) == changes and _scores(site) == there
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        book.find_comment("self_attention_question", NAME, NAME, "bea").manual_comment = "Of the scores, you mean."
        book.db.commit()
    assert "1 to send, 3 unchanged" in said(capsys, "send", platform, "6")
    assert "Of the scores, you mean." in _feedback(site, NUMBERS["bea"])[0]
    with (root / "course.toml").open("a", encoding="utf-8") as outline:
        outline.write(f'[excused]\nbea = ["{NAME}"]\n')
    told = said(capsys, "send", platform, "6")
    assert "3 unchanged" in told and "nothing is sent to bea, whom course.toml excuses" in told


def test_final_grades_go_to_an_assignment_of_their_own(
    root: Path, site: CanvasSite | MoodleSite, platform: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each with a comment and without a page; and a second time nothing is new."""
    site.add_assignment(77, "The whole course", 50)
    outline = root / "course.toml"
    number = 77 if platform == "canvas" else site.assignments[77]["cmid"]
    rule = f"[{platform}.assignments]\nfinal = {number}\n[final]\ndecimals = 2\n"
    outline.write_text(f"{outline.read_text('utf-8')}{rule}[excused]\ncy = ['{NAME}']\n", "utf-8")
    said(capsys, "roster", platform)
    told = said(capsys, "send", platform, "final")
    assert "final to The whole course on" in told and "3 to send" in told and "scaled from 100 points" in told
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        work = book.find_submission(NAME, "ada")
        expected = round(100 * work.score / work.max_score, 2) / 2
    assert _scores(site, 77) == {**_scores(site, 77), "ada": pytest.approx(expected), "cy": None}
    assert "3 unchanged" in said(capsys, "send", platform, "final")
    assert "the final grade is sent alone" in said(capsys, "send", platform, "final", "6", status=2)


@pytest.mark.skipif(sys.platform != "linux", reason="code is executed in a sandbox on Linux only")
def test_a_page_goes_out_again_for_a_decision_and_not_for_a_question(
    root: Path,
    site: CanvasSite | MoodleSite,
    platform: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """At first the machine cannot finish any question, and later it can."""
    if isinstance(site, MoodleSite):
        for number in NUMBERS.values():
            site.hand_in(11, number, EARLY, ("a.ipynb", b"{}"))
    said(capsys, "roster", platform)
    page = root / "feedback" / "dan" / NAME / f"{NAME}.html"
    with monkeypatch.context() as patch:
        patch.setattr(own_questions, "sandboxed", _too_slow)
        said(capsys, "send", platform, "6")
        assert "A question about your" not in page.read_text("utf-8")
    assert "4 unchanged" in said(capsys, "send", platform, "6")
    assert "A question about your" in page.read_text("utf-8")
    keep_requests(root, NAME, [(Asked(NAME, "softmax", "dan", "Look again."), "")], "2027-02-01")
    decide(root, NAME, 1, Decision("It is right as it is.", "tea", "2027-02-02T10:00:00", 1.0, 1.0))
    assert "1 to send, 3 unchanged" in said(capsys, "send", platform, "6")
    assert b"It is right as it is." in _feedback(site, NUMBERS["dan"])[2]


@contextmanager
def _too_slow(*_: object) -> Iterator[Runner]:
    raise Unfinished("it takes longer than a question can wait")
    yield


def _scores(site: CanvasSite | MoodleSite, assignment: int = 11) -> dict[str, float | None]:
    if isinstance(site, CanvasSite):
        return {name: site.work(assignment, number).score for name, number in NUMBERS.items()}
    return {name: site.grade_of(assignment, number).grade for name, number in NUMBERS.items()}


def _feedback(site: CanvasSite | MoodleSite, user: int) -> tuple[str, str, bytes]:
    """The comment, and the name and content of the page that a student finds last."""
    if isinstance(site, CanvasSite):
        comment = site.work(11, user).comments[-1]
        return comment["comment"], *site.files[comment["attachments"][0]["id"]]
    grade = site.grade_of(11, user)
    ((name, page),) = grade.files.items()
    return grade.comment, name, page


def test_one_students_changed_grade_is_replaced_if_told(
    root: Path, site: CanvasSite | MoodleSite, platform: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if isinstance(site, CanvasSite):
        site.work(11, 101).score = site.work(11, 102).score = 3.0
    else:
        for number in NUMBERS.values():
            site.hand_in(11, number, EARLY, ("a.ipynb", b"{}"))
        site.grade_of(11, 101).grade = site.grade_of(11, 102).grade = 3.0
    said(capsys, "roster", platform)
    told = said(capsys, "send", platform, "6", status=1)
    assert "by somebody else, and kept: ada, bea. To replace such a grade" in told
    said(capsys, "send", platform, "6", "--replace-changed", "--student", "ada")
    there = _scores(site)
    assert there["ada"] != 3.0 and there["bea"] == 3.0


def test_points_that_both_take_off_are_refused(
    root: Path, site: CanvasSite | MoodleSite, platform: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        book.find_submission_notebook(NAME, NAME, "bea").late_submission_penalty = 1.0
        book.db.commit()
    if isinstance(site, CanvasSite):
        site.late_policy = {"late_submission_deduction_enabled": True, "late_submission_deduction": 10.0}
    else:
        site.assignments[11]["gradepenalty"] = 1
    said(capsys, "roster", platform)
    told = said(capsys, "send", platform, "6", status=2)
    assert "takes points off late work by a rule of its own, and so does course.toml, for bea. Turn one" in told


@pytest.mark.parametrize("words", [("roster",), ("fetch", "6"), ("send", "6")])
def test_a_command_without_a_token_says_where_to_put_it(
    words: tuple[str, ...],
    root: Path,
    platform: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(variable(platform))
    people = root / ".course" / "people" / f"{platform}.json"
    people.parent.mkdir(parents=True)
    people.write_text('{"101": "ada"}')
    told = said(capsys, words[0], platform, *words[1:], status=2)
    assert "there is no token for http://127.0.0.1" in told and "keyring set" in told


def test_who_has_not_read_the_class_is_told_so(root: Path, platform: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = said(capsys, "fetch", platform, "6", status=2)
    assert f"Run `course roster {platform}` first" in told
    (root / "course.toml").write_text(f"[topics.{NAME}]\n", "utf-8")
    told = said(capsys, "send", platform, "6", status=2)
    assert f"course.toml does not say where the class is on {platform.title()}. Add a table [{platform}]" in told
