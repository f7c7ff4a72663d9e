"""The student edition: with COURSE_EDITION=student, a wheel with answer keys instead of references and hidden tests."""

from __future__ import annotations

import os
import re
import sys
import zipfile
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path, PurePath
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

KEYS = "course/keys"
RELEASED = "assignments"
UNUSED = "course/grading"
"""What no answer key depends on."""


def _table() -> Any:
    """`course/edition.py`, which says what the student's wheel holds: read alone, as the package imports more."""
    spec = spec_from_file_location("edition", Path(__file__).parent / "course" / "edition.py")
    table = module_from_spec(spec)
    spec.loader.exec_module(table)
    return table


class ReadmeHook(MetadataHookInterface):
    """README.md as a package index shows it, where nothing lies beside it: with absolute links."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Put the text into the package's metadata."""
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text, metadata["urls"]["Source"])}


def absolute(text: str, source: str) -> str:
    """`text` whose links to files lead to the repository at `source`."""
    return re.sub(r"\]\((?!https?:|#)([^)]+)\)", rf"]({source}/blob/main/\1)", text)


class EditionHook(BuildHookInterface):
    """Puts the released notebooks into a wheel. The student's has answer keys in place of what answers the exercises.

    `course wheel` makes those beforehand.
    """

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Choose the files, or fail with one sentence that says what to do."""
        edition = os.environ.get("COURSE_EDITION", "")
        if edition not in ("", "student"):
            raise SystemExit(f"COURSE_EDITION is {edition!r}; the only edition that goes by a name is 'student'")
        self.student = edition == "student"
        if self.target_name == "wheel" and version != "editable":
            build_data["force_include"].update(released(Path(self.root)))
        if not self.student:
            return
        if self.target_name != "wheel" or version == "editable":
            raise SystemExit("the student edition is a wheel only: an sdist or an editable install holds the solutions")
        demand_keys(Path(self.root))
        self.build_config.target_config["exclude"] = [f"/{name}" for name in _left_out(Path(self.root))]
        for group in _table().GRADERS_ENTRY_POINTS:
            self.metadata.core.entry_points.pop(group, None)
        build_data["force_include"][str(Path(self.root, KEYS))] = KEYS

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Look into the wheel that was made: better none than one with a solution in it."""
        if not self.student:
            return
        with zipfile.ZipFile(artifact_path) as wheel:  # closed before it is deleted, as Windows demands
            names = wheel.namelist()
        inside = (PurePath(name).relative_to("course") for name in names if name.startswith("course/"))
        table = _table()
        leaked = [
            f"course/{path}"
            for path in inside
            if path.parts[0] not in (table.KEYS, table.NOTEBOOKS) and not table.is_held(path, table.STUDENTS)
        ]
        if leaked:
            Path(artifact_path).unlink()
            raise SystemExit(f"the student wheel would have held {leaked[0]}, so it was deleted")


def _left_out(root: Path) -> list[str]:
    """The files of the package that students do not get, as seen from the repository."""
    table, package = _table(), root / "course"
    files = (path.relative_to(package) for path in package.rglob("*") if path.is_file())
    return [f"course/{path.as_posix()}" for path in files if not table.is_held(path, table.STUDENTS)]


def released(root: Path) -> dict[str, str]:
    """The released notebooks and what belongs to all of them, each with its place in the wheel.

    Raises:
        SystemExit: somebody has run one of them, and it may hold answers.
    """
    folder, place = root / RELEASED, f"course/{_table().NOTEBOOKS}"
    files = [path for path in sorted(folder.glob("*")) if path.suffix in (".ipynb", ".svg", ".md")]
    files += [path for path in sorted(folder.glob("*/*.ipynb")) if path.stem == path.parent.name]
    for path in files:
        if path.suffix == ".ipynb" and re.search(r'"execution_count": \d', path.read_text("utf-8")):
            raise SystemExit(f"{path} has been run and may hold answers: move it away and run `course release` first")
    return {str(path): f"{place}/{path.relative_to(folder).as_posix()}" for path in files}


def _topics(root: Path) -> tuple[Any, ...]:
    """The topics of the package in `root`, whatever other course is installed."""
    sys.path.insert(0, str(root))
    try:
        from course.course import find_course
    finally:
        sys.path.remove(str(root))
    return find_course(root).topics


def demand_keys(root: Path) -> None:
    """Raise where the answer key of a topic is missing."""
    missing = [topic.name for topic in _topics(root) if not (root / KEYS / f"{topic.name}.key").is_file()]
    if missing:
        raise SystemExit(
            f"{KEYS} holds no answer key for {', '.join(missing)}: "
            "build the student wheel with `course wheel`, which makes the keys"
        )
    made = min(path.stat().st_mtime_ns for path in (root / KEYS).glob("*.key"))
    if any(path.stat().st_mtime_ns > made for path in _sources(root)):
        raise SystemExit(f"{KEYS} is older than the exercises: build the student wheel with `course wheel`")


def _sources(root: Path) -> Iterator[Path]:
    """What the answer keys are made from: references, hidden tests, and all that these use and are run by."""
    for path in (root / "course").rglob("*"):
        if path.suffix in (".py", ".safetensors") and not path.is_relative_to(root / UNUSED):
            yield path
