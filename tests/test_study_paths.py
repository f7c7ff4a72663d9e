"""The volumes and the paths for six weeks: they hold together, and every page that shows them says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from course import cli
from course.course import Course
from course.grading.course_files.catalogue import six_weeks, topics_called
from course.problem import Problem
from course.study_paths import PATHS, PRESETS, VOLUMES, StudyPath, foundations, left_out, paths_through, volumes_of
from course.syllabus import OURS, Item, Topic
from tests.original import find_topic

ROOT = Path(__file__).parents[1]
a_path = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.name)


@a_path
def test_a_path_has_six_weeks_of_topics_that_are_in_the_syllabus(path: StudyPath) -> None:
    folders = {topic.folder for topic in OURS}
    assert len(path.weeks) == 6 and [folder for folder in path.folders if folder not in folders] == []
    assert len({*path.folders}) == len(path.folders)


@a_path
def test_a_week_takes_an_evening_or_two_of_exercises(path: StudyPath) -> None:
    minutes = {topic.folder: sum(item.minutes for item in topic.items) for topic in OURS}
    for week in path.weeks:
        known = [minutes[folder] for folder in week if folder in minutes]
        assert 2 <= sum(known) / 60 <= 6 or len(known) < len(week), week


@a_path
def test_a_topic_comes_after_what_it_builds_on(path: StudyPath) -> None:
    for topic in filter(path.holds, OURS):
        earlier = path.folders[: path.folders.index(topic.folder)]
        on_the_path = [other.folder for other in foundations(topic, OURS) if path.holds(other)]
        assert {*on_the_path} <= {*earlier}, f"{topic.folder} comes before what it builds on"


def test_every_topic_of_ours_is_in_one_volume() -> None:
    for topic in OURS:
        assert [volume.holds(topic) for volume in VOLUMES].count(True) == 1
    assert [(volume.first, volume.last) for volume in VOLUMES] == [(1, 12), (13, 18), (19, 21)]


def _topic(number: int, *builds_on: str, own: bool = False) -> Topic:
    return Topic(number, f"t{number}", "", "", (Item(f"e{number}", 1, 10),), builds_on, home=Path() if own else None)


def test_what_a_choice_builds_on_and_leaves_out_is_found() -> None:
    first, second, third, fourth = topics = [_topic(1), _topic(2), _topic(3, "t1"), _topic(14, "t2", "t3")]
    assert left_out([fourth], topics) == [second, third]
    assert left_out([second, fourth], topics) == [first, third]
    assert left_out(topics, topics) == []


def test_an_instructors_own_topic_is_in_no_volume() -> None:
    assert volumes_of([_topic(3, own=True), _topic(14, own=True)]) == ()
    assert volumes_of([_topic(3, own=True), _topic(14)]) == (VOLUMES[1],)


def test_a_class_that_left_a_topic_out_sees_no_paths() -> None:
    assert paths_through(OURS) == paths_through([*OURS, _topic(40, own=True)]) == PATHS
    assert paths_through(OURS[1:]) == ()


def test_readme_shows_the_paths_as_they_are() -> None:
    said = " ".join(six_weeks().split())
    assert said in " ".join((ROOT / "README.md").read_text("utf-8").split())


def _listed(capsys: pytest.CaptureFixture[str], *names: str) -> list[str]:
    assert cli.main(["list", *names]) == 0
    return [line.split()[0] for line in capsys.readouterr().out.splitlines()]


@pytest.mark.parametrize("name", PRESETS)
def test_a_name_stands_for_its_topics(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert _listed(capsys, name) == [topic.folder for topic in OURS if PRESETS[name].holds(topic)]


def test_topics_may_stand_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    first, last = find_topic("1"), find_topic("lora")
    assert _listed(capsys, "lora", "volume-two", "1")[:3] == [first.folder, last.folder, "13_tokens"]


def test_a_misspelt_name_gets_the_one_that_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list", "langage"]) == 2
    told = "course list: no topic, volume or path is called 'langage'. Did you mean 'language'?\n"
    assert capsys.readouterr().err == told


def test_a_course_without_any_of_its_topics_says_so() -> None:
    with pytest.raises(Problem, match=r"no topic of volume-two\. `course list` shows its topics"):
        topics_called(Course(topics=(find_topic("rnn"),)), ["volume-two"])


def test_a_topic_of_somebodys_own_keeps_its_name() -> None:
    mine = Topic(20, "vision", "Vision", "", (Item("see", 1, 10),), home=Path())
    assert topics_called(Course(topics=(*OURS, mine)), ["vision"]) == [mine]


@pytest.mark.parametrize("command", ["new", "list"])
def test_the_help_names_them_all(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main([command, "--help"])
    said = " ".join(capsys.readouterr().out.split())
    assert all(name in said for name in PRESETS)
