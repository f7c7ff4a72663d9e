"""Right answers to `stretch` that look nothing like the reference."""

from __future__ import annotations

import torch


def by_lists(ids, learned, image_id, N):
    longer, spoken = [], []
    for row, says in zip(ids.tolist(), learned.tolist()):
        if row.count(image_id) != 1:
            raise ValueError(f"{row.count(image_id)} images in a row")
        k = row.index(image_id)
        longer.append(row[:k] + N * [image_id] + row[k + 1 :])
        spoken.append(says[:k] + N * [False] + says[k + 1 :])
    return torch.tensor(longer), torch.tensor(spoken)


def by_gathering(ids, learned, image_id, N):
    B, T = ids.shape
    if not bool(((ids == image_id).sum(1) == 1).all()):
        raise ValueError("one image token a row")
    k = (ids == image_id).int().argmax(1)[:, None]
    place = torch.arange(T - 1 + N).expand(B, -1)
    old = torch.where(place < k, place, torch.where(place < k + N, k, place - N + 1))
    return ids.gather(1, old), (learned & (ids != image_id)).gather(1, old)


ALTERNATIVES = [by_lists, by_gathering]
