"""What is newer in ours is taken where the instructor changed nothing, and merged where both changed other lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from course.course import course_in
from course.grading.release.new_course import copied_hashes, note_as_ours, note_copied
from course.grading.release.upgrade import REPLACED, choose, parts_of, take
from course.problem import Problem
from tests.commands import output_of
from tests.original import find_topic

TOPIC, OTHER = find_topic("rnn"), find_topic("lstm_gru")
FILE = f"solutions/{TOPIC.folder}.py"
TEXT = "".join(f"line {number}\n" for number in range(20))


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    return made(tmp_path / "ours")


@pytest.fixture
def mine(tmp_path: Path, ours: Path) -> Path:
    """A course as `course new` makes it."""
    root = made(tmp_path / "mine")
    note_copied(root, [TOPIC, OTHER], ours)
    note_as_ours(root, "nbgrader_config.py", b"config\n")
    return root


def made(root: Path) -> Path:
    (root / "solutions").mkdir(parents=True)
    for topic in (TOPIC, OTHER):
        (root / "solutions" / f"{topic.folder}.py").write_text(TEXT)
    (root / "nbgrader_config.py").write_text("config\n")
    return root


def states(mine: Path, ours: Path) -> dict[str, str]:
    return {part.name: part.state for part in parts_of(mine, [TOPIC, OTHER], ours)}


OURS = TEXT.replace("line 3\n", "line 3, better\n")
MINE = TEXT.replace("line 15\n", "my line\n")
BOTH = OURS.replace("line 15\n", "my line\n")
CLASH = TEXT.replace("line 3\n", "my line 3\n")


@pytest.mark.parametrize(
    ("mine_is", "ours_is", "state", "becomes"),
    [
        (TEXT, TEXT, "", TEXT),
        (MINE, TEXT, "", MINE),
        (OURS, OURS, "", OURS),
        (TEXT, OURS, "newer", OURS),
        (MINE, OURS, "merges", BOTH),
        (CLASH, OURS, "clash", CLASH),
    ],
)
def test_only_what_the_instructor_left_alone_changes(
    mine_is: str, ours_is: str, state: str, becomes: str, mine: Path, ours: Path
) -> None:
    (mine / FILE).write_text(mine_is)
    (ours / FILE).write_text(ours_is)
    assert states(mine, ours) == ({FILE: state} if state else {})
    parts = parts_of(mine, [TOPIC, OTHER], ours)
    assert [becomes] * len(parts) == [(part.result() or mine_is.encode()).decode() for part in parts]
    taken = take(mine, parts)
    assert (mine / FILE).read_text() == becomes and taken == ([FILE] if becomes != mine_is else [])
    assert [path.read_text() for path in (mine / REPLACED).glob(f"*/{FILE}")] == ([mine_is] if taken else [])
    assert states(mine, ours) == ({FILE: "clash"} if state == "clash" else {}), "a second time there is nothing to do"


def test_an_upgrade_after_an_upgrade_goes_on_from_there(mine: Path, ours: Path) -> None:
    (mine / FILE).write_text(MINE)
    for better in (OURS, OURS.replace("line 7\n", "")):
        (ours / FILE).write_text(better)
        take(mine, parts_of(mine, [TOPIC, OTHER], ours))
        assert (mine / FILE).read_text() == better.replace("line 15\n", "my line\n")


def test_without_a_record_nothing_is_touched(mine: Path, ours: Path) -> None:
    """A course of an earlier version has hashes of its sources and no contents."""
    for name in (FILE, "nbgrader_config.py"):
        (ours / name).write_text(OURS)
    (mine / FILE).write_text(MINE)
    record = copied_hashes(mine)
    for kept in (mine / ".course" / "originals").iterdir():
        kept.unlink()
    (mine / ".course" / "sources.json").write_text(f'{{"{TOPIC.folder}": "{record[TOPIC.folder]}"}}')
    assert states(mine, ours) == {FILE: "no original", "nbgrader_config.py": "unknown"}
    assert take(mine, parts_of(mine, [TOPIC], ours)) == [] and (mine / FILE).read_text() == MINE
    (mine / FILE).write_text(TEXT)
    assert states(mine, ours)[FILE] == "newer"


def test_without_git_nothing_is_merged(mine: Path, ours: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (mine / FILE).write_text(MINE)
    (ours / FILE).write_text(OURS)
    monkeypatch.setenv("PATH", str(mine))
    assert states(mine, ours) == {FILE: "no git"}
    assert take(mine, parts_of(mine, [TOPIC], ours)) == [] and (mine / FILE).read_text() == MINE


def test_a_diff_shows_what_would_change(mine: Path, ours: Path) -> None:
    (mine / FILE).write_text(MINE)
    (ours / FILE).write_text(OURS)
    (part,) = parts_of(mine, [TOPIC], ours)
    lines = part.diff().splitlines()
    assert lines[:2] == [f"--- yours/{FILE}", f"+++ after/{FILE}"]
    assert [line for line in lines[2:] if line[0] in "+-"] == ["-line 3", "+line 3, better"]


def test_some_are_chosen_by_topic_or_file(mine: Path, ours: Path) -> None:
    for path in ours.rglob("*.py"):
        path.write_text(OURS)
    course = course_in(mine)
    parts = parts_of(mine, [TOPIC, OTHER], ours)
    assert [part.name for part in choose(course, parts, ["3", "nbgrader_config.py"])] == [FILE, "nbgrader_config.py"]
    assert len(choose(course, parts, [])) == 3
    with pytest.raises(Problem):
        choose(course, parts, ["31_nothing"])


def test_ours_has_nothing_to_compare_with(mine: Path, tmp_path: Path) -> None:
    for ours in (mine, tmp_path / "site-packages"):
        with pytest.raises(Problem, match="nothing to compare with"):
            parts_of(mine, [TOPIC], ours)


def test_a_new_course_can_be_upgraded(tmp_path: Path) -> None:
    root = tmp_path / "mine"
    output_of(Path(__file__).parents[3], "course", "new", str(root), "6", "--project")
    assert output_of(root, "course", "upgrade").strip() == "Nothing of ours is newer."
    source, notebook = root / "solutions" / "06_self_attention.py", root / "exercises" / "project" / "notebook.py"
    for path, key in ((source, "06_self_attention"), (notebook, "exercises/project/notebook.py")):
        now = path.read_bytes()
        path.write_text("older\n")
        note_as_ours(root, key, b"older\n")
        told = output_of(root, "course", "upgrade", "--take")
        assert path.read_bytes() == now and f"Taken: {path.relative_to(root)}." in told
    assert "course release" not in told
