"""Which copies of our sources in an instructor's course are older than ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.grading.release.new_course import note_copied, older_than_ours
from tests.commands import output_of
from tests.original import find_topic

TOPIC, OTHER = find_topic("rnn"), find_topic("lstm_gru")
FILE = f"solutions/{TOPIC.folder}.py"


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    return course_in(tmp_path / "ours")


@pytest.fixture
def mine(tmp_path: Path, ours: Path) -> Path:
    root = course_in(tmp_path / "mine")
    note_copied(root, [TOPIC, OTHER], ours)
    return root


def course_in(root: Path) -> Path:
    (root / "solutions").mkdir(parents=True)
    for topic in (TOPIC, OTHER):
        (root / "solutions" / f"{topic.folder}.py").write_text("first\n")
    (root / "nbgrader_config.py").touch()
    return root


RENEW = "is older than ours. To renew it, run `course upgrade 03_rnn --take`"


@pytest.mark.parametrize(
    ("mine_is", "ours_is", "says"),
    [
        ("first", "first", ""),
        ("first", "second", RENEW),
        ("edited", "first", ""),
        ("edited", "second", "has your edits, and ours has changed since. `course upgrade 03_rnn --diff` shows both"),
        ("second", "second", ""),  # copied by hand
    ],
)
def test_what_became_of_both_since_it_was_copied(mine: Path, ours: Path, mine_is: str, ours_is: str, says: str) -> None:
    (mine / FILE).write_text(f"{mine_is}\n")
    (ours / FILE).write_text(f"{ours_is}\n")
    told = [f"{FILE} {says}"] if says else []
    assert list(older_than_ours(mine, [TOPIC, OTHER], ours)) == told


def test_what_was_copied_by_hand_is_known_from_the_next_release_on(mine: Path, ours: Path) -> None:
    for text in ("second\n", "third\n"):
        (ours / FILE).write_text(text)
        (told,) = older_than_ours(mine, [TOPIC], ours)
        assert "is older than ours" in told
        (mine / FILE).write_text(text)
        note_copied(mine, [TOPIC], ours)


def test_a_course_of_an_earlier_version_is_told_once(mine: Path, ours: Path) -> None:
    (mine / ".course" / "sources.json").unlink()
    (mine / FILE).write_text("whose?\n")
    (told,) = older_than_ours(mine, [TOPIC, OTHER], ours)
    assert told == f"{FILE} differs from ours, and may be older. `course upgrade 03_rnn --diff` shows both"
    note_copied(mine, [TOPIC, OTHER], ours)  # as each release does
    assert list(older_than_ours(mine, [TOPIC, OTHER], ours)) == []


def test_our_own_course_and_one_without_ours_hear_nothing(mine: Path, tmp_path: Path) -> None:
    (mine / FILE).write_text("old\n")
    assert not list(older_than_ours(mine, [TOPIC], tmp_path / "site-packages"))
    assert not list(older_than_ours(mine, [TOPIC], mine))


def test_the_commands_say_it(tmp_path: Path) -> None:
    root = tmp_path / "mine"
    output_of(Path(__file__).parents[3], "course", "new", str(root), "6")
    assert "ours" not in output_of(root, "course", "list")
    (root / "solutions" / "06_self_attention.py").open("a", encoding="utf-8").write("\n# edited\n")
    assert "ours" not in output_of(root, "course", "list")
    (root / ".course" / "sources.json").unlink()
    for command in ("list", "release"):
        told = f"course {command}: solutions/06_self_attention.py differs from ours, and may be older"
        assert told in output_of(root, "course", command)
    assert "ours" not in output_of(root, "course", "list")
