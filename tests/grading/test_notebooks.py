"""Sources become nbgrader's notebooks and come back unchanged."""

from __future__ import annotations

import dataclasses
import os
import shutil
import time
from pathlib import Path

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from course.grading import notebooks
from course.grading.problem import Problem
from course.syllabus import TOPICS, Topic
from tests.grading.sample import SAMPLE, make_course, sample_source

ROOT = Path(__file__).parents[2]
REAL = [pytest.param(ROOT, topic, id=topic.folder) for topic in TOPICS]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_course(tmp_path / "a course")


def _build(root: Path, topic: Topic = SAMPLE) -> nbformat.NotebookNode:
    return notebooks.build(notebooks.source_path(root, topic), topic)


def _marks(notebook: nbformat.NotebookNode) -> dict[str, dict]:
    cells = [cell for cell in notebook.cells if "nbgrader" in cell.metadata]
    return {cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader for cell in cells}


def test_short_metadata_becomes_nbgraders(root: Path) -> None:
    notebook = _build(root)
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    marks = _marks(notebook)
    assert list(marks) == [
        *("double-solution", "double", "Counter-solution", "Counter"),
        *("sample_task-solution", "sample_task", "sample_question"),
    ]
    assert (marks["double"]["points"], marks["Counter"]["points"], marks["sample_question"]["points"]) == (2, 3, 2)
    assert "points" not in marks["double-solution"]
    assert [marks["double"][key] for key in ("grade", "solution", "locked", "task")] == [True, False, True, False]
    assert [marks["sample_question"][key] for key in ("grade", "solution", "locked")] == [True, True, False]
    assert notebook.metadata.kernelspec.name == "python3"


def test_building_twice_gives_the_same_bytes(root: Path) -> None:
    assert nbformat.writes(_build(root)) == nbformat.writes(_build(root))


def test_every_cell_has_its_own_id(root: Path) -> None:
    notebook = _build(root)
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids), "two cells with the same text must differ"
    assert "double" in ids and "double-solution" in ids


def test_ids_survive_an_edit_elsewhere(root: Path) -> None:
    before = {cell.id for cell in _build(root).cells}
    source = notebooks.source_path(root, SAMPLE)
    source.write_text(sample_source().replace("# Triple.", "# Quadruple."), "utf-8")
    assert len(before ^ {cell.id for cell in _build(root).cells}) == 2


@pytest.mark.parametrize(("root_", "topic"), [pytest.param(None, SAMPLE, id="sample"), *REAL])
def test_a_notebook_comes_back_as_its_source(root_: Path | None, topic: Topic, root: Path, tmp_path: Path) -> None:
    built = _build(root_ or root, topic)
    back = tmp_path / "back.py"
    back.write_text(notebooks.contract(built), "utf-8")
    assert notebooks.build(back, topic) == built


def test_contract_keeps_the_text_but_for_blank_lines(root: Path) -> None:
    def written(text: str) -> list[str]:
        return [line for line in text.splitlines() if line]

    assert written(notebooks.contract(_build(root))) == written(sample_source())


def test_refresh_builds_what_is_missing_or_stale(root: Path) -> None:
    (built,) = notebooks.refresh(root, (SAMPLE,))
    assert built == root / "solutions" / "99_sample" / "99_sample.ipynb"
    assert notebooks.refresh(root, (SAMPLE,)) == []
    later = time.time() + 5
    os.utime(notebooks.source_path(root, SAMPLE), (later, later))
    assert notebooks.refresh(root, (SAMPLE,)) == [built]
    assert [path.name for path in built.parent.iterdir()] == [built.name], "nothing else may lie in nbgrader's folder"


def test_a_notebook_that_was_built_while_the_clock_was_ahead_hides_no_edit(root: Path) -> None:
    (built,) = notebooks.refresh(root, (SAMPLE,))
    os.utime(built, (time.time() + 1e6,) * 2)
    source = notebooks.source_path(root, SAMPLE)
    source.write_text(source.read_text("utf-8").replace("# %%", "# %%\n# edited since", 1), "utf-8")
    assert notebooks.refresh(root, (SAMPLE,)) == [built] and "edited since" in built.read_text("utf-8")
    assert notebooks.refresh(root, (SAMPLE,)) == []


def test_refresh_builds_nothing_when_fresh(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(source: Path, topic: Topic) -> nbformat.NotebookNode:
        raise AssertionError(f"{source.name} was built again")

    notebooks.refresh(root, (SAMPLE,))
    monkeypatch.setattr(notebooks, "build", refuse)
    assert notebooks.refresh(root, (SAMPLE,)) == []
    _outdate(root)
    with pytest.raises(AssertionError, match="built again"):
        notebooks.refresh(root, (SAMPLE,))


def test_edits_in_the_notebook_reach_the_source(root: Path) -> None:
    (built,) = notebooks.refresh(root, (SAMPLE,))
    notebook = nbformat.read(built, as_version=4)
    notebook.cells[-1].source += "\n\nAnd quadruple."
    nbformat.write(notebook, built)
    source = notebooks.update_source(built)
    assert source == notebooks.source_path(root, SAMPLE)
    assert source.read_text("utf-8").endswith("# And quadruple.\n")
    assert _build(root).cells[-1].source.endswith("And quadruple.")


def test_update_source_refuses_what_was_not_built(tmp_path: Path) -> None:
    for name, content in (("a.txt", ""), ("a.ipynb", "{}")):
        (tmp_path / name).write_text(content)
        with pytest.raises(Problem):
            notebooks.update_source(tmp_path / name)


@pytest.mark.parametrize("place", ["assignments/99_sample/99_sample.ipynb", "solutions/99_sample/scratch.ipynb"])
def test_only_the_built_notebook_becomes_the_source(root: Path, place: str) -> None:
    (built,) = notebooks.refresh(root, (SAMPLE,))
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(built, root / place)
    sources = [notebooks.source_path(root, topic) for topic in (SAMPLE, dataclasses.replace(SAMPLE, own=True))]
    sources[1].parent.mkdir(parents=True)
    for source in sources:
        source.write_text("# %%\n# by hand\n", "utf-8")
    with pytest.raises(Problem, match="was not built from a source"):
        notebooks.update_source(root / place)
    assert [source.read_text("utf-8") for source in sources] == ["# %%\n# by hand\n"] * 2


def test_a_notebook_without_its_solutions_does_not_become_the_source(root: Path) -> None:
    (built,) = notebooks.refresh(root, (SAMPLE,))
    _edit(built, "### BEGIN SOLUTION", "# YOUR CODE HERE")
    before = notebooks.source_path(root, SAMPLE).read_bytes()
    with pytest.raises(Problem, match="holds no ### BEGIN SOLUTION"):
        notebooks.update_source(built)
    assert notebooks.source_path(root, SAMPLE).read_bytes() == before


def _edit(notebook: Path, old: str, new: str) -> None:
    content = nbformat.read(notebook, as_version=4)
    for cell in content.cells:
        cell.source = cell.source.replace(old, new)
    nbformat.write(content, notebook)


def _outdate(root: Path, topic: Topic = SAMPLE) -> None:
    """Make the source newer than whatever was built."""
    later = time.time() + 5
    os.utime(notebooks.source_path(root, topic), (later, later))


def test_an_edited_notebook_is_not_built_anew_and_all_others_are(root: Path) -> None:
    other = dataclasses.replace(SAMPLE, number=98)
    shutil.copy(notebooks.source_path(root, SAMPLE), notebooks.source_path(root, other))
    built, second = notebooks.refresh(root, (SAMPLE, other))
    _edit(built, "Triple", "Quadruple")
    edited = built.read_bytes()
    _outdate(root)
    second.unlink()
    with pytest.raises(Problem, match=r"was edited since .*`course source .*99_sample\.ipynb") as caught:
        notebooks.refresh(root, (SAMPLE, other))
    assert "\n" not in str(caught.value)
    assert built.read_bytes() == edited and second.is_file()

    notebooks.update_source(built)
    _outdate(root)
    assert notebooks.refresh(root, (SAMPLE,)) == [built]
    assert "Quadruple" in built.read_text("utf-8")


def test_an_edited_notebook_that_was_deleted_is_built_again(root: Path) -> None:
    (built,) = notebooks.refresh(root, (SAMPLE,))
    _edit(built, "Triple", "Quadruple")
    built.unlink()
    assert notebooks.refresh(root, (SAMPLE,)) == [built]
    assert "Quadruple" not in built.read_text("utf-8")


def test_running_a_notebook_in_place_is_no_edit(root: Path) -> None:
    (built,) = notebooks.refresh(root, (SAMPLE,))
    content = nbformat.read(built, as_version=4)
    cell = next(cell for cell in content.cells if cell.cell_type == "code")
    cell.execution_count, cell.metadata["execution"] = 1, {"iopub.status.busy": "2026-01-01T00:00:00Z"}
    cell.outputs = [nbformat.v4.new_output("stream", text="ran")]
    content.metadata.language_info["version"] = "3.11"
    nbformat.write(content, built)
    _outdate(root)
    assert notebooks.refresh(root, (SAMPLE,)) == [built]


def test_a_notebook_without_a_record_is_built_anew(root: Path) -> None:
    (built,) = notebooks.refresh(root, (SAMPLE,))
    shutil.rmtree(root / "solutions" / ".course")  # as a version before left it
    _edit(built, "Triple", "Quadruple")
    _outdate(root)
    assert notebooks.refresh(root, (SAMPLE,)) == [built]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('check="double"', 'check="treble"', "treble"),
        ('solution="double"', 'solution="sample_question"', "question"),
        ('# %% check="double"', '# %% [markdown] check="double"', "markdown"),
        ('question="sample_question"', 'question="double"', "exercise"),
        ('check="double"', 'check="double" solution="double"', "solution and check"),
    ],
)
def test_wrong_metadata_is_told_in_a_sentence(tmp_path: Path, old: str, new: str, complaint: str) -> None:
    root = make_course(tmp_path / "course", sample_source().replace(old, new))
    with pytest.raises(Problem, match=complaint) as caught:
        _build(root)
    assert str(caught.value).startswith("99_sample.py: ")


def test_a_notebook_on_its_way_is_never_in_the_folder_nbgrader_copies(root: Path, monkeypatch) -> None:
    """And leaves nothing behind when it does not arrive."""
    path = root / "folder" / "notebook.ipynb"
    seen: list[Path] = []

    def refuse(temporary: Path, target: Path) -> None:
        seen.append(temporary)
        raise OSError("the disk is full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="full"):
        notebooks.write(_build(root), path)
    assert [temporary.parent for temporary in seen] == [root]
    assert not seen[0].exists() and not list(path.parent.iterdir())
