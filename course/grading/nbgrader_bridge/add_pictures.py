"""The step our course adds to nbgrader's making of a release: widgets get pictures of themselves."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.authoring.widget_pictures import output_of, still_of


class AddStills(NbGraderPreprocessor):
    """Gives the cells of a release that show a widget its picture, where there is one."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Put the picture into the cell's outputs."""
        found = still_of(resources["nbgrader"]["assignment"], cell)
        if found is not None and found.is_file():
            cell.outputs = [output_of(found)]
        return cell, resources
