"""Answers that `torch.compile` or `torch.jit.script` has wrapped are examined without it.

To compile for each shape and type of the cases takes minutes, and the values stay the same.
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
"""The attributes under which `torch.compile` and `torch.jit.script` keep the function that they were given."""


def original(answer: Any) -> Any:
    """The function or model that was compiled; anything else as it is."""
    inner = _model_in(answer) if isinstance(answer, nn.Module) else _function_in(answer)
    return answer if inner is None else original(inner)


def is_compiled(answer: Any) -> bool:
    """Whether the answer, one of its parts or one of its methods is compiled where it is called."""
    if inspect.isclass(answer):
        return any(_function_in(method) is not None for method in vars(answer).values())
    if not isinstance(answer, nn.Module):
        return _function_in(answer) is not None
    try:
        return any(_model_in(part) is not None or _compiles_itself(part) for part in answer.modules())
    except Exception:  # noqa: BLE001 - a model whose class forgot `super().__init__()`, or has methods of its own in their place
        return False


def plain_name(parameter: str) -> str:
    """The name of a parameter without what `torch.compile` puts into it."""
    return parameter.replace("_orig_mod.", "")


@contextmanager
def without_compiling() -> Iterator[list[Any]]:
    """Within the block, nothing is compiled, and what was compiled before runs as it was written.

    Yields what the block asked `torch.compile` for. PyTorch before 2.6 goes on with what was compiled before.
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
    """What a compiled function was made of, or None. A decorator around one has its attributes, too, and wraps it."""
    own = getattr(answer, "__dict__", {})
    found = next((own[name] for name in _KEPT_UNDER if name in own), None)
    return found if own.get("__wrapped__", found) is found else None


def _compiles_itself(part: nn.Module) -> bool:
    """Whether `part.compile()` was called."""
    return getattr(part, "_compiled_call_impl", None) is not None
