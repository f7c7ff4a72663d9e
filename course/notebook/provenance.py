"""Digests of the functions and classes that a model was trained with.

`fit` keeps them in the checkpoint, so that handing in can tell a model that was trained before its code was changed.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
from collections.abc import Iterable, Mapping
from typing import Any

from ..source import parsed


def digests(source: str) -> dict[str, str]:
    """A digest of each function and class that `source` defines, comments and layout ignored; none of broken code.

    It is the same with every Python: who trains on Colab hands in to somebody with another one.
    """
    tree = parsed(source)
    defined = (node for node in (tree.body if tree else ()) if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    try:
        return {node.name: hashlib.sha256(written_out(node).encode()).hexdigest()[:16] for node in defined}
    except RecursionError:  # nested so deeply that only some Pythons read it
        return {}


def written_out(node: ast.AST) -> str:
    """Return the text of a definition, the same with every Python, layout and comments ignored."""
    return ast.unparse(_FormattedAsTuples().visit(node))


class _FormattedAsTuples(ast.NodeTransformer):
    """Formatted text as a tuple of its parts: which quotes stand around it depends on the Python, as do empty parts."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        parts = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
        return ast.Tuple(parts, ast.Load())

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        return ast.Tuple([node.value, ast.Constant(node.conversion), node.format_spec or ast.Constant("")], ast.Load())


def defined(sources: Iterable[str]) -> dict[str, set[str]]:
    """The digests of all that some cells define, by name: what is defined twice has two."""
    code: dict[str, set[str]] = {}
    for source in sources:
        for name, digest in digests(source).items():
            code.setdefault(name, set()).add(digest)
    return code


def outdated(trained: Any, code: Mapping[str, set[str]]) -> tuple[list[str], list[str]]:
    """Of the code that a model was `trained` with, by its record, what has changed since, and what is gone."""
    kept = trained.items() if isinstance(trained, dict) else ()
    changed = [name for name, digest in kept if name in code and digest not in code[name]]
    return changed, [name for name, _ in kept if name not in code]


def code_of(things: Iterable[Any]) -> dict[str, str]:
    """The digests of those of `things`, functions and classes, that were written in the notebook itself."""
    found: dict[str, str] = {}
    for thing in things:
        name = getattr(thing, "__qualname__", "")
        if getattr(thing, "__module__", "") != "__main__" or name in found:
            continue
        own = digests("".join(linecache.getlines(_file(thing))))
        found.update({name: own[name]} if name in own else {})
    return dict(sorted(found.items()))


def _file(thing: Any) -> str:
    """The file, or the cell, that a function or the methods of a class were written in."""
    parts = vars(thing).values() if isinstance(thing, type) else (thing,)
    codes = (getattr(part, "__code__", None) for part in parts)
    return next((code.co_filename for code in codes if code is not None), "")
