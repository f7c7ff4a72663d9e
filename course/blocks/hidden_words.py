"""The corruption of topic 09: words are masked, replaced or kept, and labels name the selected ones."""

from __future__ import annotations

import torch
from torch import Tensor


def mlm_corrupt(
    ids: Tensor, special: Tensor, vocab_size: int, mask_id: int, generator: torch.Generator, p: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Return inputs and labels for ids of any shape. A token is selected with probability `p`, unless it is `special`.

    Of the selected tokens, 80 % become `mask_id`, 10 % any of `vocab_size` and 10 % stay. All other labels are
    -100.
    """
    fates = torch.tensor([1 - p, 0.8 * p, 0.1 * p, 0.1 * p])  # not selected, masked, replaced, kept
    fate = torch.multinomial(fates, ids.numel(), replacement=True, generator=generator).view(ids.shape)
    others = torch.empty_like(ids, device="cpu").random_(vocab_size, generator=generator)
    fate, others = fate.to(ids.device).masked_fill(special, 0), others.to(ids.device)
    labels = ids.masked_fill(fate == 0, -100)
    return ids.where(fate != 2, others).masked_fill(fate == 1, mask_id), labels
