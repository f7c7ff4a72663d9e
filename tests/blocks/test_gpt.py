"""The GPT that topic 18 builds on is topic 15's: the same weights give the same logits, with a cache and without."""

from __future__ import annotations

import torch

from course import blocks
from course.reference import gpt

SIZES = {"vocab": 23, "d_model": 24, "n_layers": 3, "n_heads": 6, "n_groups": 2, "d_ff": 37}


def both():
    torch.manual_seed(0)
    theirs = gpt.GPT(**SIZES).double()
    return blocks.GPT(**SIZES).double().load_published(theirs.state_dict()), theirs


def test_the_same_weights_give_the_same_logits():
    ours, theirs = both()
    ids = torch.randint(23, (3, 7), generator=torch.Generator().manual_seed(1))
    torch.testing.assert_close(ours(ids)[0], theirs(ids)[0])
    torch.testing.assert_close(ours(ours.embed(ids))[0], theirs(ids)[0])


def test_a_cache_stands_for_what_was_read():
    ours, theirs = both()
    ids = torch.randint(23, (3, 7), generator=torch.Generator().manual_seed(1))
    _, cache = ours(ids[:, :4])
    later, _ = ours(ids[:, 4:], cache)
    torch.testing.assert_close(later, theirs(ids)[0][:, 4:])
