"""The two servers, each with a small class, and the clients that ask them without waiting."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from course.grading.lms.canvas import Canvas
from course.grading.lms.moodle import Moodle
from course.grading.lms.patience import Patience
from course.grading.lms.secret import Token
from course.outline import Place
from tests.grading.lesson import NAME

from .canvas_site import COURSE as CANVAS_COURSE
from .canvas_site import CanvasSite
from .moodle_site import COURSE as MOODLE_COURSE
from .moodle_site import MOODLE_TOKEN, MoodleSite
from .sites import TOKEN

DUE = datetime(2027, 1, 31, 22, 59, tzinfo=UTC)
PEOPLE = (("ada", "Ada", "Lovelace"), ("bea", "Bea", "Núñez"), ("cy", "Cy", "Kim"), ("dan", "Dan", "Kim"))
NUMBERS = {"ada": 101, "bea": 102, "cy": 103, "dan": 104}


@pytest.fixture
def waits() -> list[float]:
    """The seconds that a client would have slept."""
    return []


@pytest.fixture
def canvas_site() -> Iterator[CanvasSite]:
    site = CanvasSite(page=2)
    with site.running():
        for login, first, last in PEOPLE:
            site.add_user(NUMBERS[login], f"{last}, {first}", login, email=f"{login}@example.org")
        site.add_assignment(11, NAME, 20.0)
        yield site


@pytest.fixture
def canvas(canvas_site: CanvasSite, waits: list[float]) -> Canvas:
    place = Place(canvas_site.address, CANVAS_COURSE)
    return Canvas(place, Token(TOKEN), Patience("Canvas", canvas_site.address, waits.append, lambda: 0.0))


@pytest.fixture
def moodle_site() -> Iterator[MoodleSite]:
    site = MoodleSite()
    with site.running():
        site.add_user(4, "Nobody", "Sees", "hidden", "hidden@example.org")
        site.add_user(2, "Tea", "Cher", "teacher", "tea@example.org", role="editingteacher")
        for login, first, last in PEOPLE:
            site.add_user(NUMBERS[login], first, last, login, f"{login}@example.org")
        site.add_assignment(11, NAME, 20)
        yield site


@pytest.fixture
def moodle(moodle_site: MoodleSite, waits: list[float]) -> Moodle:
    place = Place(moodle_site.address, MOODLE_COURSE)
    return Moodle(place, Token(MOODLE_TOKEN), Patience("Moodle", moodle_site.address, waits.append, lambda: 0.0))
