"""What a reference makes of no tensor it was given has the default dtype, whichever that is."""

from __future__ import annotations

import pytest
import torch

from course.data import recall, relations
from course.reference.markov_ngrams import NGramModel, transition_matrix
from course.reference.multi_head_attention import relations_by_hand
from course.reference.positional_encoding import shift_matrix, sinusoidal
from course.reference.self_attention import recall_by_hand


def seeded() -> torch.Generator:
    return torch.Generator().manual_seed(0)


IDS = torch.tensor([0, 1, 2, 0, 1, 1, 2])


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(
    "made",
    [
        lambda: transition_matrix(IDS, 3),
        lambda: NGramModel(3, 3, 0.1).fit(IDS).next_distribution(IDS[:2]),
        lambda: recall_by_hand(*recall.draw(5, seeded())[:3]),
        lambda: relations_by_hand(*relations.draw(5, seeded())[:4]),
        lambda: sinusoidal(5, 4),
        lambda: shift_matrix(3, 4),
    ],
)
def test_it_is_kept(made, dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        assert made().dtype == dtype
    finally:
        torch.set_default_dtype(before)
