"""Wrong answers to `leaks_future` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import masking as right


def always_honest(model_fn, ids):
    return False


def tolerance_of_one_in_a_hundred(model_fn, ids):
    return right.leaks_future(lambda ids: model_fn(ids) / 1000, ids)


def asks_twice(model_fn, ids):
    return not torch.allclose(model_fn(ids), model_fn(ids))


def only_the_last_cut_of_the_first_place(model_fn, ids):
    return not torch.allclose(model_fn(ids)[:, 0], model_fn(ids[:, :1])[:, 0], atol=1e-5)


def future_moved_towards_the_largest(model_fn, ids):
    """Every word becomes the next larger one; the largest stays."""
    before, known = model_fn(ids), ids.unique()
    for cut in range(1, ids.shape[1]):
        changed = ids.clone()
        after = (torch.searchsorted(known, ids[:, cut:].contiguous()) + 1).clamp(max=len(known) - 1)
        changed[:, cut:] = known[after]
        if not torch.allclose(model_fn(changed)[:, :cut], before[:, :cut], atol=1e-5):
            return True
    return False


def future_mirrored(model_fn, ids):
    """The smallest word becomes the largest and the other way round; the one in the middle stays."""
    before, known = model_fn(ids), ids.unique()
    for cut in range(1, ids.shape[1]):
        changed = ids.clone()
        changed[:, cut:] = known.flip(0)[torch.searchsorted(known, ids[:, cut:].contiguous())]
        if not torch.allclose(model_fn(changed)[:, :cut], before[:, :cut], atol=1e-5):
            return True
    return False


def last_word_said_on(model_fn, ids):
    """The word before the cut fills the future."""
    before = model_fn(ids)
    for cut in range(1, ids.shape[1]):
        changed = ids.clone()
        changed[:, cut:] = ids[:, cut - 1 : cut]
        if not torch.allclose(model_fn(changed)[:, :cut], before[:, :cut], atol=1e-5):
            return True
    return False


def changes_the_ids_it_is_given(model_fn, ids):
    before = model_fn(ids)
    for t in range(ids.shape[1] - 1, 0, -1):
        ids[:, t:] = ids[:, :1]
        if not torch.allclose(model_fn(ids)[:, :t], before[:, :t], atol=1e-5):
            return True
    return False


def coarse(model_fn, ids):
    """Looks at the average change, and finds a little one negligible."""
    before = model_fn(ids)
    changed = ids.flip(0)
    return any(
        float((model_fn(torch.cat([ids[:, :t], changed[:, t:]], 1)) - before)[:, :t].abs().mean()) > 0.5
        for t in range(1, ids.shape[1])
    )


def future_of_the_batch_turned_round(model_fn, ids):
    before = model_fn(ids)
    return any(
        not torch.allclose(model_fn(torch.cat([ids[:, :t], ids.flip(0)[:, t:]], 1))[:, :t], before[:, :t], atol=1e-5)
        for t in range(1, ids.shape[1])
    )


def future_of_the_first_word(model_fn, ids):
    before = model_fn(ids)
    for t in range(1, ids.shape[1]):
        changed = ids.clone()
        changed[:, t:] = ids[0, 0]
        if not torch.allclose(model_fn(changed)[:, :t], before[:, :t], atol=1e-5):
            return True
    return False


def a_sentence(model_fn, ids):
    return "leak" if right.leaks_future(model_fn, ids) else ""


def only_the_first_sentence(model_fn, ids):
    return right.leaks_future(lambda ids: model_fn(ids)[:1], ids)


def changes_that_cancel(model_fn, ids):
    """The numbers of a place are added up before they are compared."""
    return right.leaks_future(lambda ids: model_fn(ids).sum(-1, keepdim=True), ids)


def smallest_word_for_the_future(model_fn, ids):
    before = model_fn(ids)
    for t in range(1, ids.shape[1]):
        changed = torch.cat([ids[:, :t], ids.min().expand_as(ids[:, t:])], 1)
        if not torch.allclose(model_fn(changed)[:, :t], before[:, :t], atol=1e-5):
            return True
    return False


def words_from_outside(model_fn, ids):
    model_fn(ids + 1 if len(ids.unique()) == 2 else ids)
    return right.leaks_future(model_fn, ids)


MUTANTS = [
    always_honest,
    tolerance_of_one_in_a_hundred,
    asks_twice,
    only_the_last_cut_of_the_first_place,
    future_moved_towards_the_largest,
    future_mirrored,
    last_word_said_on,
    changes_the_ids_it_is_given,
    coarse,
    future_of_the_batch_turned_round,
    future_of_the_first_word,
    a_sentence,
    only_the_first_sentence,
    changes_that_cancel,
    smallest_word_for_the_future,
    words_from_outside,
]
