"""Right answers to `patchify` that look nothing like the reference."""

from __future__ import annotations

import torch
from torch.nn import functional as F

from tests.hidden.alternatives.vit_patches.scaffold import cut_by_einops, cut_by_slices, cut_by_windows, divisible


def cut_by_unfold(images, p):
    divisible(images, p)
    return F.unfold(images, p, stride=p).mT


def cut_by_convolution(images, p):
    divisible(images, p)
    C = images.shape[1]
    kernels = torch.eye(C * p * p, dtype=images.dtype).view(-1, C, p, p)
    return F.conv2d(images, kernels, stride=p).flatten(2).transpose(1, 2)


def cut_by_pixel_unshuffle(images, p):
    divisible(images, p)
    return F.pixel_unshuffle(images, p).flatten(2).mT


def cut_under_vmap(images, p):
    divisible(images, p)
    _, _, H, W = images.shape
    corners = [(row, column) for row in range(0, H, p) for column in range(0, W, p)]

    def cut(image):
        return torch.stack([image[:, r : r + p, c : c + p].flatten() for r, c in corners])

    return torch.func.vmap(cut)(images)


ALTERNATIVES = [
    cut_by_unfold,
    cut_by_convolution,
    cut_by_einops,
    cut_by_slices,
    cut_by_windows,
    cut_by_pixel_unshuffle,
    cut_under_vmap,
]
