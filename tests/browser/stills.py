"""Takes the pictures of the widgets: `python -m tests.browser.stills [TOPIC ...]`.

Each solved notebook is executed and opened in JupyterLab, which shows a widget's pictures and texts again. These are
photographed, without the controls, which do nothing where no kernel runs, and without a ground. Their words have the
ink of figures, so a still is read on light and on dark pages.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from nbformat.sign import NotebookNotary
from playwright.sync_api import Browser, Locator, expect

from course.grading.authoring import widget_pictures
from course.grading.cells import read_notebook
from course.show.style import INK
from course.syllabus import OURS, Topic
from tests.browser.lab import SECONDS, NotebookPage, chromium, jupyter_lab
from tests.original import find_topic
from website.executed import solved

ROOT = Path(__file__).parents[2]
WIDTH = 1000
LONG = 300
"""Characters of what a widget says that are kept in its description."""
WIDGET = "application/vnd.jupyter.widget-view+json"
KEPT = ".course-picture, .course-text"
ALONE = f"""
.jp-OutputArea-child:not(:has({KEPT})) {{ display: none !important; }}
html, body, body :not(.course-text *), .course-text tr {{ background: none !important; }}
.jp-RenderedHTMLCommon, .jp-RenderedHTMLCommon table {{ color: {INK} !important; }}
"""
"""Takes from a page all that does not belong to a still."""


def executed(topic: Topic) -> NotebookNode:
    """Return the solved notebook with all outputs, as the site shows it.

    Raises:
        RuntimeError: it did not run to its end.
    """
    outcome = solved(topic)
    if outcome.fault:
        raise RuntimeError(f"{topic.folder}: {outcome.fault}")
    return read_notebook(outcome.notebook)


def photograph(topic: Topic, nb: NotebookNode, browser: Browser) -> list[Path]:
    """Take the pictures of all widgets in an executed notebook but its predictions; returns the files."""
    shown = [
        cell
        for cell in nb.cells
        if any(WIDGET in output.get("data", {}) for output in cell.get("outputs", ()))
        and not cell.source.startswith("predict(")
    ]
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        work.mkdir()
        Path(folder, "data").mkdir()
        notary = NotebookNotary(data_dir=str(Path(folder, "data")))
        for cell in shown:
            path = widget_pictures.still_of(topic.folder, cell)
            assert path is not None, f"{topic.folder} shows a widget in a cell that does not end with a call of show"
            alone = nbformat.from_dict({**nb, "cells": [cell]})
            nbformat.write(alone, work / f"{path.stem}.ipynb")
            notary.sign(alone)  # JupyterLab shows no widget of a notebook it does not trust
            taken.append(path)
        with jupyter_lab(work, Path(folder)) as server:
            for path in taken:
                _photograph(browser, server, path)
    return taken


def _photograph(browser: Browser, server: str, path: Path) -> None:
    page = browser.new_page(viewport={"width": WIDTH, "height": 1600}, device_scale_factor=2)
    NotebookPage(page, server, f"{path.stem}.ipynb")
    page.evaluate("void window.jupyterapp.commands.execute('application:toggle-left-area')")
    page.add_style_tag(content=ALONE)
    output = page.locator(".jp-CodeCell .jp-OutputArea").first
    expect(output.locator(KEPT).first).to_be_visible(timeout=60 * SECONDS)
    page.wait_for_timeout(1500)
    widget_pictures.save(output.screenshot(omit_background=True), _in_words(output), path)
    page.close()


def _in_words(output: Locator) -> str:
    """What a widget shows: the name of its picture, and what it says."""
    pictures = [picture.get_attribute("alt") for picture in output.locator(".course-picture").all()]
    said = " ".join(" ".join(output.locator(".course-text").all_inner_texts()).split())
    return f"{'. '.join([*filter(None, pictures), said if len(said) < LONG else said[:LONG] + '…'])}".strip()


def main(names: list[str]) -> None:
    """Execute and photograph the named topics, or all."""
    topics = [find_topic(name) for name in names] or list(OURS)
    with chromium() as browser:
        for topic in topics:
            for path in photograph(topic, executed(topic), browser):
                size = f"{path.stat().st_size / 1000:.0f} kB"
                print(f"{path.relative_to(ROOT)}  {size}  {widget_pictures.description(path)}")


if __name__ == "__main__":
    main(sys.argv[1:])
