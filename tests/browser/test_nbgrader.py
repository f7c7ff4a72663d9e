"""nbgrader's own buttons, pressed: Validate says what `check` says, formgrader grades and shows what the judge said.

Pictures go to the folder `COURSE_SCREENSHOTS`, or to a temporary one.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

pytest.importorskip("playwright")

from playwright.sync_api import Browser, expect

from course.course import course_in
from course.grading.release.make_release import render
from course.grading.sandbox.probe import how_executed, strongest
from tests.browser.lab import CHROMIUM, SECONDS, NotebookPage, jupyter_lab
from tests.grading.lesson import NAME, TOPIC, answers, hand_in, make_course, solved

WRONG = {"softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"}
HINT = "What is exp(1000) on a computer?"
"""Asked of who writes such a softmax."""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with one submission, wrong in one place."""
    root = make_course(tmp_path_factory.mktemp("class") / "course")
    hand_in(root, "ada", solved(root), answers(WRONG))
    return root


@pytest.fixture(scope="module")
def server(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The instructor's JupyterLab, with a student's notebook in it as well."""
    notebook = render(course_in(course), TOPIC, course / "student")
    nb = nbformat.read(notebook, as_version=4)
    answers(WRONG)(nb)
    nbformat.write(nb, notebook)
    with jupyter_lab(course, tmp_path_factory.mktemp("instructor")) as address:
        yield address


def test_validate_says_what_check_says(server: str, browser: Browser, screenshots: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    notebook = NotebookPage(page, server, f"student/{NAME}/{NAME}.ipynb")
    page.get_by_role("button", name="Validate").click()
    said = page.locator(".jp-Dialog", has_text="Validation Results")
    expect(said).to_be_visible(timeout=120 * SECONDS)
    page.screenshot(path=screenshots / "validate.png")
    for words in ("4 of 5 public checks pass", HINT):
        expect(said).to_contain_text(words)
    said.get_by_role("button", name="OK").click()
    notebook.run(notebook.cell("import torch"))
    notebook.run(notebook.cell("def softmax"))
    checked = notebook.run(notebook.cell('check("softmax"'))
    for words in ("4 of 5 public checks pass", HINT):
        expect(checked).to_contain_text(words)
    page.close()


def test_formgrader_grades_and_shows_what_the_judge_said(server: str, browser: Browser, screenshots: Path) -> None:
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.goto(f"{server}formgrader/manage_submissions/{NAME}")
    row = page.locator("tr", has_text="ada")
    row.locator(".autograde a").click(timeout=60 * SECONDS)
    done = page.locator(".modal-dialog", has_text="Successfully autograded")
    expect(done).to_be_visible(timeout=120 * SECONDS)
    page.screenshot(path=screenshots / "formgrader-autograded.png")
    done.get_by_role("button", name="Close").last.click()
    page.goto(f"{server}formgrader/gradebook/{NAME}/{NAME}")
    page.locator("#submission-0 a, td.name a, table a").first.click(timeout=60 * SECONDS)
    expect(page.locator("body")).to_contain_text(how_executed(strongest().label), timeout=60 * SECONDS)
    expect(page.locator("body")).to_contain_text(HINT)
    page.screenshot(path=screenshots / "formgrader-submission.png", full_page=True)
    page.close()
