"""What `.course/` remembers with its time, and what `progress()` says of it: scores, and what comes next."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from course import check
from course.notebook.folder import choose_path, keep_grade, note, now, read_progress
from course.notebook.progress import progress
from course.notebook.standing import Standing, date, grade_of, next_after, standing_of, state_of, time_of
from course.study_paths import PATHS
from course.syllabus import OURS, Topic
from tests.original import find_item, find_topic

SELF = find_topic("06")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all notebooks; the working folder is that of topic 06."""
    for topic in OURS:
        (tmp_path / topic.folder).mkdir()
        (tmp_path / topic.folder / f"{topic.folder}.ipynb").write_text("{}")
    monkeypatch.chdir(tmp_path / SELF.folder)
    return tmp_path


def kept(folder: Path, file: str = "progress.json") -> Any:
    return json.loads((folder / ".course" / file).read_text("utf-8"))


def is_now(text: str) -> bool:
    then = datetime.fromisoformat(text)
    return then.tzinfo is not None and abs((datetime.now(UTC) - then).total_seconds()) < 600


def test_the_first_pass_has_its_time_and_keeps_it(home: Path) -> None:
    check("attention_cost", lambda n, d: {})
    assert "passed_at" not in kept(Path())["attention_cost"], "a wrong answer has not passed"
    note("attention_cost", kind="passed", passed_at="2026-10-01T19:00:00+02:00")
    check("attention_cost", lambda n, d: {})
    assert kept(Path())["attention_cost"]["passed_at"] == "2026-10-01T19:00:00+02:00"
    check("softmax", lambda x, dim: x.softmax(dim))
    assert read_progress()["softmax"]["kind"] == "forbidden"
    note("softmax", kind="wrong")
    check("softmax", lambda x, dim: (x - x.amax(dim, True)).exp() / (x - x.amax(dim, True)).exp().sum(dim, True))
    assert is_now(kept(Path())["softmax"]["passed_at"])


def test_what_passed_before_times_were_kept_gets_none(home: Path) -> None:
    note("softmax", kind="passed", passed=4, of=4)
    check("softmax", lambda x, dim: (x - x.amax(dim, True)).exp() / (x - x.amax(dim, True)).exp().sum(dim, True))
    assert "passed_at" not in kept(Path())["softmax"]
    assert standing_of(SELF, home).passed == 1


@pytest.mark.parametrize("bad", ["yesterday", 3, None, "2026-10-01T19:00:00", ["2026"]])
def test_a_time_that_is_none_is_passed_over(bad: object) -> None:
    assert time_of({"passed_at": bad}, "passed_at") is None and time_of({}, "passed_at") is None


def test_a_time_has_its_zone_and_a_day_its_words() -> None:
    assert is_now(now()) and now().count(":") == 3
    found = time_of({"at": "2026-12-05T23:30:00+01:00"}, "at")
    assert found is not None and date(found) == "5 December 2026"


def test_a_grade_is_kept_beside_the_notebook_and_the_last_one_counts(home: Path) -> None:
    keep_grade(home / SELF.folder, SELF.folder, score=3.0, points=20.0, earned={"softmax": 2.0})
    keep_grade(home / SELF.folder, SELF.folder, score=18.5, points=20.0, earned={"softmax": 1.5})
    keep_grade(home / SELF.folder, "03_rnn", score=1.0, points=26.0, earned={})
    grade = grade_of(SELF, home / SELF.folder)
    assert grade is not None and grade.words() == "18.5 of 20 points" and grade.earned == {"softmax": 1.5}
    assert is_now(kept(Path(), "grades.json")[SELF.folder]["at"])
    assert standing_of(SELF, home).words() == "not begun, 18.5 of 20 points"


@pytest.mark.parametrize(
    "content",
    ["{", "[]", '{"06_self_attention": 3}', '{"06_self_attention": {"score": "20", "points": 20}}', '{"06": {}}'],
)
def test_a_grade_that_cannot_be_read_is_none(content: str, home: Path) -> None:
    Path(".course").mkdir()
    Path(".course", "grades.json").write_text(content)
    assert grade_of(SELF, Path()) is None and standing_of(SELF, home) == Standing(0, 8, at="softmax")


def test_of_a_grade_without_times_and_exercises_the_score_counts(home: Path) -> None:
    Path(".course").mkdir()
    Path(".course", "grades.json").write_text('{"06_self_attention": {"score": 20, "points": 20, "earned": 3}}')
    grade = grade_of(SELF, Path())
    assert grade is not None and grade.at is None and grade.earned == {}


def said(capsys: pytest.CaptureFixture[str], *asked: str) -> str:
    capsys.readouterr()
    progress(*asked)
    return capsys.readouterr().out


def test_progress_tells_the_score_and_the_next_notebook(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Grading gave" not in said(capsys)
    keep_grade(Path(), SELF.folder, score=18.5, points=20.0, earned={})
    out = said(capsys)
    assert f"Grading gave 18.5 of 20 points on {date(datetime.now().astimezone())}." in out
    assert out.endswith("  Next comes 7 Multi-head attention.\n")
    assert "Next comes 4 Gates: LSTM and GRU." in said(capsys, "03_rnn")


def test_the_next_notebook_follows_the_path_that_the_map_remembers(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose_path("vision", home)
    monkeypatch.chdir(home / "14_hidden_states")
    assert "Next on the path vision and sound comes 6 Self-attention." in said(capsys)
    monkeypatch.chdir(home / "12_lora")
    assert "This is the last notebook on the path vision and sound." in said(capsys)


def test_the_map_shows_the_score_too(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    note("softmax", kind="passed")
    keep_grade(Path(), SELF.folder, score=2.0, points=20.0, earned={})
    monkeypatch.chdir(home)
    out = said(capsys)
    assert "1 of 8 pass, 2 of 20 points, next: attention_for_one" in out
    assert "Grading gave 2 of 20 points so far. Go on with 6 Self-attention." in out
    assert "✓ softmax" in said(capsys, "06"), "a topic that is named is read from its own folder"


@pytest.mark.parametrize("path", [None, *PATHS])
def test_each_topic_is_followed_by_the_next_of_the_path(path: Any) -> None:
    along: list[Topic] = [find_topic(folder) for folder in path.folders] if path else list(OURS)
    assert [next_after(OURS, topic, path) for topic in along] == [*along[1:], None]


def test_beside_the_path_the_next_larger_number_follows() -> None:
    language = PATHS[0]
    after = next_after(OURS, find_topic("11"), language)
    assert after is not None and after.number == 13 and not language.holds(find_topic("11"))


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({}, "yours to mark, by rubric"),
        ({"met": "ac", "criteria": 4}, "meets 2 of 4 criteria, self-marked"),
        ({"met": "", "criteria": 3}, "meets 0 of 3 criteria, self-marked"),
        ({"met": 3, "criteria": "x"}, "yours to mark, by rubric"),
    ],
)
def test_a_written_question_tells_what_it_meets(facts: dict[str, Any], words: str) -> None:
    item = find_item("self_attention_question")[1]
    assert state_of(item, {item.name: facts}) == ("none", words)
