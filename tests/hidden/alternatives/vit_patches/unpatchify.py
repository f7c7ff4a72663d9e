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


ALTERNATIVES = [mended_by_fold, mended_by_einops]
