"""Names that a cell asks for before the cell that makes them has run, as in a kernel that has just started.

The notebook's file tells which cell makes a name. Without the file, as on Colab, the cell has to be one of the course's
own, which asks for nothing else. Any other missing name may be a slip, whose error shows whole.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType

from ..source import definitions
from ..surroundings import beside_notebook
from .overwritten import calls_in


def what_to_run_first(error: BaseException, tb: TracebackType | None, cell: str) -> list[str]:
    """Say which cell makes the name that `cell` lacks; nothing for other errors, or where no cell may make it."""
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
    in_a_function = not tb.tb_frame.f_code.co_name.startswith("<")  # which hardly means another cell's variable
    if not made or (in_a_function and not made[-1].startswith(("def ", "async def ", "class "))):
        return []
    return [f"`{name}` does not exist yet. Run the cell with this line first, and let it finish.", f"    {made[-1]}"]


def _code_cells() -> list[str]:
    """The code in the notebook's file; of several notebooks beside each other, those that can be read, in a row."""
    found: list[str] = []
    for notebook in sorted(beside_notebook(Path()).glob("*.ipynb")):
        try:
            cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
            found += ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        except (OSError, ValueError, RecursionError, KeyError, TypeError):
            continue
    return found
