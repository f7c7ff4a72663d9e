"""`course progress --page`: what was done, with which results and when, signed by nobody."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest

from course.cli import main
from course.grading.report import study_page
from course.notebook.folder import choose_path
from course.syllabus import OURS, Topic
from tests.original import ORIGINAL, find_topic

MADE = datetime(2026, 11, 28, 14, 5, tzinfo=UTC)
DONE, BEGUN = find_topic("cbow"), find_topic("rnn")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Topic 02 done and graded in October, and topic 03 begun before times were kept."""
    monkeypatch.chdir(tmp_path)
    for topic in OURS:
        (tmp_path / topic.folder).mkdir()
        (tmp_path / topic.folder / f"{topic.folder}.ipynb").write_text("{}")
    facts: dict[str, dict[str, object]] = {
        item.name: {"kind": "passed", "passed_at": f"2026-10-{day:02}T19:00:00+02:00"}
        for day, item in enumerate(DONE.judged, 3)
    }
    facts["cbow_question"] = {"met": "abd", "criteria": 4, "met_at": "2026-10-11T19:00:00+02:00"}
    facts[DONE.predictions[0]] = {"predicted": "a", "predicted_at": "2026-10-01T19:00:00+02:00"}
    keep(tmp_path, DONE, "progress.json", facts)
    grade = {"score": 18.25, "points": 19, "at": "2026-10-12T21:00:00+02:00", "earned": {"nearest": 1.25, "x": "y"}}
    keep(tmp_path, DONE, "grades.json", {DONE.folder: grade})
    keep(tmp_path, BEGUN, "progress.json", {"rnn_cell": {"kind": "passed"}})
    return tmp_path


def keep(home: Path, topic: Topic, file: str, facts: object) -> None:
    (home / topic.folder / ".course").mkdir(exist_ok=True)
    (home / topic.folder / ".course" / file).write_text(json.dumps(facts))


class Words(HTMLParser):
    """The words of a page, without its style."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.said: list[str] = []
        self.feed(re.sub(r"<style>.*?</style>", "", page, flags=re.S))

    def handle_data(self, data: str) -> None:
        self.said.append(data)


def words(home: Path) -> str:
    return " ".join(" ".join(Words(study_page.render(ORIGINAL, home, MADE)).said).split())


def test_it_tells_what_was_done_with_which_results_and_when(home: Path) -> None:
    said = words(home)
    assert "Nobody signed this page." in said and "it proves nothing" in said
    assert "1 October 2026 to 12 October 2026" in said and "Made on 28 November 2026, 14:05" in said
    assert "exercises pass 8 notebooks done 1 of 21 points at grading 18.25 of 19" in said
    assert "all 7 pass, 18.25 of 19 points, graded on 12 October 2026, 1 of 2 predictions made" in said
    assert "nearest public checks pass 1.25 of 2 8 Oct 2026" in said
    assert "meets 3 of 4 criteria, self-marked" in said
    assert "1 of 8 pass, 0 of 2 predictions made" in said, "without times it is there all the same"
    assert OURS[5].title not in said, "what was not begun is not on it"


def test_of_a_chosen_path_its_notebooks_come_first(home: Path) -> None:
    choose_path("vision", home)
    keep(home, OURS[3], "progress.json", {"lstm_cell": {"kind": "wrong"}})
    said = words(home)
    assert "on the path vision and sound, to networks that read pictures" in said and "1 of 11" in said
    titles = [DONE.title, BEGUN.title, OURS[3].title]
    assert sorted(titles, key=said.index) == titles


def test_the_page_needs_nothing_and_runs_nothing(home: Path) -> None:
    keep(home, BEGUN, "progress.json", {"rnn_cell": {"kind": "wrong", "passed": "<script>", "of": '"><i>'}})
    page = study_page.render(ORIGINAL, home, MADE)
    assert "<script" not in page and "<i>" not in page and "&lt;script&gt;" in page
    assert "default-src 'none'" in page and not re.search(r"\ssrc=|@import|url\(|<link", page)
    assert set(re.findall(r'href="([^"]+)"', page)) == {study_page.SOURCE}


def test_the_shell_writes_it_where_it_is_told(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["progress", "--page", "out/mine.html"]) == 0
    assert capsys.readouterr().out == "out/mine.html\n"
    assert "Nobody signed this page." in (home / "out" / "mine.html").read_text("utf-8")
    (home / "taken").write_text("")
    assert main(["progress", "--page", "taken/mine.html"]) == 2
    assert "taken/mine.html cannot be written" in capsys.readouterr().err


def test_where_nothing_was_done_there_is_no_page(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for topic in (DONE, BEGUN):
        for file in ("progress.json", "grades.json"):
            (home / topic.folder / ".course" / file).unlink(missing_ok=True)
    assert main(["progress", "--page", "mine.html"]) == 2
    assert "nothing is done in" in capsys.readouterr().err and not (home / "mine.html").exists()
