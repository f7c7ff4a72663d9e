"""The corruption of topic 09: words that are hidden, exchanged or kept, and the labels that ask for them."""

from __future__ import annotations

import torch
from torch import Tensor


def mlm_corrupt(
    ids: Tensor, special: Tensor, vocab_size: int, mask_id: int, generator: torch.Generator, p: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Inputs and labels for ids of any shape. A token is asked for with probability `p`, unless it is `special`.

    Of the tokens that are asked for, 80 % become `mask_id`, 10 % any of `vocab_size` and 10 % stay. All other labels
    are -100.
    """
    fates = torch.tensor([1 - p, 0.8 * p, 0.1 * p, 0.1 * p])  # not asked for, hidden, exchanged, kept
    fate = torch.multinomial(fates, ids.numel(), replacement=True, generator=generator).view(ids.shape)
    others = torch.empty_like(ids, device="cpu").random_(vocab_size, generator=generator)
    fate, others = fate.to(ids.device).masked_fill(special, 0), others.to(ids.device)
    labels = ids.masked_fill(fate == 0, -100)
    return ids.where(fate != 2, others).masked_fill(fate == 1, mask_id), labels
