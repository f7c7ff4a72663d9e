"""Watch an answer run: a copy of its code calls the watcher after each assignment and in each turn of a loop.

This needs no `sys.settrace`, so it works under a debugger, and it ends a loop that has no end.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any

from .outcomes import MOST_EASY, Value, seen

WATCHER = "_see_"
"""The name of the watcher in the copy. Two leading underscores would be mangled in a class."""

MOST_EVENTS, MOST_TURNS = 150, 600
_GROWS = {"append", "extend", "add", "insert", "update", "pop"}


class TooLong(BaseException):
    """A run takes too long. No `except Exception` of the answer stops it."""


@dataclass(frozen=True)
class Event:
    """A line of the answer has set `name` to `value`. Without a name, the body of the loop in `line` begins."""

    line: int
    name: str
    value: Value | None = None


@dataclass
class Watcher:
    """Note what the variables are, and end a loop after `MOST_TURNS` turns."""

    events: list[Event] = field(default_factory=list)
    turns: int = 0

    def __call__(self, line: int, name: str, value: Any) -> None:
        """Note a value. The copy of the answer's code calls this.

        Raises:
            TooLong: a loop has had its turns.
        """
        if not name:
            self.turns += 1
            if self.turns > MOST_TURNS:
                raise TooLong
        if len(self.events) < MOST_EVENTS:
            self.events.append(Event(line, name, seen(value, MOST_EASY) if name else None))


def watched(tree: ast.Module) -> ast.Module:
    """Return the tree with calls of the watcher inserted. It is changed in place."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef)):
            continue
        for part in ("body", "orelse", "finalbody"):
            body = getattr(node, part, None)
            if isinstance(body, list):
                setattr(node, part, [new for old in body for new in (old, *_looks(old))])
        if isinstance(node, (ast.For, ast.While)):
            node.body.insert(0, _look(node.lineno, "", ast.Constant(None)))
    return tree


def _looks(statement: ast.stmt) -> list[ast.stmt]:
    line = statement.end_lineno or statement.lineno
    return [_look(line, name, ast.Name(name, ast.Load())) for name in names_set(statement) if name != "_"]


def names_set(statement: ast.stmt) -> list[str]:
    """Return the names that a statement sets, each once: by assignment, a key or slice, or a method like `append`."""
    if isinstance(statement, ast.Assign):
        targets = [one for target in statement.targets for one in getattr(target, "elts", [target])]
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        targets = [statement.target] if statement.value else []
    elif isinstance(statement, ast.Expr) and isinstance(call := statement.value, ast.Call):
        targets = [call.func.value] if isinstance(call.func, ast.Attribute) and call.func.attr in _GROWS else []
    else:
        return []
    targets = [target.value if isinstance(target, ast.Subscript) else target for target in targets]
    return list(dict.fromkeys(target.id for target in targets if isinstance(target, ast.Name)))


def _look(line: int, name: str, value: ast.expr) -> ast.stmt:
    call = ast.Call(ast.Name(WATCHER, ast.Load()), [ast.Constant(line), ast.Constant(name), value], [])
    return ast.fix_missing_locations(ast.Expr(call))
