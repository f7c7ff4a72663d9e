"""Find code that works around a forbidden call by reaching it where the judge does not look.

The judge reads an answer's own cell and watches the calls that the answer makes. This module reads all code that an
answer depends on, other cells included. It looks for names built at run time, for torch's private parts, and for code
that runs unwatched. The judge decides by values, so such code may have earned points; a person has to judge its intent.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from types import ModuleType
from typing import Any

from course.exercise.watch import forbidden_in_source, resolve
from course.grading.report.statements import Statement, rests_on, unbound

Noticed = tuple[str, str]
"""A description of what was noticed, and its line of code."""

AS_CODE = frozenset({"exec", "eval", "compile"})
RUNS_CELLS = frozenset({"run_cell", "run_cell_async", "run_code", "run_line_magic", "run_cell_magic", "ex", "ev"})
"""IPython's methods that run text as code."""

UNWATCHED = ("torch.ops", "torch.jit", "torch.compile", "torch.export", "torch.fx")
"""Modules in which torch runs code that bypasses the watched functions."""

HARMLESS = frozenset({"__version__", "__name__", "__doc__", "__file__"})


def detours(
    written: Sequence[Statement], exercise: str, forbidden: Sequence[str], others: Iterable[str]
) -> Iterator[Noticed]:
    """Yield the workarounds in a student's answer to an exercise and in the code that it depends on.

    Args:
        written: the statements of the whole notebook.
        forbidden: the calls that the exercise forbids; if there are none, nothing is yielded.
        others: the names of the notebook's other exercises, whose answers are examined separately.
    """
    if not forbidden:
        return
    known = notebook_names(written)
    needed = rests_on(written, exercise, others)
    if unbound(needed, written):  # code run from a string may bind these names
        needed = [*needed, *(one for one in written if one not in needed and any(as_text(one, known)))]
    for statement in needed:
        if statement.own:
            with suppress(RecursionError):  # the code was parsed on a shallower call stack
                reader = _Reader(statement, {**known, **aliases([statement.node], known)}, forbidden, exercise)
                yield from reader.read()
                yield from as_text(statement, known)


def as_text(statement: Statement, known: Mapping[str, str]) -> Iterator[Noticed]:
    """Yield each place where a statement runs a string as code or imports by a string, which cannot be analysed."""
    for node in ast.walk(statement.node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known:
            if node.id == "__import__":
                yield "imports a module by a string: __import__", statement.line(node)
        elif isinstance(node, ast.Call):
            called = node.func
            name = called.id if isinstance(called, ast.Name) else dotted(called, known).removeprefix("builtins.")
            if name in AS_CODE and not (isinstance(called, ast.Name) and called.id in known):
                yield f"runs a string as code: {name}", statement.line(node)
            elif name == "importlib.import_module":
                yield "imports a module by a string: importlib.import_module", statement.line(node)
            elif isinstance(called, ast.Attribute) and called.attr in RUNS_CELLS and "get_ipython" in ast.dump(called):
                yield f"runs a string as code: get_ipython().{called.attr}", statement.line(node)


def notebook_names(written: Sequence[Statement]) -> dict[str, str]:
    """Return the full names that a notebook's global names stand for, ignoring function and class bodies."""
    own = {node.name: "" for node in (one.node for one in written) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return {**own, **aliases(one.node for one in written if not isinstance(one.node, ast.FunctionDef | ast.ClassDef))}


def aliases(nodes: Iterable[ast.AST], known: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return what names stand for, by imports and assignments: `{"F": "torch.nn.functional", "mine": ""}`.

    An empty string stands for anything that the notebook defines itself.
    """
    found = dict(known or {})
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                found[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found[target.id] = dotted(node.value, found)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = ""
    return found


def dotted(node: ast.AST, known: Mapping[str, str]) -> str:
    """Return the full name that an expression spells, such as `torch.nn.functional.softmax`, or an empty string."""
    if isinstance(node, ast.Name):
        return known.get(node.id, "")
    if isinstance(node, ast.Attribute) and (owner := dotted(node.value, known)):
        return f"{owner}.{node.attr}"
    return ""


def folded(node: ast.AST) -> str | None:
    """Return the string that constants make, as in `"soft" + "max"`, `"xam"[::-1]`, `"".join([...])`, or None."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return _joined([part.value if isinstance(part, ast.FormattedValue) else part for part in node.values])
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _joined([node.left, node.right])
    if isinstance(node, ast.Subscript) and ast.unparse(node.slice) == "::-1":
        text = folded(node.value)
        return None if text is None else text[::-1]
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join" and node.args:
        parts = node.args[0]
        return _joined(parts.elts, folded(node.func.value)) if isinstance(parts, ast.List | ast.Tuple) else None
    return None


def _joined(nodes: Sequence[ast.AST], between: str | None = "") -> str | None:
    texts = [folded(node) for node in nodes]
    return between.join(text or "" for text in texts) if between is not None and None not in texts else None


class _Reader(ast.NodeVisitor):
    """A visitor that collects in `found` the workarounds in a statement."""

    def __init__(self, statement: Statement, known: Mapping[str, str], forbidden: Sequence[str], exercise: str) -> None:
        self.statement, self.known, self.forbidden = statement, known, forbidden
        self.is_task = exercise.endswith("_task")
        functions, layers = resolve(forbidden)
        self.functions = [function for some in functions.values() for function in some]
        self.layers = tuple(kind for kinds in layers.values() for kind in kinds)
        self.last = {name.rpartition(".")[2] for name in forbidden}
        self.found: list[Noticed] = []

    def read(self) -> list[Noticed]:
        """Return all that is noticed, without duplicates."""
        self.visit(self.statement.node)
        told = {line for _, line in self.found}
        for name in forbidden_in_source(ast.unparse(self.statement.node), self.forbidden):
            lines = self.statement.source.splitlines()
            line = next((line.strip()[:160] for line in lines if name in line), "")
            if line not in told:
                self.found.append((f"{name} is forbidden here, and the code that the answer calls uses it", line))
        return list(dict.fromkeys(self.found))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if name := dotted(node, self.known):
            self._judge(name, node)
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load) and (name := self.known.get(node.id, "")):
            self._judge(name, node)

    def visit_Call(self, node: ast.Call) -> None:
        called = node.func.id if isinstance(node.func, ast.Name) else dotted(node.func, self.known)
        if called == "getattr" and len(node.args) > 1:
            self._picked(node, dotted(node.args[0], self.known), folded(node.args[1]))
        elif called == "vars" and node.args and _is_torchs(dotted(node.args[0], self.known)):
            self._note(f"looks names up in {ast.unparse(node)[:60]}", node)
        elif called in ("operator.attrgetter", "operator.methodcaller") and node.args:
            self._picked(node, "", folded(node.args[0]))
        self.generic_visit(node)

    def _picked(self, node: ast.Call, owner: str, name: str | None) -> None:
        """Note `getattr(owner, name)` if `owner` is torch's or `name` is forbidden; a run-time `name` is None."""
        if _is_torchs(owner):
            if name is None:
                self._note(f"chooses an attribute of {owner} at run time", node)
            else:
                self._judge(f"{owner}.{name}", node)
        elif name in self.last:
            self._note(f"gets {name}, forbidden here, by a string", node)

    def _judge(self, name: str, node: ast.AST) -> None:
        if not _is_torchs(name):
            return
        _, *parts = name.split(".")
        beside = next((place for place in UNWATCHED if f"{name}.".startswith(f"{place}.")), "")
        if any(part.startswith("_") and part not in HARMLESS for part in parts):
            self._note(f"uses {name}, which is private to torch", node)
        elif beside == "torch.ops" or (beside and not self.is_task):
            self._note(f"uses {name}, where calls are not watched", node)
        elif self._is_forbidden(_found(name)) and not self._seen(node):
            self._note(f"{name} is forbidden here, and is called under another name", node)

    def _is_forbidden(self, thing: Any) -> bool:
        if isinstance(thing, type):
            return bool(self.layers) and issubclass(thing, self.layers)
        return thing is not None and any(thing is function for function in self.functions)

    def _seen(self, node: ast.AST) -> bool:
        """Whether the code names the forbidden call directly, so that `read` reports it under that name."""
        return bool(forbidden_in_source(ast.unparse(node), self.forbidden))

    def _note(self, what: str, node: ast.AST) -> None:
        self.found.append((what, self.statement.line(node)))


def _is_torchs(name: str) -> bool:
    return name == "torch" or name.startswith(("torch.", "course.blocks"))


def _found(name: str) -> Any:
    """Return the object of a full name if its module is loaded, else None; this imports and creates nothing."""
    first, *path = name.split(".")
    thing: Any = sys.modules.get(first)
    for part in path:
        if isinstance(thing, ModuleType):
            thing = vars(thing).get(part)
        elif isinstance(thing, type):
            thing = inspect.getattr_static(thing, part, None)
        else:
            return None
    return thing
