"""Define the release step that gives widgets a still picture of themselves."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.authoring.widget_pictures import output_of, still_of


class AddStills(NbGraderPreprocessor):
    """A step of making a release: it gives each cell that shows a widget its picture, where one exists."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Put the widget's picture into the cell's outputs."""
        found = still_of(resources["nbgrader"]["assignment"], cell)
        if found is not None and found.is_file():
            cell.outputs = [output_of(found)]
        return cell, resources
