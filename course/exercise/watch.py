"""Find forbidden calls in an answer's source and while it runs, and count its operations.

This only reminds honest students; it is no security boundary.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from ..source import parsed

_ROOTS = {"torch": torch, "nn": nn, "F": nn.functional, "Tensor": torch.Tensor}
_PARTS = ("nn", "functional", "autograd", "func", "Tensor", "blocks")
_OFTEN_ONES_OWN = {"backward"}
"""Methods of tensors that students also define in their own classes. Only the running code shows which is called."""
_KERNELS = {  # the functions behind the recurrent layers
    "RNN": ("rnn_tanh", "rnn_relu"),
    "RNNCell": ("rnn_tanh_cell", "rnn_relu_cell"),
    "LSTM": ("lstm",),
    "LSTMCell": ("lstm_cell",),
    "GRU": ("gru",),
    "GRUCell": ("gru_cell",),
}


def forbidden_in_source(source: str, forbidden: Sequence[str]) -> list[str]:
    """Return the forbidden names that `source` uses, as written there, or [] for source with a syntax error.

    A forbidden name without a dot is a package, which may be neither imported nor named.
    """
    tree = parsed(source)
    if tree is None:
        return []
    packages = {name for name in forbidden if "." not in name}
    last = {name.rsplit(".", 1)[-1] for name in forbidden if "." in name}
    found: list[str] = []
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(("torch", "course.blocks")):
            imported |= {alias.asname or alias.name for alias in node.names if alias.name in last}
    for node in ast.walk(tree):
        found += [name for name in _packages_named(node) if name in packages]
        if isinstance(node, ast.Attribute) and node.attr in last and _counts(node, forbidden):
            found.append(_written(node))
        elif isinstance(node, ast.Name) and node.id in imported:
            found.append(node.id)
    return list(dict.fromkeys(found))


def _written(node: ast.Attribute) -> str:
    """Return the source text of a node, or only its last name if it is nested too deeply."""
    try:
        return ast.unparse(node)[:80]
    except RecursionError:
        return node.attr


def _packages_named(node: ast.AST) -> list[str]:
    """Return the packages that an import node names, or the name of a name node."""
    if isinstance(node, ast.Import):
        return [alias.name.partition(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and not node.level:
        return [(node.module or "").partition(".")[0]]
    return [node.id] if isinstance(node, ast.Name) else []


def _counts(node: ast.Attribute, forbidden: Sequence[str]) -> bool:
    """Return whether a call is forbidden. On torch's modules or a value it is; `self.softmax` is the student's own."""
    owner = node.value
    if isinstance(owner, ast.Name) and owner.id in ("self", "cls", "reference", "course", "np", "math"):
        return False
    if isinstance(owner, ast.Name) and owner.id in {"torch", "F", *_PARTS}:
        return True
    if isinstance(owner, ast.Attribute) and owner.attr in {"utils", "special", *_PARTS}:
        return True
    return f"Tensor.{node.attr}" in forbidden and node.attr not in _OFTEN_ONES_OWN


class _Watch(TorchFunctionMode):
    def __init__(self, functions: dict[str, list[Any]], seen: list[str]) -> None:
        super().__init__()
        self.seen = seen
        self.names: dict[Any, list[str]] = {}  # looked up at every operation
        for name, candidates in functions.items():
            for candidate in candidates:
                self.names.setdefault(candidate, []).append(name)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in self.names:
            self.seen += self.names[func]
        return func(*args, **(kwargs or {}))


class OperationCounter(TorchFunctionMode):
    """A context that counts torch's operations on tensors, which shows a loop over positions."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = 0

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if getattr(func, "__name__", "") != "__get__":  # reading an attribute such as shape computes nothing
            self.operations += 1
        return func(*args, **(kwargs or {}))


@contextmanager
def watching(forbidden: Iterable[str], seen: list[str]) -> Any:
    """Append the name of every forbidden torch function or layer that is called within the block to `seen`."""
    functions, layers = resolve(forbidden)
    if not functions and not layers:
        yield
        return

    def notice(module: nn.Module, _: Any) -> None:
        for name, kinds in layers.items():
            if isinstance(module, kinds):
                seen.append(name)

    hook = nn.modules.module.register_module_forward_pre_hook(notice) if layers else None
    try:
        with _Watch(functions, seen):
            yield
    finally:
        if hook is not None:
            hook.remove()


def resolve(forbidden: Iterable[str]) -> tuple[dict[str, list[Any]], dict[str, tuple[type, ...]]]:
    """Return the functions and layer classes by name. Names that torch lacks are left to the source check."""
    functions: dict[str, list[Any]] = {}
    layers: dict[str, tuple[type, ...]] = {}
    for name in forbidden:
        root, *path = name.split(".")
        found: Any = sys.modules.get("course.blocks") if root == "blocks" else _ROOTS.get(root)
        for part in path:
            found = getattr(found, part, None)
        if isinstance(found, type) and issubclass(found, nn.Module):
            layers[name] = (found,)
            kernels = [getattr(torch, kernel, None) for kernel in _KERNELS.get(path[-1], ())]
            functions[name] = [kernel for kernel in kernels if kernel is not None]
        elif found is not None and callable(found):
            functions[name] = [found]
    return {name: found for name, found in functions.items() if found}, layers
