"""Right answers to topic 09 that look nothing like the reference."""

from __future__ import annotations

from typing import NamedTuple

import einops
import numpy as np
import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from course.data import grammar

# -- padding and causality -------------------------------------------------------------------------------------------


def _checked(lengths, max_len):
    if max(lengths.tolist()) > max_len:
        raise ValueError("too long")


def rows_in_a_loop(lengths, max_len):
    _checked(lengths, max_len)
    return torch.tensor([[place < length for place in range(max_len)] for length in lengths.tolist()])


def padded_ones(lengths, max_len):
    _checked(lengths, max_len)
    rows = [torch.ones(max_len), *(torch.ones(n) for n in lengths.tolist())]
    return pad_sequence(rows, batch_first=True)[1:].bool()


def scattered_ends(lengths, max_len):
    """A one at each end, and nothing left of it summed up from the right."""
    _checked(lengths, max_len)
    ends = torch.zeros(len(lengths), max_len + 1).scatter_(1, lengths[:, None], 1.0)
    return ends[:, 1:].flip(1).cumsum(1).flip(1) > 0


def compared_in_numpy(lengths, max_len):
    _checked(lengths, max_len)
    return torch.from_numpy(np.less.outer(np.arange(max_len), lengths.numpy()).T.copy())


def numbers_of_places(T):
    return torch.arange(T)[:, None] >= torch.arange(T)[None]


def triangle_in_a_loop(T):
    mask = torch.zeros(T, T, dtype=torch.bool)
    for t in range(T):
        mask[t, : t + 1] = True
    return mask


def not_above(T):
    return ~torch.triu(torch.ones((T, T)), diagonal=1).bool()


def counted_up(T):
    return torch.eye(T).cumsum(0) > 0


def triangle_by_recursion(T):
    if T == 0:
        return torch.ones(0, 0, dtype=torch.bool)
    triangle = F.pad(triangle_by_recursion(T - 1), (0, 1, 0, 1))
    triangle[-1] = True
    return triangle


def combined_by_hand(padding, causal=None):
    B, S = padding.shape
    T = 1 if causal is None else causal.shape[0]
    out = torch.zeros(B, 1, T, S, dtype=torch.bool)
    for b in range(B):
        for t in range(T):
            for s in range(S):
                out[b, 0, t, s] = bool(padding[b, s]) and (causal is None or bool(causal[t, s]))
    return out


def combined_by_einops(padding, causal=None):
    keys = einops.rearrange(padding, "b s -> b 1 1 s")
    return keys if causal is None else torch.logical_and(keys, einops.rearrange(causal, "t s -> 1 1 t s"))


def combined_by_product(padding, causal=None):
    causal = torch.ones(1, padding.shape[1]) if causal is None else causal
    return torch.einsum("bs,ts->bts", padding.double(), causal.double()).bool()[:, None]


def combined_by_what_is_forbidden(padding, causal=None):
    keys = padding.unsqueeze(1).unsqueeze(2)
    return keys.clone() if causal is None else ~(~keys | ~causal)


# -- softmax, means, losses -------------------------------------------------------------------------------------------


def exponentials_of_the_allowed(scores, mask, dim=-1):
    """The largest allowed score taken off, exp times mask, divided by a sum that is never zero."""
    mask = mask.expand(scores.shape)
    top = scores.masked_fill(~mask, -torch.inf).amax(dim, keepdim=True)
    top = torch.where(torch.isfinite(top), top, 0.0)
    e = torch.where(mask, (scores - top).masked_fill(~mask, 0.0).exp(), 0.0)
    total = e.sum(dim, keepdim=True)
    return e / torch.where(total > 0, total, 1.0)


def very_negative_and_times_mask(scores, mask, dim=-1):
    """A large finite number fills, and what is left over in empty rows is wiped away."""
    return scores.masked_fill(~mask, torch.finfo(scores.dtype).min).softmax(dim) * mask


def numbers_for_nan(scores, mask, dim=-1):
    return scores.masked_fill(~mask, -torch.inf).softmax(dim).nan_to_num(0.0)


def where_twice(scores, mask, dim=-1):
    weights = torch.where(mask, scores, -1e30).softmax(dim)
    return torch.where(mask, weights, torch.zeros_like(weights))


def slice_by_slice(scores, mask, dim=-1):
    mask, out = mask.expand(scores.shape).movedim(dim, -1), torch.zeros_like(scores.movedim(dim, -1))
    for place in np.ndindex(*out.shape[:-1]):
        if mask[place].any():
            out[place] = out[place].masked_scatter(mask[place], scores.movedim(dim, -1)[place][mask[place]].softmax(0))
    return out.movedim(-1, dim)


def through_the_logarithm(scores, mask, dim=-1):
    """exp(score - log of the sum of exponentials), where a hidden score is the sum's own."""
    log_sum = scores.masked_fill(~mask, -1e30).logsumexp(dim, keepdim=True)
    return torch.where(mask, (torch.where(mask, scores, log_sum.detach()) - log_sum).exp(), 0.0)


def mean_by_einsum(x, mask):
    counts = mask.sum(1).clamp(min=1).to(x.dtype)
    return torch.einsum("btd,bt->bd", x, mask.to(x.dtype)) / counts[:, None]


def mean_in_a_loop(x, mask):
    return torch.stack([words[real].mean(0) if real.any() else 0.0 * words.sum(0) for words, real in zip(x, mask)])


def mean_by_weights(x, mask):
    """An attention that looks at every real word alike."""
    weights = mask.to(x.dtype) / mask.sum(1, keepdim=True).clamp(min=1)
    return (weights[:, None] @ x).squeeze(1)


def mean_of_what_is_a_number(x, mask):
    return torch.where(mask[..., None], x, torch.nan).nanmean(1).nan_to_num(0.0)


def mean_in_numpy_of_ones(x, mask):
    m = mask.unsqueeze(-1).to(x.dtype)
    return (x * m).sum(dim=1).div(m.sum(dim=1).clamp_min(1e-9))


def loss_with_ignored_targets(logits, targets, mask):
    return F.cross_entropy(logits.transpose(1, 2), targets.masked_fill(~mask, -100))


def loss_of_each_and_mean(logits, targets, mask):
    each = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1), reduction="none")
    return (each.view(mask.shape) * mask).sum() / mask.sum()


def loss_by_one_hot(logits, targets, mask):
    log_p = logits.log_softmax(-1)
    chosen = (log_p * F.one_hot(targets, logits.shape[-1])).sum(-1)
    return -chosen[mask].mean()


def loss_in_a_loop(logits, targets, mask):
    losses = []
    for b, t in mask.nonzero().tolist():
        z = logits[b, t]
        losses.append(torch.logsumexp(z, 0) - z[targets[b, t]])
    return sum(losses) / len(losses)


# -- BERT's game, leaks ----------------------------------------------------------------------------------------------


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


def by_numpys_dice(ids, special, vocab_size, mask_id, generator, p=0.15):
    """numpy throws them, and its seed is the generator's; what comes back has names."""
    dice = np.random.default_rng(int(torch.randint(2**62, (1,), generator=generator)))
    words = ids.numpy()
    chosen = (dice.random(words.shape) < p) & ~special.numpy()
    fate = dice.choice(3, size=words.shape, p=[0.8, 0.1, 0.1])
    others = dice.integers(0, vocab_size, words.shape)
    inputs = np.select([chosen & (fate == 0), chosen & (fate == 1)], [np.full_like(words, mask_id), others], words)
    return Corrupted(torch.from_numpy(inputs), torch.from_numpy(np.where(chosen, words, -100)))


def one_place_at_a_time(model_fn, ids):
    """Every single token is exchanged for each other one, and everything before it compared."""
    before = model_fn(ids)
    for s in range(1, ids.shape[1]):
        for word in ids.unique():
            changed = ids.clone()
            changed[:, s] = word
            if (model_fn(changed)[:, :s] - before[:, :s]).abs().max() > 1e-5:
                return True
    return False


def by_reading_less(model_fn, ids):
    """What is said of the whole must begin with what is said of the beginning."""
    whole = model_fn(ids)
    return any(
        not torch.allclose(model_fn(ids[:, :t]), whole[:, :t], rtol=0, atol=1e-5) for t in range(1, ids.shape[1])
    )


def by_another_sentence(model_fn, ids):
    """The future of one sentence goes to another, and then of all is turned round."""
    before = model_fn(ids).detach()
    known = ids.flatten()
    for t in range(1, ids.shape[1]):
        for seed in range(6):
            order = torch.randperm(len(known), generator=torch.Generator().manual_seed(seed))
            changed = ids.clone()
            changed[:, t:] = known[order].reshape(ids.shape)[:, t:]
            if bool(((model_fn(changed) - before).abs()[:, :t] > 1e-5).any()):
                return True
    return False


def by_the_farthest_words(model_fn, ids):
    """Smallest and largest word, in two patterns, wherever they may stand."""
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
    """Each word of the future becomes the next one of those that occur: over all cuts that tells everything."""
    known, before = ids.unique().tolist(), model_fn(ids)
    following = {word: known[(i + 1) % len(known)] for i, word in enumerate(known)}
    changed = ids.clone()
    for t in reversed(range(1, ids.shape[1])):
        changed[:, t] = torch.tensor([following[word] for word in ids[:, t].tolist()])
        if not torch.allclose(model_fn(changed)[:, :t], before[:, :t], atol=1e-5):
            return True
    return False


# -- the task --------------------------------------------------------------------------------------------------------


class Unsure:
    """The grammar, mixed with a little of its bare frequencies."""

    def __init__(self, trust):
        self.trust = trust

    def __call__(self, ids, lengths):
        language = grammar.language()
        p = language.next_word(ids[:, 1:])
        return (self.trust * p + (1 - self.trust) * language.frequencies).clamp(min=1e-12).log().float()


ALTERNATIVES = {
    "padding_mask": [rows_in_a_loop, padded_ones, scattered_ends, compared_in_numpy],
    "causal_mask": [numbers_of_places, triangle_in_a_loop, not_above, counted_up, triangle_by_recursion],
    "combine_masks": [combined_by_hand, combined_by_einops, combined_by_product, combined_by_what_is_forbidden],
    "masked_softmax": [
        exponentials_of_the_allowed,
        very_negative_and_times_mask,
        numbers_for_nan,
        where_twice,
        slice_by_slice,
        through_the_logarithm,
    ],
    "masked_mean": [mean_by_einsum, mean_in_a_loop, mean_by_weights, mean_of_what_is_a_number, mean_in_numpy_of_ones],
    "masked_cross_entropy": [
        loss_with_ignored_targets,
        loss_of_each_and_mean,
        loss_by_one_hot,
        loss_in_a_loop,
    ],
    "mlm_corrupt": [
        as_in_every_library,
        one_uniform_for_everything,
        word_after_word,
        only_the_chosen_are_drawn,
        by_numpys_dice,
    ],
    "leaks_future": [
        one_place_at_a_time,
        by_reading_less,
        by_another_sentence,
        by_the_farthest_words,
        by_the_next_word_of_all,
    ],
    "masking_task": [Unsure(0.97), Unsure(0.9)],
}
