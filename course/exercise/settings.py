"""How an answer is examined, whatever the notebook has set: with torch's own defaults, and without compiling."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch

from .compiled import is_compiled, original, without_compiling
from .randomness import randomness_put_back

NOTES = {
    "device": "This machine lacks the default device that the notebook sets, so the answer was examined on the CPU.",
    "compiled": "The answer was examined without compiling it, because that takes minutes and changes no values.",
}
"""What is said beside a verdict of how the answer was examined, by the words that cross to the judge."""


_is_put_aside = False


@dataclass(frozen=True)
class Examined:
    """An answer that is examined, what was `given` as such, and why a note may be due."""

    given: Any
    lacks_device: bool
    asked_to_compile: list[Any]

    @property
    def answer(self) -> Any:
        """What is run."""
        return original(self.given)

    @property
    def notes(self) -> list[str]:
        """What of `NOTES` is to be said by now."""
        due = {"device": self.lacks_device, "compiled": bool(self.asked_to_compile) or is_compiled(self.given)}
        return [note for note, is_due in due.items() if is_due]


@contextmanager
def as_examined(answer: Any) -> Iterator[Examined]:
    """Within the block, an answer can be examined; afterwards all settings are the notebook's again."""
    lacks_device = _is_put_aside or lacks_default_device()
    with as_torch_comes(), randomness_put_back(), without_compiling() as asked:
        yield Examined(answer, lacks_device, asked)


@contextmanager
def as_torch_comes() -> Iterator[None]:
    """Within the block, what nobody says a dtype or a device for is float32 and on the CPU; then as it was before.

    Some notebooks begin with `torch.set_default_dtype(torch.float64)`. References, misconceptions and answers are
    examined alike, and in grading as at home.
    """
    dtype = torch.get_default_dtype()
    with ExitStack() as stack:
        # such a context looks at every operation: not without need
        if lacks_default_device() or torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)


@contextmanager
def on_a_device_that_is_there() -> Iterator[bool]:
    """Within the block, the CPU stands for a default device that this machine lacks. Yields whether it does."""
    lacks = lacks_default_device()
    with ExitStack() as stack:
        if lacks:
            stack.enter_context(torch.device("cpu"))
        yield lacks or _is_put_aside


def lacks_default_device() -> bool:
    """Whether this machine lacks the default device that the notebook has set. Torch itself asks it for its number."""
    try:
        torch.empty(0)
    except Exception:  # noqa: BLE001 - an AssertionError, a RuntimeError or a NotImplementedError, as the device has it
        return True
    return False


def put_lacking_device_aside() -> bool:
    """Let the CPU be the default device from now on, if this machine lacks the notebook's. Return whether it does."""
    global _is_put_aside
    lacks = lacks_default_device()
    if lacks:
        _is_put_aside = True
        with suppress(AssertionError):  # torch's, where a context is open
            torch.set_default_device("cpu")
        if lacks_default_device():
            torch.device("cpu").__enter__()
    return lacks
