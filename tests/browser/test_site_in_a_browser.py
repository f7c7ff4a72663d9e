"""What the site's scripts do: a model writes, questions reply, figures move, and the map remembers."""

from __future__ import annotations

import pytest

pytest.importorskip("playwright")
pytest.importorskip("material")

from playwright.sync_api import Browser, expect

from tests.browser.lab import CHROMIUM
from website.frames import player

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
]


def test_the_home_page_writes_as_its_slider_says(site: str, browser: Browser) -> None:
    page = browser.new_page(reduced_motion="reduce")
    page.goto(f"{site}/index.html")
    said, written = page.locator(".writer .said"), page.locator(".writer .page")
    expect(said).to_contain_text("It looks back at 4 letters")
    page.get_by_role("slider", name="How far back may it look?").press("Home")
    expect(said).to_contain_text("It looks back at no letter, and knows only how often each one comes")
    assert len(written.inner_text()) > 200
    (begin,) = page.get_by_role("link", name="Open the first notebook").all()
    assert begin.get_attribute("href", timeout=0).endswith("/01_markov_ngrams/01_markov_ngrams.ipynb")
    page.close()


def test_a_prediction_replies_to_each_choice(site: str, browser: Browser) -> None:
    page = browser.new_page()
    page.goto(f"{site}/notebooks/06_self_attention.html")
    quiz = page.locator(".quiz").first
    assert quiz.get_by_text("Not quite.").first.is_hidden()
    quiz.get_by_text("a) ").press("Enter")
    expect(quiz.get_by_text("Not quite.").first).to_be_visible()
    quiz.get_by_text("c) ").press("Enter")
    expect(quiz.get_by_text("Right.")).to_be_visible()
    expect(quiz.get_by_text("Not quite.").first).to_be_hidden()
    page.close()


def test_a_figure_moves_with_its_slider(site: str, browser: Browser) -> None:
    frames = [{"label": f"{n}", "text": f"<div>rank {n}</div>", "pictures": []} for n in (1, 2, 3)]
    figure, _files = player({"name": "rank r", "began": "2", "alt": "", "frames": frames}, "a")
    page = browser.new_page()
    page.goto(f"{site}/index.html")
    page.set_content(f'<body>{figure}<script src="{site}/assets/player.js"></script></body>')
    slider = page.get_by_role("slider", name="rank r")
    expect(page.get_by_text("rank 2")).to_be_visible()
    slider.press("ArrowRight")
    expect(page.get_by_text("rank 3")).to_be_visible()
    assert slider.get_attribute("aria-valuetext") == "3"
    page.close()


def test_the_map_remembers_what_was_read(site: str, browser: Browser) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{site}/notebooks/03_rnn.html")
    page.goto(f"{site}/notebooks/02_cbow.html")
    page.locator(".md-footer").scroll_into_view_if_needed()
    page.wait_for_function("JSON.parse(localStorage.course)['02_cbow'] == 'read'")
    page.goto(f"{site}/index.html")
    marks = page.locator(".course-map small").evaluate_all(
        "all => all.map(one => one.previousSibling.innerText + one.innerText)"
    )
    assert [mark.split()[-1] for mark in marks] == ["read", "opened"]
    assert marks[0].startswith("2") and marks[1].startswith("3")
    context.close()
