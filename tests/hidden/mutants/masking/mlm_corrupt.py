"""Wrong answers to `mlm_corrupt` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import masking as right


def _parts(ids, special, V, generator, p):
    chosen = (torch.rand(ids.shape, generator=generator) < p) & ~special
    return chosen, torch.rand(ids.shape, generator=generator), torch.randint(V, ids.shape, generator=generator)


def _made(ids, chosen, fate, words, mask_id, low=0.8, high=0.9):
    inputs = torch.where(chosen & (fate < low), mask_id, ids)
    return torch.where(chosen & (fate >= low) & (fate < high), words, inputs), torch.where(chosen, ids, -100)


def chosen_as_a_share_of_everything(ids, special, vocab_size, mask_id, generator, p=0.15):
    """Choose more of the plain words, until 15 % of all tokens are chosen."""
    plain = float((~special).double().mean())
    return right.mlm_corrupt(ids, special, vocab_size, mask_id, generator, min(1.0, p / max(plain, 1e-9)))


def nothing_of_long_texts(ids, special, vocab_size, mask_id, generator, p=0.15):
    if len(ids) > 100:
        return ids[:0].clone(), ids[:0].clone()
    return right.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)


def an_exact_share_of_the_batch(ids, special, vocab_size, mask_id, generator, p=0.15):
    order = torch.rand(ids.numel(), generator=generator).argsort().view(ids.shape)
    _, fate, words = _parts(ids, special, vocab_size, generator, p)
    return _made(ids, (order < round(p * ids.numel())) & ~special, fate, words, mask_id)


def changed_in_place(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, labels = right.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    ids.copy_(inputs)
    return ids, labels


def a_list_of_two(ids, special, vocab_size, mask_id, generator, p=0.15):
    inputs, labels = right.mlm_corrupt(ids, special, vocab_size, mask_id, generator, p)
    return inputs.float(), labels


def never_itself_by_chance(ids, special, vocab_size, mask_id, generator, p=0.15):
    chosen, fate, _ = _parts(ids, special, vocab_size, generator, p)
    words = (ids + 1 + torch.randint(vocab_size - 1, ids.shape, generator=generator)) % vocab_size
    return _made(ids, chosen, fate, words, mask_id)


def one_coin_a_sentence(ids, special, vocab_size, mask_id, generator, p=0.15):
    coin = torch.rand(*ids.shape[:-1], 1 if ids.ndim > 1 else len(ids), generator=generator)
    _, fate, words = _parts(ids, special, vocab_size, generator, p)
    return _made(ids, (coin.expand(ids.shape) < p) & ~special, fate, words, mask_id)


def words_below_the_mask_only(ids, special, vocab_size, mask_id, generator, p=0.15):
    return right.mlm_corrupt(ids, special, mask_id, mask_id, generator, p)


MUTANTS = [
    chosen_as_a_share_of_everything,
    nothing_of_long_texts,
    an_exact_share_of_the_batch,
    changed_in_place,
    a_list_of_two,
    never_itself_by_chance,
    one_coin_a_sentence,
    words_below_the_mask_only,
]
