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

_ABSENT = re.compile(r'missing the required "(\w+)" function')
"""What torch says of a module without a `forward`, as a NotImplementedError."""

LAID_OUT = ("view size is not compatible", "last dimension with stride 1")
"""What torch says of a view of memory that lies otherwise; after the first it names what to write instead."""

NO_MEMORY = ("can't allocate memory", "CUDA out of memory", "not enough memory")
"""What torch says, in a RuntimeError, where Python would raise MemoryError."""


def difference_where_an_error_is_right(case: Case, seen: Recording) -> Difference | None:
    """What differs where a right answer raises the case's error; None where it was raised."""
    if seen.raised is None:
        return Difference("raised", f"this input makes no sense and should raise {case.raises}; nothing was raised")
    if case.raises in seen.raised.types:
        return None
    if _is_unwritten(seen.raised):
        return explain_error(seen.raised, case, seen.outputs)
    words = f": {_in_one_line(seen.raised.message)}" if seen.raised.message else ""
    what = f"{case.raises} was expected, and {seen.raised.name} was raised{words}{_where(seen.raised)}"
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
        return Difference("raised", f"there is no method `{absent[1]}` in your class: is its name spelt so?")
    if WrongKind.__name__ in raised.types:
        return Difference("type", raised.message)
    where = _where(raised)
    if "in-place operation" in raised.message and "leaf" in raised.message:
        if not any(map(_asks_for_a_gradient, steps)):
            return Difference("raised", f"a parameter is changed in place{where}: that needs `torch.no_grad()`")
        return Difference("mutated", f"an input is changed in place{where}; work on a new tensor instead")
    message = " ".join(raised.message.split())
    if "MemoryError" in raised.types or any(words in message for words in NO_MEMORY):
        return Difference("memory", f"needed more memory than there is{where}: how large are the tensors on the way?")
    if "modified by an inplace operation" in message:
        what = "a tensor of yours is changed in place (`-=`, `x[…] =`), and its gradient needs what it was before"
        return Difference("raised", f"{what}: make a new tensor instead")
    if any(words in message for words in LAID_OUT):
        what = "a view reads memory as it lies, and the numbers of this tensor do not lie there one behind the other"
        return Difference("raised", f"{what} (print its shape and `.stride()`){where}")
    told = f": {_in_one_line(message)}" if message else ""
    return Difference("raised", f"raised {raised.name}{told}{where}")


def explain_change(case: Case, where: str, signature: Sequence[str]) -> Difference:
    """That an argument of a step was changed: `where` is the step's result and the argument's place, `"out: 0"`."""
    into, _, position = where.rpartition(": ")
    steps = [step for step in _steps(case, into) if step.args or step.kwargs]  # what takes nothing changes nothing
    method = next((step.method or "forward" for step in steps if step.on != "answer" or step.method), "")
    name = f"an argument of `{method}`" if method else f"the input {_argument(position, signature)}"
    return Difference("mutated", f"{name} was changed: leave inputs as they came, and work on a copy")


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
