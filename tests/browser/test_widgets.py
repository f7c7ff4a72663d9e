"""Every widget in JupyterLab, moved with the keyboard alone: its picture, or what it writes, becomes another.

Pictures of each go to the folder `COURSE_SCREENSHOTS`, or to a temporary one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

pytest.importorskip("playwright")

from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.lab import CHROMIUM, SECONDS, NotebookPage, jupyter_lab
from tests.show.widgets import WIDGETS

ROOT = Path(__file__).parents[2]
KEYS = {"noUi-handle": ("ArrowLeft", "ArrowRight"), "": ("Space",)}
PRESSED = ".noUi-handle, button.jupyter-button:not(.mod-active)"
"""A button that is down already would change nothing."""
CONTROLS = f"{PRESSED}, input[type=text]"
FEW = ("02 explorer", "06 playground", "09 painter")
"""These stand for all of them in `make test`."""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture(scope="module", params=[FEW, pytest.param(tuple(WIDGETS), marks=pytest.mark.slow)], ids=["few", "all"])
def names(request: pytest.FixtureRequest) -> tuple[str, ...]:
    """Widgets that are looked at together."""
    return request.param


@pytest.fixture(scope="module")
def notebook(
    names: tuple[str, ...], browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[NotebookPage]:
    """One notebook with a cell for each widget, all of them run."""
    home = tmp_path_factory.mktemp("widgets")
    (home / "work").mkdir()
    begin = new_code_cell("%matplotlib inline\nfrom tests.show.widgets import WIDGETS")
    cells = [begin, *(new_code_cell(f'WIDGETS["{name}"]()') for name in names), new_code_cell("'all are here'")]
    nbformat.write(new_notebook(cells=cells), home / "work" / "widgets.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        with jupyter_lab(home / "work", home) as server:
            page = browser.new_page(viewport={"width": 1280, "height": 1000})
            opened = NotebookPage(page, server, "widgets.ipynb")
            page.evaluate("void window.jupyterapp.commands.execute('notebook:run-all-cells')")
            last = page.locator(".jp-OutputArea-output", has_text="all are here")
            expect(last).to_have_count(1, timeout=240 * SECONDS)
            yield opened


def _outputs(notebook: NotebookPage, names: tuple[str, ...]) -> dict[str, Locator]:
    """What each widget's cell shows; cells far below have no text in the page before they are scrolled to."""
    cells = notebook.page.locator(".jp-Notebook .jp-CodeCell")
    return {name: cells.nth(number).locator(".jp-OutputArea") for number, name in enumerate(names, start=1)}


def _shown(output: Locator) -> list[str]:
    """The addresses of a widget's pictures, and what it writes."""
    read = "all => all.map(one => one.tagName == 'IMG' ? one.src : one.innerHTML)"
    return output.locator(".course-picture, .course-text").evaluate_all(read)


def _press(control: Locator) -> None:
    kind = control.evaluate("one => one.className + ' ' + one.parentElement.className")
    keys = next(keys for name, keys in KEYS.items() if name in kind)
    control.focus()
    control.press(keys[0])
    if len(keys) > 1 and control.get_attribute("aria-valuenow") == control.get_attribute("aria-valuemin"):
        control.press(keys[1])


def test_the_keyboard_moves_them_and_their_pictures_change(
    names: tuple[str, ...], notebook: NotebookPage, screenshots: Path
) -> None:
    for name, output in _outputs(notebook, names).items():
        _moves(name, output, notebook.page, screenshots)


def _moves(name: str, output: Locator, page: Page, screenshots: Path) -> None:
    output.scroll_into_view_if_needed()
    expect(output.locator(".course-picture, .course-text").first).to_be_attached(timeout=20 * SECONDS)
    assert "Error" not in output.inner_text()
    page.wait_for_timeout(300)
    output.screenshot(path=screenshots / f"{name}-1.png")
    before, height = _shown(output), (output.bounding_box() or {})["height"]
    _press(output.locator(PRESSED).first)
    for _ in range(100):
        if _shown(output) != before:
            break
        page.wait_for_timeout(100)
    else:
        pytest.fail(f"nothing changed in {name}")
    page.wait_for_timeout(300)
    output.screenshot(path=screenshots / f"{name}-2.png")
    assert (output.bounding_box() or {})["height"] == pytest.approx(height, abs=1), f"{name} jumps"
    for control in output.locator(CONTROLS).all():
        label = control.evaluate(_NAME)
        assert label.strip(), control.evaluate("one => one.outerHTML")


_NAME = """one => one.getAttribute('aria-label') || one.title || one.innerText
    || (one.closest('.jupyter-widgets')?.querySelector('label')?.innerText ?? '')"""


@pytest.mark.parametrize("width", [900, 1000])
def test_none_scrolls_sideways_on_a_narrow_page(width: int, names: tuple[str, ...], notebook: NotebookPage) -> None:
    wide = notebook.page.viewport_size
    notebook.page.set_viewport_size({"width": width, "height": 1000})
    notebook.page.wait_for_timeout(500)
    scrolling = {name: output.evaluate(_SCROLLS) for name, output in _outputs(notebook, names).items()}
    if wide:
        notebook.page.set_viewport_size(wide)
    assert not any(scrolling.values()), scrolling


_SCROLLS = """area => [...area.querySelectorAll('*')]
    .filter(one => ['auto', 'scroll'].includes(getComputedStyle(one).overflowX))
    .filter(one => one.scrollWidth > one.clientWidth).map(one => one.className)"""


def test_all_of_them_in_the_dark(names: tuple[str, ...], notebook: NotebookPage, screenshots: Path) -> None:
    notebook.theme(dark=True)
    for name, output in _outputs(notebook, names).items():
        output.scroll_into_view_if_needed()
        output.screenshot(path=screenshots / f"{name}-3-dark.png")
    broken = notebook.page.locator(".jp-OutputArea-output", has_text=re.compile("Traceback|Error displaying"))
    expect(broken).to_have_count(0)
