"""Widgets have a picture in released notebooks: where nothing runs it is what a reader sees of them."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import nbformat
import pytest
from PIL import Image

from course.course import course_in
from course.grading.authoring import widget_pictures
from course.grading.course_folder import release_path, source_path
from course.grading.release.make_release import is_worked_in, release
from course.syllabus import OURS, Topic
from tests.grading.lesson import TOPIC, make_course
from tests.show.widgets import WIDGETS

ROOT = Path(__file__).parents[3]
NAMES = {name.split()[1] for name in WIDGETS}
"""What the widgets are called, whatever their topic."""


def pictures(released: nbformat.NotebookNode, topic: Topic) -> list[str]:
    """The pictures that a release must have: one for each cell that shows a widget."""
    called = [still.name for cell in released.cells if (still := widget_pictures.still_of(topic.folder, cell))]
    return [name for name in called if name.removeprefix(f"{topic.folder}-").removesuffix(".png") in NAMES]


def png(colour: str = "navy") -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (40, 30), colour).save(buffer, format="PNG")
    return buffer.getvalue()


@pytest.mark.parametrize("topic", OURS, ids=lambda topic: topic.folder)
def test_every_widget_of_a_release_has_its_picture_and_words_for_it(topic: Topic) -> None:
    released = nbformat.read(release_path(ROOT, topic), as_version=4)
    nbformat.validate(released)
    shown = [(cell, output) for cell in released.cells for output in cell.get("outputs", ())]
    assert [widget_pictures.still_of(topic.folder, cell).name for cell, _ in shown] == pictures(released, topic)
    for _, output in shown:
        assert widget_pictures.is_still(output)
        assert len(output.metadata["image/png"]["alt"]) > 40
        picture = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"])))
        assert picture.width > 500 and len(set(picture.convert("L").tobytes())) > 10, "it shows nothing"
        assert picture.convert("RGBA").getchannel("A").getextrema()[0] == 0, "it has a ground"
        assert abs(picture.width - 2 * output.metadata["image/png"]["width"]) <= 1, "it is not sharp"


def test_no_picture_is_left_over() -> None:
    releases = {topic: nbformat.read(release_path(ROOT, topic), as_version=4) for topic in OURS}
    wanted = {name for topic, released in releases.items() for name in pictures(released, topic)}
    assert {path.name for path in widget_pictures.FOLDER.iterdir()} == wanted
    assert sum(path.stat().st_size for path in widget_pictures.FOLDER.iterdir()) < 1_500_000


def test_what_is_saved_keeps_its_words(tmp_path: Path) -> None:
    widget_pictures.save(png(), "Who looks at whom: “Ada” at 3 → 5.", tmp_path / "a.png")
    assert widget_pictures.description(tmp_path / "a.png") == "Who looks at whom: “Ada” at 3 → 5."
    assert Image.open(tmp_path / "a.png").size == (40, 30)


def test_only_the_call_in_the_last_line_counts() -> None:
    code = nbformat.v4.new_code_cell
    assert widget_pictures.still_of("03_rnn", code("x = 1\nshow.rnn.watch_it_read(model)\n")) is not None
    assert widget_pictures.still_of("03_rnn", code("show.rnn.watch_it_read(model)\nx = 1")) is None
    assert widget_pictures.still_of("03_rnn", nbformat.v4.new_markdown_cell("show.rnn.watch_it_read(model)")) is None


def test_a_release_with_pictures_is_not_worked_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_course(tmp_path / "course")
    source = source_path(root, TOPIC)
    source.write_text(source.read_text("utf-8") + "\n# %%\nshow.self_attention.playground(softmax)\n", "utf-8")
    monkeypatch.setattr(widget_pictures, "FOLDER", tmp_path / "stills")
    widget_pictures.save(png(), "a picture", widget_pictures.FOLDER / f"{TOPIC.folder}-playground.png")
    (notebook,) = release(course_in(root), [TOPIC])
    held = [cell.outputs for cell in nbformat.read(notebook, as_version=4).cells if cell.get("outputs")]
    assert [len(outputs) for outputs in held] == [1]
    assert not is_worked_in(notebook)
    release(course_in(root), [TOPIC])
