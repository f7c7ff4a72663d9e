"""Split a notebook's code into statements, with their author and names, and find those that an answer depends on."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from course.grading.course_files.cells import SOLUTION_SUFFIX, grade_id
from course.source import UNREADABLE, parsed

COURSE_OWN = frozenset({"check", "fit", "hint", "progress", "load"})
"""The names that notebooks import from the course, which no answer needs to redefine."""


@dataclass(frozen=True)
class Statement:
    """One statement of a cell. `own` says that the student wrote the cell, `of` names the exercise of its cell."""

    node: ast.stmt
    source: str
    own: bool
    of: str
    binds: frozenset[str]
    uses: frozenset[str]

    def line(self, node: ast.AST) -> str:
        """Return the source line of `node`, a part of the statement."""
        lines, number = self.source.splitlines(), getattr(node, "lineno", 1)
        return lines[number - 1].strip()[:160] if number <= len(lines) else ""


def statements(notebook: NotebookNode, locked: Mapping[str, str], given: frozenset[str]) -> list[Statement]:
    """Return the statements of a notebook that can be parsed, in order, with the released source of locked cells."""
    found = []
    for cell in notebook.cells:
        if cell.get("cell_type") != "code":
            continue
        name = grade_id(cell)
        source = locked.get(name, cell.source)
        tree = parsed(source)
        for node in tree.body if tree is not None else ():
            names = _names(node)
            if names is not None:
                own = name not in locked and source not in given
                found.append(Statement(node, source, own, name.removesuffix(SOLUTION_SUFFIX), *names))
    return found


def rests_on(written: Sequence[Statement], exercise: str, others: Iterable[str]) -> list[Statement]:
    """Return the statements of any cell that the answer to an exercise depends on, without the answers to `others`."""
    binding: dict[str, list[Statement]] = defaultdict(list)
    for statement in written:
        for name in statement.binds:
            binding[name].append(statement)
    left_alone = COURSE_OWN | set(others) - {exercise}
    needed = {id(statement) for statement in written if statement.of == exercise}
    waiting = [statement for statement in written if statement.of == exercise]
    while waiting:
        for name in waiting.pop().uses - left_alone:
            new = [statement for statement in binding[name] if id(statement) not in needed]
            needed |= {id(statement) for statement in new}
            waiting += new
    return [statement for statement in written if id(statement) in needed]


def unbound(needed: Iterable[Statement], written: Iterable[Statement]) -> set[str]:
    """Return the names that the `needed` statements use and that no statement of `written` binds."""
    used = set().union(*(statement.uses for statement in needed))
    return used.difference(
        vars(builtins), COURSE_OWN, ("get_ipython", "display"), *(statement.binds for statement in written)
    )


def _names(node: ast.stmt) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return the notebook's names that a statement binds or changes, and those it uses, function bodies included.

    None stands for a statement that is nested too deeply to unparse, because other readers would fail, too.
    """
    try:
        table = symtable.symtable(ast.unparse(node), "cell", "exec")
    except UNREADABLE:
        return None
    binds = {symbol.get_name() for symbol in table.get_symbols() if symbol.is_assigned() or symbol.is_imported()}
    binds |= {root for target in targets(node) if (root := _root(target))}
    return frozenset(binds), frozenset(_used(table))


def _used(table: symtable.SymbolTable) -> set[str]:
    at_top = table.get_type() == "module"
    used = {
        symbol.get_name() for symbol in table.get_symbols() if symbol.is_referenced() and (at_top or symbol.is_global())
    }
    return used.union(*map(_used, table.get_children()))


def imported(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds by importing."""
    imports = (inner for inner in ast.walk(node) if isinstance(inner, ast.Import | ast.ImportFrom))
    return {alias.asname or alias.name.partition(".")[0] for one in imports for alias in one.names}


def targets(node: ast.AST) -> list[ast.expr]:
    """Return the targets of an assignment; none for other nodes."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def _root(node: ast.expr) -> str:
    """Return the name that an expression such as `a.b[c]` begins with, or an empty string."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
