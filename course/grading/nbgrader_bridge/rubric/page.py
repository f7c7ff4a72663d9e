"""Export formgrader's page of a submission, which works offline and shows the topic's rubrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbformat import NotebookNode
from nbgrader.server_extensions.formgrader.handlers import template_path

from course.grading.nbgrader_bridge.feedback_page import DARK
from course.grading.nbgrader_bridge.rubric.handlers import rubrics_of
from course.outline import Faulty

TEMPLATES = Path(__file__).parent / "templates"


class SubmissionPage(HTMLExporter):
    """nbgrader's page of the course in `root`, without MathJax, and with a script and a style for rubrics."""

    def __init__(self, root: Path, **options: Any) -> None:
        super().__init__(
            template_name="rubric",
            extra_template_basedirs=[str(TEMPLATES), template_path],
            extra_template_paths=[template_path],
            **options,
        )
        self._root = root

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        """Export `nb` as the page and return the page with its resources."""
        resources = dict(resources or {})
        try:
            has_rubric = bool(rubrics_of(self._root, resources.get("assignment_id", "")))
        except Faulty:  # the page says what is wrong
            has_rubric = True
        if has_rubric:
            resources["rubric_style"] = DARK
        return super().from_notebook_node(nb, resources, **options)
