r"""Masks: what a query may look at, what counts in a mean, and which words are hidden for a model to predict.

A mask is boolean and True where looking (or counting) is allowed. Padding masks hide what is no word, and causal
masks hide later words. Masked language modelling (BERT) hides some words, and the model predicts them from both sides.

    padding[b, s] = s < lengths[b]                        causal[t, s] = s <= t
    allowed[b, 1, t, s] = padding[b, s] and causal[t, s]  the axis of size 1 is for the heads
    w[t, s] = m[t, s] exp(e[t, s]) / sum_k m[t, k] exp(e[t, k]),   0 / 0 = 0
    mean[b] = sum_t m[b, t] x[b, t] / sum_t m[b, t]
    L = sum_bt m[b, t] (-log softmax(z[b, t])[y[b, t]]) / sum_bt m[b, t]

Glossary: B sentences in a batch, T queries, S keys, D width, V vocabulary, e scores, w weights, m a mask, z logits,
y targets.

Sources: A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, section 3.2.3; J. Devlin et al., "BERT:
Pre-training of Deep Bidirectional Transformers for Language Understanding", NAACL 2019, section 3.1 and appendix A.1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

IGNORED = -100
"""The label of a token that does not count, which `F.cross_entropy` leaves out."""


def padding_mask(lengths: Tensor, max_len: int) -> Tensor:
    """True for the first `lengths[b]` of `max_len` positions of each sentence: LongTensor (B,) -> bool (B, T).

    Raises:
        ValueError: a sentence is longer than `max_len`.
    """
    if bool((lengths > max_len).any()):
        raise ValueError(f"a sentence of {int(lengths.max())} words does not fit into {max_len} positions")
    return torch.arange(max_len, device=lengths.device) < lengths[:, None]


def causal_mask(T: int) -> Tensor:
    """True where the key is not after the query: bool (T, T), row t is True up to column t."""
    return torch.ones(T, T, dtype=torch.bool).tril()


def combine_masks(padding: Tensor, causal: Tensor | None = None) -> Tensor:
    """One mask for attention, from padding (B, S) of the keys and causal (T, S): (B, 1, T, S), or (B, 1, 1, S) without.

    A key must be a word *and* not lie in the future. Padding says nothing about the rows, which are the queries. The
    result is on padding's device, where the batch is, because `causal_mask` knows no batch.

    Raises:
        ValueError: the two masks are for different numbers of keys.
    """
    keys = padding[:, None, None, :]  # (B, 1, 1, S)
    if causal is None:
        return keys
    if causal.shape[-1] != padding.shape[-1]:
        raise ValueError(
            f"padding {tuple(padding.shape)} and causal {tuple(causal.shape)} differ in the number of keys"
        )
    return keys & causal.to(padding.device)


def masked_softmax(scores: Tensor, mask: Tensor, dim: int = -1) -> Tensor:
    """Softmax over what `mask` (broadcastable to the scores) allows, and zeros where it allows nothing.

    A slice with nothing allowed is filled with zeros for the softmax and emptied afterwards, because the softmax of
    minus infinities alone is NaN, and so is its gradient. The scores there do not matter, even if they are NaN.

    Raises:
        ValueError: the mask cannot be broadcast to the scores.
    """
    try:
        mask = mask.expand(scores.shape)
    except RuntimeError:
        message = f"a mask {tuple(mask.shape)} cannot be broadcast to scores {tuple(scores.shape)}"
        raise ValueError(message) from None
    nobody = ~mask.any(dim, keepdim=True)
    weights = scores.masked_fill(~mask, -math.inf).masked_fill(nobody, 0.0).softmax(dim)
    return weights.masked_fill(nobody, 0.0)


def masked_mean(x: Tensor, mask: Tensor) -> Tensor:
    """Mean of each sentence's real words, x (B, T, D) and mask (B, T) -> (B, D), zeros for a sentence of no words.

    Half precision is summed in single, because a sum of float16 overflows from 65,520 on, even if the mean does not.

    Raises:
        ValueError: the mask is not (B, T).
    """
    if mask.shape != x.shape[:2]:
        raise ValueError(f"x {tuple(x.shape)} needs a mask {tuple(x.shape[:2])}, got {tuple(mask.shape)}")
    wide = torch.promote_types(x.dtype, torch.float32)
    total = x.masked_fill(~mask[..., None], 0.0).sum(1, dtype=wide)  # (B, D)
    return (total / mask.sum(1, keepdim=True).clamp(min=1)).to(x.dtype)


def masked_cross_entropy(logits: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
    """Mean of -log softmax(logits)[target] over all real tokens of the batch: logits (B, T, V), the others (B, T).

    It is one mean for the batch, so a token counts the same in a long sentence and in a short one.

    Raises:
        ValueError: targets or mask are not (B, T).
    """
    if not logits.shape[:2] == targets.shape == mask.shape:
        shapes = tuple(logits.shape), tuple(targets.shape), tuple(mask.shape)
        raise ValueError("logits {} need targets and a mask of their first two axes, got {} and {}".format(*shapes))
    z, y = logits[mask], targets[mask]  # (N, V), (N,): the real tokens of all sentences
    return (z.logsumexp(-1) - z.gather(1, y[:, None]).squeeze(1)).mean()


def mlm_corrupt(
    ids: Tensor, special: Tensor, vocab_size: int, mask_id: int, generator: torch.Generator, p: float = 0.15
) -> tuple[Tensor, Tensor]:
    """Masked language modelling: inputs with some words corrupted, and labels with those words and -100 elsewhere.

    Each token that is not `special` is chosen with probability `p`, on its own. Of the chosen ones 80 % become
    `mask_id`, 10 % a word drawn uniformly from all `vocab_size`, and 10 % stay. All of them get labels. Any shape.

    Raises:
        ValueError: `special` has another shape than `ids`.
    """
    if special.shape != ids.shape:
        raise ValueError(f"ids {tuple(ids.shape)} and special {tuple(special.shape)} must have one shape")
    like: dict[str, Any] = {"generator": generator, "device": generator.device}
    chosen = (torch.rand(ids.shape, **like).to(ids.device) < p) & ~special
    fate = torch.rand(ids.shape, **like).to(ids.device)  # one coin for the three fates: their shares add up
    words = torch.randint(vocab_size, ids.shape, **like).to(ids.device)
    inputs = torch.where(chosen & (fate < 0.8), mask_id, ids)
    inputs = torch.where(chosen & (fate >= 0.9), words, inputs)
    return inputs, torch.where(chosen, ids, IGNORED)


def leaks_future(model_fn: Callable[[Tensor], Tensor], ids: Tensor) -> bool:
    """Whether some output of `model_fn`, ids (B, T) -> (B, T, ...), depends on a token after its own position.

    For each cut, everything after it is replaced by other tokens of the same text, and what stands before must not
    move. Every token is exchanged at every cut, at random, several times, because a leak may come from far away,
    need two tokens at once, or hide from a change that is the same everywhere.

    Raises:
        ValueError: the text has no two different tokens, so there is nothing to exchange.
    """
    known = ids.unique()
    if len(known) < 2 and ids.shape[1] > 1:
        raise ValueError(f"ids of shape {tuple(ids.shape)} hold no two different tokens, so nothing can be exchanged")
    generator = torch.Generator().manual_seed(ids.numel())
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]):
        for _ in range(4):
            drawn = torch.randint(1, len(known), ids[:, cut:].shape, generator=generator, device=generator.device)
            rank = torch.searchsorted(known, ids[:, cut:].contiguous())
            future = known[(rank + drawn.to(rank.device)) % len(known)]  # never the token that was there
            after = model_fn(torch.cat([ids[:, :cut], future], dim=1))
            if not torch.allclose(after[:, :cut], before[:, :cut], rtol=0.0, atol=1e-5):
                return True
    return False
