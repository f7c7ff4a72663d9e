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
KEYS = {"noUi-handle": ("ArrowLeft", "ArrowRight"), "widget-text": ("Backspace",), "": ("Space",)}
PRESSED = ".noUi-handle, button.jupyter-button:not(.mod-active)"
"""A button that is down already would change nothing."""
CONTROLS = f"{PRESSED}, input[type=text]"
SAYS = {
    name: rows
    for name, *rows in map(str.splitlines, Path(__file__).with_name("aloud.txt").read_text("utf-8").split("\n\n"))
}
"""What each control of each widget, and each picture, says aloud at the start: its role, its name and its value."""
READOUT = ".widget-slider .widget-readout"
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


def test_what_each_control_says_aloud(names: tuple[str, ...], notebook: NotebookPage) -> None:
    assert list(SAYS) == list(WIDGETS)
    for name, output in _outputs(notebook, names).items():
        output.scroll_into_view_if_needed()
        expect(output.locator("img, .course-text").first).to_be_attached(timeout=20 * SECONDS)
        assert list(_said(output)) == SAYS[name], name


def _said(output: Locator) -> Iterator[str]:
    """Yield each control's and each picture's role, name and value, and the buttons of a group in one line."""
    listed = output.locator("[role=slider], [role=textbox], [role=group], input, button, img")
    for control in listed.all():
        if control.evaluate("one => one.parentElement.closest('[role=group]')"):
            continue
        role, called, pressed = re.findall(_SPOKEN, control.aria_snapshot())[0]
        buttons = re.findall(_SPOKEN, control.aria_snapshot())[1:]
        value = control.evaluate(_VALUE)
        if role == "group":
            value = ", ".join(name + pressed for _, name, pressed in buttons)
        yield " | ".join(filter(None, (role, called.strip(ICONS) + pressed, value.strip())))


_SPOKEN = r"""- '?(\w+) "(.*?)"( \[pressed\])?"""
_VALUE = "one => one.getAttribute('aria-valuetext') ?? (one.isContentEditable ? one.innerText : one.value ?? '')"
ICONS = " \uf021"
"""A button's icon is a letter of the icons' font, which nobody says."""


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
    pressed = output.locator(PRESSED)
    _press((pressed if pressed.count() else output.locator("input[type=text]")).first)
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
    assert output.locator(".noUi-handle").evaluate_all(_VALUES) == output.locator(READOUT).all_inner_texts()


_VALUES = "all => all.map(one => one.getAttribute('aria-valuetext'))"
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
