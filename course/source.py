"""Source text as statements: a module's, or a student's cell, whatever was written there."""

from __future__ import annotations

import ast
import re

MARK, STUB = "# YOUR CODE HERE", "raise NotImplementedError()"
"""The two lines that nbgrader puts in place of a solution."""

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, SystemError)
"""What reading somebody's code may end with."""

_MAGIC = re.compile(r"^([ \t]*)(?:(?:\w[\w, ]*=[ \t]*)?[%!](?:.*\\\n)*.*|\?{1,2}[\w.*]+|[\w.*]+\?{1,2})$", re.MULTILINE)
"""`%time f()`, `!ls`, `files = !ls`, `?f` and `f??`, each on a line of its own; a backslash at its end
goes on with the next."""


def tree(source: str | bytes) -> ast.Module:
    """The statements of a module that reads so.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: `source` is no Python, or too much of it.
    """
    try:
        return ast.parse(source)
    except SystemError:  # Python before 3.11.8, when collected garbage has something parsed meanwhile (gh-106905)
        return ast.parse(source)


def is_stub(source: str) -> bool:
    """Whether it is as it was given out: nothing written yet."""
    lines = [line.strip() for line in source.splitlines()]
    return MARK in lines and STUB in lines


def parsed(source: str) -> ast.Module | None:
    """A cell's code, magics passed over, every line at its number; None where it is no Python."""
    for reading in (str, _without_magics):
        try:
            return tree(reading(source))
        except UNREADABLE:
            continue
    return None


def definitions(source: str) -> dict[str, str]:
    """Return the names that a cell defines, each with the lines of its last definition."""
    lines, found = source.split("\n"), parsed(source)
    return {
        name: "\n".join(lines[statement.lineno - 1 : statement.end_lineno])
        for statement in (found.body if found else ())
        for name in _defined_by(statement)
    }


def _defined_by(statement: ast.stmt) -> set[str]:
    """Return the names that a statement defines: its function or class, or whatever it assigns to."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {statement.name}
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def _without_magics(source: str) -> str:
    """The same lines, with `pass` for what only IPython understands."""
    return _MAGIC.sub(lambda magic: f"{magic[1]}pass" + "\n" * magic[0].count("\n"), source)
