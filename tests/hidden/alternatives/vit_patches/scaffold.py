"""What several of this topic's answers are made of."""

from __future__ import annotations

from einops import rearrange


def divisible(images, p):
    if images.shape[2] % p or images.shape[3] % p:
        raise ValueError("no multiple")


def cut_by_einops(images, p):
    divisible(images, p)
    return rearrange(images, "b c (h p) (w q) -> b (h w) (c p q)", p=p, q=p)


def cut_by_windows(images, p):
    divisible(images, p)
    return images.unfold(2, p, p).unfold(3, p, p).permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)
