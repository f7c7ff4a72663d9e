"""Laws of weights in four bits: an answer of codes, two per byte with the first in the upper half, and of scales."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from .plain import kind
from .registry import Outputs, Unreadable, law


@law
def comes_back(
    outputs: Outputs, W: Tensor, levels: Tensor, block: int, of: str = "out", because: str = "", within: float = 1e-5
) -> str:
    """Require every weight of W to decode to its nearest level times the largest absolute weight of its block.

    The choice among equally near codes is free: any in a block of zeros, and either one if a weight lies midway between
    two levels. `within` is a share of the largest weight.
    """
    flat = W.double().flatten()
    blocks = torch.stack(F.pad(flat, (0, -flat.numel() % block)).split(block))  # (blocks, block)
    codes, scales = _quantised(outputs[of], len(blocks), block, W.dtype)
    largest = blocks.abs().amax(1)
    if not torch.allclose(scales.double(), largest, rtol=within, atol=0.0):
        return because or "a scale is not the largest absolute weight of its block"
    reached = levels.double() * largest[:, None]  # (blocks, 16): the value of each code
    halves = torch.stack((codes // 16, codes % 16), 2).long().flatten(1)
    off = (reached.gather(1, halves) - blocks).abs()
    least = (blocks[..., None] - reached[:, None]).abs().amin(-1)
    wrong = int((off > least + within * largest[:, None]).sum())
    if not wrong:
        return ""
    return because or f"{wrong} of {blocks.numel()} codes do not stand for the level nearest to a weight"


def _quantised(answer: object, blocks: int, block: int, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return the codes and the scales of an answer.

    Raises:
        Unreadable: the answer has another form.
    """
    if not isinstance(answer, tuple | list) or len(answer) != 2:
        raise Unreadable(f"expected a tuple of codes and scales, got {kind(answer)}")
    for name, part, shape, wanted in zip(
        ("codes", "scales"), answer, ((blocks, block // 2), (blocks,)), (torch.uint8, dtype), strict=True
    ):
        if not isinstance(part, Tensor) or part.shape != shape or part.dtype != wanted:
            asked = f"a tensor of shape {shape} and dtype {str(wanted).removeprefix('torch.')}"
            raise Unreadable(f"expected the {name} as {asked}, got {kind(part)}")
    codes, scales = answer
    return codes.detach(), scales.detach()
