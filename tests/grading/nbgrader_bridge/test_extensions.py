"""What late work loses under an extension, granted in nbgrader or in `course.toml`."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from nbgrader.api import Gradebook
from traitlets.config import Config

from course.grading.nbgrader_bridge import extensions, late_penalty
from course.outline import Outline, read_outline

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
def penalty(gradebook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What Ada loses under a `course.toml` with these lines, at 10 % a day."""

    def penalty(lines: str = "") -> float | None:
        (tmp_path / "course.toml").write_text(f"{lines}\n[late]\npercent_per_day = 10\n[topics.{TOPIC}]\n", "utf-8")
        outline: Outline = read_outline(tmp_path / "course.toml")
        monkeypatch.setattr(extensions, "OUTLINE", outline)
        monkeypatch.setattr(late_penalty, "OUTLINE", outline)
        config = Config()
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
