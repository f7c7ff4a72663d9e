r"""Vision Transformer: an image is cut into patches, each patch becomes a token, and a Transformer encoder reads them.

Nothing in the encoder knows about images. What is new stands before it: the cut, one linear map from pixels to patch
embeddings (which is a convolution that steps by whole patches), a [CLS] token that gathers what the image shows, and
a positional embedding for every token. A spectrogram is an image too, and there the patches overlap.

    x_n = W patch_n + b                              n = 1 ... N, patches row by row
    z_0 = [c; x_1; ...; x_N] + P                     c: the [CLS] token, P: a row for each of the N + 1 positions
    z'  = z + attention(norm(z))                     an encoder layer, pre-norm
    z'' = z' + mlp(norm(z'))
    logits = W_out norm(z_L[0]) + b_out              the [CLS] token's vector after the last of L layers

Glossary: B images, C channels, H x W pixels, p the side of a patch, N = (H/p)(W/p) patches, D width of a token,
h heads. A spectrogram has F frequencies and T times.

Sources: A. Dosovitskiy et al., "An Image is Worth 16x16 Words", ICLR 2021, section 3.1, equations 1 to 4, and 3.2 for
other resolutions; Y. Gong, Y.-A. Chung, J. Glass, "AST: Audio Spectrogram Transformer", Interspeech 2021, section 2.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from .encoder_decoder import EncoderLayer


def patchify(images: Tensor, p: int) -> Tensor:
    """Square pieces of images (B, C, H, W), row by row: (B, N, C·p·p), each flattened channel first.

    Raises:
        ValueError: a side of the images is no multiple of p.
    """
    if images.ndim != 4:
        raise ValueError(f"expected images (B, C, H, W), got {tuple(images.shape)}")
    B, C, H, W = images.shape
    rows, columns = _grid(H, W, p)
    cut = images.reshape(B, C, rows, p, columns, p)
    patches = cut.permute(0, 2, 4, 1, 3, 5)  # (B, rows, columns, C, p, p)
    return patches.flatten(3).flatten(1, 2)


def unpatchify(patches: Tensor, p: int, H: int, W: int) -> Tensor:
    """The images (B, C, H, W) that `patchify` cut into patches (B, N, C·p·p).

    Raises:
        ValueError: H or W is no multiple of p, or patches of that number and width make no such image.
    """
    rows, columns = _grid(H, W, p)
    if patches.ndim != 3 or patches.shape[1] != rows * columns or patches.shape[2] % p**2:
        raise ValueError(f"patches of shape {tuple(patches.shape)} make no images of {H} × {W} pixels with p = {p}")
    B, C = len(patches), patches.shape[2] // p**2
    pieces = patches.reshape(B, rows, columns, C, p, p)
    return pieces.permute(0, 3, 1, 4, 2, 5).reshape(B, C, H, W)  # (B, C, rows, p, columns, p) -> (B, C, H, W)


def embed_patches(images: Tensor, W: Tensor, b: Tensor, cls: Tensor, positions: Tensor) -> Tensor:
    """The sequence of the [CLS] token and the patch embeddings, plus positional embeddings: (B, N + 1, D).

    images (B, C, H, W); W (D, C·p·p), from which p follows; b and cls (D,); positions (N + 1, D), row 0 for [CLS].

    Raises:
        ValueError: W reads no square patches of C channels, or there are not as many positions as tokens.
    """
    p = math.isqrt(W.shape[1] // images.shape[1])
    if W.shape[1] != images.shape[1] * p**2:
        raise ValueError(f"W of shape {tuple(W.shape)} reads no square patches of images {tuple(images.shape)}")
    words = patchify(images, p) @ W.T + b  # (B, N, D)
    if positions.shape != (words.shape[1] + 1, words.shape[2]):
        raise ValueError(
            f"{words.shape[1] + 1} tokens of width {words.shape[2]}, and positions {tuple(positions.shape)}"
        )
    return torch.cat([cls.expand(len(words), 1, -1), words], dim=1) + positions


def linear_to_conv(W: Tensor, C: int, p: int) -> Tensor:
    """Kernels (D, C, p, p) whose convolution in steps of p does what the linear map W (D, C·p·p) does to patches.

    Raises:
        ValueError: W does not read C·p·p numbers.
    """
    if W.ndim != 2 or W.shape[1] != C * p * p:
        raise ValueError(f"W of shape {tuple(W.shape)} does not read patches of {C} × {p} × {p} numbers")
    return W.unflatten(1, (C, p, p))


def spectrogram_patches(spec: Tensor, p: int, stride: int) -> Tensor:
    """Square pieces of spectrograms (B, F, T), a new one every `stride`: (B, N, p·p).

    Frequency bands come one after another, and within a band the times. Within a patch the time runs fastest. What is
    left over at the ends is dropped.

    Raises:
        ValueError: not a single patch fits.
    """
    if spec.ndim != 3 or min(spec.shape[1:]) < p:
        raise ValueError(f"expected a spectrogram (B, F, T) of at least {p} × {p}, got {tuple(spec.shape)}")
    windows = spec.unfold(1, p, stride).unfold(2, p, stride)  # (B, bands, times, p, p)
    return windows.flatten(3).flatten(1, 2)


def interpolate_positions(positions: Tensor, new_grid: tuple[int, int]) -> Tensor:
    """Resize positional embeddings (N + 1, D), learned on a square grid, to another grid: (height·width + 1, D).

    The [CLS] token's row stays as it is. The others are resized like the pixels of an image (bilinear).

    Raises:
        ValueError: the N rows after the first make no square.
    """
    side = math.isqrt(len(positions) - 1)
    if side == 0 or side**2 != len(positions) - 1:
        raise ValueError(
            f"positions of shape {tuple(positions.shape)} belong to {len(positions) - 1} patches, which make no square"
        )
    picture = positions[1:].T.unflatten(1, (side, side))  # (D, side, side)
    larger = F.interpolate(picture[None], size=tuple(new_grid), mode="bilinear")[0]
    return torch.cat([positions[:1], larger.flatten(1).T])


class ViT(nn.Module):
    """A Vision Transformer for square images. A linear layer reads its logits from the [CLS] token.

    Its encoder layers have a ReLU, as in `encoder_decoder`, where the paper has a GELU.

    Raises:
        ValueError: the patches do not tile the image, or the heads do not divide the width.
    """

    def __init__(
        self,
        image_size: int,
        patch: int,
        channels: int,
        classes: int,
        d_model: int,
        n_heads: int,
        d_ff: int,
        n_layers: int,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        rows, columns = _grid(image_size, image_size, patch)
        self.project = nn.Linear(channels * patch**2, d_model)
        self.cls = nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(0.2 * torch.randn(rows * columns + 1, d_model))
        layers = (EncoderLayer(d_model, n_heads, d_ff, dropout, norm="pre") for _ in range(n_layers))
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(d_model)
        self.classify = nn.Linear(d_model, classes)

    def forward(self, images: Tensor) -> Tensor:
        """images (B, C, H, W) -> logits (B, classes)."""
        z = self.tokens(images)
        for layer in self.layers:
            z = layer(z)
        return self.classify(self.norm(z[:, 0]))

    def attention_maps(self, images: Tensor) -> Tensor:
        """Attention weights of each layer: (n_layers, B, h, N + 1, N + 1), with the [CLS] token at position 0."""
        z, maps = self.tokens(images), []
        layer: Any  # an EncoderLayer, but the type of an nn.ModuleList does not say so
        for layer in self.layers:
            y = layer.norm1(z)
            maps.append(layer.self_attention(y, y)[1].detach())  # to look at, not to learn from
            z = layer(z)
        return torch.stack(maps)

    def tokens(self, images: Tensor) -> Tensor:
        """What the first layer reads: (B, N + 1, D)."""
        return embed_patches(images, self.project.weight, self.project.bias, self.cls, self.positions)


def _grid(H: int, W: int, p: int) -> tuple[int, int]:
    """Number of patches downwards and across."""
    if p < 1 or H % p or W % p or not H or not W:
        raise ValueError(f"patches of {p} × {p} pixels do not tile an image of {H} × {W}")
    return H // p, W // p
