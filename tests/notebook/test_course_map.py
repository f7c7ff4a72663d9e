"""The map of the course: its layout, and what it tells of a student's progress."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.course import Course
from course.notebook import course_map
from course.notebook.course_map import stops
from course.notebook.progress import progress
from course.notebook.standing import Standing
from course.study_paths import PATHS, VOLUMES, StudyPath, foundations
from course.syllabus import OURS, Item, Topic, Unknown
from tests.original import find_topic


def _topics(*ways: tuple[int, ...]) -> list[Topic]:
    """Topics t1, t2, ..., each building on those whose numbers it is given."""
    return [
        Topic(n, f"t{n}", f"Topic {n}", "", (Item(f"e{n}", 1, 30),), tuple(f"t{other}" for other in found))
        for n, found in enumerate(ways, 1)
    ]


def test_every_topic_builds_on_earlier_ones_and_the_first_on_nothing() -> None:
    names = {topic.name for topic in OURS}
    for topic in OURS:
        assert set(topic.builds_on) <= names
        found = foundations(topic, OURS)
        assert bool(found) == (topic is not OURS[0])
        assert {other.name for other in found} >= set(topic.builds_on)
        assert all(other.number < topic.number for other in found)


def test_a_topic_that_names_nothing_follows_the_one_before() -> None:
    first, second, third = _topics((), (), (1,))
    assert foundations(second, [first, second, third]) == (first,)
    assert foundations(third, [first, second, third]) == (first,)
    assert foundations(third, [second, third]) == (second,), "of a course without its foundation"


def test_a_topic_of_somebodys_own_builds_on_what_it_names_only() -> None:
    first, second, third = _topics((), (), ())
    mine, last = replace(second, home=Path()), replace(third, home=Path(), builds_on=("t1",))
    assert foundations(mine, [first, mine, third]) == ()
    assert foundations(third, [first, mine, third]) == (first,), "ours do not build on it unasked"
    assert foundations(last, [first, mine, last]) == (first,)
    assert [[way.start for way in stop.ways] for stop in stops([first, mine, last])] == [[], [], [0]]


def test_lanes_branch_and_join_and_shortcuts_are_left_out() -> None:
    placed = stops(_topics((), (1,), (1,), (3,), (2, 4), (1, 5)))
    assert [(stop.lane, [(way.start, way.lane) for way in stop.ways]) for stop in placed] == [
        (0, []),
        (0, [(0, 0)]),
        (1, [(0, 1)]),
        (1, [(2, 1)]),
        (0, [(1, 0), (3, 1)]),
        (0, [(4, 0)]),
    ]


def test_a_topic_that_follows_an_early_one_leaves_the_lane_of_those_between() -> None:
    """A thirteenth topic after the second, a fourteenth after the first and third, a fifteenth after two far apart."""
    line = [(), *((n,) for n in range(1, 12))]
    *_, thirteenth, fourteenth, fifteenth = stops(_topics(*line, (2,), (1, 3), (10, 13)))
    assert (thirteenth.lane, [way.lane for way in thirteenth.ways]) == (1, [1])
    assert (fourteenth.lane, [way.lane for way in fourteenth.ways]) == (2, [2])
    assert (fifteenth.lane, [way.lane for way in fifteenth.ways]) == (1, [3, 1])


@given(st.data())
@settings(max_examples=30)
def test_no_way_runs_over_a_stop_or_beside_another_on_its_lane(data: st.DataObject) -> None:
    before = [tuple(data.draw(st.sets(st.integers(1, n), min_size=1, max_size=3))) if n else () for n in range(15)]
    placed = stops(_topics(*before))
    ways = [way for stop in placed for way in stop.ways]
    for way in ways:
        over = [stop for stop in placed[way.start + 1 : way.end] if stop.lane == way.lane]
        beside = [
            other
            for other in ways
            if other.lane == way.lane
            and other.end != way.end
            and max(way.start, other.start) + 1 < min(way.end, other.end)
        ]
        assert not over and not beside, f"{way} runs over {over} or beside {beside}"


def test_each_volume_has_its_title_above_its_topics() -> None:
    placed = stops(OURS)
    opening = [(stop.topic.number, stop.opens) for stop in placed if stop.opens is not None]
    assert opening == [(volume.first, volume) for volume in VOLUMES]
    steps = {after.y - before.y for before, after in pairwise(placed) if after.opens is None}
    assert steps == {course_map.ROW}
    page = course_map.html(OURS, {topic.name: Standing(0, 1) for topic in OURS}, {})
    first, *lists = page.split("<ul")
    assert all(volume.title in part for volume, part in zip(VOLUMES, [first, *lists], strict=False))
    assert [part.count("<li") for part in lists] == [sum(map(volume.holds, OURS)) for volume in VOLUMES]


def test_a_course_of_one_volume_has_no_titles() -> None:
    assert all(stop.opens is None for stop in stops(OURS[:12]))
    assert [stop.y for stop in stops(OURS[:2])] == [course_map.ROW // 2, course_map.ROW * 3 // 2]


def test_dots_show_the_topics_of_each_path() -> None:
    """Where a topic of ours is missing, there are none."""
    page = course_map.html(OURS, {topic.name: Standing(0, 1) for topic in OURS}, {})
    rows = dict(zip([topic.name for topic in OURS], page.split("<li")[1:]))
    for path in PATHS:
        colour = course_map.DOTS[path.name]
        shown = [name for name, row in rows.items() if colour in row and path.title.lower() in row]
        assert shown == [topic.name for topic in OURS if path.holds(topic)]
        assert page.count(colour) == len(shown)
    fewer = course_map.html(OURS[1:], {topic.name: Standing(0, 1) for topic in OURS}, {})
    assert not any(colour in fewer for colour in course_map.DOTS.values())


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with all notebooks, worked in."""
    for topic in OURS:
        (tmp_path / topic.folder).mkdir()
        (tmp_path / topic.folder / f"{topic.folder}.ipynb").write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _note(home: Path, topic: Topic, facts: object) -> None:
    path = home / topic.folder / ".course" / "progress.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(facts))


def _shown(monkeypatch: pytest.MonkeyPatch, **asked: str) -> tuple[str, str]:
    seen: list[tuple[str, str]] = []
    monkeypatch.setattr("course.notebook.progress.show", lambda html, text: seen.append((html, text)))
    progress(**asked)
    return seen[0]


def _headline(monkeypatch: pytest.MonkeyPatch, **asked: str) -> str:
    return re.sub("<[^>]+>", "", _shown(monkeypatch, **asked)[0].split("<svg")[0])


def test_the_home_notebook_shows_the_map(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, text = _shown(monkeypatch)
    assert re.findall(r'href="([^"]+)"', page)[1:] == [f"{topic.folder}/{topic.folder}.ipynb" for topic in OURS]
    assert "Begin with" in page and page.count("not begun") == len(OURS)
    *rows, empty, headline = text.splitlines()
    assert [line.split()[1] for line in rows] == [str(topic.number) for topic in OURS]
    assert not empty and headline.endswith("Begin with 1 Markov n-grams."), "in text, the headline comes last"


def test_it_tells_what_passes_and_where_to_go_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done, begun = find_topic("markov_ngrams"), find_topic("rnn")
    _note(home, done, {item.name: {"kind": "passed"} for item in done.judged})
    _note(home, begun, {"rnn_cell": {"kind": "passed", "hints": 1}, "rnn_forward": {"kind": "wrong"}})
    page, text = _shown(monkeypatch)
    rows = dict(zip([topic.name for topic in OURS], page.split("<li")[1:]))
    assert f"all {len(done.judged)} pass" in rows["markov_ngrams"] and "not begun" in rows["cbow"]
    assert "1 of 8 pass" in rows["rnn"] and "rnn_forward" in rows["rnn"]
    assert f"<b>{len(done.judged) + 1} of " in page
    assert "Go on with" in page.split("<ul")[0] and "Recurrent networks" in page.split("<ul")[0]
    assert text.splitlines()[0].startswith("✓") and text.splitlines()[2].startswith("○")


def test_a_hint_alone_begins_nothing_and_nonsense_is_passed_over(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _note(home, OURS[0], {"count_ngrams": {"hints": 2}})
    _note(home, OURS[1], ["no", "progress"])
    _note(home, OURS[2], {"rnn_cell": "passed"})
    page, _ = _shown(monkeypatch)
    assert page.count("not begun") == len(OURS)


def test_what_is_not_handed_out_yet_is_said_and_not_begun_with(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for topic in (OURS[0], *OURS[2:]):
        (home / topic.folder / f"{topic.folder}.ipynb").unlink()
    page, text = _shown(monkeypatch)
    assert page.count("not handed out yet") == text.count("not handed out yet") == len(OURS) - 1
    assert re.findall(r'href="([^"]+)"', page) == [f"{OURS[1].folder}/{OURS[1].folder}.ipynb"] * 2


def _pass(home: Path, *folders: str) -> None:
    for topic in OURS:
        if topic.folder in folders:
            _note(home, topic, {item.name: {"kind": "passed"} for item in topic.judged})


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)
def test_a_chosen_path_leads_through_its_topics_alone(
    path: StudyPath, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles = {topic.folder: f"{topic.number} {topic.title}" for topic in OURS}
    assert f"Begin with {titles[path.folders[0]]}." in _headline(monkeypatch, path=path.name)
    for done, at in pairwise(path.folders):
        _pass(home, done)
        assert f"Go on with {titles[at]}." in _headline(monkeypatch), "it is remembered"
    _pass(home, path.folders[-1])
    assert "That is the whole path. Well done." in _headline(monkeypatch)


def test_a_topic_begun_beside_the_path_is_not_where_it_goes_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _pass(home, "01_markov_ngrams", "02_cbow", "03_rnn")
    _note(home, find_topic("lstm_gru"), {"lstm_cell": {"kind": "wrong"}})
    assert "Go on with 4 " in _headline(monkeypatch)
    said = _headline(monkeypatch, path="vision")
    assert "Go on with 14 " in said and said.startswith("On the path vision and sound, ")
    assert "3 of 11 notebooks are done" in said and "chooses one" not in said
    page, text = _shown(monkeypatch)
    assert course_map.DOTS["vision"] in page and course_map.DOTS["language"] not in page
    numbers = [line.split()[1] for line in text.splitlines()[:-2]]
    assert numbers == ["1", "2", "3", "14", "6", "7", "8", "9", "10", "11", "12"]
    said = _headline(monkeypatch, path="")
    assert "Go on with 4 " in said and 'progress(path="language") chooses one.' in said


def test_a_path_is_chosen_of_those_there_are_and_where_the_map_is(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unknown, match=r"no path 'chess'\. Its paths are 'language', 'vision', 'efficiency'"):
        progress(path="chess")
    (home / ".course").mkdir()
    (home / ".course" / "path.json").write_text('["vision"]')
    assert "On the path" not in _headline(monkeypatch), "what is remembered is none"
    monkeypatch.setattr("course.notebook.progress.this_course", lambda: Course(topics=OURS[1:]))
    with pytest.raises(Unknown, match=r"no path 'vision'\. It leaves topics out, so it has no paths"):
        progress(path="vision")
    monkeypatch.chdir(home / "03_rnn")
    with pytest.raises(RuntimeError, match=r"index\.ipynb"):
        progress(path="vision")


def test_the_end_of_the_course_is_congratulated() -> None:
    topics = _topics((), ())
    page = course_map.html(topics, {topic.name: Standing(1, 1, True) for topic in topics}, {})
    assert "That is the whole course" in page and "<a " not in page


def test_titles_cannot_break_out(monkeypatch: pytest.MonkeyPatch) -> None:
    (topic,) = _topics(())
    topic = Topic(1, "t1", "<script>", "", topic.items)
    page = course_map.html([topic], {"t1": Standing(0, 1, True, "<b>")}, {"t1": '"><i>'})
    assert "<script>" not in page and "<i>" not in page and "&lt;b&gt;" in page
