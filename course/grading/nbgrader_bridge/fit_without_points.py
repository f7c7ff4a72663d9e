"""Define the release step that marks exercises without points as optional, or removes them."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.authoring.without_points import mark_optional, without
from course.syllabus import topic_in


class FitWithoutPoints(NbGraderPreprocessor):
    """A step of making a release: it removes the exercises that the course drops, and marks others without points."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Change the notebook of a topic."""
        if (topic := topic_in(resources["nbgrader"]["assignment"])) is not None:
            nb.cells = without(nb.cells, {item.name for item in topic.dropped})
            mark_optional(nb.cells, {item.name for item in topic.items if not item.points})
        return nb, resources
