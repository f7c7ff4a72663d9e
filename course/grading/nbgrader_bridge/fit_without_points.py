"""Define the release step that marks exercises without points as optional, or removes them."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.authoring.without_points import mark_optional, without
from course.grading.nbgrader_bridge.course_of import course_of


class FitWithoutPoints(NbGraderPreprocessor):
    """A step of making a release: it removes the exercises that the course drops, and marks others without points."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Change the notebook of a topic."""
        topic = course_of(self).topic_in(resources["nbgrader"]["assignment"])
        if topic is not None:
            nb.cells = without(nb.cells, {item.name for item in topic.dropped})
            mark_optional(nb.cells, {item.name for item in topic.items if not item.points})
        return nb, resources
