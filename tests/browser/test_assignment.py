"""A student's hour in JupyterLab: a wrong answer and its hint, the right one, the widget, light and dark.

Pictures of every step go to the folder `COURSE_SCREENSHOTS`, or to a temporary one.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Locator, expect

from course.grading.authoring.source import build
from course.grading.course_folder import source_path
from tests.browser.lab import CHROMIUM, SECONDS, NotebookPage, jupyter_lab
from tests.original import ORIGINAL, find, find_topic

ROOT = Path(__file__).parents[2]
TOPIC = find_topic("self_attention")
ONLY_THE_LAST_AXIS = """def softmax(x, dim):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)
"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab on a student's own copy of the released notebooks."""
    home = tmp_path_factory.mktemp("student")
    shutil.copytree(ROOT / "assignments" / TOPIC.folder, home / "work" / TOPIC.folder)
    with jupyter_lab(home / "work", home) as address:
        yield address


def _solutions() -> dict[str, str]:
    cells = build(ORIGINAL, source_path(ROOT, TOPIC), TOPIC).cells
    return {cell.id.removesuffix("-solution"): cell.source for cell in cells if cell.id.endswith("-solution")}


def _picture(output: Locator) -> str:
    return output.locator("img.course-picture").first.get_attribute("src") or ""


def test_from_a_wrong_answer_to_the_widget(server: str, browser: Browser, screenshots: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    notebook = NotebookPage(page, server, f"{TOPIC.folder}/{TOPIC.folder}.ipynb")
    page.screenshot(path=screenshots / "1-opened.png")
    solutions = _solutions()
    notebook.run(notebook.cell("from course import"))

    def answer(name: str, code: str) -> Locator:
        cell = notebook.cell(re.compile(rf"^\s*(def|class) {name}\b"))
        notebook.write(cell, code)
        notebook.run(cell)
        return notebook.run(notebook.cell(f'check("{name}"'))

    blank = notebook.run(notebook.cell('check("softmax"'))
    page.screenshot(path=screenshots / "2-nothing-written.png")
    assert "Traceback" not in blank.inner_text() or "NameError" in blank.inner_text()

    notebook.run(notebook.cell("def scaled_dot_product_attention("))
    waiting = notebook.run(notebook.cell("show.self_attention.playground("))
    expect(waiting).to_contain_text("`scaled_dot_product_attention` is not written yet")
    expect(waiting).not_to_contain_text("Traceback")
    waiting.scroll_into_view_if_needed()
    page.screenshot(path=screenshots / "2-waits-for-an-exercise.png")

    report = answer("softmax", ONLY_THE_LAST_AXIS)
    hints = {misconception.name: misconception.hint for misconception in find("softmax").misconceptions}
    expect(report).to_contain_text(hints["always_the_last_axis"])
    report.scroll_into_view_if_needed()
    page.screenshot(path=screenshots / "3-wrong.png")
    notebook.theme(dark=True)
    page.screenshot(path=screenshots / "3-wrong-dark.png")
    notebook.theme(dark=False)

    report = answer("softmax", solutions["softmax"])
    expect(report).to_contain_text(re.compile(r"public checks? pass"))
    expect(report).not_to_contain_text(hints["always_the_last_axis"])
    page.screenshot(path=screenshots / "4-right.png")

    answer("scaled_dot_product_attention", solutions["scaled_dot_product_attention"])
    output = notebook.run(notebook.cell("show.self_attention.playground("))
    handle = output.locator(".noUi-handle").first
    handle.scroll_into_view_if_needed()
    before = _picture(output)
    page.screenshot(path=screenshots / "5-widget.png")
    handle.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    picture = output.locator("img.course-picture").first
    expect(picture).not_to_have_attribute("src", before, timeout=10 * SECONDS)
    page.wait_for_timeout(500)
    page.screenshot(path=screenshots / "6-widget-moved.png")
    notebook.theme(dark=True)
    output.scroll_into_view_if_needed()
    page.screenshot(path=screenshots / "6-widget-moved-dark.png")
    page.close()
