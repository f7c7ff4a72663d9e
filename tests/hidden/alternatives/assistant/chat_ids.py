"""Right answers to `chat_ids` that look nothing like the reference."""

from __future__ import annotations

import torch


def by_pairs(turns, special):
    pairs = []
    for role, words in turns:
        speaks = role == "assistant"
        pairs.append((special[role], False))
        pairs.extend((word, speaks) for word in [*words, special["end"]])
    ids, learned = zip(*pairs, strict=True) if pairs else ((), ())
    return torch.tensor(ids, dtype=torch.int64), torch.tensor(learned, dtype=torch.bool)


def by_tensors(turns, special):
    ids, learned = [torch.empty(0, dtype=torch.long)], [torch.empty(0, dtype=torch.bool)]
    for role, words in turns:
        turn = torch.tensor([special[role], *words, special["end"]])
        ids.append(turn)
        learned.append((torch.arange(len(turn)) > 0) & (role == "assistant"))
    return torch.cat(ids), torch.cat(learned)


ALTERNATIVES = [by_pairs, by_tensors]
