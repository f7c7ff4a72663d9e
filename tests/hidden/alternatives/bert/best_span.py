"""Right answers to `best_span` that look nothing like the reference."""

from __future__ import annotations

import torch


def by_loops(start, end, mask, longest):
    found = []
    for s, e, m in zip(start.tolist(), end.tolist(), mask.tolist()):
        spans = [
            (s[i] + e[j], i, j) for i in range(len(s)) for j in range(i, min(i + longest, len(s))) if m[i] and m[j]
        ]
        found.append(max(spans)[1:] if spans else (0, 0))
    return torch.tensor(found)


def by_windows(start, end, mask, longest):
    """Find the best start among the last words, for each end."""
    low = torch.finfo(start.dtype).min / 4
    s, e = start.masked_fill(~mask, low), end.masked_fill(~mask, low)
    padded = torch.nn.functional.pad(s, (longest - 1, 0), value=2 * low)
    window, back = padded.unfold(1, longest, 1).max(2)
    j = (window + e).argmax(1)
    i = back.gather(1, j[:, None])[:, 0] + j - longest + 1
    return torch.where(mask.any(1)[:, None], torch.stack([i, j], 1), 0)


ALTERNATIVES = [by_loops, by_windows]
