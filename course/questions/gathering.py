"""Find the text of an answer in the cells where it was written, and write a setup with what else it needs.

So the answer can be executed from text alone, in any process.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import linecache
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import ModuleType
from typing import Any

import torch

from ..source import parsed
from .executing import INGREDIENTS
from .subject import Unaskable

MOST_CONSTANT = 20_000
"""Length of the text of a constant that a setup may hold."""


def gathered(
    answer: Any, is_given: Callable[[str], bool], calls: Iterable[str] = (), around: Mapping[str, Any] | None = None
) -> tuple[str, str]:
    """Return the source of an answer with its author's other definitions in it, and the setup that both need.

    Args:
        answer: a function or class.
        is_given: whether a definition of this name is called as it is. It belongs to the setup then.
        calls: what will be called. The setup also defines the names in them.
        around: the names around the answer, by default those of its module.

    Raises:
        Unaskable: the text of the answer cannot be found.
    """
    source, setup, done = list[str](), ["import torch"], set[str]()

    def add(value: Any, is_mine: bool) -> None:
        text, node = _definition(value)
        done.add(node.name)
        for name in sorted({n.id for n in ast.walk(node) if isinstance(n, ast.Name)} - done):
            define(name, _globals(value), is_mine and not is_given(name))
        (source if is_mine else setup).append(text)

    def define(name: str, names: Mapping[str, Any], is_mine: bool) -> None:
        if name not in names or getattr(builtins, name, done) is names[name]:
            return
        if _is_written_here(names[name], answer):
            try:
                add(names[name], is_mine)
                return
            except Unaskable:
                pass
        setup.extend(_written(name, names[name]))

    add(answer, True)
    known = _globals(answer) if around is None else around
    for name in sorted({name for call in calls for name in re.findall(r"\b[A-Za-z_]\w*(?=\()", call)} - done):
        if name not in INGREDIENTS:
            define(name, known, False)
    return "\n\n".join(source), "\n".join(dict.fromkeys(setup))


def _functions(value: Any) -> list[Any]:
    """Return a function without its decorators, or the functions of a class."""
    if inspect.isclass(value):
        return [inspect.unwrap(part) for part in vars(value).values() if inspect.isfunction(part)]
    whole = inspect.unwrap(value) if callable(value) else None
    return [whole] if inspect.isfunction(whole) else []


def _globals(value: Any) -> dict[str, Any]:
    found: dict[str, Any] = _functions(value)[0].__globals__
    return found


def _definition(value: Any) -> tuple[str, ast.FunctionDef | ast.ClassDef]:
    """Return the text of a function or class, and its node in the cell's tree."""
    functions, name = _functions(value), getattr(value, "__qualname__", "")
    for function in functions:
        lines = linecache.getlines(function.__code__.co_filename, function.__globals__)
        cell = parsed("".join(lines))
        for node in reversed(cell.body if cell else []):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
                first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
                if first <= function.__code__.co_firstlineno <= (node.end_lineno or 0):
                    return "".join(lines[first - 1 : node.end_lineno]).rstrip() + "\n", node
    raise Unaskable("it was not written as a function or class in a cell of this notebook")


def _is_written_here(value: Any, answer: Any) -> bool:
    """Return whether a value is a function or class of the module that the answer is in."""
    return (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == answer.__module__


def _written(name: str, value: Any) -> Iterator[str]:
    """Yield a line that makes `name` this value, or nothing if no short text does."""
    if isinstance(value, ModuleType):
        yield f"import {value.__name__} as {name}"
    elif isinstance(value, torch.Tensor):
        if value.numel() <= 1000 and value.layout == torch.strided:
            entries = re.sub("inf|nan", r"float('\g<0>')", str(value.tolist()))
            yield f"{name} = torch.tensor({entries}, dtype={value.dtype})"
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{name} = float('{value}')"
    elif isinstance(value, torch.dtype):
        yield f"{name} = {value}"
    elif isinstance(value, torch.device):
        yield f"{name} = torch.device('cpu')"
    elif (home := getattr(value, "__module__", None)) and hasattr(
        sys.modules.get(home), getattr(value, "__name__", "")
    ):
        yield f"from {home} import {value.__name__} as {name}"
    else:
        text = repr(value)
        if len(text) <= MOST_CONSTANT and _is_literal(text):
            yield f"{name} = {text}"


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
