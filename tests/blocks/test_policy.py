"""The table of answers begins with the probabilities that it is given, and every beginning can be moved by itself."""

from __future__ import annotations

import pytest
import torch

from course import blocks
from course.data import advice
from course.reference.assistant import sequence_log_prob


def log_p_of(policy, ids):
    spoken = torch.ones_like(ids, dtype=torch.bool)
    return sequence_log_prob(policy(ids), ids, spoken)


def test_it_begins_with_what_it_is_given():
    log_p = torch.randn(216, generator=torch.Generator().manual_seed(0), dtype=torch.float64).log_softmax(0)
    found = log_p_of(blocks.TablePolicy(log_p), advice.answers())
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), log_p, rtol=1e-5, atol=1e-5)


def test_it_has_a_row_for_every_beginning_and_looks_at_nothing_later():
    policy = blocks.TablePolicy(advice.log_reference())
    assert sum(weight.numel() for weight in policy.parameters()) == 43 * 6
    ids = advice.answers()
    for T in range(1, 5):
        assert torch.equal(policy(ids[:, :T]), policy(ids)[:, :T])


def test_a_number_of_answers_that_does_not_fit_is_refused():
    with pytest.raises(ValueError, match="100 answers"):
        blocks.TablePolicy(torch.zeros(100))
