"""A notebook shows the course's figures with their descriptions."""

from __future__ import annotations

import base64
import io
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

from course.show.described import described

FIGURE = "show.multi_head_attention.by_heads([1, 2], {'a < \"b\"': [1.0, 1.0]}, [16_640, 16_640])"
SHOWS = 'Right answers by number of heads: a < "b" 100% with 1, 100% with 2.'
CELLS = {
    "as it is": f"from course import show\n{FIGURE}",
    "twice as sharp": f"%config InlineBackend.figure_formats = ['retina']\n{FIGURE}",
    "a student's own": "import matplotlib.pyplot as plt\nfigure, axes = plt.subplots()\nplt.close(figure)\nfigure",
    "counted": f"from matplotlib.figure import Figure\ndrawn, save = [], Figure.savefig\n"
    f"Figure.savefig = lambda *given, **how: drawn.append(1) or save(*given, **how)\n{FIGURE}",
    "the count": "len(drawn)",
    "drawn in lines": f"%config InlineBackend.figure_formats = ['svg']\n{FIGURE}",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, NotebookNode]:
    folder = tmp_path_factory.mktemp("figures")
    nb = new_notebook(cells=[new_code_cell(cell) for cell in CELLS.values()])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{Path(__file__).parents[2]}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
        NotebookClient(nb, resources={"metadata": {"path": str(folder)}}).execute()
    for cell in nb.cells:
        nbformat.validate(cell.outputs[0], "output", version=4)
    return {name: cell.outputs[0] for name, cell in zip(CELLS, nb.cells)}


@pytest.mark.parametrize("name", ["as it is", "twice as sharp"])
def test_a_figure_is_shown_with_its_description(name: str, outputs: dict[str, NotebookNode]) -> None:
    output = outputs[name]
    shown, png = output.data["text/html"], output.data["image/png"]
    assert 'alt="Right answers by number of heads: a &lt; &quot;b&quot; 100% with 1, 100% with 2."' in shown
    assert output.data["text/plain"] == SHOWS
    assert png.strip() in shown and len(re.findall("<img ", shown)) == 1
    assert re.findall(r'width="(\d+)" height="(\d+)"', shown) == [("804", "386")]


@pytest.mark.parametrize("name", ["as it is", "twice as sharp"])
def test_its_file_is_sharp_clear_and_small_and_has_the_description(name: str, outputs: dict[str, NotebookNode]) -> None:
    png = base64.b64decode(outputs[name].data["image/png"])
    about = outputs[name].metadata["image/png"]
    picture = Image.open(io.BytesIO(png))
    assert (picture.width // 2, picture.height // 2) == (about["width"], about["height"]) == (804, 386)
    assert picture.convert("RGBA").getpixel((0, 0))[3] == 0, "it has a ground"
    assert len(png) < 40_000
    assert about["alt"] == SHOWS


def test_it_is_drawn_once(outputs: dict[str, NotebookNode]) -> None:
    assert outputs["counted"].data["image/png"] and outputs["the count"].data["text/plain"] == "1"


@pytest.mark.parametrize("name", ["a student's own", "drawn in lines"])
def test_other_figures_are_shown_as_ever(name: str, outputs: dict[str, NotebookNode]) -> None:
    kind = "image/svg+xml" if name == "drawn in lines" else "image/png"
    assert set(outputs[name].data) == {"text/plain", kind}


def test_a_picture_that_is_not_drawn_yet_has_no_size() -> None:
    data, about = described(b"", "a map")
    assert 'width="0" height="0" alt="a map"' in data["text/html"]
    assert about == {"image/png": {"alt": "a map", "width": 0, "height": 0}}
