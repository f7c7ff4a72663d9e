"""Explain an error that an answer raised, or an argument that it changed, in a sentence."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from torch import Tensor

from ..exercise.laws import Outputs
from ..exercise.nested import leaves
from ..exercise.recording import Raised, Recording
from ..exercise.runner import WrongKind
from ..exercise.script import Case, Step
from .difference import Difference
from .verdict import HOW_LARGE

_ABSENT = re.compile(r'missing the required "(\w+)" function')
"""Torch's message for a module without a `forward`, raised as a NotImplementedError."""

LAID_OUT = ("view size is not compatible", "last dimension with stride 1")
"""Torch's messages about a view with an incompatible memory layout. The first is followed by what to write instead."""

NO_MEMORY = ("can't allocate memory", "CUDA out of memory", "not enough memory")
"""Torch's messages, in a RuntimeError, where Python would raise MemoryError."""


def difference_where_an_error_is_right(case: Case, seen: Recording) -> Difference | None:
    """Return the difference if the answer does not raise the error that the case asks for, else None."""
    if seen.raised is None:
        what = f"this input is invalid, so your code should raise {case.raises}, but it raised nothing"
        return Difference("raised", what)
    if case.raises in seen.raised.types:
        return None
    if _is_unwritten(seen.raised):
        return explain_error(seen.raised, case, seen.outputs)
    words = f": {_in_one_line(seen.raised.message)}" if seen.raised.message else ""
    what = f"your code should raise {case.raises}, but it raised {seen.raised.name}{words}{_where(seen.raised)}"
    return Difference("raised", what)


def explain_error(raised: Raised, case: Case, outputs: Outputs) -> Difference:
    """Explain an error: the answer is not written yet, is of the wrong kind, or failed at a certain line."""
    steps = _steps(case, raised.step)
    steps = steps[1:] if raised.step in outputs else steps[:1]  # a step with an output has finished
    if _is_unwritten(raised):
        own = (step for step in steps if step.on != step.into)  # a result is no class of the student's
        method = next((step.method for step in own if step.method), "")
        return Difference("missing", f"`{method}` is not answered yet" if method else "not answered yet")
    if absent := _ABSENT.search(raised.message):
        return Difference("raised", f"your class has no method `{absent[1]}`. Check how its name is spelt")
    if WrongKind.__name__ in raised.types:
        return Difference("type", raised.message)
    where = _where(raised)
    if "in-place operation" in raised.message and "leaf" in raised.message:
        if not any(map(_asks_for_a_gradient, steps)):
            what = f"your code changes a parameter in place{where}. Do that inside `torch.no_grad()`"
            return Difference("raised", what)
        return Difference("mutated", f"your code changes an input in place{where}. Work on a new tensor instead")
    message = " ".join(raised.message.split())
    if "MemoryError" in raised.types or any(words in message for words in NO_MEMORY):
        what = f"your code needs more memory than there is{where}. {HOW_LARGE}"
        return Difference("memory", what)
    if "modified by an inplace operation" in message:
        what = "your code changes a tensor in place (`-=`, `x[…] =`), but its gradient needs the old values"
        return Difference("raised", f"{what}. Make a new tensor instead")
    if any(words in message for words in LAID_OUT):
        what = "a view needs values that lie one after another in memory, but those of this tensor do not"
        return Difference("raised", f"{what}{where}. Print its shape and its `.stride()`")
    told = f": {_in_one_line(message)}" if message else ""
    return Difference("raised", f"raised {raised.name}{told}{where}")


def explain_change(case: Case, where: str, signature: Sequence[str]) -> Difference:
    """Explain that a step's argument changed. `where` names the step's result and the argument, as in `"out: 0"`."""
    into, _, position = where.rpartition(": ")
    steps = [step for step in _steps(case, into) if step.args or step.kwargs]  # else there is nothing to change
    method = next((step.method or "forward" for step in steps if step.on != "answer" or step.method), "")
    name = f"an argument of `{method}`" if method else f"the input {_argument(position, signature)}"
    return Difference("mutated", f"your code changed {name}. Leave the inputs as they are, and work on a copy")


def is_in_place(seen: Recording) -> bool:
    """Return whether the error is autograd's complaint about an input changed in place."""
    return bool(seen.mutated) and seen.raised is not None and "inplace operation" in seen.raised.message


def _is_unwritten(raised: Raised) -> bool:
    """Return whether the answer raises NotImplementedError in its own code. Torch raises it for other reasons, too."""
    stub = "raise NotImplementedError" in raised.line or not (raised.line or raised.message)
    return raised.name == "NotImplementedError" and stub


def _where(raised: Raised) -> str:
    """Return the line of the answer's own code that raised the error, as the end of a sentence."""
    return f", at your line `{raised.line}`" if raised.line else ""


def _in_one_line(message: str) -> str:
    return textwrap.shorten(message, 240, placeholder=" …")


def _steps(case: Case, into: str) -> list[Step]:
    """Return the steps whose result is stored under `into`."""
    return [step for step in case.steps if step.into == into and step.verb in ("call", "map", "draws", "unroll")]


def _argument(position: str, signature: Sequence[str]) -> str:
    number = position.split("[")[0]
    if number.isdecimal() and int(number) < len(signature):
        return f"`{signature[int(number)]}`"
    return f"`{position}`"


def _asks_for_a_gradient(step: Step) -> bool:
    """Return whether a tensor among a step's arguments requires a gradient."""
    given = leaves([*step.args, *step.kwargs.values()])
    return any(isinstance(value, Tensor) and value.requires_grad for value in given)
