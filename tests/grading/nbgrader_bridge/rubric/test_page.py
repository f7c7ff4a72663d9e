"""Formgrader's page of a submission: as nbgrader has it but for MathJax, and with a rubric two files more."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbgrader.server_extensions.formgrader.handlers import template_path
from traitlets.config import Config

from course.grading.nbgrader_bridge.configure import configure
from course.grading.nbgrader_bridge.rubric.page import SubmissionPage
from tests.grading.lesson import NAME
from tests.grading.rubric_class import RUBRIC

CELL = {"grade": True, "grade_id": "words", "points": 2, "solution": True, "locked": False, "schema_version": 3}


@pytest.fixture
def about() -> dict[str, object]:
    """What formgrader tells the template of a submission."""
    names = dict.fromkeys(("notebook_id", "submission_id", "student", "last_name", "first_name"), "s")
    return {**names, "assignment_id": NAME, "index": 0, "total": 1, "base_url": "/b", "notebook_path": "n"}


def page(exporter: HTMLExporter, about: dict[str, object], text: str = "Mine.") -> str:
    answer = nbformat.v4.new_markdown_cell(text, metadata={"nbgrader": CELL})
    return exporter.from_notebook_node(nbformat.v4.new_notebook(cells=[answer]), resources=dict(about))[0]


@pytest.mark.parametrize("outline", ["", f"[topics.{NAME}]\n", RUBRIC.replace(f"rubrics.{NAME}", "rubrics.03_rnn")])
def test_without_a_rubric_it_is_nbgraders_page(tmp_path: Path, about: dict[str, object], outline: str) -> None:
    if outline:
        (tmp_path / "course.toml").write_text(outline.replace("[rubrics.03", "[topics.03_rnn]\n[rubrics.03"), "utf-8")
    usual = page(HTMLExporter(template_name="formgrade", extra_template_basedirs=[template_path]), about)
    ours = page(SubmissionPage(tmp_path), about)
    assert "https://" in usual and not re.search("(src|href)=.?(https?:)?//", ours)
    assert without_mathjax(ours) == without_mathjax(usual)


def without_mathjax(page: str) -> str:
    begin, _, rest = page.partition("<!-- Loading mathjax macro -->")
    return begin + rest[rest.index("/b/formgrader/static/css/formgrade.css") :]


def test_with_a_rubric_its_script_follows_formgraders_own(tmp_path: Path, about: dict[str, object]) -> None:
    (tmp_path / "course.toml").write_text(RUBRIC, "utf-8")
    shown = page(SubmissionPage(tmp_path), about)
    head, _, body = shown.partition("</head>")
    assert head.index("js/formgrade.js") < head.index("/b/formgrader/rubric/rubric.js") and "rubric.js" not in body


def test_a_students_script_does_not_run_in_it(tmp_path: Path, about: dict[str, object]) -> None:
    """Formgrader's configuration says so, for nbgrader's page and so for ours, which keeps its own template."""
    config = Config()
    configure(config)
    config.HTMLExporter.template_name = "formgrade"
    (tmp_path / "course.toml").write_text(RUBRIC, "utf-8")
    shown = page(SubmissionPage(tmp_path, config=config), about, "<script>PLANTED()</script>\n\n*Mine.*")
    assert "PLANTED" not in shown and "<em>Mine.</em>" in shown and "rubric.js" in shown
