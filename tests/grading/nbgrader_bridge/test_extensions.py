"""What late work loses under an extension, granted in nbgrader or in `course.toml`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from course.grading.nbgrader_bridge import late_penalty

TOPIC = "03_rnn"
DUE, CAME = datetime(2027, 1, 31), datetime(2027, 2, 2, 12)  # two and a half days late


@pytest.fixture
def gradebook(tmp_path: Path) -> Any:
    """Ada's work came late."""
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
        gradebook.add_assignment(TOPIC, duedate=DUE)
        gradebook.add_notebook(TOPIC, TOPIC)
        gradebook.add_grade_cell("bptt", TOPIC, TOPIC, max_score=10, cell_type="code")
        gradebook.add_student("ada")
        gradebook.add_submission(TOPIC, "ada", timestamp=CAME)
        gradebook.find_grade("bptt", TOPIC, TOPIC, "ada").auto_score = 10.0
        gradebook.db.commit()
        yield gradebook


@pytest.fixture
def penalty(gradebook: Any, tmp_path: Path) -> Any:
    """What Ada loses under a `course.toml` with these lines, at 10 % a day."""

    def penalty(lines: str = "", rules: str = "") -> float | None:
        late = f"[late]\npercent_per_day = 10\n{rules}\n"
        (tmp_path / "course.toml").write_text(f"{lines}\n{late}[topics.{TOPIC}]\n", "utf-8")
        config = Config()
        config.CourseDirectory.root = str(tmp_path)
        config.KeepLatePenalties.plugin_class = late_penalty.LatePolicy
        step = late_penalty.KeepLatePenalties(config=config)
        assert step.has_rule()
        return step.penalty(gradebook.find_submission_notebook(TOPIC, TOPIC, "ada"))

    return penalty


def extended(days: str) -> str:
    return f'[extensions]\nada = {{ "{TOPIC}" = "{days}" }}'


def test_it_is_the_gradebooks_and_goes_with_its_line(penalty: Any, gradebook: Any) -> None:
    assert penalty() == 3.0
    assert penalty(extended("1 day")) == 2.0
    assert gradebook.find_submission(TOPIC, "ada").extension == timedelta(days=1)
    assert penalty(extended("36 hours")) == 1.0
    assert penalty(extended("1 week")) is None
    assert penalty() == 3.0 and gradebook.find_submission(TOPIC, "ada").extension is None


def test_one_that_was_granted_in_nbgrader_stays(penalty: Any, gradebook: Any) -> None:
    gradebook.grant_extension(TOPIC, "ada", days=2)
    assert penalty() == 1.0
    assert penalty('[extensions]\nbob = { "03_rnn" = "1 day" }') == 1.0
    assert penalty(extended("1 day")) == 2.0, "unless course.toml says otherwise of the student"


def test_nothing_is_late_without_a_due_date(penalty: Any, gradebook: Any) -> None:
    penalty(extended("1 day"))
    gradebook.find_assignment(TOPIC).duedate = None
    assert penalty(extended("1 day")) is None


BERLIN, MANILA = 'time_zone = "Europe/Berlin"', 'time_zone = "Asia/Manila"'


def comes(gradebook: Any, due: str, came: str) -> None:
    """Have the topic due, and Ada's work in, at these times with a zone."""
    for entry, name, at in (
        (gradebook.find_assignment(TOPIC), "duedate", due),
        (gradebook.find_submission(TOPIC, "ada"), "timestamp", came),
    ):
        setattr(entry, name, datetime.fromisoformat(at).astimezone(UTC).replace(tzinfo=None))
    gradebook.db.commit()


@pytest.mark.parametrize(
    ("due", "came", "rules", "lost"),
    [
        ("2026-10-24T23:59+02:00", "2026-10-25T23:59+01:00", BERLIN, 1.0),  # 25 hours, one day on the clock
        ("2026-10-24T23:59+02:00", "2026-10-26T00:00+01:00", BERLIN, 2.0),
        ("2026-10-24T23:59+02:00", "2026-10-26T00:30+01:00", f"{BERLIN}\ngrace_hours = 1", 1.0),
        ("2026-10-24T23:59+02:00", "2026-10-25T23:59+01:00", MANILA, 2.0),  # where clocks stay as they are
        ("2026-10-20T23:59+02:00", "2026-10-27T23:59+01:00", BERLIN, 7.0),
        ("2027-03-27T12:30+01:00", "2027-03-28T12:45+02:00", BERLIN, 2.0),  # 23 hours and a quarter, a day on the clock
        ("2027-03-27T12:30+01:00", "2027-03-28T12:30+02:00", BERLIN, 1.0),
        ("2027-03-27T02:30+01:00", "2027-03-28T03:30+02:00", BERLIN, 1.0),  # no clock shows 2:30 that night
        ("2026-10-25T02:30+02:00", "2026-10-25T02:30+01:00", BERLIN, None),  # it shows 2:30 twice
        ("2026-10-24T02:30+02:00", "2026-10-25T02:30+01:00", BERLIN, 1.0),
        ("2026-10-31T23:59-04:00", "2026-11-01T23:59-05:00", 'time_zone = "America/New_York"', 1.0),
        ("2027-02-01T23:59+01:00", "2027-02-03T00:29+01:00", BERLIN, 2.0),  # no clock is changed
        ("2027-02-01T23:59+01:00", "9999-12-31T23:59+00:00", MANILA, 10.0),
        ("2027-02-01T23:59+01:00", "0001-01-01T00:00+00:00", 'time_zone = "America/New_York"', None),
    ],
)
def test_a_day_is_one_on_the_clock(
    penalty: Any, gradebook: Any, due: str, came: str, rules: str, lost: float | None
) -> None:
    comes(gradebook, due, came)
    zone, _, grace = rules.partition("\n")
    assert penalty(zone, grace) == lost


def test_an_extension_is_one_on_the_clock(penalty: Any, gradebook: Any) -> None:
    comes(gradebook, "2026-10-24T23:59+02:00", "2026-10-25T23:59+01:00")
    assert penalty(f"{BERLIN}\n{extended('1 day')}") is None
    assert penalty(f"{MANILA}\n{extended('1 day')}") == 1.0
    assert penalty(f"{BERLIN}\n{extended('24 hours')}") == 1.0, "hours are hours"
    assert gradebook.find_submission(TOPIC, "ada").extension == timedelta(hours=24)
    penalty(f"{BERLIN}\n{extended('1 day')}")
    assert gradebook.find_submission(TOPIC, "ada").extension == timedelta(hours=25), "nbgrader counts from UTC"
    gradebook.find_submission(TOPIC, "ada").extension = None
    gradebook.grant_extension(TOPIC, "ada", days=1)
    assert penalty(BERLIN) is None and penalty(MANILA) == 1.0


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine whose own zone is Berlin's."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.usefixtures("berlin")
def test_the_clock_is_the_machines_unless_course_toml_names_one(penalty: Any, gradebook: Any) -> None:
    comes(gradebook, "2026-10-24T23:59+02:00", "2026-10-25T23:59+01:00")
    assert penalty() == 1.0 and penalty(MANILA) == 2.0
