"""One question, all students: the bar and the key `n`, alike answers graded once, and who graded how many."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Locator, expect

from tests.browser.axe import serious
from tests.browser.lab import CHROMIUM, SECONDS
from tests.browser.test_rubrics import VARIANCE, Desk, becomes, server_of
from tests.grading.lesson import NAME
from tests.grading.rubric_class import QUESTION, db_url, kept, submission_id, waiting_class

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]

STUDENTS = ("ada", "bob", "cy", "dan", "eve")


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bob wrote what Ada did, Cy nearly so, Dan something else, and Eve nothing."""
    root = waiting_class(tmp_path_factory.mktemp("class") / "course", *STUDENTS)
    for student, words in {"cy": "dot product", "dan": "sum of all squares, as I believe,"}.items():
        path = root / "autograded" / student / NAME / f"{NAME}.ipynb"
        path.write_text(path.read_text("utf-8").replace("scalar product", words), "utf-8")
    return root


@pytest.fixture(scope="module")
def server(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with server_of("ann", course, tmp_path_factory.mktemp("ann")) as address:
        yield address


@pytest.fixture
def ann(browser: Browser, server: str, course: Path) -> Iterator[Desk]:
    """Ann's desk, with nothing graded but Eve's empty answer."""
    with Gradebook(db_url(course)) as book:
        for student in STUDENTS:
            grade, comment = (find(QUESTION, NAME, NAME, student) for find in (book.find_grade, book.find_comment))
            grade.manual_score = comment.manual_comment = None
            grade.auto_score, grade.needs_manual_grade = (0.0, False) if student == "eve" else (None, True)
        book.db.commit()
    (course / "graded_by.db").unlink(missing_ok=True)
    expect.set_options(timeout=20 * SECONDS)
    desk = Desk(browser, server, course)
    yield desk
    desk.context.close()
    expect.set_options(timeout=5 * SECONDS)


def bar(desk: Desk) -> Locator:
    return desk.page.locator(".rubric-bar")


def left(desk: Desk) -> Locator:
    return bar(desk).get_by_role("status")


def top(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"]


def bottom(part: Locator) -> float:
    box = part.bounding_box()
    assert box is not None
    return box["y"] + box["height"]


def here(desk: Desk, course: Path) -> str:
    """Whose submission the page shows."""
    return next(student for student in STUDENTS if f"/{submission_id(course, student)}/" in desk.page.url)


def test_a_key_leads_to_each_answer_that_nobody_graded(ann: Desk, course: Path) -> None:
    page = ann.open("ada")
    expect(left(ann)).to_have_text("4 not graded")
    page.evaluate("window.scrollTo(0, 0)")
    expect(ann.rubric).not_to_be_in_viewport()
    page.keyboard.press("n")
    expect(ann.rubric.get_by_role("heading", name="Rubric")).to_be_in_viewport()
    question = page.locator(".cell:has(+ .cell .has-rubric)")
    assert top(question) >= bottom(page.locator(".navbar")), "the question can be read"
    page.set_viewport_size({"width": 1280, "height": 500})  # the rubric fills the window
    page.evaluate("window.scrollBy(0, 130)")
    assert bottom(ann.rubric) <= top(bar(ann))
    page.set_viewport_size({"width": 1280, "height": 900})
    seen = {here(ann, course)}
    for number in (3, 2, 1):
        page.keyboard.press("1")
        expect(left(ann)).to_have_text(f"{number} not graded")
        before = here(ann, course)
        if number % 2:
            page.keyboard.press("n")
        else:
            bar(ann).get_by_role("button", name="Next not graded").click()
        page.wait_for_url(re.compile(f"submissions/(?!{submission_id(course, before)})"))
        expect(left(ann)).to_have_text(f"{number} not graded", timeout=60 * SECONDS)
        expect(ann.rubric.get_by_role("heading", name="Rubric")).to_be_in_viewport()
        seen.add(here(ann, course))
    page.keyboard.press("1")
    expect(left(ann)).to_have_text("All answers are graded")
    expect(bar(ann).get_by_role("button")).to_have_count(0)
    assert seen == {"ada", "bob", "cy", "dan"}
    expect(ann.rubric).to_contain_text("Of 5 answers to this question, none still wait for a grader.")
    expect(ann.rubric).to_contain_text("1 empty or unchanged answer has its 0 points already.")
    expect(ann.rubric).to_contain_text("Graded by you (ann) 4 (100 %).")
    expect(ann.criterion("Names the variance")).to_contain_text("4×")


def test_alike_answers_are_graded_once(ann: Desk, course: Path, axe: str, screenshots: Path) -> None:
    page = ann.open("ada")
    expect(ann.rubric).to_contain_text("Same answer elsewhere: 1 equal, 1 nearly equal")
    give = ann.rubric.get_by_role("button", name="Give it the same points and comment")
    expect(give).to_be_disabled()
    expect(ann.rubric.locator("del")).to_have_text(" scalar")
    expect(ann.rubric.locator("ins")).to_have_text(" dot")
    page.keyboard.press("1")
    expect(give).to_be_enabled()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.locator(".has-rubric").screenshot(path=screenshots / f"class-answers-{scheme}.png")
        assert serious(page, axe, ".rubric") == [] and serious(page, axe, ".rubric-bar") == []
    nearly = ann.rubric.locator("li", has=page.locator("del")).get_by_role("checkbox")
    expect(nearly).not_to_be_checked()  # one word may turn an answer round
    nearly.check()
    expect(ann.rubric.get_by_role("button", name="Give these 2 the same points and comment")).to_be_enabled()
    nearly.uncheck()
    give.click()
    expect(left(ann)).to_have_text("2 not graded")
    becomes(lambda: kept(course, "bob"), (0.75, VARIANCE, False))
    assert kept(course, "cy") == kept(course, "dan") == (None, None, True)
    expect(ann.rubric).to_contain_text("equal, has 0.75 points")
    expect(ann.rubric.get_by_role("button", name="Give those with a tick the same points")).to_be_disabled()


def test_a_tick_stays_when_the_list_is_drawn_anew(ann: Desk) -> None:
    page = ann.open("ada")
    equal, nearly = (ann.rubric.get_by_role("listitem").filter(has_text=kind) for kind in (", equal", "nearly equal"))
    nearly.get_by_role("checkbox").check()
    equal.get_by_role("checkbox").uncheck()
    page.keyboard.press("1")
    expect(left(ann)).to_have_text("3 not graded")
    expect(nearly.get_by_role("checkbox")).to_be_checked()
    expect(equal.get_by_role("checkbox")).not_to_be_checked()


def test_the_panel_never_hides_the_comment(ann: Desk) -> None:
    """In a window lower than the panel, which stays in sight while the page is scrolled."""
    page = ann.open("ada")
    page.set_viewport_size({"width": 1280, "height": 400})
    page.evaluate("window.scrollBy(0, $('.has-rubric textarea')[0].getBoundingClientRect().top - 200)")
    panel, comment = ann.rubric.bounding_box(), ann.comment.bounding_box()
    assert panel and comment and panel["y"] + panel["height"] <= comment["y"]
