"""The documentation site builds without a complaint, needs nobody else's server, and shows no solution."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

pytest.importorskip("material")
pytest.importorskip("mkdocstrings")

from markdown import markdown

from course.grading.course_files.course_folder import release_path
from course.grading.course_files.setup_cell import ABOVE
from course.hidden import predictions
from course.syllabus import OURS
from tests.grading.execution.test_kernel_edition import lines_of_answers, squeezed
from tests.shared import once
from website.frames import MIME
from website.pages import given_outputs, page

ROOT = Path(__file__).parents[1]


def build_site(folder: Path) -> None:
    """Build the site into `folder`, as `make docs` does."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    here = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=here, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return once(tmp_path_factory, "site", build_site)


class Fetched(HTMLParser):
    """What a browser loads with a page, its text, and pictures without a description."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.nameless: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        if tag in ("script", "img", "iframe", "source"):
            self.addresses.append(found.get("src", ""))
        if tag == "link" and found.get("rel") in ("stylesheet", "preload", "icon", "preconnect"):
            self.addresses.append(found.get("href", ""))
        if tag == "img" and not found.get("alt"):
            self.nameless.append(found.get("src", ""))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


@cache
def read(path: Path) -> Fetched:
    return Fetched(path.read_text("utf-8"))


def test_every_topic_has_its_page(site: Path) -> None:
    for topic in OURS:
        text = "".join(read(site / "notebooks" / f"{topic.folder}.html").words)
        assert topic.title in text
        for item in topic.items:
            assert item.kind != "exercise" or item.name in text


def test_no_page_fetches_anything_from_elsewhere(site: Path) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > len(OURS) + 8
    for path in pages:
        assert [address for address in read(path).addresses if re.match(r"(\w+:)?//", address)] == [], path
        assert read(path).nameless == [], path
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(\s*['\"]?https?:", style.read_text("utf-8")), style


def test_mathematics_is_bundled_and_marked(site: Path) -> None:
    assert (site / "assets" / "tex-svg.js").stat().st_size > 1e6
    for topic in OURS:
        released = nbformat.read(release_path(ROOT, topic), as_version=4)
        has_formulas = any("$" in cell.source for cell in released.cells if cell.cell_type == "markdown")
        text = (site / "notebooks" / f"{topic.folder}.html").read_text("utf-8")
        assert 'class="arithmatex"' in text or not has_formulas
    loads = {page.name: "tex-svg.js" in page.read_text("utf-8") for page in site.rglob("*.html")}
    assert loads["06_self_attention.html"] and not loads["index.html"], "MathJax has two megabytes"


def test_no_page_holds_a_line_of_an_answer(site: Path) -> None:
    """Beyond what students get in the release: frames around their answers share a line or two with the solution."""
    given = ""
    for topic in OURS:
        release = nbformat.read(release_path(ROOT, topic), as_version=4)
        given += squeezed("\n".join(cell.source for cell in release.cells))
    secret = {line: where for line, where in lines_of_answers().items() if line not in given}
    assert len(secret) > 50
    for path in [*(site / "notebooks").glob("*.html"), *site.glob("search/*.json")]:
        text = squeezed("".join(read(path).words) if path.suffix == ".html" else path.read_text("utf-8"))
        assert [where for line, where in secret.items() if line in text] == [], path


def test_no_fence_is_left_unread(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert "```" not in "".join(read(path).words), path


def notebooks() -> tuple[nbformat.NotebookNode, nbformat.NotebookNode]:
    """A release, and an executed copy of its source."""

    def printed(text: str) -> list[nbformat.NotebookNode]:
        return [new_output("stream", text=text)]

    answer = {"nbgrader": {"grade_id": "f-solution", "solution": True, "grade": False}}
    check = {"nbgrader": {"grade_id": "f", "solution": False, "grade": True}}
    release = new_notebook(
        cells=[
            new_markdown_cell("# 1 A title\nSee [the next](../02_cbow/02_cbow.ipynb).", id="title"),
            new_code_cell("print(1)", id="given"),
            new_code_cell("print(2)", id="changed"),
            new_code_cell("raise NotImplementedError()", id="f-solution", metadata=answer),
            new_code_cell("check('f', f)", id="f", metadata=check),
            new_code_cell("try: import course", id="setup", metadata={"tags": ["setup"]}),
        ]
    )
    executed = nbformat.from_dict(release)
    executed = nbformat.reads(nbformat.writes(executed), as_version=4)
    for cell in executed.cells[1:]:
        cell.outputs = printed(f"SAID <{cell.id}>")
    executed.cells[2].source = "print(3)"
    executed.cells[3].source = "secret = 1"
    return release, executed


def test_a_page_shows_outputs_of_given_cells_only() -> None:
    release, executed = notebooks()
    assert set(given_outputs(release, executed)) == {1, 5}
    text = page("01_topic", release, executed).text
    assert "SAID &lt;given&gt;" in text and "(02_cbow.md)" in text
    assert (
        "secret" not in text and "changed&gt;" not in text and "f-solution" not in text and "SAID &lt;f&gt;" not in text
    )
    assert "import course" not in text


def test_a_fold_on_a_page_holds_markdown_and_asks_for_no_cell() -> None:
    fold = "<details><summary>What does it show, and why? Run the cell above, then open this.</summary>"
    folded = new_markdown_cell(f"{fold}\n\nThe *answer*.\n\n</details>\n\nAfter\n\n{ABOVE}")
    made = page("01_topic", new_notebook(cells=[folded]))
    read = markdown(made.text, extensions=["md_in_html"])
    assert "<summary>What does it show, and why?</summary>" in read and "<em>answer</em>" in read
    assert read.index("</details>") < read.index("After") and "Shift+Enter" not in read


def test_without_an_executed_copy_there_are_no_outputs() -> None:
    release, _ = notebooks()
    assert "SAID" not in page("01_topic", release).text


def test_pictures_have_names_and_descriptions() -> None:
    release, executed = notebooks()
    data = {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}
    executed.cells[1].outputs = [new_output("display_data", data=data)]
    made = page("01_topic", release, executed)
    assert list(made.pictures) == ["01_topic-1-0.png"]
    assert 'alt="Figure of the section 1 A title"' in made.text


def test_a_prediction_is_a_question_and_a_widget_moves() -> None:
    asked = predictions(OURS[0])[0]
    widget = new_code_cell("show.lora.explorer(matrices, best)", id="widget")
    release = new_notebook(cells=[new_code_cell(f'predict("{asked.name}")'), widget])
    frames = [{"label": str(rank), "text": f"<b>rank {rank}</b>", "pictures": []} for rank in (1, 2, 3)]
    recorded = {MIME: {"name": "rank r", "began": "2", "alt": "", "frames": frames}}
    recording = new_code_cell("…", id="frames-widget", outputs=[new_output("display_data", data=recorded)])
    text = page("x", release, new_notebook(cells=[widget, recording]), [asked]).text
    assert all(squeezed(choice.reply.split("`")[0])[:20] in squeezed(text) for choice in asked.choices)
    assert "predict(" not in text
    assert (
        '<input type="range" min="0" max="2" value="1"' in text
        and '<div class="told" aria-live="polite"><b>rank 2' in text
    )
