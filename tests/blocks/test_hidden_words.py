"""Hidden words follow BERT's recipe, as topic 09's reference does."""

from __future__ import annotations

import torch

from course import blocks
from course.reference import masking


def generator():
    return torch.Generator().manual_seed(0)


def test_labels_ask_for_words_that_are_not_special_and_nothing_else_changes():
    ids, special = torch.randint(7, (50, 40), generator=generator()), torch.zeros(50, 40, dtype=torch.bool)
    special[:, ::3] = True
    inputs, labels = blocks.mlm_corrupt(ids, special, 7, 7, generator(), 0.5)
    assert inputs.dtype == labels.dtype == torch.long and not bool((labels[special] != -100).any())
    assert torch.equal(labels[labels >= 0], ids[labels >= 0]) and torch.equal(inputs[labels < 0], ids[labels < 0])
    assert torch.equal(inputs, blocks.mlm_corrupt(ids, special, 7, 7, generator(), 0.5)[0])


def test_its_shares_are_those_of_topic_nine():
    ids = torch.ones(200_000, dtype=torch.long)
    plain = torch.zeros_like(ids).bool()
    shares = []
    for corrupt in (blocks.mlm_corrupt, masking.mlm_corrupt):
        inputs, labels = corrupt(ids, plain, 5, 5, generator(), 0.3)
        shares.append(torch.where(labels < 0, 6, inputs).bincount(minlength=7) / len(ids))
    torch.testing.assert_close(shares[0], shares[1], atol=4e-3, rtol=0)
