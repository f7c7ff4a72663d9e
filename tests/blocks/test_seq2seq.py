"""The recurrent baseline has topic 05's interface, sees no padding and no future, and its sinusoids are topic 08's."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from course import blocks
from course.reference.positional_encoding import sinusoidal


@pytest.fixture(params=[5, 0], ids=["attention", "none"])
def model(request):
    torch.manual_seed(0)
    return blocks.AttentionSeq2Seq(13, 17, embed=3, hidden=8, attention=request.param).eval()


SRC, LENGTHS = torch.tensor([[4, 5, 6, 7, 2], [8, 9, 2, 0, 0]]), torch.tensor([5, 3])
TGT = torch.tensor([[3, 4, 5, 2], [6, 2, 0, 0]])


def test_padding_behind_the_source_changes_nothing(model):
    whole = model(SRC, LENGTHS, TGT)
    assert whole.shape == (2, 4, 17)
    torch.testing.assert_close(model(F.pad(SRC, (0, 3)), LENGTHS, TGT), whole)
    torch.testing.assert_close(model(SRC[1:, :3], LENGTHS[1:], TGT[1:]), whole[1:])


def test_a_word_is_guessed_from_those_before_it(model):
    whole = model(SRC, LENGTHS, TGT)
    for t in range(4):
        other = torch.cat([TGT[:, :t], torch.full((2, 4 - t), 9)], dim=1)
        torch.testing.assert_close(model(SRC, LENGTHS, other)[:, : t + 1], whole[:, : t + 1])
        assert t == 3 or not torch.allclose(model(SRC, LENGTHS, other)[:, t + 1 :], whole[:, t + 1 :])


def test_decoding_says_what_teacher_forcing_says_and_is_silent_after_the_end(model):
    ids, weights = model.decode_greedy(SRC, LENGTHS, max_len=6)
    assert ids.shape == (2, 6) and weights.shape == (2, 6, 5)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 6))
    assert (weights[1, :, 3:] == 0).all()
    logits = model(SRC, LENGTHS, ids)
    for row, said in zip(logits.argmax(-1).tolist(), ids.tolist(), strict=True):
        length = said.index(2) + 1 if 2 in said else 6
        assert row[:length] == said[:length] and not any(said[length:])


def test_both_directions_have_half_of_the_state():
    with pytest.raises(ValueError, match="two directions cannot share a state of width 7 equally"):
        blocks.AttentionSeq2Seq(13, 17, embed=3, hidden=7, attention=5)


def test_the_sinusoids_are_those_of_topic_08():
    for n, d in ((1, 2), (7, 6), (100, 64)):
        torch.testing.assert_close(blocks.sinusoids(n, d), sinusoidal(n, d), rtol=1e-5, atol=1e-5 * n)
    with pytest.raises(ValueError, match="a width of 5"):
        blocks.sinusoids(3, 5)
