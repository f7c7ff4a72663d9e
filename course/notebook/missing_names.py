"""Say which cell to run first if a cell uses a name that no executed cell has made, as after a kernel restart.

The notebook's file shows which cell makes a name. Without the file, as on Colab, the failing cell must call a function
of the course, because those use only names from earlier cells. Other missing names may be typos, shown in full.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

from ..source import definitions
from ..surroundings import beside_notebook
from .overwritten import calls_in


def what_to_run_first(error: BaseException, tb: TracebackType | None, cell: str) -> list[str]:
    """Say which cell makes the name that `cell` lacks. Empty for other errors, or if no cell makes it."""
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    name = getattr(error, "name", None)
    if tb is None or type(error) is not NameError or not name or tb.tb_frame.f_globals.get("__name__") != "__main__":
        return []
    cells = _code_cells()
    if not cells and (calls_in(cell) or "show." in cell):
        return [f"`{name}` does not exist yet. Run the cell that makes it first, and let it finish."]
    above = cells[: cells.index(cell)] if cell in cells else cells
    made = [found[name].split("\n")[0] for found in map(definitions, above) if name in found]
    in_a_function = not tb.tb_frame.f_code.co_name.startswith("<")  # a function rarely uses another cell's variable
    if not made or (in_a_function and not made[-1].startswith(("def ", "async def ", "class "))):
        return []
    return [f"`{name}` does not exist yet. Run the cell with this line first, and let it finish.", f"    {made[-1]}"]


def _code_cells() -> list[str]:
    """Return the code cells in the notebook's file. If there are several notebooks, join those that can be read."""
    found: list[str] = []
    for notebook in sorted(beside_notebook(Path()).glob("*.ipynb")):
        try:
            cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
            found += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            continue
    return found
