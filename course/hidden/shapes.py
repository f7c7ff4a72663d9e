"""What a reference's model is made of, found out once for all cases."""

from collections.abc import Callable
from functools import cache
from typing import Any

from torch import Size, nn


@cache
def shapes_of(kind: Callable[..., nn.Module], *sizes: Any, **settings: Any) -> dict[str, Size]:
    """Names and shapes of what `kind(*sizes, **settings).state_dict()` holds, in its order."""
    return {name: tensor.shape for name, tensor in kind(*sizes, **settings).state_dict().items()}
