"""Which code a model was trained with: a digest of each function and class a notebook's cells define.

`fit` keeps them in the checkpoint, so that handing in can tell a model that was trained before its code was changed.
"""

from __future__ import annotations

import ast
import hashlib
import linecache
from collections.abc import Iterable
from typing import Any


def digests(source: str) -> dict[str, str]:
    """A digest of each function and class that `source` defines, comments and layout ignored; none of broken code."""
    try:
        tree = ast.parse("".join(line for line in source.splitlines(True) if line[:1] not in ("%", "!")))
    except (SyntaxError, ValueError):
        return {}
    defined = (node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)))
    return {node.name: hashlib.sha256(ast.unparse(node).encode()).hexdigest()[:16] for node in defined}


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
