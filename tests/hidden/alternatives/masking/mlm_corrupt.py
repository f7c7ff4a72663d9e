"""Right answers to `mlm_corrupt` that look nothing like the reference."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch


def as_in_every_library(ids, special, vocab_size, mask_id, generator, p=0.15):
    """Bernoulli draws, 80 % of the chosen, then half of the rest."""
    inputs, labels = ids.clone(), ids.clone()
    share = torch.full(ids.shape, p).masked_fill(special, 0.0)
    chosen = torch.bernoulli(share, generator=generator).bool()
    labels[~chosen] = -100
    replaced = torch.bernoulli(torch.full(ids.shape, 0.8), generator=generator).bool() & chosen
    inputs[replaced] = mask_id
    random = torch.bernoulli(torch.full(ids.shape, 0.5), generator=generator).bool() & chosen & ~replaced
    inputs[random] = torch.randint(vocab_size, ids.shape, generator=generator)[random]
    return inputs, labels


def one_uniform_for_everything(ids, special, vocab_size, mask_id, generator, p=0.15):
    """A single draw a token: below 0.8 p a mask, below 0.9 p a word, below p itself."""
    u = torch.rand(ids.shape, generator=generator, dtype=torch.float64).masked_fill(special, 2.0)
    words = torch.randint(0, vocab_size, ids.shape, generator=generator)
    inputs = torch.where(u < 0.9 * p, words, ids)
    inputs = torch.where(u < 0.8 * p, torch.full_like(ids, mask_id), inputs)
    return inputs, torch.where(u < p, ids, torch.full_like(ids, -100))


def word_after_word(ids, special, vocab_size, mask_id, generator, p=0.15):
    """Python lists, and an own call of the generator for a word that is exchanged."""
    inputs, labels = ids.flatten().tolist(), [-100] * ids.numel()
    coins = torch.rand(ids.numel(), 2, generator=generator).tolist()
    for i, (kept, (chosen, fate)) in enumerate(zip(special.flatten().tolist(), coins, strict=True)):
        if kept or chosen >= p:
            continue
        labels[i] = inputs[i]
        if fate < 0.8:
            inputs[i] = mask_id
        elif fate < 0.9:
            inputs[i] = int(torch.randint(vocab_size, (1,), generator=generator))
    return [torch.tensor(row).view(ids.shape) for row in (inputs, labels)]


def only_the_chosen_are_drawn(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen = (torch.rand(ids.shape, generator=generator) < p).logical_and(~special)
    n = int(chosen.sum())
    labels, inputs = torch.full_like(ids, -100), ids.clone()
    labels[chosen] = ids[chosen]
    fates = torch.multinomial(torch.tensor([0.8, 0.1, 0.1]), max(n, 1), replacement=True, generator=generator)[:n]
    options = torch.stack(
        [torch.full((n,), mask_id), torch.randint(vocab_size, (n,), generator=generator), ids[chosen]]
    )
    inputs[chosen] = options.gather(0, fates[None]).squeeze(0)
    return inputs, labels


class Corrupted(NamedTuple):
    inputs: torch.Tensor
    labels: torch.Tensor


def by_numpys_generator(ids, special, vocab_size, mask_id, generator, p=0.15):
    """numpy throws them, and its seed is the generator's; what comes back has names."""
    rng = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
    words = ids.numpy()
    chosen = (rng.random(words.shape) < p) & ~special.numpy()
    fate = rng.choice(3, size=words.shape, p=[0.8, 0.1, 0.1])
    others = rng.integers(0, vocab_size, words.shape)
    inputs = np.select([chosen & (fate == 0), chosen & (fate == 1)], [np.full_like(words, mask_id), others], words)
    return Corrupted(torch.from_numpy(inputs), torch.from_numpy(np.where(chosen, words, -100)))


ALTERNATIVES = [
    as_in_every_library,
    one_uniform_for_everything,
    word_after_word,
    only_the_chosen_are_drawn,
    by_numpys_generator,
]
