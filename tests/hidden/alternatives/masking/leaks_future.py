"""Right answers to `leaks_future` that look nothing like the reference."""

from __future__ import annotations

import torch


def by_reading_less(model_fn, ids):
    """Compare the outputs for a beginning with the beginning of the outputs for the whole."""
    whole = model_fn(ids)
    return any(
        not torch.allclose(model_fn(ids[:, :t]), whole[:, :t], rtol=0, atol=1e-5) for t in range(1, ids.shape[1])
    )


def by_the_farthest_words(model_fn, ids):
    """Replace future words by the smallest and the largest word, in two patterns."""
    low, high = ids.min(), ids.max()
    before = model_fn(ids)
    for t in range(1, ids.shape[1]):
        checkered = torch.where(torch.arange(ids.shape[1]) % 2 == 0, low, high).expand_as(ids)
        for future in (low.expand_as(ids), high.expand_as(ids), checkered):
            changed = torch.cat([ids[:, :t], future[:, t:]], dim=1)
            if not torch.allclose(model_fn(changed)[:, :t], before[:, :t], atol=1e-5):
                return True
    return False


def by_the_next_word_of_all(model_fn, ids):
    """Replace each future word by the next one of those that occur, at every cut."""
    known, before = ids.unique().tolist(), model_fn(ids)
    following = {word: known[(i + 1) % len(known)] for i, word in enumerate(known)}
    changed = ids.clone()
    for t in reversed(range(1, ids.shape[1])):
        changed[:, t] = torch.tensor([following[word] for word in ids[:, t].tolist()])
        if not torch.allclose(model_fn(changed)[:, :t], before[:, :t], atol=1e-5):
            return True
    return False


ALTERNATIVES = [by_reading_less, by_the_farthest_words, by_the_next_word_of_all]
