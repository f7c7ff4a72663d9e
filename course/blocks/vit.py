"""The Vision Transformer of topic 11, on this package's encoder layers and torch's own convolution."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from .transformer import EncoderLayer


class ViT(nn.Module):
    """A ViT: `model(images)` maps square images (B, channels, image_size, image_size) to logits (B, classes).

    A convolution makes a patch embedding of each patch. The [CLS] token (`class_word`) comes first, and learned
    positional embeddings (`marks`) are added. `n_layers` pre-norm encoder layers follow, and a linear layer reads the
    [CLS] token. Every weight but the convolution's belongs to a linear layer, a norm, or the positional embeddings.
    The feed-forward networks have a ReLU, where the paper has a GELU.

    Args:
        image_size: height and width of an image in pixels.
        patch: height and width of a patch, a divisor of both.
        channels: one for grey images, three for colour.
        classes: number of logits.
        d_model: width D of a token.
        n_heads: heads of each layer, a divisor of D.
        d_ff: hidden width of each feed-forward network.
        n_layers: encoder layers.
        dropout: share that each layer drops in training.

    Raises:
        ValueError: the patch does not divide the image, or the heads do not divide the width.
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
        if patch < 1 or image_size % patch:
            raise ValueError(
                f"patches of {patch} x {patch} pixels cannot cover an image of {image_size} x {image_size}"
            )
        words = 1 + (image_size // patch) ** 2
        self.patches = nn.Conv2d(channels, d_model, patch, stride=patch)
        self.class_word = nn.Parameter(torch.zeros(1, 1, d_model))
        self.marks = nn.Parameter(0.2 * torch.randn(1, words, d_model))
        layers = [EncoderLayer(d_model, n_heads, d_ff, dropout, norm="pre") for _ in range(n_layers)]
        self.encoder = nn.ModuleList(layers)
        self.last_norm = nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, classes)

    def tokens(self, images: Tensor) -> Tensor:
        """Return the encoder's tokens for images: (B, channels, H, W) -> (B, N + 1, D), the [CLS] token first."""
        seen = self.patches(images).flatten(2).movedim(1, 2)  # (B, N, D)
        x = torch.hstack((self.class_word.expand(len(images), -1, -1), seen)).add(self.marks)  # (B, N + 1, D)
        for layer in self.encoder:
            x = layer(x)
        normed: Tensor = self.last_norm(x)
        return normed

    def forward(self, images: Tensor) -> Tensor:
        """Return logits (B, classes) for images (B, channels, image_size, image_size)."""
        logits: Tensor = self.head(self.tokens(images)[:, 0])
        return logits
