"""Two graders with a rubric in the real formgrader, each with a server and a browser of their own.

What they click and type is read back from gradebook.db. Pictures go to the folder `COURSE_SCREENSHOTS`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from nbgrader.api import Gradebook
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.axe import serious
from tests.browser.lab import CHROMIUM, SECONDS
from tests.grading.lesson import NAME
from tests.grading.rubric_class import QUESTION, RUBRIC, db_url, kept, submission_id, waiting_class
from tests.serving import jupyter

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]

STUDENTS = ("keys", "hand", "clash", "mine", "first", "second", "tab", "look", "gone", "empty")

VARIANCE = "- Names the variance of a dot product. (+0.75)"
SOFTMAX = "- Says what large scores do to the softmax. (+0.5)"
OWN_NUMBERS = "- Evidence: Shows it with numbers of their own. (+1)"
EXPERIMENT = "- Evidence: Names an experiment without its numbers. (+0.25)"
MIXED_UP = "- Mixes up width and length. (−0.5)"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return waiting_class(tmp_path_factory.mktemp("rubrics") / "course", *STUDENTS)


@pytest.fixture(scope="module")
def servers(course: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The addresses of the graders' servers, on the same course."""
    with ExitStack() as stack:
        graders = ("ann", "ben")
        yield {one: stack.enter_context(server_of(one, course, tmp_path_factory.mktemp(one))) for one in graders}


def server_of(grader: str, course: Path, place: Path) -> AbstractContextManager[str]:
    """A grader's own server with formgrader."""
    options = (
        "--IdentityProvider.token=",
        "--ServerApp.jpserver_extensions=nbgrader.server_extensions.formgrader=True",
    )
    about = {"LOGNAME": grader, "JUPYTERHUB_USER": "", "JUPYTER_CONFIG_DIR": str(course / "none")}
    return jupyter("jupyter_server", course, place, *options, environment=about)


class Desk:
    """A grader's browser, on a machine without a network."""

    def __init__(self, browser: Browser, server: str, course: Path, **look: object) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 900}, **look)  # type: ignore[arg-type]
        self.page: Page = self.context.new_page()
        self.asked: list[str] = []
        self.page.route(re.compile(f"^(?!{re.escape(server)})"), self._refuse)
        self._server, self._course = server, course

    def _refuse(self, route: Route) -> None:
        """Answer like a machine without a network; a picture that a text shows from elsewhere is no loss."""
        if route.request.resource_type != "image":
            self.asked.append(route.request.url)
        route.abort()

    def open(self, student: str, has_rubric: bool = True) -> Page:
        """A student's submission, with the focus in no field."""
        self.page.goto(f"{self._server}formgrader/submissions/{submission_id(self._course, student)}/")
        expect(self.rubric).to_have_count(int(has_rubric), timeout=60 * SECONDS)
        expect(self.page.locator(".tabbable").first).to_be_focused(timeout=20 * SECONDS)
        self.page.keyboard.press("Escape")
        # Formgrader scrolls to each field that gets the focus, for half a second in which a click would miss.
        self.page.evaluate("$.fx.off = true; $(':animated').finish()")
        return self.page

    @property
    def rubric(self) -> Locator:
        return self.page.get_by_role("region", name="Rubric")

    def criterion(self, text: str) -> Locator:
        return self.rubric.get_by_role("button", name=text)

    @property
    def score(self) -> Locator:
        return self.page.get_by_label(f"Points for {QUESTION}")

    @property
    def comment(self) -> Locator:
        return self.page.get_by_label(f"Comment on {QUESTION}")

    def shows(self, points: str, comment: str) -> None:
        """Wait until the page has these points and this comment."""
        expect(self.score).to_have_value(points)
        expect(self.comment).to_have_value(comment)

    def look_again(self) -> None:
        """What comes to the page when its window is chosen again, or some seconds later."""
        self.page.evaluate("window.dispatchEvent(new Event('focus'))")


def becomes(look: Callable[[], object], expected: object) -> None:
    """Wait until the gradebook has what the page sends to it."""
    end = time.monotonic() + 20
    while (found := look()) != expected and time.monotonic() < end:
        time.sleep(0.05)
    assert found == expected


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """A busy machine may take seconds to save a click."""
    expect.set_options(timeout=20 * SECONDS)
    yield
    expect.set_options(timeout=5 * SECONDS)


@pytest.fixture
def ann(browser: Browser, servers: dict[str, str], course: Path) -> Iterator[Desk]:
    desk = Desk(browser, servers["ann"], course)
    yield desk
    desk.context.close()


@pytest.fixture
def ben(browser: Browser, servers: dict[str, str], course: Path) -> Iterator[Desk]:
    desk = Desk(browser, servers["ben"], course)
    yield desk
    desk.context.close()


def test_clicks_and_keys_take_criteria(ann: Desk, course: Path) -> None:
    page = ann.open("keys")
    expect(ann.rubric).to_contain_text("Not graded yet")
    ann.criterion("Names the variance").click()
    ann.shows("0.75", VARIANCE)
    page.keyboard.press("2")
    ann.shows("1.25", f"{VARIANCE}\n{SOFTMAX}")
    page.keyboard.press("3")
    ann.shows("2", f"{VARIANCE}\n{SOFTMAX}\n{OWN_NUMBERS}")
    expect(ann.rubric).to_contain_text("2 of 2 points")
    page.keyboard.press("3")
    ann.shows("1.5", f"{VARIANCE}\n{SOFTMAX}\n{EXPERIMENT}")
    page.keyboard.press("3")
    ann.criterion("Mixes up width").click()
    ann.shows("0.75", f"{VARIANCE}\n{SOFTMAX}\n{MIXED_UP}")
    ann.criterion("Names the variance").click()
    expect(ann.criterion("Names the variance")).to_have_attribute("aria-pressed", "false")
    ann.shows("0", f"{SOFTMAX}\n{MIXED_UP}")
    becomes(lambda: kept(course, "keys"), (0.0, f"{SOFTMAX}\n{MIXED_UP}", False))
    page.keyboard.press("2")
    page.keyboard.press("4")
    expect(ann.rubric).to_contain_text("Not graded yet")
    becomes(lambda: kept(course, "keys"), (None, None, True))


def test_what_is_written_by_hand_stays(ann: Desk, course: Path) -> None:
    page = ann.open("hand")
    ann.comment.fill("1 and 2 are digits, here.")
    ann.criterion("Names the variance").click()
    ann.shows("0.75", f"{VARIANCE}\n\n1 and 2 are digits, here.")
    ann.score.fill("1.75")
    page.keyboard.press("Escape")
    expect(ann.rubric).to_contain_text("1.75 of 2 points, written by hand. The criteria give 0.75.")
    page.keyboard.press("2")
    ann.shows("1.75", f"{VARIANCE}\n{SOFTMAX}\n\n1 and 2 are digits, here.")
    page.keyboard.press("1")
    ann.shows("1.75", f"{SOFTMAX}\n\n1 and 2 are digits, here.")
    becomes(lambda: kept(course, "hand"), (1.75, f"{SOFTMAX}\n\n1 and 2 are digits, here.", False))
    ann.rubric.get_by_role("button", name="Use 0.5 points").click()
    expect(ann.rubric).to_contain_text("0.5 of 2 points")
    page.get_by_role("button", name="Full credit").nth(4).click()
    expect(ann.rubric).to_contain_text("2 of 2 points, written by hand")
    becomes(lambda: kept(course, "hand")[0], 2.0)
    page.reload()
    expect(ann.criterion("Says what large scores")).to_have_attribute("aria-pressed", "true")


def test_two_graders_see_each_other_and_nothing_is_overwritten_unasked(ann: Desk, ben: Desk, course: Path) -> None:
    ann.open("clash")
    ben.open("clash")
    ann.criterion("Names the variance").click()
    ann.shows("0.75", VARIANCE)
    expect(ann.rubric).to_contain_text("Last saved by you (ann)")
    ben.look_again()
    expect(ben.rubric).to_contain_text("Last saved by ann, ")
    ben.shows("0.75", VARIANCE)

    ben.score.fill("2")
    ann.criterion("Says what large scores").click()
    ann.shows("1.25", f"{VARIANCE}\n{SOFTMAX}")
    ben.look_again()
    expect(ben.score).to_have_value("2")
    ben.page.keyboard.press("Escape")
    alert = ben.page.get_by_role("alert")
    expect(alert).to_contain_text("ann saved this answer while you had it open, with 1.25 points.")
    becomes(lambda: kept(course, "clash"), (1.25, f"{VARIANCE}\n{SOFTMAX}", False))
    alert.get_by_role("button", name="Keep theirs").click()
    ben.shows("1.25", f"{VARIANCE}\n{SOFTMAX}")
    becomes(lambda: kept(course, "clash")[0], 1.25)


def test_a_grader_who_insists_is_kept_beside_the_first(ann: Desk, ben: Desk, course: Path) -> None:
    ben.open("mine")
    ann.open("mine")
    ann.criterion("Mixes up width").click()
    ann.shows("0", MIXED_UP)
    ben.page.keyboard.press("1")
    ben.page.get_by_role("alert").get_by_role("button", name="Save mine").click()
    ben.shows("0.25", f"{VARIANCE}\n{MIXED_UP}")
    becomes(lambda: kept(course, "mine"), (0.25, f"{VARIANCE}\n{MIXED_UP}", False))
    ben.rubric.get_by_text("All saves (2)").click()
    expect(ben.rubric.locator(".rubric-saved").get_by_role("listitem").last).to_contain_text(
        re.compile("^ann, .*: 0 p")
    )


def test_a_comment_written_once_is_chosen_again(ann: Desk, ben: Desk, course: Path) -> None:
    ann.open("first")
    ann.comment.fill("See the figure of topic 03.")
    ann.criterion("Names the variance").click()
    ann.shows("0.75", f"{VARIANCE}\n\nSee the figure of topic 03.")
    ben.open("second")
    ben.rubric.get_by_text("Comments used before").click()
    ben.rubric.get_by_role("button", name="1× See the figure of topic 03.").click()
    expect(ben.comment).to_have_value("See the figure of topic 03.")
    expect(ben.rubric).to_contain_text("Last saved by you (ben)")
    becomes(lambda: kept(course, "second"), (None, "See the figure of topic 03.", True))
    ann.open("keys")
    ann.rubric.get_by_text("Comments used before").click()
    expect(ann.rubric.get_by_role("button", name="2× See the figure of topic 03.")).to_be_visible()


def test_the_rubric_is_reached_by_keyboard(ann: Desk, course: Path) -> None:
    page = ann.open("tab")
    page.get_by_label(f"Extra credit for {QUESTION}").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(ann.criterion("Says what large scores")).to_be_focused()
    page.keyboard.press("Enter")
    ann.shows("0.5", SOFTMAX)
    page.keyboard.press("Space")
    expect(ann.rubric).to_contain_text("Not graded yet")
    page.keyboard.press("1")
    ann.shows("0.75", VARIANCE)
    expect(ann.rubric.get_by_role("button", name="the same points")).to_be_enabled()
    ann.comment.focus()
    page.keyboard.press("Shift+Tab")
    expect(ann.rubric.locator("summary, button").last).to_be_focused()
    page.keyboard.press("Tab")
    expect(ann.comment).to_be_focused()
    page.keyboard.type("\n\n1")
    page.keyboard.press("Escape")
    expect(ann.rubric).to_contain_text("All saves (4)")
    becomes(lambda: kept(course, "tab"), (0.75, f"{VARIANCE}\n\n1", False))


def test_a_server_that_does_not_answer_loses_nothing(ann: Desk, course: Path) -> None:
    page = ann.open("gone")
    page.route(re.compile("api/rubrics"), lambda route: route.abort())
    ann.comment.fill("Do not lose this.")
    page.keyboard.press("Escape")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("Not saved. The server does not answer. Is Jupyter still running?")
    expect(ann.comment).to_have_value("Do not lose this.")
    page.unroute(re.compile("api/rubrics"))
    alert.get_by_role("button", name="Try again").click()
    expect(ann.rubric).to_contain_text("Last saved by you (ann)")
    becomes(lambda: kept(course, "gone")[1], "Do not lose this.")


def test_an_empty_answer_has_its_points_already(ann: Desk, course: Path) -> None:
    with Gradebook(db_url(course)) as book:
        grade = book.find_grade(QUESTION, NAME, NAME, "empty")
        grade.auto_score, grade.needs_manual_grade = 0.0, False
        book.db.commit()
    ann.open("empty")
    expect(ann.rubric).to_contain_text("0 of 2 points, because the answer is empty or unchanged")
    ann.criterion("Names the variance").click()
    ann.shows("0.75", VARIANCE)
    ann.criterion("Names the variance").click()
    expect(ann.rubric).to_contain_text("because the answer is empty or unchanged")
    becomes(lambda: kept(course, "empty"), (None, None, False))


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 390)])
def test_axe_finds_nothing_serious(
    scheme: str, width: int, browser: Browser, servers: dict[str, str], course: Path, axe: str, screenshots: Path
) -> None:
    desk = Desk(browser, servers["ben"], course, color_scheme=scheme)
    desk.page.set_viewport_size({"width": width, "height": 900})
    desk.open("look")
    desk.criterion("Names the variance").click()
    expect(desk.rubric).to_contain_text("Last saved by you")
    desk.page.locator(".has-rubric").screenshot(path=screenshots / f"rubric-{scheme}-{width}.png")
    assert serious(desk.page, axe, ".has-rubric .rubric") == []
    assert desk.page.evaluate("document.querySelector('.rubric').scrollWidth <= window.innerWidth")
    desk.context.close()


def test_a_rubric_that_is_at_fault_is_told(ann: Desk, course: Path) -> None:
    """It stops no other page, and grading goes on as nbgrader has it."""
    good = (course / "course.toml").read_text("utf-8")
    (course / "course.toml").write_text(good.replace("points = 0.75", "points = 0.7"), "utf-8")
    try:
        ann.page.goto(f"{ann._server}formgrader/submissions/{submission_id(course, 'look')}/")
        expect(ann.page.get_by_role("alert")).to_contain_text(
            "criterion 1, has 0.7 points. Write a number in steps of 0.25"
        )
        assert f"{NAME}" in ann.page.title()
    finally:
        (course / "course.toml").write_text(good, "utf-8")


@pytest.mark.parametrize("outline", ["", RUBRIC], ids=["nbgrader's own course", "a course with a rubric"])
def test_keys_and_formulas_need_no_network(outline: str, browser: Browser, tmp_path: Path, screenshots: Path) -> None:
    course = waiting_class(tmp_path / "course", "one", "two", outline=outline)
    for student in ("one", "two"):
        path = course / "autograded" / student / NAME / f"{NAME}.ipynb"
        path.write_text(path.read_text("utf-8").replace("Because the", "With $\\\\sqrt{D}$ it shrinks. The"), "utf-8")
    with server_of("ann", course, tmp_path) as server:
        desk = Desk(browser, server, course)
        faults: list[str] = []
        desk.page.on("pageerror", lambda error: faults.append(str(error)))
        page = desk.open("one", has_rubric=bool(outline))
        formula = page.locator("math", has_text="D").last
        formula.scroll_into_view_if_needed()
        page.screenshot(path=screenshots / f"formgrader-{'rubric' if outline else 'plain'}.png")
        assert formula.locator("msqrt").count() == 1
        points, extra = page.locator("input.score").first, page.locator("input.extra-credit").first
        points.focus()
        page.keyboard.press("Escape")
        page.keyboard.press("1")  # no field has the focus
        expect(points).to_have_value("")
        page.keyboard.press("Enter")
        expect(points).to_be_focused()
        page.keyboard.press("Tab")
        expect(extra).to_be_focused()
        page.keyboard.press("Shift+Tab")
        page.keyboard.type("0.5")
        page.keyboard.press("Escape")
        expect(points).not_to_be_focused()
        expect(points).to_have_value("0.5")
        before = page.url.partition("?")[0]
        page.keyboard.press("Control+.")
        page.wait_for_url(lambda url: url.partition("?")[0] != before)
        assert (faults, desk.asked) == ([], [])
        desk.context.close()
