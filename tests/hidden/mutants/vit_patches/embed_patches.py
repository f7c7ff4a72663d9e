"""Wrong answers to `embed_patches` that no misconception knows by name."""

from __future__ import annotations

import torch

from course.reference import vit_patches as reference


def _embed(images, W, b, cls, positions):
    return reference.embed_patches(images, W, b, cls, positions)


def embedded_positions_multiplied(images, W, b, cls, positions):
    return _embed(images, W, b, cls, 0 * positions) * (1 + positions)


def embedded_positions_twice(images, W, b, cls, positions):
    return _embed(images, W, b, cls, 2 * positions)


def embedded_class_from_the_image(images, W, b, cls, positions):
    words = _embed(images, W, b, cls, positions)
    return torch.cat([words[:, :1] + words[:, 1:].mean(1, keepdim=True), words[:, 1:]], 1)


def embedded_class_at_both_ends(images, W, b, cls, positions):
    words = _embed(images, W, b, cls, positions)
    return torch.cat([words, words[:, :1]], 1)


def embedded_class_instead_of_patch(images, W, b, cls, positions):
    words = _embed(images, W, b, cls, positions)
    return torch.cat([words[:, :1], words[:, :1] - positions[0] + positions[1], words[:, 2:]], 1)


def embedded_scaled(images, W, b, cls, positions):
    return _embed(images, W * len(W) ** 0.5, b * len(W) ** 0.5, cls, positions)


def embedded_positions_of_the_batch(images, W, b, cls, positions):
    words = _embed(images, W, b, cls, 0 * positions)
    return words + positions[torch.arange(len(images)) % len(positions)][:, None]


def embedded_kernel_turned(images, W, b, cls, positions):
    p = round((W.shape[1] / images.shape[1]) ** 0.5)
    return _embed(images, W.unflatten(1, (-1, p, p)).flip(2, 3).flatten(1), b, cls, positions)


def embedded_channel_last(images, W, b, cls, positions):
    p = round((W.shape[1] / images.shape[1]) ** 0.5)
    return _embed(images, W.unflatten(1, (p, p, -1)).permute(0, 3, 1, 2).flatten(1), b, cls, positions)


def embedded_columns_first(images, W, b, cls, positions):
    words = _embed(images, W, b, cls, 0 * positions)
    p = round((W.shape[1] / images.shape[1]) ** 0.5)
    rows = images.shape[2] // p
    turned = words[:, 1:].unflatten(1, (rows, -1)).transpose(1, 2).flatten(1, 2)
    return torch.cat([words[:, :1], turned], 1) + positions


def embedded_without_gradient_of_positions(images, W, b, cls, positions):
    return _embed(images, W, b, cls, positions.detach())


def embedded_changes_its_class(images, W, b, cls, positions):
    out = _embed(images, W, b, cls, positions)
    with torch.no_grad():
        cls += 1
    return out


MUTANTS = [
    embedded_positions_multiplied,
    embedded_positions_twice,
    embedded_class_from_the_image,
    embedded_class_at_both_ends,
    embedded_class_instead_of_patch,
    embedded_scaled,
    embedded_positions_of_the_batch,
    embedded_kernel_turned,
    embedded_channel_last,
    embedded_columns_first,
    embedded_without_gradient_of_positions,
    embedded_changes_its_class,
]
