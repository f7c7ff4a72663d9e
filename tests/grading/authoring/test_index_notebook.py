"""The home notebook: made from the syllabus, the same bytes each time, and no assignment of nbgrader's."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest

from course.grading.authoring.index_notebook import in_words, write_home
from course.grading.release.lint import dangling_links, pictures_without_text
from course.grading.release.make_release import release
from course.syllabus import TOPICS
from tests.grading.lesson import TOPIC, make_course

ROOT = Path(__file__).parents[3]
HOME = ROOT / "assignments" / "index.ipynb"


def test_what_is_committed_is_what_the_syllabus_gives(tmp_path: Path) -> None:
    (tmp_path / "solutions").mkdir()
    for source in (ROOT / "solutions").glob("*.py"):
        shutil.copy(source, tmp_path / "solutions")
        (tmp_path / "assignments" / source.stem).mkdir(parents=True)
        (tmp_path / "assignments" / source.stem / f"{source.stem}.ipynb").touch()
    for made in write_home(tmp_path):
        committed = ROOT / made.relative_to(tmp_path)
        assert made.read_bytes() == committed.read_bytes(), "run `course release` and commit assignments/"


def test_its_links_lead_somewhere_and_its_picture_is_described() -> None:
    home = nbformat.read(HOME, as_version=4)
    nbformat.validate(home)
    assert list(dangling_links(home.cells, (HOME.parent,))) == [] and list(pictures_without_text(home.cells)) == []
    table = home.cells[-1].source
    assert all(f"({topic.folder}/{topic.folder}.ipynb)" in table for topic in TOPICS)
    assert "(index.svg)" in table and in_words(TOPICS) in table
    assert [cell.cell_type for cell in home.cells] == ["markdown", "code", "code", "markdown"]


def test_it_is_no_assignment(tmp_path: Path) -> None:
    from nbgrader.apps import NbGraderAPI

    from course.grading.nbgrader_bridge.config_file import load_config

    root = make_course(tmp_path / "course")
    released = release(root, [TOPIC])
    assert [path.name for path in released] == [f"{TOPIC.folder}.ipynb"]
    assert (root / "assignments" / "index.ipynb").is_file()
    names = {found["name"] for found in NbGraderAPI(config=load_config(root)).get_assignments()}
    assert names == {TOPIC.folder}
    assert not any("nbgrader" in cell.metadata for cell in nbformat.read(HOME, as_version=4).cells)


def test_a_course_of_some_topics_has_a_map_of_those(tmp_path: Path) -> None:
    (tmp_path / "solutions").mkdir()
    for topic in TOPICS[2:4]:
        (tmp_path / "solutions" / f"{topic.folder}.py").touch()
    notebook, picture = write_home(tmp_path)
    text = nbformat.read(notebook, as_version=4).cells[0].source
    assert "From Recurrent networks to Gates: LSTM and GRU, in 2 notebooks that tell you" in text
    assert TOPICS[0].title not in picture.read_text("utf-8")


def test_what_is_not_handed_out_yet_is_named_and_not_linked(tmp_path: Path) -> None:
    (tmp_path / "solutions").mkdir()
    for topic in TOPICS[2:4]:
        (tmp_path / "solutions" / f"{topic.folder}.py").touch()
    released = tmp_path / "assignments" / TOPICS[2].folder / f"{TOPICS[2].folder}.ipynb"
    released.parent.mkdir(parents=True)
    released.touch()
    notebook, _ = write_home(tmp_path)
    cells = nbformat.read(notebook, as_version=4).cells
    assert list(dangling_links(cells, (notebook.parent,))) == []
    assert f"({TOPICS[2].folder}/" in cells[-1].source
    assert f"| {TOPICS[3].title}, not handed out yet |" in cells[-1].source


@pytest.mark.parametrize("name", ["index.ipynb", "index.svg"])
def test_they_are_small(name: str) -> None:
    assert HOME.with_name(name).stat().st_size < 20_000
