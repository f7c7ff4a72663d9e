"""The settings of nbclient with which nbgrader executes notebooks."""

from __future__ import annotations

from typing import Any

from nbformat import NotebookNode


def _tell_error(cell: NotebookNode, execute_reply: dict[str, Any], **_: Any) -> None:
    """Add the error of a cell's reply to its outputs if they lack it, as they do after a timeout."""
    reply = execute_reply["content"]
    if reply["status"] != "error" or reply["ename"] in {output.get("ename") for output in cell.outputs}:
        return
    traceback = reply["traceback"] or [f"{reply['ename']}: the notebook has turned tracebacks off"]
    cell.outputs.append(
        NotebookNode(output_type="error", ename=reply["ename"], evalue=reply["evalue"], traceback=traceback)
    )


AS_NBGRADER: dict[str, Any] = {
    "allow_errors": True,
    "interrupt_on_timeout": True,
    "raise_on_iopub_timeout": True,
    "error_on_timeout": {
        "ename": "CellTimeoutError",
        "evalue": "",
        "traceback": ["\x1b[0;31mCellTimeoutError\x1b[0m: the cell did not come to an end in time"],
    },
    "on_cell_executed": _tell_error,
}
"""The traits that nbgrader sets on nbclient's client by default."""
