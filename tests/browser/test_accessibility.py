"""What people read in a browser, looked at by axe-core in light and dark, wide and narrow: nothing serious is found.

axe-core comes from the npm registry when the tests run; without npm, or without that registry, they are skipped.
"""

from __future__ import annotations

import io
import os
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("playwright")
pytest.importorskip("material")

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from PIL import Image
from playwright.sync_api import Browser, Page

from course.course import course_in
from course.grading.classroom.classroom import Classroom
from course.grading.classroom.grade_class import grade_class
from course.grading.demo.run_demo import write_feedback
from course.grading.report import write_report, write_student_reports, write_term_report
from course.grading.report.study_page import write_page
from tests.browser.axe import serious
from tests.browser.lab import CHROMIUM
from tests.few import few
from tests.grading.lesson import NAME, TOPIC, answers, deleted, hand_in, make_course, solved
from tests.original import ORIGINAL

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]

LOOKS = [(scheme, width) for scheme in ("light", "dark") for width in (1280, 390)]
each_look = pytest.mark.parametrize(("scheme", "width"), few(LOOKS, ("light", 1280), ("dark", 390)))
PAGES = (
    *("index", "instructor", "own-exercises", "notebooks/index", f"notebooks/{NAME}", "reference/notebook"),
    *("architecture", "protocol"),
)
PICTURES = os.environ.get("COURSE_SCREENSHOTS")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course whose class handed in a right, a wrong and an unfinished notebook, graded."""
    root = make_course(tmp_path_factory.mktemp("class"))
    wrong = answers({"softmax": "def softmax(x, dim):\n    return x.exp() / x.exp().sum(dim, keepdim=True)"})
    hand_in(root, "ada", solved(root))
    hand_in(root, "bob", solved(root), wrong, reasons)
    hand_in(root, "cy", solved(root), deleted("softmax-solution"))
    grade_class(Classroom(course_in(root), TOPIC), workers=1)
    return root


def reasons(nb: NotebookNode) -> None:
    """Write down a reason, with a formula in it and one below it."""
    nb.cells.insert(3, new_markdown_cell("Scores grow with $\\sqrt{d}$, so\n\n$$a = \\frac{QK^\\top}{\\sqrt{d}}$$"))


@pytest.fixture(scope="module")
def feedback(graded: Path) -> str:
    """The address of the class's feedback on one page."""
    return write_feedback(graded, TOPIC).as_uri()


def faults(browser: Browser, address: str, scheme: str, width: int, axe: str) -> list[str]:
    """What is wrong with a page that looks so; pictures go to COURSE_SCREENSHOTS."""
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,  # type: ignore[arg-type]
        bypass_csp=True,  # so that axe may look at pages that let no script run
    )
    page = context.new_page()
    page.goto(address)
    page.wait_for_function("!window.MathJax || !MathJax.startup || MathJax.startup.promise.then(() => true)")
    if PICTURES:
        page.screenshot(path=str(Path(PICTURES) / f"{'-'.join(Path(address).parts[2:][-2:])}-{scheme}-{width}.png"))
    found = serious(page, axe)
    context.close()
    return found


def test_axe_finds_what_is_wrong(browser: Browser, axe: str) -> None:
    page = browser.new_page()
    page.set_content('<html lang="en"><title>A page</title><main><h1>A page</h1><img src="x.png"></main></html>')
    assert any(fault.startswith("image-alt (1)") for fault in serious(page, axe))
    page.close()


@each_look
@pytest.mark.parametrize("name", few(PAGES, "index", f"notebooks/{NAME}"))
def test_the_documentation_site(name: str, scheme: str, width: int, site: str, browser: Browser, axe: str) -> None:
    assert faults(browser, f"{site}/{name}.html", scheme, width, axe) == []


@each_look
def test_feedback(scheme: str, width: int, feedback: str, browser: Browser, axe: str) -> None:
    assert faults(browser, feedback, scheme, width, axe) == []


def test_feedback_needs_no_network(feedback: str, browser: Browser) -> None:
    """Its formulas are drawn, it asks for nothing, and a screen reader finds its way by landmarks and a heading."""
    context = browser.new_context(offline=True)
    page = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(feedback)
    assert [url for url in asked if not url.startswith("data:")] == [feedback] and said == []
    drawn = "all => all.filter(one => one.getBoundingClientRect().height > 5).length"
    assert page.locator("math").evaluate_all(drawn) == page.locator("math").count() > 0
    for role, name in (("main", None), ("banner", None), ("navigation", "Scores")):
        assert page.get_by_role(role, name=name).count() == 1, role  # type: ignore[arg-type]
    assert page.locator("h1").first.inner_text().startswith(NAME)
    assert page.locator("script, img[src^=http]").count() == 0
    context.close()


def test_feedback_fits_a_narrow_page(feedback: str, browser: Browser) -> None:
    """Nothing is wider than the page, no score hangs out of its heading, marks behind headings stay out of sight."""
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(feedback)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    out = "all => all.filter(one => one.scrollHeight > one.clientHeight + 1).length"
    assert page.locator(".nbgrader_cell .panel-heading").evaluate_all(out) == 0
    assert page.locator(".anchor-link:visible").count() == 0
    page.close()


@pytest.fixture
def phone(browser: Browser) -> Iterator[Page]:
    """A phone lays a page out as wide as its widest part, and shows that small."""
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True)
    yield context.new_page()
    context.close()


def test_a_phone_shows_feedback_as_wide_as_it_is(feedback: str, phone: Page) -> None:
    phone.goto(feedback)
    assert phone.evaluate("window.innerWidth") == 390


def test_a_phone_shows_the_site_with_its_formulas(site: str, phone: Page) -> None:
    for name in PAGES:
        phone.goto(f"{site}/{name}.html")
        phone.wait_for_function("!window.MathJax || !MathJax.startup || MathJax.startup.promise.then(() => true)")
        assert phone.evaluate("window.innerWidth") == 390, name
        widths = phone.locator("mjx-container[display] > svg").evaluate_all(
            "all => all.map(one => one.getBoundingClientRect().width)"
        )
        assert all(width > 20 for width in widths), f"{name}: {widths}"
        assert widths or name != f"notebooks/{NAME}"


def test_feedback_names_its_exercises(feedback: str, browser: Browser) -> None:
    """nbgrader's list at the top calls each of them "Test cell"; the question waits for somebody to read it."""
    page = browser.new_page()
    page.goto(feedback)
    named = "all => all.map(one => getComputedStyle(one, '::after').content)"
    shown = page.locator("#toc a").evaluate_all(named)
    targets = page.locator("#toc a").evaluate_all("all => all.map(one => one.getAttribute('href').slice(1))")
    unread = {"self_attention_question": ", not graded yet"}
    assert "softmax" in targets and shown == [f'": {name}{unread.get(name, "")}"' for name in targets]
    page.close()


def test_feedback_is_dark_for_who_reads_in_the_dark(feedback: str, browser: Browser) -> None:
    """nbgrader's page knows only light colours."""
    brightness = {}
    for scheme in ("light", "dark"):
        page = browser.new_page(color_scheme=scheme)  # type: ignore[arg-type]
        page.goto(feedback)
        shown = Image.open(io.BytesIO(page.screenshot())).convert("L")
        brightness[scheme] = statistics.fmean(shown.tobytes())
        page.close()
    assert brightness["light"] > 200 and brightness["dark"] < 60


@each_look
def test_a_students_report(scheme: str, width: int, graded: Path, browser: Browser, axe: str) -> None:
    (page,) = write_student_reports(course_in(graded), [TOPIC], "bob")
    assert faults(browser, page.as_uri(), scheme, width, axe) == []


@each_look
def test_the_report(scheme: str, width: int, graded: Path, browser: Browser, axe: str) -> None:
    for names in (True, False):
        assert faults(browser, write_report(course_in(graded), TOPIC, names=names).as_uri(), scheme, width, axe) == []


@each_look
def test_the_report_on_the_term(scheme: str, width: int, graded: Path, browser: Browser, axe: str) -> None:
    assert faults(browser, write_term_report(course_in(graded), names=True)[0].as_uri(), scheme, width, axe) == []


@each_look
def test_the_page_of_somebody_who_learns_alone(
    scheme: str, width: int, tmp_path: Path, browser: Browser, axe: str
) -> None:
    (tmp_path / NAME / ".course").mkdir(parents=True)
    (tmp_path / NAME / f"{NAME}.ipynb").touch()
    (tmp_path / NAME / ".course" / "progress.json").write_text('{"softmax": {"kind": "passed"}}')
    page = write_page(ORIGINAL, tmp_path, tmp_path / "mine.html")
    page.write_text(page.read_text("utf-8").replace("<details>", "<details open>"), "utf-8")
    assert faults(browser, page.as_uri(), scheme, width, axe) == []
    narrow = browser.new_page(viewport={"width": width, "height": 900})
    narrow.goto(page.as_uri())
    assert narrow.evaluate("document.documentElement.scrollWidth") == width
    narrow.close()
