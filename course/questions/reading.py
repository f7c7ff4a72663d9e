"""Find the text of an answer in the texts of a notebook's cells, without executing any, and write a setup for it.

`gathering.py` does the same for a function that exists. Here nothing exists yet, because the code may be hostile.
"""

from __future__ import annotations

import ast
import builtins
import re
import symtable
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ..source import UNREADABLE, parsed
from .executing import INGREDIENTS
from .gathering import MOST_CONSTANT
from .subject import MOST_TEXT, Unaskable

MOST_CELL = 4 * MOST_TEXT
"""Characters of a cell that is read at all."""

_MADE = {"range", "list", "dict", "set", "tuple", "len", "sorted", "frozenset", "min", "max", "sum", "zip", "enumerate"}
"""Functions of Python that an assignment in the setup may call. Those of imported modules may be called, too."""


@dataclass
class _Binding:
    """A statement that binds a name."""

    text: str
    node: ast.stmt

    @property
    def is_definition(self) -> bool:
        """Return whether it defines a function or class."""
        return isinstance(self.node, (ast.FunctionDef, ast.ClassDef))

    @cached_property
    def needs(self) -> set[str]:
        """Return the names that it uses and does not bind itself."""
        try:
            module = symtable.symtable(self.text, "<cell>", "exec")
        except UNREADABLE:
            return set()
        tables = [module]
        for table in tables:
            tables += table.get_children()
        inner = {symbol.get_name() for table in tables[1:] for symbol in table.get_symbols() if symbol.is_global()}
        return inner | {symbol.get_name() for symbol in module.get_symbols() if symbol.is_referenced()}


def read(
    cells: Iterable[str], name: str, is_given: Callable[[str], bool], calls: Iterable[str] = ()
) -> tuple[str, str, str]:
    """Return the name that an answer was defined under, its source and its setup, as `gathered` returns the last two.

    Args:
        cells: the code of the notebook, in order, up to where the answer is checked.
        name: what the answer is called there, which may be another name for a function or class.
        is_given: whether a definition of this name belongs to the setup.
        calls: what will be called. The setup also defines the names in them.

    Raises:
        Unaskable: no cell defines the answer as a function or class.
    """
    names = _bindings(cells)
    source, setup, done, is_quick = list[str](), ["import torch"], set[str](), _Quick(names)

    def define(name: str, is_mine: bool) -> None:
        if name in done or name not in names or not is_quick(name):
            return
        done.add(name)
        binding = names[name]
        is_mine = is_mine and binding.is_definition
        for other in sorted(binding.needs - done):
            define(other, is_mine and not is_given(other))
        (source if is_mine else setup).append(binding.text)

    name = _original(name, names)
    define(name, True)
    for other in sorted({called for call in calls for called in re.findall(r"\b[A-Za-z_]\w*(?=\()", call)} - done):
        if other not in INGREDIENTS:
            define(other, False)
    return name, "\n\n".join(source), "\n".join(dict.fromkeys(setup))


def _bindings(cells: Iterable[str]) -> dict[str, _Binding]:
    """Return the last statement that binds each name, of those at the top level of a cell."""
    return {name: binding for cell in cells for name, binding in _bindings_of(cell)}


@lru_cache(maxsize=256)
def _bindings_of(cell: str) -> tuple[tuple[str, _Binding], ...]:
    """Return the bindings of one cell, cached because it is read for each exercise below it."""
    lines, tree = cell.split("\n"), parsed(cell) if len(cell) <= MOST_CELL else None
    statements = tree.body if tree else []
    return tuple((name, _Binding(text, one)) for one in statements for name, text in _bound(one, lines))


def _bound(statement: ast.stmt, lines: list[str]) -> Iterable[tuple[str, str]]:
    """Yield the names that a statement binds, each with the text that does so."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        first = min([statement.lineno, *(decorator.lineno for decorator in statement.decorator_list)])
        yield statement.name, "\n".join(lines[first - 1 : statement.end_lineno]).rstrip() + "\n"
    elif isinstance(statement, (ast.Import, ast.ImportFrom)):
        for alias in statement.names:
            one = f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else "")
            origin = f"from {statement.module or '.'} " if isinstance(statement, ast.ImportFrom) else ""
            yield alias.asname or alias.name.split(".")[0], origin + one
    elif not isinstance(statement, ast.Expr):
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id, "\n".join(lines[statement.lineno - 1 : statement.end_lineno])


def _original(name: str, names: dict[str, _Binding]) -> str:
    """Return the name of the function or class that a name stands for, after assignments such as `softmax = mine`."""
    for _ in range(len(names)):
        binding = names.get(name)
        if binding is None or binding.is_definition:
            break
        value = binding.node.value if isinstance(binding.node, ast.Assign) else None
        if not isinstance(value, ast.Name):
            break
        name = value.id
    if name not in names or not names[name].is_definition:
        raise Unaskable("it was not written as a function or class in a cell of this notebook")
    return name


class _Quick:
    """Tells whether a name can be in a setup: a definition, an import, or an assignment that loads and trains nothing.

    What such an assignment uses must be of the same sort.
    """

    def __init__(self, names: Mapping[str, _Binding]) -> None:
        self.names, self._known = names, dict[str, bool]()

    def __call__(self, name: str) -> bool:
        """Return whether a name can be in a setup, or is Python's own."""
        if name not in self.names:
            return hasattr(builtins, name)
        if name not in self._known:
            self._known[name] = False  # as long as it is not known, for a statement that uses its own name
            self._known[name] = self._is_quick(self.names[name])
        return self._known[name]

    def _is_quick(self, binding: _Binding) -> bool:
        if binding.is_definition or isinstance(binding.node, (ast.Import, ast.ImportFrom)):
            return True
        if not isinstance(binding.node, (ast.Assign, ast.AnnAssign)) or len(binding.text) > MOST_CONSTANT:
            return False
        roots = (_root(node.func) for node in ast.walk(binding.node) if isinstance(node, ast.Call))
        return all(root in _MADE or _is_library(self.names.get(root)) for root in roots) and all(
            map(self, sorted(binding.needs))
        )


def _root(function: ast.expr) -> str:
    while isinstance(function, (ast.Attribute, ast.Call, ast.Subscript)):
        function = function.func if isinstance(function, ast.Call) else function.value
    return function.id if isinstance(function, ast.Name) else ""


def _is_library(binding: _Binding | None) -> bool:
    """Return whether a name is imported from elsewhere than the course, whose functions may load a corpus."""
    node = binding.node if binding else None
    origins = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
    origins += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
    return bool(origins) and not any(origin.split(".")[0] == "course" for origin in origins)
