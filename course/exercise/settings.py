"""Run answers with torch's default settings and without compiling, whatever the notebook has set."""

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
"""Notes beside a verdict on how the answer ran, by the keys that are sent to the judge."""


_is_put_aside = False


@dataclass(frozen=True)
class Examined:
    """An answer to run, the object that was `given`, and the reasons for a note."""

    given: Any
    lacks_device: bool
    asked_to_compile: list[Any]

    @property
    def answer(self) -> Any:
        """Return the object to run, without compilation."""
        return original(self.given)

    @property
    def notes(self) -> list[str]:
        """Return the keys of the `NOTES` that apply so far."""
        due = {"device": self.lacks_device, "compiled": bool(self.asked_to_compile) or is_compiled(self.given)}
        return [note for note, is_due in due.items() if is_due]


@contextmanager
def as_examined(answer: Any) -> Iterator[Examined]:
    """Prepare all settings for running an answer, and restore the notebook's after the block."""
    lacks_device = _is_put_aside or lacks_default_device()
    with as_torch_comes(), randomness_put_back(), without_compiling() as asked:
        yield Examined(answer, lacks_device, asked)


@contextmanager
def as_torch_comes() -> Iterator[None]:
    """Set the default dtype to float32 and the default device to the CPU within the block.

    Some notebooks begin with `torch.set_default_dtype(torch.float64)`. References, misconceptions and answers run
    alike, and in grading as at home.
    """
    dtype = torch.get_default_dtype()
    with ExitStack() as stack:
        # such a context intercepts every operation, so it is entered only if necessary
        if lacks_default_device() or torch.get_default_device().type != "cpu":
            stack.enter_context(torch.device("cpu"))
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)


@contextmanager
def on_a_device_that_is_there() -> Iterator[bool]:
    """Use the CPU within the block if this machine lacks the default device. Yield whether it does."""
    lacks = lacks_default_device()
    with ExitStack() as stack:
        if lacks:
            stack.enter_context(torch.device("cpu"))
        yield lacks or _is_put_aside


def lacks_default_device() -> bool:
    """Return whether this machine lacks the default device set by the notebook, by making a tensor on it."""
    try:
        torch.empty(0)
    except Exception:  # noqa: BLE001 - AssertionError, RuntimeError or NotImplementedError, depending on the device
        return True
    return False


def put_lacking_device_aside() -> bool:
    """Make the CPU the default device from now on if this machine lacks the notebook's. Return whether it does."""
    global _is_put_aside
    lacks = lacks_default_device()
    if lacks:
        _is_put_aside = True
        with suppress(AssertionError):  # torch raises it within an open device context
            torch.set_default_device("cpu")
        if lacks_default_device():
            torch.device("cpu").__enter__()
    return lacks
