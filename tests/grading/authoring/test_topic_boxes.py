"""Boxes that depend on topics: what a class reads, and what an author has to mend."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from traitlets.config import Config

from course.course import Course
from course.grading.authoring.topic_boxes import faults, fitted
from course.grading.nbgrader_bridge.course_of import hand_on
from course.grading.nbgrader_bridge.fit_boxes import FitBoxes
from course.syllabus import OURS
from tests.original import find_topic

CONTRIBUTING = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text("utf-8")
(TEXT,) = re.findall(r"```markdown box\n(.*?)\n```", CONTRIBUTING, re.S)
KNOWN = {topic.folder for topic in OURS}
HERE, THERE = "> In topic 05, $Q$ and $K$ were widths.", "> Other texts use $Q$ and $K$ for widths."


@pytest.mark.parametrize(
    ("text", "topics", "left"),
    [
        (TEXT, KNOWN, HERE),
        (TEXT, {"06_self_attention"}, THERE),
        (f"Before.\n\n{TEXT}\n\nAfter.", KNOWN, f"Before.\n\n{HERE}\n\nAfter."),
        ("<!-- needs: 03_rnn, 04_lstm_gru -->\nTwo\nlines.\n\nAfter.", {"03_rnn"}, "After."),
        ("<!-- needs: 03_rnn, 04_lstm_gru -->\nTwo\nlines.\n\nAfter.", KNOWN, "Two\nlines.\n\nAfter."),
        ("<!-- without: 03_rnn, 04_lstm_gru -->\nOne.", {"03_rnn"}, "One."),
        ("A <!-- comment -->\n\n\n    code", set(), "A <!-- comment -->\n\n\n    code"),
    ],
)
def test_a_class_reads_the_boxes_for_its_topics(text: str, topics: set[str], left: str) -> None:
    assert fitted(text, topics) == left


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (TEXT, ""),
        (
            "<!-- needs: 05_bahdanau -->\nText.",
            "'05_bahdanau', which is no topic. Did you mean '05_bah",
        ),
        ("<!--needs: 03_rnn-->\nText.", "a mark is the first line of a paragraph"),
        ("<!-- needs: 03_rnn --> Text.", "a mark is the first line of a paragraph"),
        ("Text.\n<!-- needs: 03_rnn -->\nText.", "a mark is the first line of a paragraph"),
        ("> <!-- without: 03_rnn -->", "a mark is the first line of a paragraph"),
    ],
)
def test_a_mark_that_cannot_be_followed_is_told(text: str, fault: str) -> None:
    said = list(faults(text, KNOWN))
    assert [fault in one for one in said] == ([True] if fault else [])


def test_a_release_has_no_cell_of_which_nothing_is_left() -> None:
    config = Config()
    hand_on(config, Course(topics=(find_topic("06"),)))
    graded = new_markdown_cell("<!-- needs: 05_bahdanau_attention -->\nAn answer.")
    graded.metadata["nbgrader"] = {"grade": True}
    boxes = [new_markdown_cell(f"{TEXT}\n\nAfter."), new_markdown_cell(f"<!-- needs: 03_rnn -->\n{HERE}")]
    cells = [*boxes, new_markdown_cell(""), graded]
    notebook, _ = FitBoxes(config=config).preprocess(new_notebook(cells=cells), {})
    assert [cell.source for cell in notebook.cells] == [f"{THERE}\n\nAfter.", "", graded.source]


def test_our_own_releases_have_no_marks() -> None:
    root = Path(__file__).parents[3]
    for topic in OURS:
        released = nbformat.read(root / "assignments" / topic.folder / f"{topic.folder}.ipynb", as_version=4)
        assert not [cell for cell in released.cells if re.search("<!-- (needs|without)", cell.source)]
