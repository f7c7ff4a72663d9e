"""Right answers to `ViT` that look nothing like the reference."""

from __future__ import annotations

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from course import blocks


class OnBlocks(nn.Module):
    """The course's own encoder layers, a convolution for the patches."""

    def __init__(self, image_size, patch, channels, classes, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__()
        self.cut = nn.Conv2d(channels, d_model, patch, stride=patch)
        self.cls = nn.Parameter(torch.zeros(1, 1, d_model))
        self.positions = nn.Parameter(torch.randn((image_size // patch) ** 2 + 1, d_model))
        self.layers = nn.ModuleList(
            blocks.EncoderLayer(d_model, n_heads, d_ff, dropout, norm="pre") for _ in range(n_layers)
        )
        self.read = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, classes))

    def words(self, images):
        words = torch.cat([self.cls.expand(len(images), -1, -1), self.cut(images).flatten(2).mT], dim=1)
        words = words + self.positions
        for layer in self.layers:
            words = layer(words)
        return words

    def forward(self, images):
        return self.read(self.words(images)[:, 0])

    def attention_maps(self, images):
        self.words(images)
        return torch.stack([layer.weights for layer in self.layers])


class LayersOfTorch(OnBlocks):
    """nn.TransformerEncoderLayer, which keeps no weights: the maps are asked for once more."""

    def __init__(self, image_size, patch, channels, classes, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__(image_size, patch, channels, classes, d_model, n_heads, d_ff, 0, dropout)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(d_model, n_heads, d_ff, dropout, F.gelu, batch_first=True, norm_first=True)
            for _ in range(n_layers)
        )

    def attention_maps(self, images):
        maps = []

        def look(layer, given):
            words = layer.norm1(given[0])
            maps.append(layer.self_attn(words, words, words, average_attn_weights=False)[1])

        handles = [layer.register_forward_pre_hook(look) for layer in self.layers]
        self.words(images)
        for handle in handles:
            handle.remove()
        return torch.stack(maps)


class ByHand(nn.Module):
    """Attention written out, the class word at the end while nobody looks, no biases."""

    def __init__(self, image_size, patch, channels, classes, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__()
        self.patch, self.heads, self.drop = patch, n_heads, nn.Dropout(dropout)
        self.W = nn.Linear(channels * patch**2, d_model)
        self.cls = nn.Parameter(torch.randn(d_model))
        self.positions = nn.Parameter(torch.randn((image_size // patch) ** 2 + 1, d_model))
        self.qkv = nn.ModuleList(nn.Linear(d_model, 3 * d_model, bias=False) for _ in range(n_layers))
        self.out = nn.ModuleList(nn.Linear(d_model, d_model, bias=False) for _ in range(n_layers))
        self.ff = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, d_ff), nn.SiLU(), nn.Linear(d_ff, d_model))
            for _ in range(n_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(n_layers))
        self.head = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, classes))

    def encode(self, images):
        x = self.W(rearrange(images, "b c (h p) (w q) -> b (h w) (p q c)", p=self.patch, q=self.patch))
        x, maps = torch.cat([x, self.cls.expand(len(x), 1, -1)], dim=1) + self.positions.roll(-1, 0), []
        for norm, qkv, out, ff in zip(self.norms, self.qkv, self.out, self.ff, strict=True):
            q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in qkv(norm(x)).chunk(3, -1))
            maps.append((q @ k.mT / q.shape[-1] ** 0.5).softmax(-1))
            x = x + self.drop(out((maps[-1] @ v).transpose(1, 2).flatten(2)))
            x = x + self.drop(ff(x))
        return x, maps

    def forward(self, images):
        return self.head(self.encode(images)[0][:, -1])

    def attention_maps(self, images):
        return torch.stack([m.roll((1, 1), (-2, -1)) for m in self.encode(images)[1]])


class AttentionOfTorch(nn.Module):
    """nn.MultiheadAttention in a loop; maps of the last call; a buffer for the order; a head that begins as zero."""

    def __init__(self, image_size, patch, channels, classes, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__()
        N = (image_size // patch) ** 2
        self.cut, self.cls = nn.Unfold(patch, stride=patch), nn.Parameter(torch.zeros(d_model))
        self.positions = nn.Parameter(nn.init.trunc_normal_(torch.empty(N + 1, d_model), std=0.2))
        self.register_buffer("order", torch.arange(N + 1), persistent=False)
        self.words = nn.Linear(channels * patch**2, d_model)
        self.looks = nn.ModuleList(
            nn.MultiheadAttention(d_model, n_heads, dropout, batch_first=True) for _ in range(n_layers)
        )
        self.thinks = nn.ModuleList(
            nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, d_ff), nn.GELU(), nn.Linear(d_ff, d_model))
            for _ in range(n_layers)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(n_layers))
        self.drop, self.maps = nn.Dropout(dropout), []
        self.classify = nn.Sequential(nn.LayerNorm(d_model), nn.Linear(d_model, classes))
        nn.init.zeros_(self.classify[1].weight)

    def forward(self, images):
        words = self.words(self.cut(images).mT)
        z, self.maps = torch.cat([self.cls.expand(len(images), 1, -1), words], 1) + self.positions[self.order], []
        for norm, look, think in zip(self.norms, self.looks, self.thinks, strict=True):
            y = norm(z)
            seen, weights = look(y, y, y, need_weights=True, average_attn_weights=False)
            self.maps.append(weights)
            z = z + self.drop(seen)
            z = z + self.drop(think(z))
        return self.classify(z[:, 0])

    @torch.no_grad()
    def attention_maps(self, images):
        self.eval()
        self(images)
        return torch.stack(self.maps)


class MarksBeforeEachLayer(nn.ModuleList):
    """Is the list of its own layers; each is reminded of the places; maps cut off."""

    def __init__(self, image_size, patch, channels, classes, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__(
            nn.ModuleDict(
                {
                    "norm": nn.LayerNorm(d_model), "qkv": nn.Linear(d_model, 3 * d_model),
                    "out": nn.Linear(d_model, d_model), "before": nn.LayerNorm(d_model),
                    "up": nn.Linear(d_model, d_ff), "down": nn.Linear(d_ff, d_model),
                }
            )
            for _ in range(n_layers)
        )  # fmt: skip
        self.positions = nn.Parameter(0.2 * torch.randn((image_size // patch) ** 2 + 1, d_model))
        self.free = nn.ParameterDict({"cls": torch.zeros(1, 1, d_model)})
        self.cut, self.norm = nn.Conv2d(channels, d_model, patch, patch), nn.LayerNorm(d_model)
        self.head = nn.Linear(d_model, classes)
        self.n_layers, self.heads, self.dropout = n_layers, n_heads, dropout

    def forward(self, images, maps=None):
        z = self.cut(images).flatten(2).mT
        z = torch.cat([self.free["cls"].expand(len(z), -1, -1), z], 1)
        for layer in (self[k] for k in range(self.n_layers)):
            z = z + self.positions
            parts = "b t (three h d) -> three b h t d"
            q, k, v = rearrange(layer["qkv"](layer["norm"](z)), parts, three=3, h=self.heads)
            weights = (q @ k.mT / q.shape[-1] ** 0.5).softmax(-1)
            if maps is not None:
                maps.append(weights.detach())
            z = z + self.dropped(layer["out"](rearrange(weights @ v, "b h t d -> b t (h d)")))
            z = z + self.dropped(layer["down"](F.gelu(layer["up"](layer["before"](z)))))
        return self.head(self.norm(z[:, 0]))

    def dropped(self, z):
        return F.dropout(z, self.dropout, self.training)

    def attention_maps(self, images):
        maps = []
        self(images, maps)
        return torch.stack(maps)


class LogProbabilities(OnBlocks):
    """Scores up to a constant for each image, which neither loss nor argmax notices: their softmax's logarithm."""

    def forward(self, images):
        return super().forward(images).log_softmax(-1)


ALTERNATIVES = [
    OnBlocks,
    LayersOfTorch,
    ByHand,
    AttentionOfTorch,
    MarksBeforeEachLayer,
    LogProbabilities,
]
