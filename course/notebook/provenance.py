"""Compute digests of the functions and classes with which a model was trained.

`fit` stores them in the checkpoint, so `course submit` can warn if code was changed after the training.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
from collections.abc import Iterable, Mapping
from typing import Any

from ..source import parsed


def digests(source: str) -> dict[str, str]:
    """Return a digest of each function and class in `source`, without comments and layout, or none for broken code.

    The digests do not depend on the version of Python, which may differ between Colab and the grader.
    """
    tree = parsed(source)
    defined = (node for node in (tree.body if tree else ()) if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    try:
        return {node.name: hashlib.sha256(written_out(node).encode()).hexdigest()[:16] for node in defined}
    except RecursionError:  # too deeply nested for some versions of Python
        return {}


def written_out(node: ast.AST) -> str:
    """Return the text of a definition without layout and comments, the same in every version of Python."""
    return ast.unparse(_FormattedAsTuples().visit(node))


class _FormattedAsTuples(ast.NodeTransformer):
    """A transformer of f-strings into tuples. Versions of Python differ in the quotes and empty parts of f-strings."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        self.generic_visit(node)
        parts = [part for part in node.values if not (isinstance(part, ast.Constant) and part.value == "")]
        return ast.Tuple(parts, ast.Load())

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        self.generic_visit(node)
        return ast.Tuple([node.value, ast.Constant(node.conversion), node.format_spec or ast.Constant("")], ast.Load())


def defined(sources: Iterable[str]) -> dict[str, set[str]]:
    """Return the digests of all definitions in some cells, by name. A name defined twice has two digests."""
    code: dict[str, set[str]] = {}
    for source in sources:
        for name, digest in digests(source).items():
            code.setdefault(name, set()).add(digest)
    return code


def outdated(trained: Any, code: Mapping[str, set[str]]) -> tuple[list[str], list[str]]:
    """Compare a model's record of its code with the current `code`. Return the changed names and the missing ones."""
    kept = trained.items() if isinstance(trained, dict) else ()
    changed = [name for name, digest in kept if name in code and digest not in code[name]]
    return changed, [name for name, _ in kept if name not in code]


def code_of(things: Iterable[Any]) -> dict[str, str]:
    """Return the digests of those functions and classes that the notebook itself defines."""
    found: dict[str, str] = {}
    for thing in things:
        name = getattr(thing, "__qualname__", "")
        if getattr(thing, "__module__", "") != "__main__" or name in found:
            continue
        own = digests("".join(linecache.getlines(_file(thing))))
        found.update({name: own[name]} if name in own else {})
    return dict(sorted(found.items()))


def _file(thing: Any) -> str:
    """Return the file or cell in which a function or the methods of a class were written."""
    parts = vars(thing).values() if isinstance(thing, type) else (thing,)
    codes = (getattr(part, "__code__", None) for part in parts)
    return next((code.co_filename for code in codes if code is not None), "")
