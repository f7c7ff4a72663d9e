"""Laws of gradients: which parameters must learn, and which inputs the answer must use."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from .plain import agree, tensor
from .registry import EXPECTED, Outputs, law, law_with


@law
def every_parameter_learns(
    outputs: Outputs, of: str = "gradients of out", learning: str = "", unused: bool = False, because: str = ""
) -> str:
    """Require a nonzero gradient for each parameter.

    With `learning`, the name of a record of `Case.learning`, frozen parameters are skipped. With `unused`, so are
    parameters that take no part in the result.
    """
    gradients = outputs[of]
    if not gradients:
        return because or "no gradient reaches the parameters. Is the result still connected to them?"
    asked = {
        name: gradient
        for name, gradient in gradients.items()
        if not (learning and name not in outputs[learning]) and not (unused and gradient is None)
    }
    idle = [name for name, grad in asked.items() if grad is None or not bool((grad != 0).any())]
    return (because or f"no gradient reaches {', '.join(map(str, idle[:4]))}") if idle else ""


@law
def every_token_learns(outputs: Outputs, tokens: int, of: str = "gradients of out", because: str = "") -> str:
    """Require a gradient for each token wherever a parameter has an axis of size `tokens`."""
    gradients = _reached(outputs[of])
    for gradient in gradients:
        for axis in (axis for axis in range(gradient.dim()) if gradient.shape[axis] == tokens):
            idle = int((gradient.movedim(axis, 0).reshape(tokens, -1) == 0).all(dim=1).sum())
            if idle:
                return because or f"{idle} of the {tokens} tokens in the input get no gradient"
    return "" if gradients else because or "no gradient reaches the parameters"


@law
def some_table_learns_every_token(
    outputs: Outputs, tokens: int, of: str = "gradients of out", because: str = ""
) -> str:
    """Require one parameter with an axis of size `tokens` and a gradient for each token."""
    tables = [
        gradient.movedim(axis, 0).reshape(tokens, -1)
        for gradient in _reached(outputs[of])
        for axis in range(gradient.dim())
        if gradient.shape[axis] == tokens
    ]
    if any(bool((table != 0).any(1).all()) for table in tables):
        return ""
    return because or f"no parameter gets a gradient for all of the {tokens} tokens"


@law
def every_row_learns(
    outputs: Outputs, rows: int, used: list[int], of: str = "gradients of out", least: float = 0.0, because: str = ""
) -> str:
    """Require a gradient above `least` at each of the entries `used` of every parameter axis of size `rows`."""
    gradients = _reached(outputs[of])
    for gradient in gradients:
        for axis in (axis for axis in range(gradient.dim()) if gradient.shape[axis] == rows):
            idle = gradient.movedim(axis, 0).reshape(rows, -1).abs().amax(1)[torch.tensor(used)] <= least
            if bool(idle.any()):
                return because or f"{int(idle.sum())} of the {len(used)} tokens in the input get no gradient"
    return "" if gradients else because or "no gradient reaches the parameters"


def _reached(gradients: Mapping[str, Tensor | None] | None) -> list[Tensor]:
    """Return the gradients that are not None."""
    return [gradient for gradient in (gradients or {}).values() if gradient is not None]


@law
def learns_at_least(outputs: Outputs, numbers: int, of: str = "gradients of out", because: str = "") -> str:
    """Require parameters with gradients that hold at least `numbers` numbers in total."""
    found = sum(gradient.numel() for gradient in (outputs[of] or {}).values() if gradient is not None)
    return "" if found >= numbers else because or f"expected at least {numbers} trainable parameters, got {found}"


@law
def learns_by_place(outputs: Outputs, places: list[int], of: str = "gradients of out", because: str = "") -> str:
    """Require a parameter with a gradient and an axis of one of the sizes `places`."""
    found = any(size in places for gradient in _reached(outputs[of]) for size in gradient.shape)
    return "" if found else because or f"no trainable parameter has {' or '.join(map(str, places))} rows"


@law
def something_learns(outputs: Outputs, of: str = "gradients of out", because: str = "") -> str:
    """Require a nonzero gradient of some parameter, so that a training step changes something."""
    moving = any(gradient is not None and bool((gradient != 0).any()) for gradient in (outputs[of] or {}).values())
    return "" if moving else because or "every gradient is zero, so a training step would change nothing"


@law_with(relative=True)
def rows_as_expected(
    outputs: Outputs, rows: list[int], of: str = "gradients of out", because: str = "", within: float = 1e-6
) -> str:
    """Require these rows of each tensor to equal the reference's. Other rows may hold anything, also NaN."""
    found, expected = ([tensor[rows] for tensor in where[of]] for where in (outputs, outputs[EXPECTED]))
    return "" if agree(found, expected, within) else because or f"rows {rows} of the {of} are not right"


@law
def every_block_learns(outputs: Outputs, rows: int, of: str = "gradients of out", because: str = "") -> str:
    """Require a gradient in each block of `rows` rows of a parameter that stacks several, such as an LSTM's gates."""
    for name, gradient in (item for item in outputs[of].items() if item[1] is not None):
        for axis in (axis for axis in range(gradient.dim()) if gradient.shape[axis] % rows == 0):
            blocks = gradient.movedim(axis, 0).reshape(gradient.shape[axis] // rows, -1)
            idle = int((blocks == 0).all(dim=1).sum())
            if idle:
                return because or f"no gradient reaches {idle} of {len(blocks)} blocks of {name}"
    return "" if outputs[of] else because or "no gradient reaches the parameters"


@law
def input_is_reached(outputs: Outputs, of: str = "gradients of out", because: str = "") -> str:
    """Require a gradient of the first argument."""
    first = outputs[of][0] if outputs[of] else None
    reached = first is not None and bool((tensor(first) != 0).any())
    return "" if reached else because or "no gradient flows back to the input"


@law
def not_reached(outputs: Outputs, places: list[int], of: str = "gradients of out", because: str = "") -> str:
    """Require no gradient of the arguments at `places`, counted from 0 among the float arguments."""
    felt = [place for place in places if (grad := outputs[of][place]) is not None and bool((grad != 0).any())]
    return (because or f"a gradient reaches {len(felt)} arguments that should not learn") if felt else ""
