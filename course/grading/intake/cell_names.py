"""Find the names that a cell binds, mentions and may change, and what its functions do with them.

An assignment is assumed to change only its target: `loss = step(model)` binds `loss` and leaves `model` unchanged. Only
the course's own notebooks guarantee that. The names that cells bind and need are read from any notebook.
"""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from course.source import UNREADABLE, parsed, tree

INDIRECT = frozenset(
    {
        "globals",
        "__globals__",
        "locals",
        "vars",
        "dir",
        "eval",
        "exec",
        "compile",
        "get_ipython",
        "user_ns",
        "f_globals",
        "f_locals",
        "__main__",
        "__name__",
        "In",
        "Out",
        "_oh",
    }
)
"""Ways to reach a name without writing it."""

BINDS_UNSEEN = frozenset({"globals", "__globals__", "exec", "get_ipython", "user_ns", "__main__"})
"""The ways among `INDIRECT` that may also bind a name."""

RUNS = re.compile(r"^[ \t]*%(run|load)\b", re.MULTILINE)
"""Magics that run code from files."""

MOST_STATEMENTS = 500
"""The most statements of a cell that are read one by one, at about 0.4 ms each."""

FOR_SHOW = frozenset({"show", "plt", "print", "display", "hint", "progress", "check", "matplotlib"})
"""A statement that calls one of these, or a method of one, changes nothing that is graded."""

STATELESS = frozenset({"torch", "nn", "F", "math"})
"""A statement that calls a function of these may change its arguments, but no state of theirs except `SETTINGS`."""

SETTINGS = frozenset(
    {
        "set_default_dtype",
        "set_default_device",
        "set_grad_enabled",
        "set_num_threads",
        "use_deterministic_algorithms",
    }
)
"""A cell that calls one of these affects every later cell. Seeds do not: graded code draws from its own generators."""

LOOPS = ast.For | ast.AsyncFor | ast.comprehension

SEEDS = frozenset({"seed", "manual_seed", "manual_seed_all"})
"""Calls that seed random numbers. A cell with only such calls is run before an instructor's own tests."""

COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef

DEFINES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom

NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
"""Syntax nodes that bind the name in their `name` attribute."""


class Effect(NamedTuple):
    """A function or class, the outer names that calling it may change, and the functions that it calls."""

    name: str
    changes: frozenset[str]
    calls: frozenset[str]


@dataclass(frozen=True)
class CellNames:
    """What a cell's text says: whether it `settles` a setting or import for all other cells, and how it uses names.

    Names are mentioned `at_once` if they are read when the cell runs, and `within` if they are read when its functions
    are called. The values of `touched` names may be changed in place, and may have other names as well. Names bound by
    imports are `imported`, and not among those `bound`.
    """

    settles: bool
    at_once: frozenset[str]
    within: frozenset[str]
    bound: frozenset[str]
    touched: frozenset[str]
    imported: frozenset[str]


@dataclass(frozen=True)
class CellCalls:
    """What a closer reading of a cell finds.

    The arguments `given` to any call (and the objects of methods) may be changed, and so may the `effects` of the
    functions `called`. `fixed` names are those of imports, functions and classes. `written` names are bound and never
    read. `seeds` is true if the cell only seeds random numbers.
    """

    seeds: bool
    given: frozenset[str]
    called: frozenset[str]
    fixed: frozenset[str]
    written: frozenset[str]
    effects: tuple[Effect, ...]


@lru_cache(maxsize=2000)
def read_cell(source: str) -> CellNames | None:
    """Return the names of a cell, cached because most cells of a class are the same; None if it is not plain Python."""
    try:
        code = tree(source)
        at_once, within = _mentioned(source, code)
        return CellNames(
            settles=_settles(code),
            at_once=frozenset(at_once | _roundabout(code)),
            within=frozenset(within),
            bound=frozenset(_bound(code)),
            touched=frozenset(_touched(code)),
            imported=frozenset(_imported(code)),
        )
    except UNREADABLE:
        return None


class Part(NamedTuple):
    """Statements of a cell, with the names needed `at_once`, the names needed `later` by callers, and the names bound.

    Parts that only `defines`, such as a function, a class or an import, run without the names needed `later`.
    """

    at_once: frozenset[str]
    later: frozenset[str]
    binds: frozenset[str]
    defines: bool


def read_whole(source: str) -> tuple[Part, ...] | None:
    """Return a cell as one part, which is fast if it is cached; None as for `read_parts`."""
    names = read_cell(source)
    return read_parts(source) if names is None else _as_parts([(names, False)])


@lru_cache(maxsize=2000)
def read_parts(source: str) -> tuple[Part, ...] | None:
    """Return the statements of a cell without magics, or None if it may bind names that its text does not show."""
    code = parsed(source)
    statements = code.body if code else []  # a cell that is not Python does not run
    if RUNS.search(source) or len(statements) > MOST_STATEMENTS:
        return None
    with suppress(*UNREADABLE):
        return _as_parts((read_cell(ast.unparse(one)), isinstance(one, DEFINES)) for one in statements)
    return None


def bound_in(source: str) -> set[str]:
    """Return the names that a cell binds, as far as its text shows."""
    return {name for part in read_parts(source) or () for name in part.binds}


def _as_parts(read: Iterable[tuple[CellNames | None, bool]]) -> tuple[Part, ...] | None:
    parts = []
    for names, defines in read:
        if names is None or "*" in names.imported or (names.at_once | names.within) & BINDS_UNSEEN:
            return None
        parts.append(Part(names.at_once, names.within, names.bound | names.imported, defines))
    return tuple(parts)


@lru_cache(maxsize=2000)
def read_calls(source: str) -> CellCalls:
    """Return the result of the slower, closer reading of a cell, which must be Python."""
    code = tree(source)
    given, called = _calls(code)
    return CellCalls(
        seeds=all(isinstance(statement, ast.Expr) for statement in code.body) and _callees(code) <= SEEDS,
        given=frozenset(given),
        called=frozenset(called),
        fixed=frozenset(_fixed(code)),
        written=frozenset(_written(code)),
        effects=tuple(_effects(code)),
    )


def _settles(tree: ast.Module) -> bool:
    """Return whether a cell affects all other cells, by imports or settings."""
    return bool(_callees(tree) & SETTINGS) or any(
        isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree)
    )


def _callees(tree: ast.AST) -> set[str]:
    """Return the names of all functions and methods that are called somewhere in a cell."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}


def _mentioned(source: str, tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return the names of the notebook's scope that a cell mentions when it runs, and those within its functions.

    Raises:
        SyntaxError: the cell is not plain Python.
    """
    outermost = symtable.symtable(source, "cell", "exec")
    at_once: set[str] = set(outermost.get_identifiers()) - _comprehended(tree)
    within: set[str] = set()
    unseen = [(table, at_once if _has_run(table) else within) for table in outermost.get_children()]
    while unseen:
        table, names = unseen.pop()
        in_class = table.get_type() == "class"  # a class can read an outer name before it binds its own
        symbols = table.get_symbols()
        names |= {one.get_name() for one in symbols if one.is_global() or (in_class and one.is_referenced())}
        unseen += [(inner, names if _has_run(inner) else within) for inner in table.get_children()]
    return at_once, within


def _comprehended(tree: ast.Module) -> set[str]:
    """Return names only used as comprehension variables, which Python 3.12 and later list among the cell's own."""
    variables: set[str] = set()
    others: set[str] = set()
    unseen: list[tuple[ast.AST, frozenset[str]]] = [(tree, frozenset())]  # nodes, and the variables around each
    while unseen:
        node, own = unseen.pop()
        if isinstance(node, COMPREHENSIONS):
            first = node.generators[0].iter  # evaluated in the enclosing scope
            unseen.append((first, own))
            own |= {name for generator in node.generators for name in _names(generator.target)}
            variables |= own
            within = (*ast.iter_child_nodes(node), *ast.iter_child_nodes(node.generators[0]))
            unseen += [(part, own) for part in within if part not in (first, node.generators[0])]
            continue
        others |= {node.id} - own if isinstance(node, ast.Name) else set()
        others |= {node.name or ""} if isinstance(node, NAMED) else set()
        unseen += [(part, own) for part in ast.iter_child_nodes(node)]
    return variables - others


def _roundabout(tree: ast.Module) -> set[str]:
    """Return the names of `INDIRECT` that a cell mentions in a string, an attribute or an import.

    A function with a `global` statement counts as `globals`.
    """
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.alias):
            found.add(node.name)
        elif isinstance(node, ast.Global):
            found.add("globals")
    return found & {"__main__", "__globals__", "globals", "get_ipython", "user_ns", "f_globals", "f_locals"}


def _has_run(table: symtable.SymbolTable) -> bool:
    """Return whether a scope is that of a comprehension, which runs with its cell, unlike a function."""
    return isinstance(table, symtable.Function) and ".0" in table.get_parameters() and table.get_name() != "genexpr"


def _bound(tree: ast.Module) -> set[str]:
    """Return the names that a cell binds or deletes in the notebook's own scope."""
    bound: set[str | None] = set()
    for node in _executed(tree, classes=False):
        if isinstance(node, NAMED):
            bound.add(node.name)
        elif isinstance(node, ast.MatchMapping):
            bound.add(node.rest)
        elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            bound.add(node.id)
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            bound |= set(node.names)
        elif isinstance(node, ast.NamedExpr):
            bound.add(node.target.id)
    return {name for name in bound if name is not None}


def _imported(tree: ast.Module) -> set[str]:
    """Return the names that imports bind in the notebook's own scope, including `*`."""
    imports = (node for node in _executed(tree, classes=False) if isinstance(node, ast.Import | ast.ImportFrom))
    return {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}


def _touched(tree: ast.AST) -> set[str]:
    """Return the names whose values a cell may change in place: assigned into, called for an effect, or passed on."""
    touched: set[str] = set()
    for node in _executed(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            touched.add(_root(node))
        elif isinstance(node, ast.AugAssign):
            touched.add(_root(node.target))
        elif isinstance(node, ast.Expr):
            touched |= _affected(node.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            touched |= {name for decorator in node.decorator_list for name in _names(decorator)}
    loops = [node for node in _executed(tree) if isinstance(node, ast.For | ast.AsyncFor)]
    for loop in reversed(loops):  # inner ones first
        if touched & _names(loop.target):
            touched |= _names(loop.iter)
    return touched


def _calls(code: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names passed to a cell's calls as it runs (with methods' objects), and the names of the callees."""
    given: set[str] = set()
    called: set[str] = set()
    unseen = [code]
    while unseen:
        node = unseen.pop()
        if isinstance(node, ast.Call) and _root(node.func) not in FOR_SHOW:
            receiver = set() if isinstance(node.func, ast.Name) else _names(node.func)
            given |= receiver.union(*(_names(argument) for argument in (*node.args, *node.keywords)))
            called |= {node.func.id} if isinstance(node.func, ast.Name) else {getattr(node.func, "attr", "")}
        unseen += node.decorator_list if isinstance(node, FUNCTIONS) else ast.iter_child_nodes(node)
    for loop in reversed([node for node in ast.walk(code) if isinstance(node, LOOPS)]):  # inner ones first
        if given & _names(loop.target):
            given |= _names(loop.iter)
    return given, called


def _fixed(tree: ast.Module) -> set[str]:
    """Return the names of a cell's imports, functions and classes."""
    functions = {node.name for node in ast.walk(tree) if isinstance(node, FUNCTIONS | ast.ClassDef)}
    return functions | {alias.asname or alias.name.partition(".")[0] for alias in aliases(tree)}


def _written(tree: ast.Module) -> set[str]:
    """Return the names that a cell binds and does not read."""
    names = [part for part in ast.walk(tree) if isinstance(part, ast.Name)]
    return (_bound(tree) | _fixed(tree)) - {part.id for part in names if isinstance(part.ctx, ast.Load)}


def aliases(tree: ast.Module) -> Iterator[ast.alias]:
    """Yield the imports of a cell, with the names that they get."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from node.names


def _effects(tree: ast.Module) -> Iterator[Effect]:
    """Yield the effects of a cell's functions and classes, including those of inner functions."""
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS | ast.ClassDef):
            parts = list(ast.walk(node))
            inner = {part.arg for part in parts if isinstance(part, ast.arg)} | _stored(node)
            outer = {name for part in parts if isinstance(part, ast.Global) for name in part.names}
            touched = (_touched(part) for part in parts if isinstance(part, FUNCTIONS | ast.ClassDef))
            calls = [_calls(part) for part in parts if isinstance(part, ast.Call)]
            changes = set().union(*touched, *(given for given, _ in calls)) - inner
            called = set().union(*(called for _, called in calls))
            yield Effect(node.name, frozenset(changes | outer), frozenset(called))


def _stored(node: ast.AST) -> set[str]:
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)}


def _affected(value: ast.expr) -> set[str]:
    """Return the names that an expression statement may change: its method's object and its arguments."""
    if isinstance(value, ast.ListComp | ast.SetComp | ast.DictComp):
        return _names(value)
    if not isinstance(value, ast.Call) or _root(value.func) in FOR_SHOW:
        return set()
    passed = {name for argument in (*value.args, *value.keywords) for name in _names(argument)}
    receiver = set() if isinstance(value.func, ast.Name) else _names(value.func)
    return passed | receiver


def _executed(tree: ast.AST, classes: bool = True) -> Iterator[ast.AST]:
    """Yield the nodes that run when the cell does, which excludes function bodies and comprehensions' variables.

    Args:
        classes: whether to include the bodies of classes.
    """
    later = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp)
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, later if classes else (*later, ast.ClassDef)):
            yield from _executed(node, classes)


def _names(node: ast.AST) -> set[str]:
    """Return the names in an expression, except of functions that it calls and of `STATELESS` modules that it reads."""
    aside = {id(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    aside |= {
        id(part.value) for part in ast.walk(node) if isinstance(part, ast.Attribute) and _is_stateless(part.value)
    }
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and id(part) not in aside}


def _is_stateless(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id in STATELESS


def _root(node: ast.AST) -> str:
    """Return the name at the start of an expression: `model` in `model.layers[0].weight.data`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
