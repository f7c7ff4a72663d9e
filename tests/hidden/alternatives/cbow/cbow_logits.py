"""Right answers to `cbow_logits` that look nothing like the reference."""

from __future__ import annotations

from torch.nn import functional as F


def by_embedding_bag(contexts, E, W, b):
    return F.linear(F.embedding_bag(contexts.contiguous(), E, mode="mean"), W, b)


def counts_times_table(contexts, E, W, b):
    counts = F.one_hot(contexts, len(E)).to(E.dtype).sum(1)
    return counts / contexts.shape[1] @ E @ W.T + b


ALTERNATIVES = [by_embedding_bag, counts_times_table]
