"""Writes requirements.txt, which Binder installs: `python binder/requirements.py`.

It holds what the notebooks need and what grades them, with all that these bring along, in the versions of
constraints.txt; and the index where PyTorch offers builds without CUDA, a tenth of the size. What a package brings
along is read from what is installed here.
"""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
WRITTEN = ROOT / "binder" / "requirements.txt"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
EXTRAS = ("lab", "grading")


def text() -> str:
    """What requirements.txt should hold."""
    needed = with_dependencies(roots())
    pins = {canonicalize_name(line.split("==")[0]): line for line in constraints()}
    return "\n".join(
        [
            "# Made from constraints.txt: python binder/requirements.py",
            f"--extra-index-url {CPU_INDEX}",
            *(pins[name] for name in sorted(needed & pins.keys())),
            "",
        ]
    )


def roots() -> list[str]:
    """The requirements of the base and of the extras that Binder gets."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = (line for extra in EXTRAS for line in project["optional-dependencies"][extra])
    return [*project["dependencies"], *extras]


def constraints() -> list[str]:
    """The pins of constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return [line for line in lines if re.match(r"[\w.-]+==", line)]


def with_dependencies(names: list[str]) -> set[str]:
    """The canonical names of these requirements and of all that they require in turn, on this platform."""
    found: set[tuple[str, str]] = set()
    unread = [(Requirement(name), "") for name in names]
    while unread:
        one, extra = unread.pop()
        if (key := (canonicalize_name(one.name), extra)) in found:
            continue
        found.add(key)
        for line in requires(one.name) or ():
            needed = Requirement(line)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                unread += [(needed, wanted) for wanted in ("", *needed.extras)]
    return {name for name, _ in found}


if __name__ == "__main__":
    WRITTEN.write_text(text(), "utf-8")
    print(f"{WRITTEN.relative_to(ROOT)}: {text().count('==')} pinned packages")
