"""Imports point one way, and notebooks know only the course's public side."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import course
from course.grading.lint import imported_modules

PACKAGE = Path(course.__file__).parent
ROOT = PACKAGE.parent

# What each part may know besides itself, the syllabus, which is plain data, and how source text is read. The public
# side (data, show, blocks) knows nothing of how exercises are tested; the judge is handed exercises and never looks for
# them in hidden.
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": {"notebook", "data", "show", "blocks"},
    "__main__": {"cli"},
    "outline": set(),
    "syllabus": {"outline"},
    "source": set(),
    "blocks": set(),
    "data": set(),
    "show": {"blocks", "data"},
    "exercise": set(),
    "reference": {"exercise"},
    "hidden": {"exercise", "outline", "reference", "data"},
    "judge": {"exercise"},
    "notebook": {"exercise", "judge", "data", "hidden", "blocks"},
    "grading": {"exercise", "judge", "hidden", "data", "notebook", "outline"},
    "cli": {"grading", "outline"},
}


def _modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "keys" not in path.parts)


def _part(path: Path) -> str:
    relative = path.relative_to(PACKAGE)
    return relative.parts[0].removesuffix(".py")


def _imports(path: Path) -> Iterator[str]:
    """Dotted names of all imports in `path`, relative ones and `import_module("...")` resolved."""
    tree = ast.parse(path.read_text("utf-8"))
    yield from imported_modules(tree)
    package = ("course", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = [*package[: len(package) - node.level + 1], *(node.module or "").split(".")]
            yield from (".".join([*filter(None, base), alias.name]) for alias in node.names)
        elif isinstance(node, ast.Call) and "import_module" in ast.unparse(node.func):
            yield from (str(argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant))


def _parts_imported(path: Path) -> set[str]:
    names = (name.split(".") for name in _imports(path))
    parts = {name[1] for name in names if name[0] == "course" and len(name) > 1}
    return {part for part in parts if (PACKAGE / part).is_dir() or (PACKAGE / f"{part}.py").is_file()}


def test_every_part_has_its_place() -> None:
    assert {_part(path) for path in _modules()} <= set(MAY_IMPORT)


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_one_way(path: Path) -> None:
    part = _part(path)
    forbidden = _parts_imported(path) - MAY_IMPORT[part] - {part, "syllabus", "source"}
    assert not forbidden, f"{part} may not import {', '.join(sorted(forbidden))}"


def test_relative_imports_are_seen() -> None:
    seen = _parts_imported(PACKAGE / "hidden" / "__init__.py")
    assert {"exercise", "syllabus"} <= seen


def test_importing_the_course_stays_light() -> None:
    """What a notebook's first line loads: no data set library, no plots, no grader."""
    code = "import sys, course; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    heavy = {"datasets", "pandas", "matplotlib", "sklearn", "nbgrader", "nbformat", "jupytext", "ipywidgets"}
    assert not heavy & set(loaded.stdout.split())


def test_notebooks_import_only_what_students_have() -> None:
    allowed = {"course", "torch", "numpy", "matplotlib", "einops", "datasets", "ipywidgets", "safetensors"}
    allowed |= sys.stdlib_module_names
    private = {"exercise", "judge", "grading", "hidden", "reference", "cli"}
    for source in sorted((ROOT / "solutions").glob("*.py")):
        for name in imported_modules(ast.parse(source.read_text("utf-8"))):
            first, *rest = name.split(".")
            assert first in allowed, f"{source.name} imports {name}"
            assert first != "course" or rest[0] not in private, f"{source.name} imports {name}"
