"""Wrong answers to `context_windows` that no misconception knows by name."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from course.reference import cbow as reference


def c_center(ids, radius):
    padded = F.pad(ids, (radius, radius))
    return torch.stack([padded[i - radius : i + radius] for i in range(radius, len(ids) + radius)]), ids


def c_left(ids, radius):
    padded = F.pad(ids, (2 * radius, 0))
    return padded.unfold(0, 2 * radius, 1)[: len(ids)], ids


def c_neg_slice(ids, radius):
    rows = []
    for i in range(len(ids)):
        context = [*ids[i - radius : i].tolist(), *ids[i + 1 : i + radius + 1].tolist()]
        rows.append(context + [0] * (2 * radius - len(context)))
    return torch.tensor(rows), ids


def c_skipgram(ids, radius):
    """One row a pair: the word in the middle, and one of its neighbours to be guessed."""
    pairs = [(i, i + d) for i in range(radius, len(ids) - radius) for d in range(-radius, radius + 1) if d]
    centres, around = torch.tensor(pairs, dtype=torch.long).view(-1, 2).unbind(1)
    return ids[centres][:, None], ids[around]


def radius_for_the_whole_window(ids, radius):
    half = max(radius // 2, 1)
    windows = ids.unfold(0, 2 * half + 1, 1)
    return torch.cat([windows[:, :half], windows[:, half + 1 :]], 1), windows[:, half]


def one_step_too_wide(ids, radius):
    n = len(ids) - 2 * radius
    if n < 0:
        raise ValueError("too short")
    columns = [ids[j : j + n] for j in range(2 * radius + 1) if j != radius + 1]
    return torch.stack(columns, 1), ids[radius + 1 : radius + 1 + n]


def sorted_bags(ids, radius):
    n = len(ids) - 2 * radius
    if n < 0:
        raise ValueError("too short")
    columns = [ids[j : j + n] for j in range(2 * radius + 1) if j != radius]
    return torch.stack(columns, 1).sort(1).values, ids[radius : radius + n]


def crashes_without_windows(ids, radius):
    rows = [torch.cat([ids[t - radius : t], ids[t + 1 : t + radius + 1]]) for t in range(radius, len(ids) - radius)]
    return torch.stack(rows), ids[radius : len(ids) - radius]


def accepts_short_texts(ids, radius):
    if len(ids) < 2 * radius:
        return ids.new_zeros(0, 2 * radius), ids.new_zeros(0)
    return reference.context_windows(ids, radius)


MUTANTS = [
    c_center,
    c_left,
    c_neg_slice,
    c_skipgram,
    radius_for_the_whole_window,
    one_step_too_wide,
    sorted_bags,
    crashes_without_windows,
    accepts_short_texts,
]
