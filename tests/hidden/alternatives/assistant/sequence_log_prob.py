"""Right answers to `sequence_log_prob` that look nothing like the reference."""

from __future__ import annotations

import torch


def token_by_token(logits, ids, learned):
    B, T = ids.shape
    totals = []
    for row in range(B):
        total = logits[row, 0, 0] * 0
        for t in range(1, T):
            if learned[row, t]:
                before = logits[row, t - 1]
                total = total + before[ids[row, t]] - torch.logsumexp(before, 0)
        totals.append(total)
    return torch.stack(totals)


def by_picking(logits, ids, learned):
    row, place = learned[:, 1:].nonzero(as_tuple=True)
    log_p = logits[row, place].log_softmax(-1)[torch.arange(len(row)), ids[row, place + 1]]
    return logits.new_zeros(len(ids)).index_add(0, row, log_p)


ALTERNATIVES = [token_by_token, by_picking]
