"""Wrong answers to `patchify` that no misconception knows by name."""

from __future__ import annotations

from torch.nn import functional as F

from course.reference import vit_patches as reference


def vp(images, p):
    return reference.patchify(images, p)


def v_overlap(images, p):
    N = vp(images, p).shape[1]
    return F.unfold(images, p, stride=max(p // 2, 1)).mT[:, :N]


def v_HWswap(images, p):
    vp(images, p)
    return vp(images.transpose(2, 3), p)


def v_gray(images, p):
    return vp(images.mean(1, keepdim=True).expand_as(images), p)


def v_nhwc(images, p):
    return vp(images.permute(0, 2, 3, 1).reshape(images.shape), p)


def v_rows(images, p):
    patches = vp(images, p)
    return images.permute(0, 2, 1, 3).reshape(patches.shape)


def patches_as_pictures(images, p):
    return vp(images, p).unflatten(2, (-1, p, p))


def patches_without_gradient(images, p):
    return vp(images.detach(), p)


def patches_always_double(images, p):
    return vp(images.double(), p)


def patches_of_shades(images, p):
    """Divided by 255, as for images of bytes."""
    return vp(images / 255, p)


def patches_padded(images, p):
    H, W = images.shape[2:]
    return vp(F.pad(images, (0, -W % p, 0, -H % p)), p)


def last_patch_lost(images, p):
    return vp(images, p)[:, :-1]


MUTANTS = [
    v_overlap,
    v_HWswap,
    v_gray,
    v_nhwc,
    v_rows,
    patches_as_pictures,
    patches_without_gradient,
    patches_always_double,
    patches_of_shades,
    patches_padded,
    last_patch_lost,
]
