"""Writes newer.txt: what the PyTorch that is installed here offers and the oldest that the course declares does not.

    pip download --no-deps --only-binary=:all: --platform macosx_11_0_arm64 --python-version 3.11 torch==2.4.1
    python -m tests.oldest.record torch-2.4.1-*.whl

(The smallest of its wheels: only the Python files in it are read.)
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from tests.oldest.reading import Version, folder, wheel

NEWER = Path(__file__).with_name("newer.txt")


def newer(oldest: Path) -> list[str]:
    """Names and parameters that the wheel `oldest` lacks; the parameters of a new function go without saying."""
    spec = find_spec("torch")
    assert spec is not None and spec.origin is not None
    before, now = Version(wheel(oldest)), Version(folder(Path(spec.origin).parents[1])).names()
    known = before.names()
    whole = [name for name in now - known if "(" not in name and not before.is_module(name)]
    partly = [name for name in now - known if "(" in name and name.partition("(")[0] in known]
    return sorted([*whole, *partly])


if __name__ == "__main__":
    (given,) = sys.argv[1:]
    installed = version("torch").split("+")[0]
    found = newer(Path(given))
    NEWER.write_text(
        f"# torch {installed} has these, {Path(given).name.split('-')[1]} has not\n" + "\n".join(found) + "\n"
    )
    print(f"{len(found)} names and parameters")
