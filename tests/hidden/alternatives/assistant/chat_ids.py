"""Right answers to `chat_ids` that look nothing like the reference."""

from __future__ import annotations

import itertools

import torch


def by_pairs(turns, special):
    pairs = []
    for role, words in turns:
        speaks = role == "assistant"
        pairs.append((special[role], False))
        pairs.extend((word, speaks) for word in [*words, special["end"]])
    ids, learned = zip(*pairs, strict=True) if pairs else ((), ())
    return torch.tensor(ids, dtype=torch.int64), torch.tensor(learned, dtype=torch.bool)


def by_lengths(turns, special):
    ids = list(itertools.chain.from_iterable([special[role], *words, special["end"]] for role, words in turns))
    learned = torch.zeros(len(ids), dtype=torch.bool)
    place = 0
    for role, words in turns:
        end = place + len(words) + 2
        learned[place + 1 : end] = role == "assistant"
        place = end
    return torch.LongTensor(ids), learned


def by_tensors(turns, special):
    ids, learned = [torch.empty(0, dtype=torch.long)], [torch.empty(0, dtype=torch.bool)]
    for role, words in turns:
        turn = torch.tensor([special[role], *words, special["end"]])
        ids.append(turn)
        learned.append((torch.arange(len(turn)) > 0) & (role == "assistant"))
    return torch.cat(ids), torch.cat(learned)


ALTERNATIVES = [by_pairs, by_lengths, by_tensors]
