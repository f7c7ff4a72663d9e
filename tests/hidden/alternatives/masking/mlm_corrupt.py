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


class Corrupted(NamedTuple):
    inputs: torch.Tensor
    labels: torch.Tensor


def by_numpys_generator(ids, special, vocab_size, mask_id, generator, p=0.15):
    """Draw with numpy, seeded by the generator, and return a named tuple."""
    rng = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
    words = ids.numpy()
    chosen = (rng.random(words.shape) < p) & ~special.numpy()
    fate = rng.choice(3, size=words.shape, p=[0.8, 0.1, 0.1])
    others = rng.integers(0, vocab_size, words.shape)
    inputs = np.select([chosen & (fate == 0), chosen & (fate == 1)], [np.full_like(words, mask_id), others], words)
    return Corrupted(torch.from_numpy(inputs), torch.from_numpy(np.where(chosen, words, -100)))


ALTERNATIVES = [as_in_every_library, one_uniform_for_everything, by_numpys_generator]
