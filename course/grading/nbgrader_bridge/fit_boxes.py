"""Define the release step that fits topic-dependent text boxes to the topics of the class."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.authoring.topic_boxes import fitted
from course.grading.nbgrader_bridge.course_of import course_of


class FitBoxes(NbGraderPreprocessor):
    """A step of making a release: it keeps only the text boxes for this class's topics, and drops cells left empty."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Fit every Markdown cell that is not graded."""
        topics = {topic.folder for topic in course_of(self).topics}
        kept = []
        for cell in nb.cells:
            if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata:
                text = fitted(cell.source, topics)
                if cell.source.strip() and not text.strip():
                    continue
                cell.source = text
            kept.append(cell)
        nb.cells = kept
        return nb, resources
