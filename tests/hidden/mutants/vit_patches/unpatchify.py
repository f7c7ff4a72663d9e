"""Wrong answers to `unpatchify` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference import vit_patches as reference


def mended_in_square_grids(patches, p, H, W):
    """Lay the patches out in a square grid, and crop or pad the picture to H and W."""
    reference.unpatchify(patches, p, H, W)
    side = round(patches.shape[1] ** 0.5 + 0.49)
    padded = F.pad(patches, (0, 0, 0, side**2 - patches.shape[1]))
    whole = reference.unpatchify(padded, p, side * p, side * p)
    return F.pad(whole, (0, max(W - side * p, 0), 0, max(H - side * p, 0)))[:, :, :H, :W]


MUTANTS = [mended_in_square_grids]
