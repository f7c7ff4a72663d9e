"""Right answers to `shift_right` that look nothing like the reference."""

from __future__ import annotations

from torch.nn import functional as F


def shifted_by_padding(targets, sos):
    return F.pad(targets, (1, 0), value=sos)[:, :-1]


def shifted_by_rolling(targets, sos):
    rolled = targets.roll(1, dims=1)
    rolled[:, 0] = sos
    return rolled


ALTERNATIVES = [shifted_by_padding, shifted_by_rolling]
