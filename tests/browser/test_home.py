"""The home notebook in JupyterLab: the map with what a student has done, and links that open the notebooks.

Pictures go to the folder `COURSE_SCREENSHOTS`, or to a temporary one.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Page, expect

from course.syllabus import OURS
from tests.browser.axe import serious
from tests.browser.lab import CHROMIUM, SECONDS, NotebookPage, jupyter_lab

ROOT = Path(__file__).parents[2]
BEGUN, DONE = OURS[2], OURS[0]

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab on all the released notebooks, with what `check` notes beside two of them."""
    home = tmp_path_factory.mktemp("student")
    shutil.copytree(ROOT / "assignments", home / "work", ignore=lambda _, names: {".course", "checkpoints"} & {*names})
    for topic, passed in ((DONE, len(DONE.items)), (BEGUN, 3)):
        kept = home / "work" / topic.folder / ".course" / "progress.json"
        kept.parent.mkdir()
        kept.write_text(json.dumps({item.name: {"kind": "passed"} for item in topic.items[:passed]}))
    with jupyter_lab(home / "work", home) as address:
        yield address


def test_the_map_knows_what_was_done_and_opens_notebooks(
    server: str, browser: Browser, screenshots: Path, axe: str
) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    notebook = NotebookPage(page, server, "index.ipynb")
    page.locator(".jp-Notebook h1").click()
    for _ in range(4):
        page.keyboard.press("Shift+Enter")
    output = notebook.cell("progress()").locator(".jp-OutputArea")
    expect(output.locator("p")).to_be_visible(timeout=90 * SECONDS)
    folded = page.locator(".jp-CodeCell .jp-InputPlaceholder")
    expect(folded).to_contain_text("Set up: install the course where it is missing")
    expect(page.get_by_role("img", name="Map")).to_have_count(0)
    expect(output.locator("li")).to_have_count(len(OURS))
    expect(output.locator("li").filter(has_text=DONE.title)).to_contain_text(re.compile(r"all \d+ pass"))
    begun = output.locator("li").filter(has_text=BEGUN.title)
    expect(begun).to_contain_text("3 of ")
    expect(begun).to_contain_text(f"next: {BEGUN.items[3].name}")
    expect(output.locator("p")).to_contain_text(f"Go on with {BEGUN.number} {BEGUN.title}")
    _pictures(page, notebook, screenshots, axe)
    notebook.cell("progress()").scroll_into_view_if_needed()
    begun.locator("a").click()
    opened = page.locator(".lm-TabBar-tabLabel", has_text=f"{BEGUN.folder}.ipynb")
    expect(opened).to_be_visible(timeout=20 * SECONDS)
    page.close()


def _pictures(page: Page, notebook: NotebookPage, folder: Path, axe: str) -> None:
    for dark in (False, True):
        notebook.theme(dark)
        for name, width in (("wide", 1280), ("narrow", 760)):
            page.set_viewport_size({"width": width, "height": 1000})
            page.wait_for_timeout(300)
            page.screenshot(path=folder / f"home-{name}-{'dark' if dark else 'light'}.png")
            for ours in (".jp-RenderedMarkdown", ".jp-OutputArea-output"):
                assert serious(page, axe, ours) == []
    notebook.theme(dark=False)
    page.set_viewport_size({"width": 1280, "height": 1900})
    page.wait_for_timeout(500)
    page.screenshot(path=folder / "home-whole.png")
