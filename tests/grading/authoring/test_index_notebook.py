"""The home notebook: made from the syllabus, the same bytes each time, and no assignment of nbgrader's."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import nbformat

from course.course import course_in
from course.grading.authoring.index_notebook import write_home
from course.grading.release.lint import dangling_links
from course.grading.release.make_release import release
from course.syllabus import OURS
from tests.grading.lesson import TOPIC, make_course

ROOT = Path(__file__).parents[3]
HOME = ROOT / "assignments" / "index.ipynb"


def test_what_is_committed_is_what_the_syllabus_gives(tmp_path: Path) -> None:
    (tmp_path / "solutions").mkdir()
    for source in (ROOT / "solutions").glob("*.py"):
        shutil.copy(source, tmp_path / "solutions")
        (tmp_path / "assignments" / source.stem).mkdir(parents=True)
        (tmp_path / "assignments" / source.stem / f"{source.stem}.ipynb").touch()
    made = write_home(course_in(tmp_path))
    assert made.read_bytes() == HOME.read_bytes(), "run `course release` and commit assignments/"


def test_its_links_lead_somewhere_and_its_one_map_is_what_the_cell_draws() -> None:
    home = nbformat.read(HOME, as_version=4)
    nbformat.validate(home)
    assert list(dangling_links(home.cells, (HOME.parent,))) == []
    pictures = re.findall(r"!\[([^]]*)]", "".join(cell.source for cell in home.cells if cell.cell_type == "markdown"))
    assert pictures == ["Open in Binder", "Open in Colab"] and "progress()" in home.cells[2].source
    table = home.cells[-1].source
    assert all(f"({topic.folder}/{topic.folder}.ipynb)" in table for topic in OURS)


def test_it_is_no_assignment(tmp_path: Path) -> None:
    from nbgrader.apps import NbGraderAPI

    from course.grading.nbgrader_bridge.config_file import load_config

    root = make_course(tmp_path / "course")
    released = release(course_in(root), [TOPIC])
    assert [path.name for path in released] == [f"{TOPIC.folder}.ipynb"]
    assert (root / "assignments" / "index.ipynb").is_file()
    names = {found["name"] for found in NbGraderAPI(config=load_config(root)).get_assignments()}
    assert names == {TOPIC.folder}
    assert not any("nbgrader" in cell.metadata for cell in nbformat.read(HOME, as_version=4).cells)


def test_a_course_of_some_topics_has_a_map_of_those(tmp_path: Path) -> None:
    (tmp_path / "solutions").mkdir()
    for topic in OURS[2:4]:
        (tmp_path / "solutions" / f"{topic.folder}.py").touch()
    text, *_, table = (cell.source for cell in nbformat.read(write_home(course_in(tmp_path)), as_version=4).cells)
    assert "From Recurrent networks to Gates: LSTM and GRU, in 2 notebooks that tell you" in text
    assert OURS[2].title in table and OURS[0].title not in table


def test_what_is_not_handed_out_yet_is_named_and_not_linked(tmp_path: Path) -> None:
    (tmp_path / "solutions").mkdir()
    for topic in OURS[2:4]:
        (tmp_path / "solutions" / f"{topic.folder}.py").touch()
    released = tmp_path / "assignments" / OURS[2].folder / f"{OURS[2].folder}.ipynb"
    released.parent.mkdir(parents=True)
    released.touch()
    notebook = write_home(course_in(tmp_path))
    cells = nbformat.read(notebook, as_version=4).cells
    assert list(dangling_links(cells, (notebook.parent,))) == []
    assert f"({OURS[2].folder}/" in cells[-1].source
    assert f"| {OURS[3].title}, not handed out yet |" in cells[-1].source


def test_it_is_small() -> None:
    assert HOME.stat().st_size < 20_000
