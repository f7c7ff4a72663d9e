"""A course made by version 0.1.0 goes on: its configuration, its own tests, its gradebook, zips and checkpoints."""

from __future__ import annotations

from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from tests.commands import output_of

from .old_course import REGRADED, SCORES, unpack

ROOT = Path(__file__).parents[2]
TOPICS = ("06_self_attention", "20_smoothing")


@pytest.fixture(scope="module")
def old(tmp_path_factory) -> Path:
    return unpack(tmp_path_factory.mktemp("old") / "mine")


def scores(root: Path) -> dict[tuple[str, str], tuple[float, float]]:
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        works = [work for topic in TOPICS for work in book.assignment_submissions(topic)]
        return {
            (work.student.id, work.assignment.name): (round(work.score, 6), round(work.late_submission_penalty, 6))
            for work in works
        }


def comment(root: Path) -> str:
    with Gradebook(f"sqlite:///{root / 'gradebook.db'}") as book:
        return book.find_comment("self_attention_question", TOPICS[0], TOPICS[0], "ada").manual_comment


def test_it_is_listed_and_keeps_its_grades(old):
    assert "20_smoothing" in output_of(old, "course", "list")
    assert scores(old) == SCORES


@pytest.mark.parametrize(
    "commands",
    [
        [("course", "grade", *TOPICS)],
        pytest.param([("course", "grade", *TOPICS, "--force")], marks=pytest.mark.slow),
        [("nbgrader", "zip_collect", topic, "--force") for topic in TOPICS],
        [("nbgrader", "autograde", topic, "--force") for topic in TOPICS],
        [("nbgrader", "generate_feedback", topic) for topic in TOPICS],
        [("course", "release", "--force")],
    ],
    ids=lambda commands: " ".join(commands[0][:2]) + (" --force" if "--force" in commands[0] else ""),
)
def test_every_command_goes_on_with_it(old, commands):
    """In this order, as a term has it; the gradebook says the same after each."""
    for command in commands:
        output_of(old, *command)
    assert scores(old) == REGRADED
    assert comment(old) == "Say why, too."
