"""Wrong answers to `unpatchify` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference import vit_patches as reference


def mended_in_square_grids(patches, p, H, W):
    """Takes the square root of N for both sides, and cuts what is too much."""
    reference.unpatchify(patches, p, H, W)
    side = round(patches.shape[1] ** 0.5 + 0.49)
    padded = F.pad(patches, (0, 0, 0, side**2 - patches.shape[1]))
    whole = reference.unpatchify(padded, p, side * p, side * p)
    return F.pad(whole, (0, max(W - side * p, 0), 0, max(H - side * p, 0)))[:, :, :H, :W]


def mended_bottom_up(patches, p, H, W):
    return reference.unpatchify(patches.flip(1), p, H, W)


def mended_upside_down(patches, p, H, W):
    return reference.unpatchify(patches, p, H, W).flip(2)


def mended_without_gradient(patches, p, H, W):
    return reference.unpatchify(patches.detach(), p, H, W)


def mended_into_float32(patches, p, H, W):
    return reference.unpatchify(patches.float(), p, H, W)


def mended_first_image_only(patches, p, H, W):
    return reference.unpatchify(patches[:1], p, H, W).expand(len(patches), -1, -1, -1)


MUTANTS = [
    mended_in_square_grids,
    mended_bottom_up,
    mended_upside_down,
    mended_without_gradient,
    mended_into_float32,
    mended_first_image_only,
]
