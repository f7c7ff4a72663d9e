"""Explain in a sentence an error that an answer raised, or an argument that it changed."""

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
"""What torch says of a module without a `forward`, as a NotImplementedError."""

LAID_OUT = ("view size is not compatible", "last dimension with stride 1")
"""What torch says of a view of memory that lies otherwise; after the first it names what to write instead."""

NO_MEMORY = ("can't allocate memory", "CUDA out of memory", "not enough memory")
"""What torch says, in a RuntimeError, where Python would raise MemoryError."""


def difference_where_an_error_is_right(case: Case, seen: Recording) -> Difference | None:
    """What differs where a right answer raises the case's error; None where it was raised."""
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
    """What an error in the answer means: not written yet, another kind of thing, or what went wrong at which line."""
    steps = _steps(case, raised.step)
    steps = steps[1:] if raised.step in outputs else steps[:1]  # the first of a name is over when something came of it
    if _is_unwritten(raised):
        own = (step for step in steps if step.on != step.into)  # what came is no class of theirs
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
    """That an argument of a step was changed: `where` is the step's result and the argument's place, `"out: 0"`."""
    into, _, position = where.rpartition(": ")
    steps = [step for step in _steps(case, into) if step.args or step.kwargs]  # what takes nothing changes nothing
    method = next((step.method or "forward" for step in steps if step.on != "answer" or step.method), "")
    name = f"an argument of `{method}`" if method else f"the input {_argument(position, signature)}"
    return Difference("mutated", f"your code changed {name}. Leave the inputs as they are, and work on a copy")


def is_in_place(seen: Recording) -> bool:
    """Whether the error is autograd's complaint about a changed input."""
    return bool(seen.mutated) and seen.raised is not None and "inplace operation" in seen.raised.message


def _is_unwritten(raised: Raised) -> bool:
    """Whether the answer's own line says that it is not written yet: torch raises the same error for other reasons."""
    stub = "raise NotImplementedError" in raised.line or not (raised.line or raised.message)
    return raised.name == "NotImplementedError" and stub


def _where(raised: Raised) -> str:
    """The answer's own line that raised the error, as the end of a sentence."""
    return f", at your line `{raised.line}`" if raised.line else ""


def _in_one_line(message: str) -> str:
    return textwrap.shorten(message, 240, placeholder=" …")


def _steps(case: Case, into: str) -> list[Step]:
    """The calls whose result was kept under `into`."""
    return [step for step in case.steps if step.into == into and step.verb in ("call", "map", "draws", "unroll")]


def _argument(position: str, signature: Sequence[str]) -> str:
    number = position.split("[")[0]
    if number.isdecimal() and int(number) < len(signature):
        return f"`{signature[int(number)]}`"
    return f"`{position}`"


def _asks_for_a_gradient(step: Step) -> bool:
    """Whether one of the tensors that a step hands over does."""
    given = leaves([*step.args, *step.kwargs.values()])
    return any(isinstance(value, Tensor) and value.requires_grad for value in given)
