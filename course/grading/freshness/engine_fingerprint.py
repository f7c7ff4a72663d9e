"""The fingerprint of all that decides results: tests, course, what executes a notebook, Python and torch.

What only reports, exports or saves is no part of it, nor are docstrings and comments: whoever edits those has no class
executed again.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Iterable
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path

import course
from course.grading.freshness.import_graph import OWN, data_files, reached
from course.grading.freshness.kept_hashes import once_a_state
from course.source import tree
from course.syllabus import OUTLINE, TOPICS, Topic

BESIDE = ("cli.py", "__main__.py", "keys", "__pycache__")
"""What decides nothing."""

SHARED = tuple(f"{folder}/__init__.py" for folder in OWN)
"""What the tests of all topics go through."""

EXECUTION = ("grading/execution/execute.py", "grading/kernel_edition.py")
"""Where executing a notebook begins: of the grading machine, what these lead to decides a result."""

STARTED_BY_NAME = ("grading/kernels", "grading/sandbox")
"""Folders whose modules are programs of their own, which no import leads to."""


@cache
def fingerprint(topics: frozenset[str]) -> str:
    """A name for all that decides the results of notebooks on these topics, beside the notebooks themselves."""
    package = Path(course.__file__).parent
    about = [f"{sys.version_info[:2]} torch {version('torch')} {sorted(topics)}".encode(), *_of_the_instructor(topics)]
    asked = b"".join(about)
    return once_a_state(package, asked, partial(_fingerprint, package, topics, asked))


def _fingerprint(package: Path, topics: frozenset[str], asked: bytes) -> str:
    digest = hashlib.sha256(asked)
    for path in sorted(decisive_files(package, topics)):
        content = path.read_bytes()
        said = _said(content) if path.suffix == ".py" else hashlib.sha256(content).digest()
        digest.update(path.relative_to(package).as_posix().encode() + said)
    return digest.hexdigest()[:16]


@cache
def _said(source: bytes) -> bytes:
    """A hash of a module's statements without docstrings."""
    with suppress(SyntaxError, ValueError):
        source = ast.dump(_without_docstrings(tree(source))).encode()
    return hashlib.sha256(source).digest()


def _without_docstrings(module: ast.Module) -> ast.Module:
    for node in ast.walk(module):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and body:
            first = body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = body[1:] or [ast.Pass()]
    return module


def _of_the_instructor(topics: frozenset[str]) -> Iterable[bytes]:
    """Exercises and points, and the tests of the instructor's own topics; dates and lateness decide no result."""
    if OUTLINE is None:
        return
    for topic in TOPICS:
        if topic.name in topics:
            yield repr(topic.items).encode()
            if topic.own and topic.judged and not OUTLINE.carried:
                yield _own_tests(topic).read_bytes()


def modules_of(topic: Topic) -> list[str]:
    """The modules that hold a topic's tests and reference, as seen from the package, whether or not they are there."""
    if not topic.own:
        return [f"reference/{topic.name}.py", *(f"hidden/{topic.name}/{item.name}.py" for item in topic.judged)]
    here = topic.judged and OUTLINE is not None and not OUTLINE.carried
    return [str(_own_tests(topic).resolve())] if here else []


def _own_tests(topic: Topic) -> Path:
    assert OUTLINE is not None, "only a course of an instructor's own has topics of its own"
    return OUTLINE.own_folder(topic.folder) / "hidden.py"


def decisive_files(package: Path, topics: frozenset[str]) -> Iterable[Path]:
    """What decides the results of these topics: of the folders with a module for each, what theirs rest on."""
    tests = reached(package, (file for topic in TOPICS if topic.name in topics for file in modules_of(topic)))
    machine = reached(package, (*EXECUTION, *_programs(package)), within=("grading",))
    for path in package.rglob("*.py"):
        relative = path.relative_to(package)
        name, part = relative.as_posix(), relative.parts[0]
        spared = part in OWN and name not in tests and name not in SHARED
        spared = spared or (part == "grading" and name not in machine)
        if not spared and not set(BESIDE) & set(relative.parts):
            yield path
    yield from data_files(package)


def _programs(package: Path) -> Iterable[str]:
    for folder in STARTED_BY_NAME:
        yield from (path.relative_to(package).as_posix() for path in (package / folder).glob("*.py"))
