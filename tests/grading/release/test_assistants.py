"""The rule for AI assistants: a course chooses it, a release carries it, and an instructor may word it anew."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import get_args

import pytest

from course.course import Course, course_in
from course.grading.release import assistants, handout, new_course
from course.grading.release.assistants import AGREEMENT, HIDDEN_POINTERS, OURS, POINTERS, TEXTS, write_agreement
from course.outline import Assistants, read_outline
from tests.commands import output_of, run
from tests.original import ORIGINAL, find_topic

ROOT = Path(__file__).parents[3]
every_choice = pytest.mark.parametrize("choice", get_args(Assistants))
OWN = "# Ask the tutors in room 4\n"


@pytest.fixture
def chosen(request: pytest.FixtureRequest, tmp_path: Path) -> Course:
    """A course that chose `request.param`."""
    (tmp_path / "course.toml").write_text(f'assistants = "{request.param}"\n[topics.03_rnn]\n', "utf-8")
    return course_in(tmp_path)


def test_our_own_release_asks_for_a_tutor(tmp_path: Path) -> None:
    write_agreement(tmp_path, ORIGINAL.outline.assistants)
    committed = {path.name: path.read_bytes() for path in (ROOT / "assignments").glob("*.md")}
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == committed, "run `course release`"
    assert committed.keys() == {AGREEMENT, *POINTERS}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_every_rule_keeps_graded_cells_and_names_what_gives_facts(text: str) -> None:
    assert all(word in text for word in ("`check", "`hint", "`course doctor`", "`course solution`"))
    assert "Leave the cells that call `check`" in text and "Do not look for solutions" in text


def test_a_tutor_asks_first_and_writes_no_answer() -> None:
    tutor = TEXTS["tutor"]
    assert "Ask first what the student tried" in tutor
    assert "Never write, complete or correct what stands under `YOUR CODE HERE`" in tutor
    assert "`YOUR CODE HERE`" not in TEXTS["allowed"] and "without AI assistants" in TEXTS["not at all"]


@pytest.mark.parametrize(
    ("chosen", "choice"), [(choice, choice) for choice in get_args(Assistants)], indirect=["chosen"]
)
def test_the_words_follow_the_choice_wherever_a_tool_looks(
    chosen: Course, choice: Assistants, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handout, "build_wheel", made_wheel)
    folder = chosen.root / "assignments"
    folder.mkdir()
    write_agreement(folder, choice)
    _, archive = handout.hand_out(chosen)
    with zipfile.ZipFile(archive) as packed:
        read = {name.removeprefix(f"{chosen.root.name}/"): packed.read(name).decode() for name in packed.namelist()}
    assert read[AGREEMENT] == read[f"assignments/{AGREEMENT}"] == f"{OURS}\n{TEXTS[choice]}"
    for name in (*POINTERS, *HIDDEN_POINTERS, *(f"assignments/{name}" for name in POINTERS)):
        assert AGREEMENT in read[name] and len(read[name].splitlines()) == 1
    assert assistants.FOR_STUDENTS[choice] in read["START.md"]


def made_wheel(course: Course, folder: Path) -> Path:
    wheel = folder / "sequence_course-2-py3-none-any.whl"
    wheel.touch()
    return wheel


@pytest.mark.parametrize("chosen", ["allowed"], indirect=True)
@pytest.mark.parametrize("name", [AGREEMENT, *POINTERS])
def test_an_instructors_own_words_stay(chosen: Course, name: str) -> None:
    (chosen.root / name).write_text(OWN, "utf-8")
    write_agreement(chosen.root, chosen.outline.assistants)
    assert (chosen.root / name).read_text("utf-8") == OWN


@pytest.mark.parametrize("chosen", ["not at all"], indirect=True)
def test_another_choice_replaces_our_words(chosen: Course) -> None:
    for choice in ("tutor", "an older text"):
        (chosen.root / AGREEMENT).write_text(f"{OURS}\n{choice}", "utf-8")
        write_agreement(chosen.root, chosen.outline.assistants)
        assert (chosen.root / AGREEMENT).read_text("utf-8") == f"{OURS}\n{TEXTS['not at all']}"


@every_choice
def test_a_new_course_has_the_choice(choice: Assistants, tmp_path: Path) -> None:
    new_course.begin(ORIGINAL, tmp_path / "mine", [find_topic("03")], assistants=choice)
    outline = read_outline(tmp_path / "mine" / "course.toml")
    assert outline.assistants == choice
    lines = (tmp_path / "mine" / "course.toml").read_text("utf-8").splitlines()
    line = next(line for line in lines if line.startswith("assistants"))
    assert all(f'"{other}"' in line for other in get_args(Assistants))
    assert "assistants" not in outline.public, "what a kernel holds depends on it, and results on that"


def test_the_shell_chooses_too(tmp_path: Path) -> None:
    output_of(ROOT, "course", "new", str(tmp_path / "mine"), "03_rnn", "--assistants", "not at all")
    assert read_outline(tmp_path / "mine" / "course.toml").assistants == "not at all"
    refused = run(ROOT, "course", "new", str(tmp_path), "--assistants", "never", status=2).stderr
    assert "invalid choice: 'never'" in refused


def test_a_course_that_says_nothing_has_a_tutor(tmp_path: Path) -> None:
    (tmp_path / "course.toml").write_text("[topics.03_rnn]\n", "utf-8")
    assert read_outline(tmp_path / "course.toml").assistants == "tutor"


def test_the_page_for_instructors_tells_what_assistants_read() -> None:
    page = (ROOT / "docs" / "assistants.md").read_text("utf-8")
    assert all(f"| `{name}` |" in page for name in (AGREEMENT, *POINTERS, *HIDDEN_POINTERS))
    assert all(f'| `"{choice}"` ' in page for choice in get_args(Assistants))
