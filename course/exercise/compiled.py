"""Run answers that `torch.compile` or `torch.jit.script` wraps without compilation.

Compilation for each shape and type of the cases takes minutes, and the values stay the same.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import nn

_KEPT_UNDER = ("_torchdynamo_orig_callable", "_torchdynamo_inline")
"""The attributes under which `torch.compile` and `torch.jit.script` keep the original function."""


def original(answer: Any) -> Any:
    """Return the function or model before compilation, or the answer itself if it is not compiled."""
    inner = _model_in(answer) if isinstance(answer, nn.Module) else _function_in(answer)
    return answer if inner is None else original(inner)


def is_compiled(answer: Any) -> bool:
    """Return whether the answer, one of its parts or one of its methods is compiled."""
    if inspect.isclass(answer):
        return any(_function_in(method) is not None for method in vars(answer).values())
    if not isinstance(answer, nn.Module):
        return _function_in(answer) is not None
    try:
        return any(_model_in(part) is not None or _compiles_itself(part) for part in answer.modules())
    except Exception:  # noqa: BLE001 - a model without `super().__init__()`, or with methods of its own by these names
        return False


def plain_name(parameter: str) -> str:
    """Return a parameter's name without the prefixes of `torch.compile`."""
    return parameter.replace("_orig_mod.", "")


@contextmanager
def without_compiling() -> Iterator[list[Any]]:
    """Disable compilation within the block, and run compiled code eagerly.

    Yield a list of the objects passed to `torch.compile`. PyTorch before 2.6 still runs code compiled earlier.
    """
    asked: list[Any] = []

    def as_it_is(model: Any = None, **_: Any) -> Any:
        asked.append(model)
        return (lambda given: given) if model is None else model

    given = torch.compile
    with ExitStack() as stack:
        if "torch._dynamo" in sys.modules and hasattr(torch.compiler, "set_stance"):
            stack.enter_context(torch.compiler.set_stance("force_eager"))
        torch.compile = as_it_is
        try:
            yield asked
        finally:
            torch.compile = given


def _model_in(model: nn.Module) -> Any:
    return getattr(model, "_modules", {}).get("_orig_mod")


def _function_in(answer: Any) -> Any:
    """Return the function that was compiled, or None. A decorator copies its attributes but sets `__wrapped__`."""
    own = getattr(answer, "__dict__", {})
    found = next((own[name] for name in _KEPT_UNDER if name in own), None)
    return found if own.get("__wrapped__", found) is found else None


def _compiles_itself(part: nn.Module) -> bool:
    """Return whether `part.compile()` was called."""
    return getattr(part, "_compiled_call_impl", None) is not None
