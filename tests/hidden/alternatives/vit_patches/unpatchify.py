"""Right answers to `unpatchify` that look nothing like the reference."""

from __future__ import annotations

from einops import rearrange
from torch.nn import functional as F


def _tiles(p, H, W):
    if H % p or W % p:
        raise ValueError("no multiple")


def mended_by_fold(patches, p, H, W):
    _tiles(p, H, W)
    return F.fold(patches.transpose(1, 2), (H, W), p, stride=p)


def mended_by_einops(patches, p, H, W):
    _tiles(p, H, W)
    return rearrange(patches, "b (h w) (c p q) -> b c (h p) (w q)", h=H // p, p=p, q=p)


def mended_by_slices(patches, p, H, W):
    _tiles(p, H, W)
    images = patches.new_zeros(len(patches), patches.shape[2] // p**2, H, W)
    for n in range(patches.shape[1]):
        i, j = n // (W // p) * p, n % (W // p) * p
        images[:, :, i : i + p, j : j + p] = patches[:, n].view(len(patches), -1, p, p)
    return images


ALTERNATIVES = [mended_by_fold, mended_by_einops, mended_by_slices]
