"""The rotation that notebooks build on is topic 08's."""

from __future__ import annotations

import pytest
import torch

from course import blocks
from course.reference import positional_encoding


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32])
@pytest.mark.parametrize("places", [None, torch.tensor([7, 0, 290])])
def test_rope_is_topic_08s(dtype, places):
    x = torch.randn(2, 5, 3, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(dtype)
    found, right = blocks.rope(x, places, base=500.0), positional_encoding.rope(x, places, base=500.0)
    assert found.dtype == dtype and torch.allclose(found, right, atol=1e-6)


def test_an_odd_width_is_refused():
    with pytest.raises(ValueError, match="width of 3"):
        blocks.rope(torch.zeros(1, 1, 2, 3))
