"""What several exercises of this topic are examined with."""

from course.reference.vit_patches import patchify as cut


def cut_in_order(images, p, *order):
    """Pixels as (B, C, row, y, column, x), moved into another order, as patches."""
    B, C, H, W = images.shape
    if H % p or W % p:
        raise ValueError(f"{H} × {W} is no multiple of {p}")
    six = images.unflatten(3, (-1, p)).unflatten(2, (-1, p))
    return six.permute(*order).reshape(B, -1, C * p * p)


def patch_side(images, W):
    return round((W.shape[1] / images.shape[1]) ** 0.5)


def patch_words(images, W, b):
    """The right patch embeddings alone: (B, N, D)."""
    return cut(images, patch_side(images, W)) @ W.T + b


def class_words(words, cls):
    return cls.expand(len(words), 1, -1)
