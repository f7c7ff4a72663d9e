"""Prints the tables of the modules named on the command line, or of all."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path


def table(rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest entry; the first to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        first, *rest = (f"{entry:<{w}}" if not i else f"{entry:>{w}}" for i, (entry, w) in enumerate(zip(row, widths)))
        lines.append("  ".join([first, *rest]))
    return "\n".join(lines)


def main(names: Sequence[str]) -> None:
    """Measure and print, one table after the other."""
    every = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
    for name in names or every:
        if name not in every:
            sys.exit(f"there is no bench {name!r}; there are {', '.join(every)}")
        module = import_module(f"bench.{name}")
        print(f"\n{(module.__doc__ or name).splitlines()[0]}\n\n{table(list(module.rows()))}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
