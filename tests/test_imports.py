"""Imports point one way, and notebooks know only the course's public side."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import course
from course.grading.release.lint import imported_modules

PACKAGE = Path(course.__file__).parent
ROOT = PACKAGE.parent

# What each stage of the work in course/grading may know besides itself. It knows nothing of what comes later. Reports,
# exports and the demo may look at everything else, never at each other. What talks to platforms also knows exports.
STAGE_MAY_IMPORT: dict[str, set[str]] = {
    "gradebook": set(),
    "sandbox": set(),
    "course_files": {"gradebook"},
    "machine": {"sandbox"},
    "kernels": {"sandbox"},
    "intake": {"course_files"},
    "execution": {"course_files", "intake", "kernels", "machine", "sandbox"},
    "nbgrader_bridge": {"course_files", "execution", "gradebook", "intake", "machine", "sandbox"},
    "release": {"course_files", "execution", "gradebook", "intake", "machine", "nbgrader_bridge"},
    "self_study": {"course_files", "execution", "intake", "release"},
}
STAGE_MAY_IMPORT["classroom"] = {"kernels", "sandbox", "release"} | STAGE_MAY_IMPORT["release"]
STAGE_MAY_IMPORT["viva"] = {"classroom"} | STAGE_MAY_IMPORT["classroom"]
STAGE_MAY_IMPORT |= {name: set(STAGE_MAY_IMPORT) - {"self_study"} for name in ("report", "export", "demo")}
STAGE_MAY_IMPORT["lms"] = {"export"} | STAGE_MAY_IMPORT["export"]

NEVER: dict[str, set[str]] = {
    "sandbox": {"hidden", "reference", "judge"},
    "kernels": {"hidden", "reference", "judge"},
    "intake": {"hidden", "reference"},
}
"""What a stage may not know of the course itself: what reads hostile input stays small, what forks knows no test."""

CALLS_NBGRADER = {"nbgrader_bridge", "gradebook", "release", "classroom", "intake/arrival_time.py"}
"""Stages that import nbgrader, and the one call elsewhere, which reads a time stamp as nbgrader does."""

# What each part may know besides itself, the syllabus, which is plain data, and how source text is read. The public
# side (data, show, blocks) knows nothing of how exercises are tested; the judge is handed exercises and never looks for
# them in hidden.
MAY_IMPORT: dict[str, set[str]] = {
    "__init__": {"notebook", "data", "show", "blocks"},
    "__main__": {"cli"},
    "syllabus": set(),
    "clock": set(),
    "outline": {"clock"},
    "problem": set(),
    "course": {"outline"},
    "study_paths": set(),
    "source": set(),
    "files": set(),
    "surroundings": set(),
    "edition": set(),
    "blocks": set(),
    "data": set(),
    "show": {"blocks", "data"},
    "exercise": set(),
    "questions": set(),
    "reference": {"exercise", "data"},
    "hidden": {"exercise", "course", "outline", "reference", "data"},
    "judge": {"exercise"},
    "notebook": {
        *("exercise", "judge", "questions", "data", "hidden", "blocks", "show"),
        *("study_paths", "course", "outline"),
    },
    "grading": {
        *("exercise", "judge", "questions", "hidden", "data", "notebook"),
        *("clock", "course", "outline", "edition", "study_paths", "problem"),
    },
    "cli": {"grading", "course", "outline", "study_paths", "problem"},
}


EVERYWHERE = {"syllabus", "source", "files", "surroundings"}
"""Parts that every other one may know."""


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
    forbidden = _parts_imported(path) - MAY_IMPORT[part] - {part, *EVERYWHERE}
    assert not forbidden, f"{part} may not import {', '.join(sorted(forbidden))}"


GRADING = PACKAGE / "grading"


def _stage(path: Path) -> str:
    return path.relative_to(GRADING).parts[0].removesuffix(".py")


def _stages_imported(path: Path) -> set[str]:
    names = (name.split(".") for name in _imports(path))
    stages = {name[2] for name in names if name[:2] == ["course", "grading"] and len(name) > 2}
    return {stage for stage in stages if (GRADING / stage).is_dir() or (GRADING / f"{stage}.py").is_file()}


@pytest.mark.parametrize("path", sorted(GRADING.rglob("*.py")), ids=lambda path: str(path.relative_to(GRADING)))
def test_stages_of_grading_know_what_comes_before_them(path: Path) -> None:
    stage = _stage(path)
    if path == GRADING / "__init__.py":
        return
    assert stage in STAGE_MAY_IMPORT, f"{stage} has no row"
    forbidden = _stages_imported(path) - STAGE_MAY_IMPORT[stage] - {stage}
    assert not forbidden, f"{stage} may not import {', '.join(sorted(forbidden))}"
    assert not _parts_imported(path) & NEVER.get(stage, set())


def test_no_stage_of_grading_leads_back_to_itself() -> None:
    leads: dict[str, set[str]] = {}
    for path in GRADING.rglob("*.py"):
        leads.setdefault(_stage(path), set()).update(_stages_imported(path) - {_stage(path)})

    def reached(stage: str, seen: set[str]) -> set[str]:
        for other in leads.get(stage, set()) - seen:
            seen.add(other)
            reached(other, seen)
        return seen

    assert [stage for stage in leads if stage in reached(stage, set())] == []


def test_nbgrader_is_called_in_few_places() -> None:
    for path in GRADING.rglob("*.py"):
        if any(name.partition(".")[0] == "nbgrader" for name in _imports(path)):
            assert {_stage(path), path.relative_to(GRADING).as_posix()} & CALLS_NBGRADER, path


def test_relative_imports_are_seen() -> None:
    seen = _parts_imported(PACKAGE / "hidden" / "__init__.py")
    assert {"exercise", "syllabus"} <= seen


def test_topics_share_only_their_scaffolds() -> None:
    """Fingerprints name the state of a topic's tests by its own folder and by all scaffolds."""
    for path in (PACKAGE / "hidden").glob("*/*.py"):
        for name in _imports(path):
            topic, *module = name.removeprefix("course.hidden.").split(".")
            if topic != path.parent.name and (PACKAGE / "hidden" / topic).is_dir():
                assert module[0] == "scaffold", path


def test_one_module_knows_how_to_tell_colab() -> None:
    knowing = [path for path in _modules() if "COLAB_RELEASE_TAG" in path.read_text("utf-8")]
    assert [_part(path) for path in knowing] == ["surroundings"]


def test_notebooks_import_only_what_students_have() -> None:
    allowed = {"course", "torch", "numpy", "matplotlib", "einops", "datasets", "ipywidgets", "safetensors"}
    allowed |= sys.stdlib_module_names
    private = {"exercise", "judge", "grading", "hidden", "reference", "cli"}
    for source in sorted((ROOT / "solutions").glob("*.py")):
        for name in imported_modules(ast.parse(source.read_text("utf-8"))):
            first, *rest = name.split(".")
            assert first in allowed, f"{source.name} imports {name}"
            assert first != "course" or rest[0] not in private, f"{source.name} imports {name}"


PRIVATE = re.compile(r"(^|\.)_[a-z]")
FOREIGN = "NotebookRun._get_timeout"
"""A name that nbclient chose, and our class has of it."""


def _private_names(tree: ast.Module) -> Iterator[str]:
    """Private names of the course that a module imports, reaches for, or replaces by `monkeypatch.setattr`."""
    froms = (node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    imported = [alias for node in froms if (node.module or "").partition(".")[0] == "course" for alias in node.names]
    yield from (alias.name for alias in imported if PRIVATE.search(alias.name))
    ours = {"course", *(alias.asname or alias.name for alias in imported)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            written = ast.unparse(node)
        elif isinstance(node, ast.Call) and ast.unparse(node.func) == "monkeypatch.setattr":
            written = ".".join(map(ast.unparse, node.args[:2])).replace("'", "")
        else:
            continue
        if written.partition(".")[0] in ours and PRIVATE.search(written) and not written.endswith(FOREIGN):
            yield written


@pytest.mark.parametrize("folder", ["tests", "bench", "website"])
def test_tests_use_the_public_names_of_the_course(folder: str) -> None:
    for path in sorted((ROOT / folder).rglob("*.py")):
        found = sorted(_private_names(ast.parse(path.read_text("utf-8"))))
        assert not found, f"{path.relative_to(ROOT)} uses {', '.join(found)}. Use or make a public name."
