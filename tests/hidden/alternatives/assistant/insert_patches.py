"""Right answers to `insert_patches` that look nothing like the reference."""

from __future__ import annotations

import torch


def row_by_row(words, ids, image_id, patches):
    rows = []
    for w, i, p in zip(words, ids, patches):
        (places,) = torch.nonzero(i == image_id, as_tuple=True)
        if len(places) != 1:
            raise ValueError(f"{len(places)} images in a row")
        rows.append(torch.vstack([w[: places[0]], p, w[places[0] + 1 :]]))
    return torch.stack(rows)


def by_gathering(words, ids, image_id, patches):
    (B, T, D), N = words.shape, patches.shape[1]
    if not bool(((ids == image_id).sum(1) == 1).all()):
        raise ValueError("one image token a row")
    k = (ids == image_id).int().argmax(1)[:, None]
    place = torch.arange(T - 1 + N).expand(B, -1)
    source = torch.where(place < k, place, torch.where(place < k + N, T + place - k, place - N + 1))
    return torch.cat([words, patches], 1).gather(1, source[..., None].expand(-1, -1, D))


ALTERNATIVES = [row_by_row, by_gathering]
