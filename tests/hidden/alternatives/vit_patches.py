"""Right answers to topic 11 that look nothing like the reference."""

from __future__ import annotations

import math

import torch
from einops import rearrange
from torch import nn
from torch.nn import functional as F

from course import blocks

# -- cutting and mending -----------------------------------------------------------------------------------------------


def _divisible(images, p):
    if images.shape[2] % p or images.shape[3] % p:
        raise ValueError("no multiple")


def cut_by_unfold(images, p):
    _divisible(images, p)
    return F.unfold(images, p, stride=p).mT


def cut_by_convolution(images, p):
    _divisible(images, p)
    C = images.shape[1]
    kernels = torch.eye(C * p * p, dtype=images.dtype).view(-1, C, p, p)
    return F.conv2d(images, kernels, stride=p).flatten(2).transpose(1, 2)


def cut_by_einops(images, p):
    _divisible(images, p)
    return rearrange(images, "b c (h p) (w q) -> b (h w) (c p q)", p=p, q=p)


def cut_by_slices(images, p):
    _divisible(images, p)
    H, W = images.shape[2:]
    return torch.stack(
        [images[:, :, i : i + p, j : j + p].flatten(1) for i in range(0, H, p) for j in range(0, W, p)], dim=1
    )


def cut_by_windows(images, p):
    _divisible(images, p)
    return images.unfold(2, p, p).unfold(3, p, p).permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)


def cut_by_pixel_unshuffle(images, p):
    _divisible(images, p)
    return F.pixel_unshuffle(images, p).flatten(2).mT


def cut_under_vmap(images, p):
    _divisible(images, p)
    _, _, H, W = images.shape
    corners = [(row, column) for row in range(0, H, p) for column in range(0, W, p)]

    def cut(image):
        return torch.stack([image[:, r : r + p, c : c + p].flatten() for r, c in corners])

    return torch.func.vmap(cut)(images)


def _tiles(p, H, W):
    if H % p or W % p:
        raise ValueError("no multiple")


def mended_by_fold(patches, p, H, W):
    _tiles(p, H, W)
    return F.fold(patches.transpose(1, 2), (H, W), p, stride=p)


def mended_by_einops(patches, p, H, W):
    _tiles(p, H, W)
    return rearrange(patches, "b (h w) (c p q) -> b c (h p) (w q)", h=H // p, p=p, q=p)


def mended_by_slices(patches, p, H, W):
    _tiles(p, H, W)
    images = patches.new_zeros(len(patches), patches.shape[2] // p**2, H, W)
    for n in range(patches.shape[1]):
        i, j = n // (W // p) * p, n % (W // p) * p
        images[:, :, i : i + p, j : j + p] = patches[:, n].view(len(patches), -1, p, p)
    return images


def mended_by_rows(patches, p, H, W):
    _tiles(p, H, W)
    pieces = [patch.reshape(len(patches), -1, p, p) for patch in patches.unbind(1)]
    across = W // p
    return torch.cat([torch.cat(pieces[i : i + across], 3) for i in range(0, len(pieces), across)], 2)


def mended_by_pixel_shuffle(patches, p, H, W):
    _tiles(p, H, W)
    return F.pixel_shuffle(patches.mT.unflatten(2, (H // p, W // p)), p)


# -- words -------------------------------------------------------------------------------------------------------------


def _p(images, W):
    return math.isqrt(W.shape[1] // images.shape[1])


def embedded_by_convolution(images, W, b, cls, positions):
    p = _p(images, W)
    words = F.conv2d(images, W.view(len(W), images.shape[1], p, p), b, stride=p).flatten(2).mT
    return torch.cat([cls.view(1, 1, -1).repeat(len(images), 1, 1), words], dim=1) + positions


def embedded_into_a_tensor(images, W, b, cls, positions):
    words = F.linear(cut_by_slices(images, _p(images, W)), W, b)
    out = positions.unsqueeze(0).repeat(len(images), 1, 1)
    first = out[:, :1] + cls
    return torch.cat([first, out[:, 1:] + words], dim=1)


def embedded_one_by_one(images, W, b, cls, positions):
    p = _p(images, W)
    rows = []
    for row in cut_by_einops(images, p):
        words = [W @ patch + b for patch in row]
        rows.append(torch.stack([word + mark for word, mark in zip([cls, *words], positions, strict=True)]))
    return torch.stack(rows)


def embedded_with_padding(images, W, b, cls, positions):
    words = torch.einsum("bnk,dk->bnd", cut_by_windows(images, _p(images, W)), W) + b
    return F.pad(words, (0, 0, 1, 0)) + positions + F.pad(cls[None], (0, 0, 0, len(positions) - 1))


def conv_by_view(W, C, p):
    return W.contiguous().view(-1, C, p, p)


def conv_by_einops(W, C, p):
    return rearrange(W, "d (c y x) -> d c y x", c=C, y=p)


def conv_by_stack(W, C, p):
    return torch.stack([torch.stack([row[c * p * p : (c + 1) * p * p].reshape(p, p) for c in range(C)]) for row in W])


def conv_by_fold(W, C, p):
    return F.fold(W.unsqueeze(-1), (p, p), p)


# -- sound and other grids ---------------------------------------------------------------------------------------------


def _fits(spec, p):
    if spec.shape[1] < p or spec.shape[2] < p:
        raise ValueError("too small")


def sound_by_unfold(spec, p, stride):
    _fits(spec, p)
    return F.unfold(spec.unsqueeze(1), p, stride=stride).transpose(1, 2)


def sound_by_slices(spec, p, stride):
    _fits(spec, p)
    _, bands, times = spec.shape
    starts = [(f, t) for f in range(0, bands - p + 1, stride) for t in range(0, times - p + 1, stride)]
    return torch.stack([spec[:, f : f + p, t : t + p].reshape(len(spec), -1) for f, t in starts], dim=1)


def sound_by_index(spec, p, stride):
    _fits(spec, p)
    f = (torch.arange(0, spec.shape[1] - p + 1, stride)[:, None] + torch.arange(p))[:, None, :, None]
    t = (torch.arange(0, spec.shape[2] - p + 1, stride)[:, None] + torch.arange(p))[None, :, None, :]
    return spec[:, f, t].flatten(3).flatten(1, 2)


def sound_by_convolution(spec, p, stride):
    """Each channel of the kernel picks one place of the patch."""
    _fits(spec, p)
    picks = torch.eye(p * p, dtype=spec.dtype).view(-1, 1, p, p)
    return F.conv2d(spec[:, None], picks, stride=stride).flatten(2).mT


def _stretched(mode, **options):
    def stretched(positions, new_grid):
        cls, places = positions[:1], positions[1:]
        side = int(len(places) ** 0.5)
        grid = rearrange(places, "(h w) d -> 1 d h w", h=side)
        grid = F.interpolate(grid, size=tuple(int(n) for n in new_grid), mode=mode, **options)
        return torch.cat([cls, rearrange(grid, "1 d h w -> (h w) d")])

    return stretched


stretched_bilinear = _stretched("bilinear", align_corners=False)
stretched_bilinear_to_the_corners = _stretched("bilinear", align_corners=True)
stretched_bicubic_to_the_corners = _stretched("bicubic", align_corners=True)
stretched_smoothly = _stretched("bicubic", align_corners=False, antialias=True)


def stretched_by_matrices(positions, new_grid):
    """Bilinear, one axis after the other, as two small matrices of weights."""
    side = math.isqrt(len(positions) - 1)

    def weights(n):
        at = ((torch.arange(n) + 0.5) * side / n - 0.5).clamp(0, side - 1)
        return (1 - (at[:, None] - torch.arange(side)).abs()).clamp(min=0).to(positions.dtype)

    grid = positions[1:].view(side, side, -1) if positions.is_contiguous() else positions[1:].reshape(side, side, -1)
    out = torch.einsum("yi,xj,ijd->yxd", weights(new_grid[0]), weights(new_grid[1]), grid)
    return torch.cat([positions[:1], out.flatten(0, 1)])


# -- the model ---------------------------------------------------------------------------------------------------------


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


@torch.no_grad()
def marks_drawn_larger_without_a_gradient(positions, new_grid):
    """The marks are weights, and are drawn larger once."""
    side = math.isqrt(len(positions) - 1)
    picture = positions[1:].T.unflatten(1, (side, side))[None]
    larger = F.interpolate(picture, tuple(new_grid), mode="bilinear", antialias=True)[0]
    return torch.cat([positions[:1], larger.flatten(1).T])


ALTERNATIVES = {
    "patchify": [
        cut_by_unfold, cut_by_convolution, cut_by_einops, cut_by_slices, cut_by_windows, cut_by_pixel_unshuffle,
        cut_under_vmap,
    ],
    "unpatchify": [mended_by_fold, mended_by_einops, mended_by_slices, mended_by_rows, mended_by_pixel_shuffle],
    "embed_patches": [embedded_by_convolution, embedded_into_a_tensor, embedded_one_by_one, embedded_with_padding],
    "linear_to_conv": [conv_by_view, conv_by_einops, conv_by_stack, conv_by_fold],
    "spectrogram_patches": [sound_by_unfold, sound_by_slices, sound_by_index, sound_by_convolution],
    "interpolate_positions": [
        marks_drawn_larger_without_a_gradient,
        stretched_bilinear, stretched_bilinear_to_the_corners, stretched_bicubic_to_the_corners, stretched_smoothly,
        stretched_by_matrices,
    ],
    "ViT": [
        OnBlocks, LayersOfTorch, ByHand, AttentionOfTorch, MarksBeforeEachLayer, LogProbabilities,
    ],
}  # fmt: skip
