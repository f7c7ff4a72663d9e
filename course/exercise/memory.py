"""Count the numbers in the tensors that a piece of code makes: in the largest one, and in all that exist at once."""

from __future__ import annotations

from typing import Any

from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from .nested import leaves


class MemoryCounter(TorchDispatchMode):
    """A context that counts the numbers in the tensors made within it, the same on every machine.

    It sees what each of torch's operations returns, also inside torch's own functions. A view counts as nothing, and a
    boolean as much as a float. What an operation needs while it runs does not count. An autograd graph keeps its
    tensors alive, so count without one.

    Attributes:
        largest: numbers in the largest tensor that was made.
        at_once: the most numbers that existed at the same time.
    """

    def __init__(self) -> None:
        super().__init__()
        self.largest = self.at_once = 0
        self._alive: list[tuple[StorageWeakRef, int]] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Call an operation of torch, and count what it makes."""
        result = func(*args, **(kwargs or {}))
        given = {_memory(one).cdata for one in leaves([args, kwargs or {}]) if isinstance(one, Tensor)}
        self._alive = [(memory, numbers) for memory, numbers in self._alive if not memory.expired()]
        for made in leaves(result):
            if isinstance(made, Tensor) and (memory := _memory(made)).cdata not in given:
                numbers = made.untyped_storage().nbytes() // made.element_size()
                self._alive.append((memory, numbers))
                self.largest = max(self.largest, numbers)
        self.at_once = max(self.at_once, sum(numbers for _, numbers in self._alive))
        return result


def _memory(tensor: Tensor) -> StorageWeakRef:
    """Return a reference to a tensor's memory that does not keep it alive."""
    return StorageWeakRef(tensor.untyped_storage())
