"""A notebook that is saved, closed and opened again shows the pictures, questions and replies that it showed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from tests.browser.lab import CHROMIUM, SECONDS, NotebookPage, jupyter_lab

ROOT = Path(__file__).parents[2]
CELLS = (
    "%matplotlib inline\nfrom course import predict\nfrom tests.show.widgets import WIDGETS",
    'predict("scores_without_scaling")',
    'WIDGETS["06 playground"]()',
    'WIDGETS["13 explorer"]()',
    "from course import show\nshow.multi_head_attention.by_heads([1, 2], {'friends': [1.0, 1.0]}, [16_640, 16_640])",
)
KEPT = ".jp-OutputArea .course-picture, .jp-OutputArea .course-text"

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = tmp_path_factory.mktemp("again")
    (home / "work").mkdir()
    nbformat.write(new_notebook(cells=[new_code_cell(cell) for cell in CELLS]), home / "work" / "again.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with jupyter_lab(home / "work", home) as address:
            yield address


def _opened(browser: Browser, server: str) -> NotebookPage:
    return NotebookPage(browser.new_page(viewport={"width": 1000, "height": 1500}), server, "again.ipynb")


def _kept(page: Page) -> list[str]:
    return page.locator(KEPT).evaluate_all("all => all.map(one => one.tagName == 'IMG' ? one.src : one.innerText)")


def test_what_was_seen_is_there_again(server: str, browser: Browser, screenshots: Path) -> None:
    notebook = _opened(browser, server)
    page = notebook.page
    for cell in CELLS:
        notebook.run(notebook.cell(cell.splitlines()[0]))
    page.get_by_role("button", name=re.compile("^b\\)")).click()
    expect(page.get_by_text("is not right.")).to_be_visible(timeout=20 * SECONDS)
    before = _kept(page)
    page.locator(".noUi-handle").first.press("ArrowLeft")
    for _ in range(100):
        if _kept(page) != before:
            break
        page.wait_for_timeout(100)
    page.wait_for_timeout(500)
    seen = _kept(page)
    assert seen != before
    page.screenshot(path=screenshots / "seen.png", full_page=True)
    page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")
    page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
    page.close()

    again = _opened(browser, server).page
    expect(again.get_by_text("is not right.")).to_be_visible(timeout=20 * SECONDS)
    dead = again.locator(".jp-OutputArea-output.jupyter-widgets")
    expect(dead).to_have_count(3, timeout=20 * SECONDS)
    again.screenshot(path=screenshots / "again.png", full_page=True)
    question, *others = _kept(again)
    assert question.startswith(seen[0]) and "nearly 1" in question, "the choices, whose buttons are gone, are a list"
    assert others == seen[1:]
    expect(again.get_by_role("img", name="Right answers by number of heads: friends 100% with 1")).to_have_count(1)
    assert {one.evaluate("one => getComputedStyle(one).fontSize") for one in dead.all()} == {"0px"}
