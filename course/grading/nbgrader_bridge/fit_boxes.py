"""The step our course adds to nbgrader's making of a release: boxes that suit the topics of the class."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.authoring.topic_boxes import fitted
from course.syllabus import TOPICS


class FitBoxes(NbGraderPreprocessor):
    """Keeps of the boxes that depend on topics those for this class, and drops a cell of which nothing is left."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Fit every Markdown cell that is not graded."""
        topics = {topic.folder for topic in TOPICS}
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
