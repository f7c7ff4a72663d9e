"""Right answers to `control_labels` that look nothing like the reference."""

from __future__ import annotations

import torch


def with_a_dict(words, labels, generator):
    of_word = {}
    for word in words.tolist():
        if word not in of_word:
            of_word[word] = labels[torch.randint(len(labels), (1,), generator=generator)].item()
    return torch.tensor([of_word[word] for word in words.tolist()])


def by_shares(words, labels, generator):
    counts = torch.bincount(labels).float()
    types, of_type = torch.unique(words, return_inverse=True)
    return torch.multinomial(counts, len(types), replacement=True, generator=generator)[of_type]


ALTERNATIVES = [with_a_dict, by_shares]
