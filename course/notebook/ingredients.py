"""Compute a digest of everything a training depends on, so that `fit` knows whether it would train the same model.

It covers a function's text and defaults, and the functions, classes, numbers and tensors of the notebook that it names.
It does not depend on the version of Python, so weights trained on Colab count at home.
"""

from __future__ import annotations

import ast
import builtins
import dis
import hashlib
import linecache
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import torch
from torch import Tensor

from ..source import parsed
from .provenance import written_out

_PLAIN = (type(None), bool, int, float, complex, str, bytes, range, slice, torch.dtype)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


class _Untold(Exception):
    """The content of an object cannot be determined."""


def ingredients(things: Iterable[Any]) -> str:
    """Return the digest of functions and classes, or an empty string if they depend on objects of unknown content."""
    seen: set[int] = set()
    try:
        parts = [part for thing in things for part in _parts(thing, seen)]
    except Exception:  # noqa: BLE001 - a notebook's objects may raise any error
        return ""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def _parts(thing: Any, seen: set[int]) -> Iterator[str]:
    if isinstance(thing, _PLAIN):
        yield repr(thing)
    elif isinstance(thing, Tensor):
        content = thing.detach().cpu().flatten().view(torch.uint8).numpy().tobytes()
        yield f"{thing.dtype} {tuple(thing.shape)} {hashlib.sha256(content).hexdigest()}"
    elif isinstance(thing, ModuleType):
        _demand_foreign(thing.__name__)
        yield thing.__name__
    elif isinstance(thing, torch.device | torch.no_grad | torch.enable_grad | torch.inference_mode):
        yield type(thing).__name__  # devices, and the objects of decorators like `@torch.no_grad()`
    elif isinstance(thing, set | frozenset):
        yield from sorted("\0".join(_parts(one, seen)) for one in thing)
    elif isinstance(thing, list | tuple | dict):
        yield f"{type(thing).__name__} {len(thing)}"
        for one in thing.items() if isinstance(thing, dict) else thing:
            yield from _parts(one, seen)
    elif isinstance(thing, partial):
        yield from _parts((thing.func, thing.args, thing.keywords), seen)
    elif isinstance(thing, MethodType):
        yield from _parts((thing.__func__, thing.__self__), seen)
    elif isinstance(thing, staticmethod | classmethod):
        yield from _parts(thing.__func__, seen)
    elif isinstance(thing, property):
        yield from _parts((thing.fget, thing.fset), seen)
    elif isinstance(thing, type | FunctionType | BuiltinFunctionType):
        _demand_foreign(thing.__module__)
        yield f"{thing.__module__}.{thing.__qualname__}"
        if thing.__module__ == "__main__" and id(thing) not in seen:
            seen.add(id(thing))
            yield from _written(thing, seen)
    else:
        raise _Untold


def _demand_foreign(module: str | None) -> None:
    """Raise `_Untold` for a module beside the notebook, whose text may change, or be newer than what runs."""
    name = (module or "").partition(".")[0]
    if name and (Path(f"{name}.py").is_file() or Path(name, "__init__.py").is_file()):
        raise _Untold


def _written(thing: Any, seen: set[int]) -> Iterator[str]:
    """Yield the parts of a class or function that the notebook defines."""
    if isinstance(thing, type):
        own = {name: value for name, value in vars(thing).items() if _is_own(name, value)}
        yield from _parts((thing.__bases__, own), seen)
        return
    yield from _text(thing.__code__)
    cells = tuple(cell.cell_contents for cell in thing.__closure__ or ())
    yield from _parts((thing.__defaults__, thing.__kwdefaults__, cells), seen)
    for name in sorted(_globals_of(thing.__code__)):
        if name in thing.__globals__:
            yield name
            yield from _parts(thing.__globals__[name], seen)
        elif not hasattr(builtins, name):
            yield f"{name} is missing"


def _is_own(name: str, value: Any) -> bool:
    """Return whether a class's author wrote an attribute. Those that Python adds depend on its version."""
    return not name.startswith("__") or (isinstance(value, FunctionType) and not name.startswith("__annotate"))


def _text(code: CodeType) -> list[str]:
    """Return a function's text without layout and comments. For a lambda, return all that begin in its line."""
    tree = parsed("".join(linecache.getlines(code.co_filename)))
    nodes = (node for node in (ast.walk(tree) if tree else ()) if isinstance(node, _DEFINITIONS))
    found = [written_out(node) for node in nodes if _begins(node) == code.co_firstlineno]
    if not found:
        raise _Untold
    return found


def _begins(node: Any) -> int:
    """Return the first line of a definition as Python counts it, including decorators."""
    return min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", ()))])


def _globals_of(code: CodeType) -> set[str]:
    """Return the global names that a function's code reads, including nested functions."""
    read = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return read.union(*map(_globals_of, inner))
