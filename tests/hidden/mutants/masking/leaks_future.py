"""Wrong answers to `leaks_future` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import masking as right


def tolerance_of_one_in_a_hundred(model_fn, ids):
    return right.leaks_future(lambda ids: model_fn(ids) / 1000, ids)


def _with_a_future(of):
    """Return a test that puts `of(ids, cut)` behind each cut."""

    def wrong(model_fn, ids):
        before = model_fn(ids)
        for cut in range(1, ids.shape[1]):
            changed = ids.clone()
            changed[:, cut:] = of(ids, cut)
            if not torch.allclose(model_fn(changed)[:, :cut], before[:, :cut], atol=1e-5):
                return True
        return False

    return wrong


def _next_larger(ids, cut):
    known = ids.unique()
    after = torch.searchsorted(known, ids[:, cut:].contiguous()) + 1
    return known[after.clamp(max=len(known) - 1)]


future_moved_towards_the_largest = _with_a_future(_next_larger)
last_word_said_on = _with_a_future(lambda ids, cut: ids[:, cut - 1 : cut])
future_of_the_first_word = _with_a_future(lambda ids, cut: ids[0, 0])
smallest_word_for_the_future = _with_a_future(lambda ids, cut: ids.min())


def only_the_first_sentence(model_fn, ids):
    return right.leaks_future(lambda ids: model_fn(ids)[:1], ids)


def changes_that_cancel(model_fn, ids):
    """Compare the sums of each position's numbers, in which changes can cancel."""
    return right.leaks_future(lambda ids: model_fn(ids).sum(-1, keepdim=True), ids)


def words_from_outside(model_fn, ids):
    model_fn(ids + 1 if len(ids.unique()) == 2 else ids)
    return right.leaks_future(model_fn, ids)


MUTANTS = [
    tolerance_of_one_in_a_hundred,
    future_moved_towards_the_largest,
    last_word_said_on,
    future_of_the_first_word,
    only_the_first_sentence,
    changes_that_cancel,
    smallest_word_for_the_future,
    words_from_outside,
]
