"""Reads a version of PyTorch without running it: the names of its public modules, and the parameters of what they name.

Everything is taken from its Python files and stubs, which say the same for a wheel of any platform.
"""

from __future__ import annotations

import ast
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

MODULES = (
    "torch",
    *("torch.accelerator", "torch.autograd", "torch.cuda", "torch.fft", "torch.func", "torch.linalg", "torch.mps"),
    *("torch.nn", "torch.nn.attention", "torch.nn.functional", "torch.nn.init", "torch.nn.parameter"),
    *("torch.nn.utils", "torch.nn.utils.parametrizations", "torch.nn.utils.rnn"),
    *("torch.optim", "torch.optim.lr_scheduler", "torch.overrides", "torch.random", "torch.special"),
    *("torch.utils", "torch.utils.data"),
)
"""What a course on models may call; of other modules only the names they have in these are known."""

TENSOR = "torch.Tensor"
Read = Callable[[str], "str | None"]


@dataclass(frozen=True)
class Bound:
    """What a name is bound to: its parameters, if that is written beside it, or where it was imported from."""

    parameters: frozenset[str] = frozenset()
    origin: tuple[str, str] | None = None


def wheel(path: Path) -> Read:
    """Reads files of a wheel."""
    archive = zipfile.ZipFile(path)
    held = set(archive.namelist())
    return lambda name: archive.read(name).decode() if name in held else None


def folder(path: Path) -> Read:
    """Reads files of an installation; `path` holds the folder `torch`."""
    return lambda name: (path / name).read_text("utf-8") if (path / name).is_file() else None


class Version:
    """One version of PyTorch, as its files tell."""

    def __init__(self, read: Read) -> None:
        self._read = read
        self._known: dict[str, dict[str, list[Bound]]] = {}

    def names(self) -> set[str]:
        """All public names, dotted, and `function(parameter)` for each of their parameters; of tensors names only."""
        found: set[str] = set()
        for module in MODULES:
            parts = [module, "torch._C", "torch._C._VariableFunctions"] if module == "torch" else [module]
            found |= {module} if self.is_module(module) else set()
            for part in parts:
                found |= set(self._flat(module, part))
        methods = {*self._methods("torch._C", "TensorBase"), *self._methods("torch._tensor", "Tensor")}
        return found | {f"{TENSOR}.{name}" for name in methods if not name.startswith("_")}

    def is_module(self, name: str) -> bool:
        """Whether there is a file for it."""
        return bool(self._trees(name))

    def _flat(self, owner: str, module: str) -> Iterator[str]:
        for name, bindings in self._members(module).items():
            if not name.startswith("_"):
                yield f"{owner}.{name}"
                yield from (f"{owner}.{name}({one})" for bound in bindings for one in self._parameters(bound))

    def _parameters(self, bound: Bound, steps: int = 8) -> frozenset[str]:
        if bound.origin is None or not steps:
            return bound.parameters
        module, name = bound.origin
        there = self._members(module).get(name, [])
        return frozenset[str]().union(*(self._parameters(one, steps - 1) for one in there))

    def _members(self, module: str) -> dict[str, list[Bound]]:
        """The names that a module binds at its top, what `import` alone binds left out."""
        if module not in self._known:
            found = self._known[module] = {}
            for tree, package in self._trees(module):
                for node in _top(tree.body):
                    for name, bound in self._bound(node, module if package else module.rpartition(".")[0]):
                        found.setdefault(name, []).append(bound)
        return self._known[module]

    def _trees(self, module: str) -> list[tuple[ast.Module, bool]]:
        """The trees of a module's file and of its stub, and whether it is a package."""
        path = module.replace(".", "/")
        tried = ((f"{path}{end}", "__init__" in end) for end in (".py", ".pyi", "/__init__.py", "/__init__.pyi"))
        found = ((self._read(name), package) for name, package in tried)
        return [(ast.parse(text), package) for text, package in found if text is not None]

    def _bound(self, node: ast.stmt, package: str) -> Iterator[tuple[str, Bound]]:
        if isinstance(node, ast.FunctionDef):
            yield node.name, Bound(_arguments(node))
        elif isinstance(node, ast.ClassDef):
            made = (one for one in node.body if isinstance(one, ast.FunctionDef))
            known = [_arguments(one) for one in made if one.name in ("__init__", "__new__")]
            yield node.name, Bound(frozenset[str]().union(*known))
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from ((target.id, Bound()) for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.ImportFrom):
            yield from self._imported(node, package)

    def _imported(self, node: ast.ImportFrom, package: str) -> Iterator[tuple[str, Bound]]:
        parents = package.split(".")
        base = parents[: len(parents) - node.level + 1] if node.level else []
        origin = ".".join([*base, *filter(None, [node.module])])
        if origin.split(".")[0] != "torch":
            return
        for one in node.names:
            if one.name == "*":
                yield from ((name, Bound(origin=(origin, name))) for name in self._members(origin))
            else:
                yield one.asname or one.name, Bound(origin=(origin, one.name))

    def _methods(self, module: str, name: str) -> Iterator[str]:
        for tree, _ in self._trees(module):
            for node in tree.body:
                if isinstance(node, ast.ClassDef) and node.name == name:
                    yield from (bound for member in node.body for bound, _ in self._bound(member, ""))


def _top(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """A module's statements, those below `if`, `try` and `with` too."""
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With):
            for part in ("body", "orelse", "finalbody"):
                yield from _top(getattr(node, part, []))


def _arguments(node: ast.FunctionDef) -> frozenset[str]:
    every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    return frozenset(one.arg for one in every if one.arg not in ("self", "cls"))
