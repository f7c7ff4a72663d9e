"""What feedback shows of a test that failed: its message, not its text."""

from __future__ import annotations

from typing import Any

from nbgrader import utils
from nbgrader.preprocessors import NbGraderPreprocessor


class ShortTracebacks(NbGraderPreprocessor):
    """In locked grade cells, reduce each traceback to its last line: the lines above quote the hidden test."""

    def preprocess_cell(self, cell: Any, resources: dict, cell_index: int) -> tuple[Any, dict]:
        if cell.cell_type == "code" and utils.is_grade(cell) and utils.is_locked(cell):
            for output in cell.outputs:
                if output.output_type == "error":
                    output.traceback = [f"{output.ename}: {output.evalue}"]
        return cell, resources
