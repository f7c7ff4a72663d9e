"""Right answers to `best_of_n` that look nothing like the reference."""

from __future__ import annotations

import torch


def level_by_level(p, scores, n):
    out, worse = torch.zeros_like(p), 0.0
    for score in sorted(set(scores.tolist())):
        level = scores == score
        share = p[level].sum()
        if share > 0:
            out[level] = p[level] / share * ((worse + share) ** n - worse**n)
        worse = worse + share
    return out


def by_groups_and_cumulated(p, scores, n):
    kinds, group = scores.unique(return_inverse=True)
    share = torch.zeros(len(kinds), dtype=p.dtype).index_add(0, group, p)
    up_to = torch.cat([torch.zeros(1, dtype=p.dtype), share.cumsum(0)])
    wins = (up_to**n).diff()
    return (wins / share.clamp(min=1e-300 if p.dtype == torch.float64 else 1e-30))[group] * p


ALTERNATIVES = [level_by_level, by_groups_and_cumulated]
