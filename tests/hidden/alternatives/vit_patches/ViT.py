"""Right answers to `ViT` that compute in other ways than the reference."""

from __future__ import annotations

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from course import blocks


class OnBlocks(nn.Module):
    """The course's own encoder layers, and the linear map as a convolution."""

    def __init__(self, image_size, patch, channels, classes, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__()
        self.patch, self.heads = patch, n_heads
        self.project = nn.Linear(channels * patch**2, d_model)
        self.cls = nn.Parameter(torch.randn(d_model))
        self.positions = nn.Parameter(torch.randn((image_size // patch) ** 2 + 1, d_model))
        self.layers = nn.ModuleList(
            blocks.EncoderLayer(d_model, n_heads, d_ff, dropout, norm="pre") for _ in range(n_layers)
        )
        self.norm, self.classify = nn.LayerNorm(d_model), nn.Linear(d_model, classes)

    def embed(self, images):
        kernels = self.project.weight.unflatten(1, (-1, self.patch, self.patch))
        words = F.conv2d(images, kernels, self.project.bias, stride=self.patch).flatten(2).mT
        return torch.cat([self.cls.expand(len(images), 1, -1), words], dim=1) + self.positions

    def forward(self, images):
        z = self.embed(images)
        for layer in self.layers:
            z = layer(z)
        return self.classify(self.norm(z[:, 0]))

    def attention_maps(self, images):
        self(images)
        return torch.stack([layer.weights for layer in self.layers])


class NormsAll(OnBlocks):
    """Norms every token and reads one; the maps are caught on the way, and have a gradient."""

    def forward(self, images):
        return self.classify(self.norm(nn.Sequential(*self.layers)(self.embed(images))))[:, 0]

    def attention_maps(self, images):
        maps = []
        handles = [
            layer.self_attention.register_forward_hook(lambda attention, words, found: maps.append(found[1]))
            for layer in self.layers
        ]
        self(images)
        for handle in handles:
            handle.remove()
        return torch.stack(maps)


class ByHand(OnBlocks):
    """Attention written out with the layers' weights, and the class token at the end while nobody looks."""

    def encode(self, images):
        x = self.project(rearrange(images, "b c (h p) (w q) -> b (h w) (c p q)", p=self.patch, q=self.patch))
        x, maps = torch.cat([x, self.cls.expand(len(x), 1, -1)], dim=1) + self.positions.roll(-1, 0), []
        for layer in self.layers:
            look, y = layer.self_attention, layer.norm1(x)
            q, k, v = (rearrange(W(y), "b t (h d) -> b h t d", h=self.heads) for W in (look.W_q, look.W_k, look.W_v))
            maps.append((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1))
            x = x + layer.dropout(look.W_o(rearrange(maps[-1] @ v, "b h t d -> b t (h d)")))
            x = x + layer.dropout(layer.down(layer.up(layer.norm2(x)).relu()))
        return x, maps

    def forward(self, images):
        return self.classify(self.norm(self.encode(images)[0][:, -1]))

    @torch.no_grad()
    def attention_maps(self, images):
        return torch.stack([one.roll((1, 1), (-2, -1)) for one in self.encode(images)[1]])


ALTERNATIVES = [OnBlocks, NormsAll, ByHand]
