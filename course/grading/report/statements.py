"""A notebook's code, statement by statement: whose it is, what it binds and uses, and what an answer rests on."""

from __future__ import annotations

import ast
import builtins
import symtable
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from course.grading.cells import SOLUTION_SUFFIX, grade_id
from course.source import UNREADABLE, parsed

COURSE_OWN = frozenset({"check", "fit", "hint", "progress", "load"})
"""What notebooks import from the course, and nobody needs to define anew."""


@dataclass(frozen=True)
class Statement:
    """One statement of a cell. `own` says that the student wrote the cell, `of` whose answer or check it holds."""

    node: ast.stmt
    source: str
    own: bool
    of: str
    binds: frozenset[str]
    uses: frozenset[str]

    def line(self, node: ast.AST) -> str:
        """The line of the cell that a part of the statement stands in."""
        lines, number = self.source.splitlines(), getattr(node, "lineno", 1)
        return lines[number - 1].strip()[:160] if number <= len(lines) else ""


def statements(notebook: NotebookNode, locked: Mapping[str, str], given: frozenset[str]) -> list[Statement]:
    """The statements of a notebook that can be read, in order; locked cells as they were given out."""
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
    """The statements that the answer to an exercise needs, wherever they stand, down to the `others`' answers."""
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
    """The names that some statements use and nothing that is written binds."""
    used = set().union(*(statement.uses for statement in needed))
    return used.difference(
        vars(builtins), COURSE_OWN, ("get_ipython", "display"), *(statement.binds for statement in written)
    )


def _names(node: ast.stmt) -> tuple[frozenset[str], frozenset[str]] | None:
    """The notebook's names that a statement binds or changes, and those that it uses, in functions' bodies, too.

    None of a statement that is nested too deeply to be written out: whatever else reads it would fail alike.
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
    """The names that a statement binds by importing."""
    imports = (inner for inner in ast.walk(node) if isinstance(inner, ast.Import | ast.ImportFrom))
    return {alias.asname or alias.name.partition(".")[0] for one in imports for alias in one.names}


def targets(node: ast.AST) -> list[ast.expr]:
    """Where an assignment writes to."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AugAssign | ast.AnnAssign) else []


def _root(node: ast.expr) -> str:
    """The name that `a.b[c]` begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""
