"""Sources become nbgrader's notebooks and come back unchanged."""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import shutil
import time
from pathlib import Path

import nbformat
import pytest
from nbgrader.nbgraderformat import MetadataValidator

from course.course import Course, course_in
from course.grading.authoring import source as notebook_source
from course.grading.cells import BEGIN, END, grade_id
from course.grading.course_folder import source_path
from course.grading.problem import Problem
from course.syllabus import OURS, Topic
from tests.grading.sample import SAMPLE, make_course, sample_source
from tests.original import ORIGINAL

ROOT = Path(__file__).parents[3]
REAL = [pytest.param(ROOT, topic, id=topic.folder) for topic in OURS]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_course(tmp_path / "a course")


def _build(root: Path, topic: Topic = SAMPLE) -> nbformat.NotebookNode:
    return notebook_source.build(ORIGINAL, source_path(root, topic), topic)


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
    source = source_path(root, SAMPLE)
    source.write_text(sample_source().replace("# Triple.", "# Quadruple."), "utf-8")
    assert len(before ^ {cell.id for cell in _build(root).cells}) == 2


def names(topic: Topic) -> set[str]:
    return {item.name for item in topic.items}


@pytest.mark.parametrize(("root_", "topic"), [pytest.param(None, SAMPLE, id="sample"), *REAL])
def test_a_notebook_comes_back_as_its_source(root_: Path | None, topic: Topic, root: Path, tmp_path: Path) -> None:
    built = _build(root_ or root, topic)
    back = tmp_path / "back.py"
    back.write_text(notebook_source.contract(built, names(topic)), "utf-8")
    assert notebook_source.build(ORIGINAL, back, topic) == built


def test_contract_keeps_the_text_but_for_blank_lines(root: Path) -> None:
    def written(text: str) -> list[str]:
        return [line for line in text.splitlines() if line]

    assert written(notebook_source.contract(_build(root), names(SAMPLE))) == written(sample_source())


def test_refresh_builds_what_is_missing_or_stale(root: Path) -> None:
    (built,) = notebook_source.refresh(course_in(root), (SAMPLE,))
    assert built == root / "solutions" / "99_sample" / "99_sample.ipynb"
    assert notebook_source.refresh(course_in(root), (SAMPLE,)) == []
    later = time.time() + 5
    os.utime(source_path(root, SAMPLE), (later, later))
    assert notebook_source.refresh(course_in(root), (SAMPLE,)) == [built]
    assert [path.name for path in built.parent.iterdir()] == [built.name], "nothing else may lie in nbgrader's folder"


def test_a_notebook_that_was_built_while_the_clock_was_ahead_hides_no_edit(root: Path) -> None:
    (built,) = notebook_source.refresh(course_in(root), (SAMPLE,))
    os.utime(built, (time.time() + 1e6,) * 2)
    source = source_path(root, SAMPLE)
    source.write_text(source.read_text("utf-8").replace("# %%", "# %%\n# edited since", 1), "utf-8")
    assert notebook_source.refresh(course_in(root), (SAMPLE,)) == [built] and "edited since" in built.read_text("utf-8")
    assert notebook_source.refresh(course_in(root), (SAMPLE,)) == []


def test_refresh_builds_nothing_when_fresh(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(course: Course, source: Path, topic: Topic) -> nbformat.NotebookNode:
        raise AssertionError(f"{source.name} was built again")

    notebook_source.refresh(course_in(root), (SAMPLE,))
    monkeypatch.setattr(notebook_source, "build", refuse)
    assert notebook_source.refresh(course_in(root), (SAMPLE,)) == []
    _outdate(root)
    with pytest.raises(AssertionError, match="built again"):
        notebook_source.refresh(course_in(root), (SAMPLE,))


def test_edits_in_the_notebook_reach_the_source(root: Path) -> None:
    (built,) = notebook_source.refresh(course_in(root), (SAMPLE,))
    notebook = nbformat.read(built, as_version=4)
    notebook.cells[-1].source += "\n\nAnd quadruple."
    nbformat.write(notebook, built)
    source = notebook_source.update_source(built).source
    assert source == source_path(root, SAMPLE)
    assert source.read_text("utf-8").endswith("# And quadruple.\n")
    assert _build(root).cells[-1].source.endswith("And quadruple.")


PIXEL = base64.b64encode(b"a picture").decode()
OTHER = base64.b64encode(b"another").decode()


def own(source: str, name: str, code: bool = False, **marks: object) -> nbformat.NotebookNode:
    """A graded cell as JupyterLab writes it."""
    new = nbformat.v4.new_code_cell if code else nbformat.v4.new_markdown_cell
    full = {"grade": True, "locked": code, "points": 2.5, "schema_version": 3, "solution": not code, "task": False}
    return new(source, id=name, metadata={"nbgrader": {"grade_id": name, **full, **marks}})


@pytest.fixture
def edited(root: Path) -> Path:
    """The built notebook, into which an instructor wrote a test, a question with two pictures, and a task."""
    (built,) = notebook_source.refresh(course_in(root), (SAMPLE,))
    notebook = nbformat.read(built, as_version=4)
    question = own("Which?\n\n![](attachment:image.png) ![](attachment:my%20pen.png)\n\n", "cell-4f")
    question.source += f"{BEGIN}\nThe left.\n{END}"
    question.attachments = {"image.png": {"image/png": PIXEL}, "my pen.png": {"image/png": OTHER}}
    twin = nbformat.v4.new_markdown_cell("![](attachment:image.png)", attachments={"image.png": {"image/png": OTHER}})
    task = own("Build it.", "cell-7a", grade=False, solution=False, task=True, locked=True)
    notebook.cells += [own("assert double(2) == 4", "cell-1e", code=True), question, twin, task]
    nbformat.write(notebook, built)
    return built


def test_an_instructors_own_cells_and_pictures_come_back(root: Path, edited: Path) -> None:
    before = {name: dict(marks) for name, marks in _marks(nbformat.read(edited, as_version=4)).items()}
    update = notebook_source.update_source(edited)
    text = update.source.read_text("utf-8")
    assert '# %% nbgrader={"grade_id": "cell-1e", "grade": true, "points": 2.5}\nassert double' in text
    assert {name: dict(marks) for name, marks in _marks(_build(root)).items()} == before
    assert {path.name: path.read_bytes() for path in update.pictures} == {
        "image.png": b"a picture",
        "my-pen.png": b"another",
        "image-2.png": b"another",
    }
    assert {path.parent for path in update.pictures} == {edited.parent.resolve()}
    assert "![](image.png) ![](my-pen.png)" in text and "![](image-2.png)" in text and "attachment:" not in text


def test_a_pasted_picture_is_an_edit(edited: Path) -> None:
    notebook_source.update_source(edited)
    notebook = nbformat.read(edited, as_version=4)
    before = notebook_source.digest_of(notebook)
    next(cell for cell in notebook.cells if "attachments" in cell).attachments["image.png"]["image/png"] = OTHER
    assert notebook_source.digest_of(notebook) != before


@pytest.mark.parametrize(
    ("source", "data", "says"),
    [
        ("Answer: ![](attachment:a.png)", PIXEL, "the model answer 'why' holds the picture a.png"),
        (
            f"![](attachment:a.png)\n{BEGIN}\nx\n{END}",
            3,
            "a.png cannot be read. Paste it again",
        ),
    ],
)
def test_a_picture_that_cannot_come_back_stops_it_before_it_writes(
    root: Path, edited: Path, source: str, data: str | int, says: str
) -> None:
    notebook = nbformat.read(edited, as_version=4)
    notebook.cells.append(own(source, "why"))
    edited.write_text(nbformat.writes(notebook), "utf-8")
    document = json.loads(edited.read_text("utf-8"))
    document["cells"][-1]["attachments"] = {"a.png": {"image/png": data}}
    edited.write_text(json.dumps(document), "utf-8")
    before = source_path(root, SAMPLE).read_bytes()
    with pytest.raises(Problem, match=says):
        notebook_source.update_source(edited)
    assert source_path(root, SAMPLE).read_bytes() == before
    assert [path.name for path in edited.parent.iterdir()] == [edited.name]


def test_what_nothing_could_be_built_from_is_not_written(root: Path, edited: Path, monkeypatch) -> None:
    """And points of the syllabus that were changed in the notebook are said to stay."""
    monkeypatch.setattr(notebook_source, "find_course", lambda folder: Course(root, topics=(SAMPLE,)))
    notebook = nbformat.read(edited, as_version=4)
    marks = next(cell for cell in notebook.cells if grade_id(cell) == "double").metadata.nbgrader
    marks["points"] = 7
    nbformat.write(notebook, edited)
    assert notebook_source.update_source(edited).notes == (
        "double stays at 2 points. Change them in course/syllabus.py, not in the notebook",
    )
    before = source_path(root, SAMPLE).read_bytes()
    notebook.cells.append(own("double(3)", "double", code=True, grade_id="sample_question"))
    nbformat.write(notebook, edited)
    with pytest.raises(Problem, match=r"99_sample\.py: 'sample_question' is a question, no check cell"):
        notebook_source.update_source(edited)
    assert source_path(root, SAMPLE).read_bytes() == before


def test_update_source_refuses_what_was_not_built(tmp_path: Path) -> None:
    for name, content in (("a.txt", ""), ("a.ipynb", "{}")):
        (tmp_path / name).write_text(content)
        with pytest.raises(Problem):
            notebook_source.update_source(tmp_path / name)


@pytest.mark.parametrize("place", ["assignments/99_sample/99_sample.ipynb", "solutions/99_sample/scratch.ipynb"])
def test_only_the_built_notebook_becomes_the_source(root: Path, place: str) -> None:
    (built,) = notebook_source.refresh(course_in(root), (SAMPLE,))
    (root / place).parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(built, root / place)
    sources = [source_path(root, topic) for topic in (SAMPLE, dataclasses.replace(SAMPLE, home=root / "exercises"))]
    sources[1].parent.mkdir(parents=True)
    for source in sources:
        source.write_text("# %%\n# by hand\n", "utf-8")
    with pytest.raises(Problem, match="was not built from a source"):
        notebook_source.update_source(root / place)
    assert [source.read_text("utf-8") for source in sources] == ["# %%\n# by hand\n"] * 2


def test_a_notebook_without_its_solutions_does_not_become_the_source(root: Path) -> None:
    (built,) = notebook_source.refresh(course_in(root), (SAMPLE,))
    _edit(built, "### BEGIN SOLUTION", "# YOUR CODE HERE")
    before = source_path(root, SAMPLE).read_bytes()
    with pytest.raises(Problem, match="holds no ### BEGIN SOLUTION"):
        notebook_source.update_source(built)
    assert source_path(root, SAMPLE).read_bytes() == before


def _edit(notebook: Path, old: str, new: str) -> None:
    content = nbformat.read(notebook, as_version=4)
    for cell in content.cells:
        cell.source = cell.source.replace(old, new)
    nbformat.write(content, notebook)


def _outdate(root: Path, topic: Topic = SAMPLE) -> None:
    """Make the source newer than whatever was built."""
    later = time.time() + 5
    os.utime(source_path(root, topic), (later, later))


def test_an_edited_notebook_is_not_built_anew_and_all_others_are(root: Path) -> None:
    other = dataclasses.replace(SAMPLE, number=98)
    shutil.copy(source_path(root, SAMPLE), source_path(root, other))
    built, second = notebook_source.refresh(course_in(root), (SAMPLE, other))
    _edit(built, "Triple", "Quadruple")
    edited = built.read_bytes()
    _outdate(root)
    second.unlink()
    with pytest.raises(Problem, match=r"was edited after .*`course source .*99_sample\.ipynb") as caught:
        notebook_source.refresh(course_in(root), (SAMPLE, other))
    assert "\n" not in str(caught.value)
    assert built.read_bytes() == edited and second.is_file()

    notebook_source.update_source(built)
    _outdate(root)
    assert notebook_source.refresh(course_in(root), (SAMPLE,)) == [built]
    assert "Quadruple" in built.read_text("utf-8")


def test_an_edited_notebook_that_was_deleted_is_built_again(root: Path) -> None:
    (built,) = notebook_source.refresh(course_in(root), (SAMPLE,))
    _edit(built, "Triple", "Quadruple")
    built.unlink()
    assert notebook_source.refresh(course_in(root), (SAMPLE,)) == [built]
    assert "Quadruple" not in built.read_text("utf-8")


def test_running_a_notebook_in_place_is_no_edit(root: Path) -> None:
    (built,) = notebook_source.refresh(course_in(root), (SAMPLE,))
    content = nbformat.read(built, as_version=4)
    cell = next(cell for cell in content.cells if cell.cell_type == "code")
    cell.execution_count, cell.metadata["execution"] = 1, {"iopub.status.busy": "2026-01-01T00:00:00Z"}
    cell.outputs = [nbformat.v4.new_output("stream", text="ran")]
    content.metadata.language_info["version"] = "3.11"
    nbformat.write(content, built)
    _outdate(root)
    assert notebook_source.refresh(course_in(root), (SAMPLE,)) == [built]


def test_a_notebook_without_a_record_is_built_anew(root: Path) -> None:
    (built,) = notebook_source.refresh(course_in(root), (SAMPLE,))
    shutil.rmtree(root / "solutions" / ".course")  # as a version before left it
    _edit(built, "Triple", "Quadruple")
    _outdate(root)
    assert notebook_source.refresh(course_in(root), (SAMPLE,)) == [built]


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('check="double"', 'check="treble"', "treble"),
        ('solution="double"', 'solution="sample_question"', "question"),
        ('# %% check="double"', '# %% [markdown] check="double"', "markdown"),
        ('question="sample_question"', 'question="double"', "exercise"),
        ('check="double"', 'check="double" solution="double"', "solution and check"),
        ('check="double"', 'nbgrader={"grade_id": "mine", "grade": yes}', "marks cannot be read .*Write them as JSON"),
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
        notebook_source.write(_build(root), path)
    assert [temporary.parent for temporary in seen] == [root]
    assert not seen[0].exists() and not list(path.parent.iterdir())
