"""Vectors in superposition: directions that are apart, and features as rare as said."""

from __future__ import annotations

import torch

from course.data import superposition


def test_directions_are_unit_and_none_is_near_another():
    rows = superposition.directions()
    assert torch.allclose(rows.norm(dim=1), torch.ones(len(rows)), atol=1e-5)
    assert float((rows @ rows.T).fill_diagonal_(0).abs().max()) < 0.6


def test_features_that_are_off_add_nothing():
    x, sizes = superposition.draw(4000, torch.Generator().manual_seed(0))
    constant = x - sizes @ superposition.directions()
    assert torch.allclose(constant, constant[:1].expand_as(constant), atol=1e-5)
    on = sizes[sizes > 0]
    assert 1.7 < len(on) / len(x) < 2.15 and float(on.min()) >= 0.5 and float(on.max()) <= 1.5
