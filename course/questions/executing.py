"""Execute an answer, or a changed copy of it, on a call, in a process that is used for nothing else.

What depends on chance comes out differently with each seed: random numbers, memory that nobody has written, and the
order of a set. So nothing is asked about it.
"""

from __future__ import annotations

import ast
import math
import os
import random
import re
import signal
import sys
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .outcomes import Value, seen
from .watching import MOST_EVENTS, WATCHER, Event, TooLong, Watcher, watched

SECONDS_A_RUN = 0.25
"""Processor time of one run. A call that takes longer is not asked about."""

ANSWER = "<answer>"
"""The name of the file that an answer's code is compiled under."""

_MEMORY = 4 * 2**30
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ACTS = ("subprocess.", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.remove", "os.rename", "os.rmdir",
         "os.mkdir", "os.truncate", "os.kill", "shutil.", "socket.connect", "socket.bind")  # fmt: skip
"""Events of Python's audit that change something outside this process."""


@dataclass(frozen=True)
class Run:
    """What to execute: the setup, an answer's source, and a call. `seed` decides what is left to chance."""

    setup: str
    source: str
    call: str
    seed: int = 0
    is_watched: bool = False


@dataclass(frozen=True)
class Ran:
    """What a run gave, and the events that the watcher saw."""

    outcome: Value
    events: tuple[Event, ...] = field(default=(), repr=False)

    def to_plain(self) -> list[Any]:
        """Return nested lists for `from_plain`."""
        seen_ = [[e.line, e.name, e.value.to_plain() if e.value else None] for e in self.events]
        return [self.outcome.to_plain(), seen_]

    @classmethod
    def from_plain(cls, plain: Any) -> Ran:
        """Return what `to_plain` wrote.

        Raises:
            ValueError, TypeError: it wrote no such thing.
        """
        outcome, seen_ = plain
        events = [Event(line, name, Value.from_plain(value) if value else None) for line, name, value in seen_]
        if len(events) > MOST_EVENTS or any((type(e.line), type(e.name)) != (int, str) for e in events):
            raise ValueError("these are no events")
        return cls(Value.from_plain(outcome), tuple(events))


Runner = Callable[[list[Run]], list[Ran]]
"""A function that executes runs in another process. Where the result of a run is missing, its outcome is `endless`."""

# -- what a call may be written with ---------------------------------------------------------------------------------

_seed = 0


def numbers(*shape: int) -> Tensor:
    """Return any numbers of a shape. They differ from run to run, so a result must not depend on them."""
    first = 1234 + 7919 * _seed + sum(3**place * size for place, size in enumerate(shape))
    return torch.randn(*shape, generator=torch.Generator().manual_seed(first))


def gen(seed: int) -> torch.Generator:
    """Return a generator of random numbers, which differ from run to run."""
    return torch.Generator().manual_seed(seed + 104729 * _seed)


def set_all(model: nn.Module, value: float) -> nn.Module:
    """Set every parameter of a model to `value`, and return the model."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.fill_(value)
    return model.eval()


class oracle(nn.Module):
    """Say the words of row `src[0] - 7`, then 2 (`eos`). The next word has logit 0, any other word w has -90 - w."""

    pad, sos, eos = 0, 1, 2

    def __init__(self, words: list[list[int]]) -> None:
        super().__init__()
        self.words, self.max_len = words, max(map(len, words))

    def forward(self, src: Tensor, said: Tensor, src_mask: Any = None, tgt_mask: Any = None) -> Tensor:
        """Return logits (B, T, 9)."""
        out = (-90.0 - torch.arange(9)).repeat(len(src), said.shape[1], 1)
        for b, place in ((b, t) for b in range(len(src)) for t in range(said.shape[1])):
            row = self.words[(int(src[b, 0]) - 7) % len(self.words)]
            out[b, place, row[place] if place < len(row) else self.eos] = 0.0
        return out


class counter(nn.Module):
    """Give the last token plus 1, modulo 5, a logit of 9 and all others 0. The cache holds all tokens so far."""

    def forward(self, ids: Tensor, cache: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Return logits (B, T, 5) and the cache."""
        known = ids if cache is None else torch.cat([cache, ids], 1)
        return 9.0 * F.one_hot((ids + 1) % 5, 5).float(), known


INGREDIENTS: dict[str, Any] = {
    "torch": torch, "tensor": torch.tensor, "zeros": torch.zeros, "ones": torch.ones, "eye": torch.eye,
    "arange": torch.arange, "inf": math.inf, "nan": math.nan, "nn": nn, "F": F, "Counter": Counter, "math": math,
    "numbers": numbers, "gen": gen, "set_all": set_all, "oracle": oracle, "counter": counter,
}  # fmt: skip

NOTES = {made.__name__: (made.__doc__ or "").split("\n")[0] for made in (numbers, gen, set_all, oracle, counter)}
"""What each helper does, for the reader of a question."""

# -- chance ----------------------------------------------------------------------------------------------------------


class shuffled(set):  # type: ignore[type-arg]
    """A set in the reverse order for every second seed, because Python draws the order of strings for each process."""

    def __iter__(self) -> Iterator[Any]:
        return iter(sorted(super().__iter__(), key=repr, reverse=_seed % 2 == 0))

    def pop(self) -> Any:
        """Remove and return the first one."""
        first = next(iter(self))
        self.remove(first)
        return first


def _shuffling(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method of sets whose result is shuffled, too."""
    return lambda *sets: shuffled(method(*sets))


for _name in ("__and__", "__or__", "__sub__", "__xor__", "union", "intersection", "difference", "copy"):
    setattr(shuffled, _name, _shuffling(getattr(set, _name)))


class _Sets(ast.NodeTransformer):
    """Write sets in braces as calls of `set`."""

    def visit_Set(self, node: ast.Set) -> ast.AST:
        return self._called(ast.List(node.elts, ast.Load()))

    def visit_SetComp(self, node: ast.SetComp) -> ast.AST:
        return self._called(ast.ListComp(node.elt, node.generators))

    def _called(self, content: ast.expr) -> ast.AST:
        self.generic_visit(content)
        return ast.fix_missing_locations(ast.Call(ast.Name("set", ast.Load()), [content], []))


def _unwritten(make: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function such as `torch.empty` whose memory holds other numbers in each run."""

    def made(*args: Any, **kwargs: Any) -> Any:
        out = make(*args, **kwargs)
        if isinstance(out, Tensor) and not out.is_complex() and out.dtype != torch.bool and not out.requires_grad:
            out.fill_(1e6 * (_seed + 1.5) * (1 + random.random()) if out.is_floating_point() else 40 + _seed)
        return out

    return made


# -- running ---------------------------------------------------------------------------------------------------------

_acted: list[str] = []


def _notice(event: str, details: tuple[Any, ...]) -> None:
    """Refuse what would change something outside this process."""
    writes = event == "open" and isinstance(details[2], int) and details[2] & _WRITES and details[0] != os.devnull
    if writes or event.startswith(_ACTS):
        _acted.append(event)
        raise PermissionError(event)


def prepare_process() -> None:
    """Make this process safe for any code: no output, no new files, one thread, limits of time and memory.

    It cannot be undone. The process must end with `os._exit`.
    """
    sys.dont_write_bytecode = True
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - open until the process ends
    sys.stdin = Path(os.devnull).open()  # noqa: SIM115
    os.dup2(sys.stdout.fileno(), 1)
    os.dup2(sys.stdout.fileno(), 2)
    for owner, name in ((torch, "empty"), (torch, "empty_like"), (Tensor, "new_empty"), (torch, "empty_strided")):
        setattr(owner, name, _unwritten(getattr(owner, name)))
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(1000)
    if sys.platform != "win32":
        import resource

        signal.signal(signal.SIGPROF, _too_long)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the notebook's, who ends this process
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        if sys.platform == "linux":
            highest = resource.getrlimit(resource.RLIMIT_DATA)[1]
            memory = _MEMORY if highest == resource.RLIM_INFINITY else min(_MEMORY, highest)
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
    sys.addaudithook(_notice)


def _too_long(*_: object) -> None:
    raise TooLong


def execute(run: Run) -> Ran:
    """Execute a run in this process, which `prepare_process` has prepared."""
    global _seed
    _seed = run.seed
    torch.default_generator.manual_seed(run.seed)  # `torch.manual_seed` seeds devices, too, which is slow
    random.seed(run.seed)
    np.random.seed(run.seed)
    _acted.clear()
    watcher = Watcher()
    try:
        names, own = _defined(run.setup, run.source, run.is_watched, run.seed > 0)
        if run.is_watched:
            names[WATCHER] = watcher
        outcome = _outcome(run.call, {**names, **INGREDIENTS, **{name: names[name] for name in own}})
    except BaseException:  # noqa: BLE001 - the definitions themselves fail
        outcome = Value("other", ("undefined",))
    if _acted:
        return Ran(Value("other", ("acts",)))
    return Ran(outcome, tuple(watcher.events))


def _outcome(call: str, names: dict[str, Any]) -> Value:
    first, last = _compiled(call)
    try:
        _allow(SECONDS_A_RUN)
        exec(first, names)
        value = eval(last, names)
        _allow(0)
        return seen(value)
    except (TooLong, RecursionError):
        return Value("endless")
    except BaseException as error:  # noqa: BLE001 - whatever an answer raises, `SystemExit` too
        name = "TypeError" if _is_about_types(error) else type(error).__name__
        return Value("error", (name, _is_deliberate(error)))
    finally:
        _allow(0)


def _is_about_types(error: BaseException) -> bool:
    """Return whether types do not fit. PyTorch raises the same errors for numbers' types as for shapes."""
    if isinstance(error, (RuntimeError, IndexError)):
        return re.search("dtype|scalar type|result type|bool", str(error)) is not None
    return isinstance(error, TypeError)


def _allow(seconds: float) -> None:
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _is_deliberate(error: BaseException) -> bool:
    """Return whether the answer's own code raised the error, by `raise`."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == ANSWER and isinstance(error, ValueError)


@cache
def _compiled(call: str) -> tuple[types.CodeType, types.CodeType]:
    tree = ast.parse(call)
    *first, last = tree.body
    if not isinstance(last, ast.Expr):
        raise SyntaxError("a call ends in an expression")
    return compile(ast.Module(first, []), "<call>", "exec"), compile(ast.Expression(last.value), "<call>", "eval")


@cache
def _defined(setup: str, source: str, is_watched: bool, is_shuffled: bool) -> tuple[dict[str, Any], set[str]]:
    """Return the names of a new module after setup and source, and those that the source defines."""
    module = types.ModuleType("answer")
    sys.modules["answer"] = module  # dataclasses look their module up
    names = module.__dict__
    if is_shuffled:
        names |= {"set": shuffled, "hash": lambda value: hash((value, _seed))}
    exec(_setup_code(setup), names)
    before, tree = set(names), ast.parse(source)
    if is_watched:
        names[WATCHER] = Watcher()
        tree = watched(tree)
    exec(_code(tree, source, ANSWER), names)
    return names, names.keys() - before


@cache
def _setup_code(setup: str) -> types.CodeType:
    return _code(ast.parse(setup), setup, "<setup>")


def _code(tree: ast.Module, text: str, name: str) -> types.CodeType:
    return compile(_Sets().visit(tree) if "{" in text else tree, name, "exec")
