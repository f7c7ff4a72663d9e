"""Find stale verdicts: those on exercises whose tests have changed.

The tests of an exercise are what its declaration and its reference come to: their own source and that of all they use
in `hidden` and `reference`, its points, and what all exercises share (`exercise`, `judge`, `data`). Comments and layout
are no part of it, nor are the tests of other exercises, nor the rest of the course.
"""

from __future__ import annotations

import ast
import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache, partial
from pathlib import Path, PurePath

import course
from course.grading.freshness.import_graph import data_files, imports, statements
from course.grading.freshness.kept_hashes import once_a_state
from course.source import tree
from course.syllabus import Item, Topic, find_item

SHARED = ("exercise", "judge", "data", "source.py")
"""Folders, and a file, that every exercise's tests rest on."""

TELLING = ("judge/report.py", "judge/points.py")
"""What only puts a verdict into words."""

Place = tuple[str, str]
"""A module, seen from `course`, and a name in it: ("hidden/rnn/rnn_cell.py", "rnn_cell")."""


@cache
def tests_of(name: str, package: Path | None = None) -> str:
    """A name for the state of an exercise's tests; `package` is the course's folder, by default that in use.

    Raises:
        KeyError: the syllabus has no such exercise.
    """
    package = package or Path(course.__file__).parent
    topic, item = find_item(name)
    file = _declaring(topic, name)
    asked = f"tests of {item} in {file}".encode() + (Path(file).read_bytes() if topic.own else b"")
    return once_a_state(package, asked, partial(_tests_of, package, (file, name), item))


def _tests_of(package: Path, start: Place, item: Item) -> str:
    digest = hashlib.sha256(f"{item}{_shared_by_all(package)}".encode())
    for source in sorted(_closure(package, start)):
        digest.update(source.encode())
    return digest.hexdigest()[:16]


def _declaring(topic: Topic, name: str) -> str:
    """The module that declares an exercise, as seen from the package."""
    if not topic.own:
        return f"hidden/{topic.name}/{name}.py"
    from course.hidden import own_tests

    return str(own_tests(topic).resolve())


@cache
def _shared_by_all(package: Path) -> str:
    """A name for the state of what all exercises share."""
    digest = hashlib.sha256()
    for path in sorted(path for place in SHARED for path in _modules(package / place)):
        relative = path.relative_to(package).as_posix()
        if relative not in TELLING:
            digest.update(f"{relative}\0{ast.dump(tree(path.read_bytes()))}".encode())
    for path in data_files(package):
        digest.update(path.relative_to(package).as_posix().encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _modules(place: Path) -> list[Path]:
    return [place] if place.suffix == ".py" else list(place.rglob("*.py"))


def _closure(package: Path, start: Place) -> set[str]:
    """The sources of all statements that the definition at `start` rests on."""
    waiting, seen, sources = [start], {start}, set()
    while waiting:
        file, name = waiting.pop()
        module = module_of(package, file)
        for statement in module.about.get(name, ()):
            where = "own" if Path(file).is_absolute() else file
            sources.add(f"{where}\0{_source(statement, name)}")
            for place in module.used_by(statement):
                if place not in seen and PurePath(place[0]).parts[0] not in SHARED:
                    seen.add(place)
                    waiting.append(place)
    return sources


def _source(statement: ast.stmt, name: str) -> str:
    """What a statement says about `name`: of an import, only where that one comes from."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        found = [alias for alias in statement.names if name in (alias.asname, alias.name.partition(".")[0])]
        return f"{getattr(statement, 'module', '')}: {[ast.dump(alias) for alias in found]}"
    return ast.dump(statement)


class _Module:
    """A module's statements by the names they define or are about, and where its imports lead."""

    def __init__(self, package: Path, file: str) -> None:
        self.file = file
        self.about: dict[str, list[ast.stmt]] = defaultdict(list)
        self.modules: dict[str, str] = {}
        self.imported: dict[str, Place] = {}
        for one in imports(package, file):
            if one.attribute:
                self.imported[one.name] = (one.file, one.attribute)
            else:
                self.modules[one.name] = one.file
        for statement in statements(package, file).body:
            for name in _names(statement):
                self.about[name].append(statement)

    def used_by(self, statement: ast.stmt) -> Iterator[Place]:
        """The places a statement refers to, here and in the modules it imports."""
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.modules:
                yield self.modules[node.value.id], node.attr
            elif isinstance(node, ast.Name):
                yield self.imported.get(node.id, (self.file, node.id))


@cache
def module_of(package: Path, file: str) -> _Module:
    """Read a module of the package once."""
    return _Module(package, file)


def _names(statement: ast.stmt) -> Collection[str]:
    """The names a top-level statement defines, and those it adds to: a misconception adds to its exercise.

    So may a function that is given the exercise.
    """
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name, *map(_root, statement.decorator_list)}
    if isinstance(statement, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.partition(".")[0] for alias in statement.names}
    names = {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    given = {argument.id for call in calls for argument in call.args if isinstance(argument, ast.Name)}
    return names | given | {_root(call) for call in calls}


def _root(node: ast.expr) -> str:
    """The name that `name.misconception(...)(...)` begins with; empty when a plain function is called."""
    below = False
    while isinstance(node, ast.Call | ast.Attribute):
        below = below or isinstance(node, ast.Attribute)
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if below and isinstance(node, ast.Name) else ""
