"""Execute a script for the reference, a misconception or a student's answer, all in the same way."""

from __future__ import annotations

import linecache
import math
import os
import time
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from . import stand_ins
from .held import bytes_held
from .memory import MemoryCounter
from .nested import leaves, mapped
from .randomness import begin_anew, randomness_put_back
from .recording import Raised, Recording
from .script import Script, Step
from .values import Generator, Ref, StandIn, decode, encode, plain
from .watch import OperationCounter, watching

NOT_ITS_OWN = ("site-packages", "/lib/python", f"{Path(__file__).parents[1]}{os.sep}")
"""Parts of file paths that are not the answer's own code: installed libraries, Python and this package."""


def run(script: Script, answer: Any) -> Recording:
    """Run the steps for `answer`, with fresh copies of the script's inputs, and record the outputs.

    The first exception of the answer's code ends the script and is recorded. Global random state is restored.
    """
    return _Run(script, answer).finish()


class _Run:
    def __init__(self, script: Script, answer: Any) -> None:
        self.script = script
        self.kept: dict[str, Any] = {"answer": answer, "model": answer}
        self.leaves: dict[str, list[Tensor]] = {}
        self.outputs: dict[str, Any] = {}
        self.unfilled: dict[str, Step] = {}
        self.mutated: list[str] = []
        self.watched: list[str] = []
        self.verbs: dict[str, Callable[[Step], Any]] = {
            "call": self._call,
            "fill": self._fill,
            "load": self._load,
            "gradients": self._gradients,
            "map": self._map,
            "draws": self._draws,
            "unroll": self._unroll,
            "read": self._read,
            "train": self._train,
            "make": self._make,
            "learning": self._learning,
            "held": self._held,
        }

    def finish(self) -> Recording:
        started = time.perf_counter()
        raised = None
        with randomness_put_back(), warnings.catch_warnings():
            begin_anew(self.script.seed)
            warnings.simplefilter("ignore")
            for step in self.script.steps:
                try:
                    with self._conditions(step):
                        self._keep(step, self.verbs[step.verb](step))
                except KeyboardInterrupt:
                    raise
                except BaseException as error:  # noqa: BLE001 - also SystemExit, which the answer may raise
                    raised = _raised(error, step)
                    break
        seconds = time.perf_counter() - started
        return Recording(self.outputs, raised, tuple(self.mutated), tuple(dict.fromkeys(self.watched)), seconds)

    @contextmanager
    def _conditions(self, step: Step) -> Iterator[None]:
        with ExitStack() as stack:
            if step.settings.get("no_grad"):
                stack.enter_context(torch.no_grad())
            else:
                stack.enter_context(torch.enable_grad())
            if self.script.watch and step.verb in ("call", "map", "draws", "unroll"):
                stack.enter_context(watching(self.script.watch, self.watched))
            yield

    def _keep(self, step: Step, value: Any) -> None:
        self.kept[step.into] = value
        if isinstance(value, nn.Module):
            value.eval()
        if step.verb not in ("fill", "load", "train", "make"):
            self.outputs[step.into] = plain(value)

    # -- verbs -------------------------------------------------------------------------------------------------------

    def _call(self, step: Step) -> Any:
        self._fill_what_is_made_late(step)
        args, kwargs = self._inputs(step)
        before = _snapshot(args, kwargs)
        result = self._first_of(step, _without_history(self._called(step, args, kwargs), self.script.shown))
        self._notice_changes(step, args, kwargs, before)
        self.leaves[step.into] = [leaf for leaf in _tensors([args, kwargs]) if leaf.requires_grad]
        return result

    def _called(self, step: Step, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the step's target. If the step asks for it, count its operations or its memory, too."""
        target = self._target(step)
        if "operations" in step.settings:
            with OperationCounter() as calls:
                result = target(*args, **kwargs)
            self.outputs[step.settings["operations"]] = calls.operations
            return result
        if "memory" in step.settings:
            with MemoryCounter() as made:
                result = target(*args, **kwargs)
            self.outputs |= zip(step.settings["memory"], (made.largest, made.at_once), strict=True)
            return result
        return target(*args, **kwargs)

    def _first_of(self, step: Step, result: Any) -> Any:
        """Return the result, or the first of several if the step keeps the others for later steps."""
        names = step.settings.get("carries", ())
        if not names:
            return result
        if not isinstance(result, tuple | list) or len(result) != 1 + len(names):
            raise WrongKind(f"expected a tuple of {1 + len(names)} results, got {_what(result)}")
        self.kept.update(zip(names, result[1:], strict=True))
        return result[0]

    def _draws(self, step: Step) -> Any:
        args, kwargs = self._inputs(step)
        before = _snapshot(args, kwargs)
        target = self._target(step)
        results = [target(*args, **kwargs) for _ in range(int(step.settings["n"]))]
        self._notice_changes(step, args, kwargs, before)
        return _stacked([_detached(result) for result in results])

    def _map(self, step: Step) -> Any:
        target = self._target(step)
        (rows,) = step.args
        home = home_of(self.kept[step.on])
        with torch.no_grad():
            inputs: Iterable[tuple[Any, ...]]
            if isinstance(rows, Tensor):
                inputs = zip(self._built((rows,), {})[0][0])
            else:
                inputs = (self._built(tuple(row), {})[0] for row in rows)
            results = [_detached(target(*(placed(value, home) for value in row))) for row in inputs]
        return _stacked(results)

    def _unroll(self, step: Step) -> Any:
        (*context, said), named = self._inputs(step)
        begun, model = said.shape[1], self._target(step)
        with torch.no_grad():
            for _ in range(int(step.settings["steps"])):
                scores = model(*context, said, **named)
                said = torch.hstack((said, scores[:, -1:].max(dim=2).indices))
        return said[:, begun:]

    def _read(self, step: Step) -> Any:
        value = self.kept[step.on]
        for name in step.method.split("."):
            value = _part(value, name, step.method)
        return value

    def _make(self, step: Step) -> Any:
        (made,), _ = self._built(step.args, {})
        return made

    def _learning(self, step: Step) -> dict[str, int]:
        return {name: p.numel() for name, p in self._parameters(step).items() if p.requires_grad}

    def _held(self, step: Step) -> int:
        return bytes_held(self.kept[step.on])

    def _fill(self, step: Step) -> None:
        seed, scale = step.args
        generator = torch.Generator().manual_seed(seed)
        parameters = list(_part(self.kept[step.on], "parameters")())
        if not parameters or any(map(is_lazy, parameters)):
            self.unfilled[step.on] = step
            return
        with torch.no_grad():
            for parameter in parameters:
                noise = torch.randn(parameter.shape, generator=generator, dtype=torch.float64)
                parameter.copy_(scale * noise)

    def _fill_what_is_made_late(self, step: Step) -> None:
        """Call a model with lazy parameters once, so that it creates them, and then fill them."""
        late = self.unfilled.pop(step.on, None)
        if late is None:
            return
        args, kwargs = self._inputs(step)
        with torch.no_grad():
            self._target(step)(*args, **kwargs)
        model = self.kept[step.on]
        model.train(model.training)  # also the modules that were just created
        self._fill(late)

    def _load(self, step: Step) -> None:
        model = self.kept[step.on]
        own = {**self._parameters(step), **dict(model.named_buffers())}
        shapes, numbers = step.args
        parts = numbers.split([math.prod(shape) for shape in shapes.values()])
        with torch.no_grad():
            for (name, shape), part in zip(shapes.items(), parts, strict=True):
                if name not in own:
                    raise _no_parameter(model, name, own)
                _copy(part.view(shape), own[name], name)

    def _train(self, step: Step) -> None:
        _part(self.kept[step.on], "train")()

    def _gradients(self, step: Step) -> Any:
        of, wrt = step.args
        results = [value for value in _tensors(self.kept[of]) if value.requires_grad]
        if wrt == "parameters":
            named = self._parameters(step)
            leaves: list[Tensor] = [parameter for parameter in named.values() if parameter.requires_grad]
        else:
            named, leaves = {}, self.leaves.get(of, [])
        if not results or not leaves:
            return None
        totals = [(value * _projection(value, i)).sum() for i, value in enumerate(results)]
        gradients = torch.autograd.grad(totals, leaves, allow_unused=True)
        if not named:
            return list(gradients)
        found = iter(gradients)  # a frozen parameter has no gradient but None
        return {name: next(found) if parameter.requires_grad else None for name, parameter in named.items()}

    # -- inputs ------------------------------------------------------------------------------------------------------

    def _target(self, step: Step) -> Callable[..., Any]:
        target = self.kept[step.on]
        if step.method:
            asked = "a tensor" if step.on not in ("model", "answer") and hasattr(Tensor, step.method) else ""
            target = _part(target, step.method, asked=asked)
        if not callable(target):
            called = f"`{step.method}`" if step.method else "your result"
            raise TypeError(f"{called} should be callable, but it is {_what(target)}")
        return target

    def _parameters(self, step: Step) -> dict[str, nn.Parameter]:
        return dict(_part(self.kept[step.on], "named_parameters")())

    def _inputs(self, step: Step) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = self._built(step.args, dict(step.kwargs))
        home = home_of(self.kept[step.on])
        return tuple(placed(value, home) for value in args), {k: placed(v, home) for k, v in kwargs.items()}

    def _built(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return fresh copies of the inputs, with generators, stand-ins and references resolved.

        A tensor that appears twice is copied twice, so that each has its own gradient. A `Ref` resolves to the one
        object itself.
        """
        args, kwargs = decode(*encode((args, kwargs)))
        return mapped(self._made, args), {name: mapped(self._made, value) for name, value in kwargs.items()}

    def _made(self, value: Any) -> Any:
        if isinstance(value, Generator):
            return torch.Generator().manual_seed(value.seed)
        if isinstance(value, StandIn):
            return stand_ins.make(value, self._known)
        if isinstance(value, Ref):
            return self.kept[value.name]
        return value

    def _known(self, name: str) -> Any:
        """Return the result stored under `name`, or the global variable of that name in the answer's module, if any."""
        return self.kept.get(name, getattr(self.kept["answer"], "__globals__", {}).get(name))

    def _notice_changes(self, step: Step, args: Any, kwargs: Any, before: dict[str, Any]) -> None:
        now = _snapshot(args, kwargs)
        self.mutated += [f"{step.into}: {name}" for name, old in before.items() if not _unchanged(old, now.get(name))]


class WrongKind(AttributeError):
    """The answer raised nothing, but returned a value of another kind than the task asks for."""


def _part(value: Any, name: str, path: str = "", asked: str = "") -> Any:
    """Return an attribute of a result. If it is part of a longer path, `path` is the whole, for the message.

    `asked` says what kind of value was expected, if the name exists on both a tensor and a module.

    Raises:
        WrongKind: there is no such attribute. The sentence says what was returned and what is needed.
    """
    try:
        return getattr(value, name)
    except AttributeError:
        if hasattr(type(value), name):  # a property that raises by itself
            raise
    module = hasattr(nn.Module, name)
    if value is None or asked or (module and not isinstance(value, nn.Module)):
        hint = ". Is a `return` missing?" if value is None else ""
        asked = asked or ("an `nn.Module`" if module else f"an object with `{name}`")
        raise WrongKind(f"expected {asked}, got {_what(value)}{hint}")
    lacks = "does not have it" if path in ("", name) else f"has no `{name}`"
    raise WrongKind(f"the check needs `{path or name}`, but {_what(value)} {lacks}")


def _what(value: Any) -> str:
    return "None" if value is None else f"an object of type `{type(value).__name__}`"


def _no_parameter(model: nn.Module, name: str, own: Mapping[str, Tensor]) -> AttributeError:
    """Return an error that says why the model's `own` parameters have none called `name`."""
    tensor = model.state_dict(keep_vars=True).get(name)
    twin = next((other for other, one in own.items() if one is tensor), "")
    if twin:
        return AttributeError(f"`{name}` is the same parameter as `{twin}`, but they should be two parameters")
    names = ", ".join(f"`{other}`" for other in own) or "none"
    return AttributeError(f"expected a parameter `{name}`, but {_what(model)} has {names}")


def _copy(value: Tensor, parameter: Tensor, name: str) -> None:
    try:
        parameter.copy_(value)
    except RuntimeError:
        sizes = f"expected the shape {tuple(value.shape)}, got {tuple(parameter.shape)}"
        raise ValueError(f"{sizes} for the parameter `{name}`") from None


def home_of(answer: Any) -> torch.device | None:
    """Return the device of a module's parameters, or None for the CPU and for anything without parameters."""
    parameter = next(answer.parameters(), None) if isinstance(answer, nn.Module) else None
    return None if parameter is None or parameter.device.type == "cpu" else parameter.device


def placed(value: Any, home: torch.device | None) -> Any:
    """Move a tensor to the device of the module that will read it. Return anything else unchanged."""
    return value.to(home) if home is not None and isinstance(value, Tensor) else value


def _snapshot(args: Any, kwargs: Any) -> dict[str, Any]:
    """Copy the inputs that an answer could change: tensors, and collections without tensors."""
    copies: dict[str, Any] = {name: tensor.detach().clone() for name, tensor in _named_tensors(args, kwargs)}
    for name, value in [*enumerate(args), *kwargs.items()]:
        if isinstance(value, list | tuple | dict | set | deque | bytearray) and not _tensors(value):
            copies[str(name)] = plain(value)
    return copies


def _unchanged(old: Any, new: Any) -> bool:
    """Return whether two snapshots are equal. NaN equals NaN."""
    if isinstance(old, Tensor):
        if not isinstance(new, Tensor) or (old.shape, old.dtype) != (new.shape, new.dtype):
            return False
        return torch.equal(old, new) or bool(((old == new) | (old.isnan() & new.isnan())).all())
    if isinstance(old, np.ndarray):
        return isinstance(new, np.ndarray) and _unchanged(torch.from_numpy(old), torch.from_numpy(new))
    if isinstance(old, float) and math.isnan(old):
        return isinstance(new, float) and math.isnan(new)
    if isinstance(old, list | tuple | deque):
        return type(old) is type(new) and len(old) == len(new) and all(map(_unchanged, old, new))
    if isinstance(old, dict):  # Counters ignore zero counts, so compare keys
        return isinstance(new, dict) and old.keys() == new.keys() and all(_unchanged(old[k], new[k]) for k in old)
    return not isinstance(new, np.ndarray) and bool(old == new)


def _named_tensors(args: Any, kwargs: Any) -> Iterator[tuple[str, Tensor]]:
    for position, value in [*enumerate(args), *kwargs.items()]:
        for index, tensor in enumerate(_tensors(value)):
            yield f"{position}" if index == 0 else f"{position}[{index}]", tensor


def _tensors(value: Any) -> list[Tensor]:
    """Return the tensors in nested lists, tuples and dicts, in order."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, Tensor)]


def _projection(value: Tensor, index: int) -> Tensor:
    generator = torch.Generator().manual_seed(8191 + index)
    return torch.randn(value.shape, generator=generator, dtype=torch.float64).to(value.dtype)


def _without_history(result: Any, shown: Collection[int]) -> Any:
    """Detach those of several results that are at the positions `shown`."""
    if not shown or not isinstance(result, list | tuple):
        return result
    return tuple(_detached(value) if place in shown else value for place, value in enumerate(result))


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value


def _stacked(results: list[Any]) -> Any:
    same = results and all(isinstance(r, Tensor) and r.shape == results[0].shape for r in results)
    return torch.stack([r.cpu() for r in results]) if same else results


def _raised(error: BaseException, step: Step) -> Raised:
    types = tuple(kind.__name__ for kind in type(error).__mro__ if issubclass(kind, BaseException))
    try:
        message = str(error)
    except Exception:  # noqa: BLE001
        message = ""
    return Raised(types, message[:500], _own_line(error), step.into)


def _own_line(error: BaseException) -> str:
    """Return the last line of the traceback that belongs to the answer, not to a library or this package."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if any(part in frame.filename for part in NOT_ITS_OWN):
            continue
        line = (frame.line or linecache.getline(frame.filename, frame.lineno or 0)).strip()
        return line[:200]
    return ""
