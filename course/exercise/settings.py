"""Torch's default settings while an answer is examined, whatever the notebook has set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch


@contextmanager
def as_torch_comes() -> Iterator[None]:
    """Within the block, what nobody says a dtype or a device for is float32 and on the CPU; then as it was before.

    Some notebooks begin with `torch.set_default_dtype(torch.float64)`. References, misconceptions and answers are
    examined alike, and in grading as at home.
    """
    dtype = torch.get_default_dtype()
    with ExitStack() as stack:
        if torch.get_default_device().type != "cpu":  # such a context looks at every operation: not without need
            stack.enter_context(torch.device("cpu"))
        torch.set_default_dtype(torch.float32)
        try:
            yield
        finally:
            torch.set_default_dtype(dtype)
