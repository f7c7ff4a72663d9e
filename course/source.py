"""Parse source text into statements: a module's, or a student's cell, which may contain anything."""

from __future__ import annotations

import ast
import re

MARK, STUB = "# YOUR CODE HERE", "raise NotImplementedError()"
"""The two lines that nbgrader puts in place of a solution."""

UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, SystemError)
"""Errors that parsing a student's code may raise."""

_MAGIC = re.compile(r"^([ \t]*)(?:(?:\w[\w, ]*=[ \t]*)?[%!](?:.*\\\n)*.*|\?{1,2}[\w.*]+|[\w.*]+\?{1,2})$", re.MULTILINE)
"""IPython's syntax on a line of its own: `%time f()`, `!ls`, `files = !ls`, `?f` and `f??`. A backslash at its end
continues it on the next line."""


def tree(source: str | bytes) -> ast.Module:
    """Parse the source of a module.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: `source` is not valid Python, or too large.
    """
    try:
        return ast.parse(source)
    except SystemError:  # Python before 3.11.8, if the garbage collector parses code meanwhile (gh-106905)
        return ast.parse(source)


def is_stub(source: str) -> bool:
    """Return whether a solution cell is unchanged since its release."""
    lines = [line.strip() for line in source.splitlines()]
    return MARK in lines and STUB in lines


def parsed(source: str) -> ast.Module | None:
    """Parse a cell's code with magics removed and line numbers kept. Return None if it is not valid Python."""
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
    """Replace lines that only IPython understands by `pass`."""
    return _MAGIC.sub(lambda magic: f"{magic[1]}pass" + "\n" * magic[0].count("\n"), source)
