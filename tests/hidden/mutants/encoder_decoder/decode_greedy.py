"""Wrong answers to `decode_greedy` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import encoder_decoder as reference


def _greedy(model, src, choose, steps=0):
    said = torch.full((len(src), 1), model.sos)
    done = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(model.max_len + steps):
        word = choose(model(src, said)).masked_fill(done, model.pad)
        said, done = torch.cat([said, word[:, None]], 1), done | (word == model.eos)
        if done.all():
            break
    return said[:, 1:]


def greedy_over_the_places(model, src):
    return _greedy(model, src, lambda logits: logits.argmax(1)[:, 0])


def greedy_least_likely(model, src):
    return _greedy(model, src, lambda logits: logits[:, -1].argmin(-1))


def greedy_second_best(model, src):
    return _greedy(model, src, lambda logits: logits[:, -1].topk(2).indices[:, 1])


def greedy_by_chance(model, src):
    return _greedy(model, src, lambda logits: torch.multinomial(logits[:, -1].softmax(-1), 1)[:, 0])


def greedy_one_word_too_many(model, src):
    return _greedy(model, src, lambda logits: logits[:, -1].argmax(-1), steps=1)


def greedy_in_one_shot(model, src):
    return model(src, torch.full((len(src), model.max_len), model.sos)).argmax(-1)


def greedy_stops_with_the_first_row(model, src):
    ids = reference.decode_greedy(model, src)
    return ids[:, : len(reference.decode_greedy(model, src[:1])[0])]


def greedy_as_lists(model, src):
    return reference.decode_greedy(model, src).tolist()


def greedy_cut_at_eos(model, src):
    """Rows without eos, as lists of different lengths."""
    return [row[: row.index(model.eos)] if model.eos in row else row for row in greedy_as_lists(model, src)]


def greedy_with_a_comma(model, src):
    return reference.decode_greedy(model, src).float()


def greedy_backwards(model, src):
    return reference.decode_greedy(model, src).flip(1)


def _masked(model, masks):
    """The model, called with `masks(src, said)`."""

    class Masked:
        pad, sos, eos, max_len = model.pad, model.sos, model.eos, model.max_len

        def __call__(self, src, said):
            return model(src, said, *masks(src, said))

    return Masked()


def greedy_with_the_source_mask_turned_round(model, src):
    return reference.decode_greedy(_masked(model, lambda src, said: [(src == model.pad)[:, None, None]]), src)


def greedy_with_padding_in_sight(model, src):
    return reference.decode_greedy(_masked(model, lambda src, said: [torch.ones(1, 1, 1, src.shape[1]).bool()]), src)


def greedy_with_the_future_in_sight(model, src):
    real = _masked(model, lambda src, said: [None, (said != model.pad)[:, None, None]])
    return reference.decode_greedy(real, src)


def greedy_from_the_last_word_alone(model, src):
    return reference.decode_greedy(_masked(model, lambda src, said: [None, torch.eye(said.shape[1]).bool()]), src)


MUTANTS = [
    greedy_over_the_places,
    greedy_least_likely,
    greedy_second_best,
    greedy_by_chance,
    greedy_one_word_too_many,
    greedy_in_one_shot,
    greedy_stops_with_the_first_row,
    greedy_as_lists,
    greedy_cut_at_eos,
    greedy_backwards,
    greedy_with_a_comma,
    greedy_with_the_source_mask_turned_round,
    greedy_with_padding_in_sight,
    greedy_with_the_future_in_sight,
    greedy_from_the_last_word_alone,
]
