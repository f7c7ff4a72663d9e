"""The names that a cell binds, mentions and may change, and what its functions do with them.

An assignment is taken for what it says: `loss = step(model)` binds `loss` and leaves `model` alone. The course's own
notebooks keep to that, and only they are to be read like this. What cells bind and need is read of any notebook.
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
"""Those ways that may bind a name as well."""

RUNS = re.compile(r"^[ \t]*%(run|load)\b", re.MULTILINE)
"""Magics that run code from elsewhere."""

MOST_STATEMENTS = 500
"""Statements of a cell that are read one by one, at about 0.4 ms each."""

FOR_SHOW = frozenset({"show", "plt", "print", "display", "hint", "progress", "check", "matplotlib"})
"""A statement that calls one of these, or something of theirs, changes nothing that is graded."""

STATELESS = frozenset({"torch", "nn", "F", "math"})
"""A statement that calls something of these may change its arguments, and nothing of theirs but `SETTINGS`."""

SETTINGS = frozenset(
    {
        "set_default_dtype",
        "set_default_device",
        "set_grad_enabled",
        "set_num_threads",
        "use_deterministic_algorithms",
    }
)
"""A cell that calls one of these changes what every later cell does. Seeds are not among them: what is graded draws
from generators of its own."""

LOOPS = ast.For | ast.AsyncFor | ast.comprehension

SEEDS = frozenset({"seed", "manual_seed", "manual_seed_all"})
"""Calls that set where random numbers begin. A cell of nothing else is run before an instructor's own tests."""

COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef

DEFINES = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Import | ast.ImportFrom

NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.ExceptHandler | ast.MatchAs | ast.MatchStar
"""What binds a name that is written in it."""


class Effect(NamedTuple):
    """A function or class, the names from outside that calling it may change, and what it calls itself."""

    name: str
    changes: frozenset[str]
    calls: frozenset[str]


@dataclass(frozen=True)
class CellNames:
    """What a cell's text says: whether it settles something for all others, and what it does with which names.

    What it mentions `at_once` it reads as it runs; what it mentions `within` functions, whenever they are called. What
    `touched` names stand for it may have changed in place, and that may have other names as well. The names that
    imports bind are `imported`, and not among those `bound`.
    """

    settles: bool
    at_once: frozenset[str]
    within: frozenset[str]
    bound: frozenset[str]
    touched: frozenset[str]
    imported: frozenset[str]


@dataclass(frozen=True)
class CellCalls:
    """What else a cell's text says to who reads it more carefully.

    What is `given` to any call, methods included, may have changed, and so may what the functions `called` have as
    their `effects`. `fixed` names are those of imports, functions and classes, and `written` are names that it binds
    and never reads. It may do nothing but set a seed for random numbers.
    """

    seeds: bool
    given: frozenset[str]
    called: frozenset[str]
    fixed: frozenset[str]
    written: frozenset[str]
    effects: tuple[Effect, ...]


@lru_cache(maxsize=2000)
def read_cell(source: str) -> CellNames | None:
    """A cell read once, as most are the same in all notebooks of a class; None if it is not Python as it stands."""
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
    """Statements of a cell, by their names: needed `at_once`, needed `later` by who calls what they bind, and bound.

    What only `defines`, such as a function, a class or an import, is complete without what it needs `later`.
    """

    at_once: frozenset[str]
    later: frozenset[str]
    binds: frozenset[str]
    defines: bool


def read_whole(source: str) -> tuple[Part, ...] | None:
    """Return a cell as one part, which is quick where it was read before; None as for `read_parts`."""
    names = read_cell(source)
    return read_parts(source) if names is None else _as_parts([(names, False)])


@lru_cache(maxsize=2000)
def read_parts(source: str) -> tuple[Part, ...] | None:
    """Return the statements of a cell, magics passed over; None where it may bind names that nobody sees."""
    code = parsed(source)
    statements = code.body if code else []  # what is no Python does not run
    if RUNS.search(source) or len(statements) > MOST_STATEMENTS:
        return None
    with suppress(*UNREADABLE):
        return _as_parts((read_cell(ast.unparse(one)), isinstance(one, DEFINES)) for one in statements)
    return None


def bound_in(source: str) -> set[str]:
    """The names that a cell binds, as far as its text shows it."""
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
    """A cell that is Python, read more carefully, which takes longer."""
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
    """Whether a cell changes the world for all others: imports, and settings."""
    return bool(_callees(tree) & SETTINGS) or any(
        isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree)
    )


def _callees(tree: ast.AST) -> set[str]:
    """The names of all functions and methods that are called somewhere in a cell."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}


def _mentioned(source: str, tree: ast.Module) -> tuple[set[str], set[str]]:
    """The names of the notebook's own scope that a cell mentions: as it runs, and within functions and classes.

    Raises:
        SyntaxError: the cell is not Python as it stands.
    """
    outermost = symtable.symtable(source, "cell", "exec")
    at_once: set[str] = set(outermost.get_identifiers()) - _comprehended(tree)
    within: set[str] = set()
    unseen = [(table, at_once if _has_run(table) else within) for table in outermost.get_children()]
    while unseen:
        table, names = unseen.pop()
        in_class = table.get_type() == "class"  # where a name can be the outer one first, and then the class's own
        symbols = table.get_symbols()
        names |= {one.get_name() for one in symbols if one.is_global() or (in_class and one.is_referenced())}
        unseen += [(inner, names if _has_run(inner) else within) for inner in table.get_children()]
    return at_once, within


def _comprehended(tree: ast.Module) -> set[str]:
    """Names that only variables of comprehensions have: Python 3.12 and later list them with the cell's own."""
    variables: set[str] = set()
    others: set[str] = set()
    unseen: list[tuple[ast.AST, frozenset[str]]] = [(tree, frozenset())]  # each with the variables it has around it
    while unseen:
        node, own = unseen.pop()
        if isinstance(node, COMPREHENSIONS):
            first = node.generators[0].iter  # is looked up outside
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
    """What a cell mentions of `INDIRECT` in other places than as a name: in a string, an attribute, an import.

    A function that binds global names does what `globals` can do.
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
    """Whether a scope is that of a comprehension, which has run when its cell has, as functions need not have."""
    return isinstance(table, symtable.Function) and ".0" in table.get_parameters() and table.get_name() != "genexpr"


def _bound(tree: ast.Module) -> set[str]:
    """The names a cell binds or deletes in the notebook's own scope."""
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
    """The names that imports bind in the notebook's own scope, `*` among them."""
    imports = (node for node in _executed(tree, classes=False) if isinstance(node, ast.Import | ast.ImportFrom))
    return {alias.asname or alias.name.partition(".")[0] for node in imports for alias in node.names}


def _touched(tree: ast.AST) -> set[str]:
    """The names of what a cell may change in place: assigned into, called for an effect, or passed to such a call."""
    touched: set[str] = set()
    for node in _executed(tree):
        if isinstance(node, ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            touched.add(_root(node))
        elif isinstance(node, ast.AugAssign):
            touched.add(_root(node.target))
        elif isinstance(node, ast.Expr):
            touched |= _affected(node.value)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            touched |= {name for decorator in node.decorator_list for name in _names(decorator)} - STATELESS
    loops = [node for node in _executed(tree) if isinstance(node, ast.For | ast.AsyncFor)]
    for loop in reversed(loops):  # inner ones first
        if touched & _names(loop.target):
            touched |= _names(loop.iter)
    return touched


def _calls(code: ast.AST) -> tuple[set[str], set[str]]:
    """What is given to the calls of a cell as it runs, receivers of methods included, and what they call by name."""
    given: set[str] = set()
    called: set[str] = set()
    unseen = [code]
    while unseen:
        node = unseen.pop()
        if isinstance(node, ast.Call) and _root(node.func) not in FOR_SHOW:
            receiver = set() if isinstance(node.func, ast.Name) else _names(node.func) - STATELESS
            given |= receiver.union(*(_names(argument) for argument in (*node.args, *node.keywords)))
            called |= {node.func.id} if isinstance(node.func, ast.Name) else {getattr(node.func, "attr", "")}
        unseen += node.decorator_list if isinstance(node, FUNCTIONS) else ast.iter_child_nodes(node)
    for loop in reversed([node for node in ast.walk(code) if isinstance(node, LOOPS)]):  # inner ones first
        if given & _names(loop.target):
            given |= _names(loop.iter)
    return given, called


def _fixed(tree: ast.Module) -> set[str]:
    """The names of a cell's imports, functions and classes."""
    functions = {node.name for node in ast.walk(tree) if isinstance(node, FUNCTIONS | ast.ClassDef)}
    return functions | {alias.asname or alias.name.partition(".")[0] for alias in aliases(tree)}


def _written(tree: ast.Module) -> set[str]:
    """The names that a cell binds and does not read."""
    names = [part for part in ast.walk(tree) if isinstance(part, ast.Name)]
    return (_bound(tree) | _fixed(tree)) - {part.id for part in names if isinstance(part.ctx, ast.Load)}


def aliases(tree: ast.Module) -> Iterator[ast.alias]:
    """What a cell imports, each as it is called there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from node.names


def _effects(tree: ast.Module) -> Iterator[Effect]:
    """What the functions and classes of a cell may change, by any of the functions in them."""
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
    """What an expression as a statement may change: the object it calls a method of, and all it passes on."""
    if isinstance(value, ast.ListComp | ast.SetComp | ast.DictComp):
        return _names(value)
    if not isinstance(value, ast.Call) or _root(value.func) in FOR_SHOW:
        return set()
    passed = {name for argument in (*value.args, *value.keywords) for name in _names(argument)}
    receiver = set() if isinstance(value.func, ast.Name) else _names(value.func)
    return passed | receiver - STATELESS


def _executed(tree: ast.AST, classes: bool = True) -> Iterator[ast.AST]:
    """The nodes that run when the cell does: not those within functions, nor the variables of comprehensions.

    Args:
        classes: whether those in the bodies of classes are among them.
    """
    later = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ListComp, ast.GeneratorExp)
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, later if classes else (*later, ast.ClassDef)):
            yield from _executed(node, classes)


def _names(node: ast.AST) -> set[str]:
    """The names in an expression, but for those of the functions it calls."""
    called = {id(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
    return {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and id(part) not in called}


def _root(node: ast.AST) -> str:
    """The name an expression starts from: `model` of `model.layers[0].weight.data`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
