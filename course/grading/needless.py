"""Which of the course's own cells need not run for grading: those that show something and that nothing graded needs.

A notebook is full of plots and demonstrations that take most of its time. Of the cells that are exactly as they were
given out, only those run that a graded or a student's cell depends on, directly or through other cells. What depends
on what is read from names: a cell matters if it binds, changes or calls as a statement anything that a cell that
matters mentions. A student's code that reaches for names in other ways than by writing them makes everything run.
"""

from __future__ import annotations

import ast
import symtable
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import lru_cache

from nbformat import NotebookNode

INDIRECT = frozenset({"globals", "locals", "vars", "eval", "exec", "compile", "get_ipython", "__main__", "In", "Out"})
"""Ways to reach a name without writing it."""

FOR_SHOW = frozenset({"show", "plt", "print", "display", "hint", "progress", "check", "matplotlib"})
"""A statement that calls one of these, or something of theirs, changes nothing that is graded."""

SETTINGS = frozenset({"set_default_dtype", "set_default_device", "set_num_threads", "use_deterministic_algorithms"})
"""A cell that calls one of these changes what every later cell does. Seeds are not among them: what is graded draws
from generators of its own."""


def needless(nb: NotebookNode, given: Collection[str]) -> tuple[int, ...]:
    """The indices of the code cells of `nb` that need not run.

    Args:
        given: the sources of the plain code cells the course gave out.
    """
    cells = {index: cell for index, cell in enumerate(nb.cells) if cell.cell_type == "code"}
    read = {index: _read(cell.source) for index, cell in cells.items()}
    shows = {
        index: cell
        for index, cell in read.items()
        if cell is not None and not cell.settles and _is_given(cells[index], given)
    }
    needed: set[str] = set()
    for index in cells.keys() - shows.keys():
        cell = read[index]
        if cell is None:
            if _is_given(cells[index], given) or not cells[index].source.strip():
                continue
            return ()  # not Python as it stands: magics, or an unfinished line
        needed |= cell.mentioned
    if needed & INDIRECT:
        return ()
    while matter := [index for index, cell in shows.items() if cell.changed & needed]:
        for index in matter:
            needed |= shows.pop(index).mentioned
    return tuple(shows)


@dataclass(frozen=True)
class _Cell:
    """What a cell's text says: whether it settles something for all others, and the names it mentions and changes."""

    settles: bool
    mentioned: frozenset[str]
    changed: frozenset[str]


@lru_cache(maxsize=2000)
def _read(source: str) -> _Cell | None:
    """A cell read once, as most are the same in all notebooks of a class; None if it is not Python as it stands."""
    try:
        tree = ast.parse(source)
        mentioned = _mentioned(source)
    except SyntaxError:
        return None
    return _Cell(_settles(tree), frozenset(mentioned), frozenset(_changed(tree)))


def _is_given(cell: NotebookNode, given: Collection[str]) -> bool:
    return "nbgrader" not in cell.metadata and cell.source in given


def _settles(tree: ast.Module) -> bool:
    """Whether a cell changes the world for all others: imports, and settings."""
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    names = {call.attr if isinstance(call, ast.Attribute) else getattr(call, "id", "") for call in calls}
    return bool(names & SETTINGS) or any(isinstance(node, ast.Import | ast.ImportFrom) for node in ast.walk(tree))


def _mentioned(source: str) -> set[str]:
    """The names of the notebook's own scope that a cell mentions, in its functions too."""
    names: set[str] = set()
    unseen = [symtable.symtable(source, "cell", "exec")]
    while unseen:
        table = unseen.pop()
        unseen += table.get_children()
        outermost = table.get_type() == "module"
        names |= {symbol.get_name() for symbol in table.get_symbols() if outermost or symbol.is_global()}
    return names


def _changed(tree: ast.Module) -> set[str]:
    """The names a cell binds, deletes, assigns into, or calls for an effect."""
    changed: set[str] = set()
    for node in _executed(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            changed.add(node.name)
        elif isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and not isinstance(node.ctx, ast.Load):
            changed.add(_root(node))
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            changed |= _affected(node.value)
    return changed - {""}


def _executed(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run when the cell does: not those within functions, nor the variables of comprehensions."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ListComp | ast.GeneratorExp):
            yield from _executed(node)


def _affected(call: ast.Call) -> set[str]:
    """What a call as a statement may change: the object it is a method of, and its arguments."""
    root = _root(call.func)
    if root in FOR_SHOW:
        return set()
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    receiver = {root} if isinstance(call.func, ast.Attribute) else set()
    return receiver | {_root(argument) for argument in arguments if not isinstance(argument, ast.Call)}


def _root(node: ast.AST) -> str:
    """The name an expression starts from: `model` of `model.layers[0].weight.data`."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""
