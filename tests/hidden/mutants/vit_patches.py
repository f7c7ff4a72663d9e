"""Wrong answers to topic 11 that the hidden tests must notice, beyond the misconceptions they know by name."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from course.hidden.vit_patches import _Open, lays_every_scan_on_it
from course.reference import vit_patches as reference

# -- cutting: the catalogue, brought to our signature ------------------------------------------------------------------


def vp(images, p):
    return reference.patchify(images, p)


def v_view(images, p):
    patches = vp(images, p)
    return images.reshape(patches.shape)


def v_noperm(images, p):
    B, C, H, W = images.shape
    vp(images, p)
    return images.reshape(B, C, H // p, p, W // p, p).reshape(B, -1, C * p * p)


def v_unfold_reshape(images, p):
    vp(images, p)
    u = F.unfold(images, p, stride=p)
    return u.reshape(u.size(0), -1, u.size(1))


def v_colmajor(images, p):
    B, C, H, W = images.shape
    vp(images, p)
    return images.reshape(B, C, H // p, p, W // p, p).permute(0, 4, 2, 1, 3, 5).reshape(B, -1, C * p * p)


def v_pixT(images, p):
    B, C, H, W = images.shape
    vp(images, p)
    return images.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 1, 5, 3).reshape(B, -1, C * p * p)


def v_chanlast(images, p):
    B, C, H, W = images.shape
    vp(images, p)
    return images.reshape(B, C, H // p, p, W // p, p).permute(0, 2, 4, 3, 5, 1).reshape(B, -1, C * p * p)


def v_pouter(images, p):
    B, C, H, W = images.shape
    vp(images, p)
    return images.reshape(B, C, p, H // p, p, W // p).permute(0, 3, 5, 1, 2, 4).reshape(B, -1, C * p * p)


def v_tensor_unfold(images, p):
    vp(images, p)
    return images.unfold(2, p, p).unfold(3, p, p).reshape(images.size(0), -1, images.size(1) * p * p)


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


def v_batchmix(images, p):
    B, C, H, W = images.shape
    vp(images, p)
    return images.reshape(B, C, H // p, p, W // p, p).permute(2, 4, 0, 1, 3, 5).reshape(B, -1, C * p * p)


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


# -- mending -----------------------------------------------------------------------------------------------------------


def mended_as_view(patches, p, H, W):
    reference.unpatchify(patches, p, H, W)
    return patches.reshape(len(patches), -1, H, W)


def mended_in_square_grids(patches, p, H, W):
    """Takes the square root of N for both sides, and cuts what is too much."""
    reference.unpatchify(patches, p, H, W)
    side = round(patches.shape[1] ** 0.5 + 0.49)
    padded = F.pad(patches, (0, 0, 0, side**2 - patches.shape[1]))
    whole = reference.unpatchify(padded, p, side * p, side * p)
    return F.pad(whole, (0, max(W - side * p, 0), 0, max(H - side * p, 0)))[:, :, :H, :W]


def mended_bottom_up(patches, p, H, W):
    return reference.unpatchify(patches.flip(1), p, H, W)


def mended_upside_down(patches, p, H, W):
    return reference.unpatchify(patches, p, H, W).flip(2)


def mended_channels_mixed(patches, p, H, W):
    C = patches.shape[2] // p**2
    return reference.unpatchify(patches.unflatten(2, (p * p, C)).mT.flatten(2), p, H, W)


def mended_without_gradient(patches, p, H, W):
    return reference.unpatchify(patches.detach(), p, H, W)


def mended_into_float32(patches, p, H, W):
    return reference.unpatchify(patches.float(), p, H, W)


def mended_first_image_only(patches, p, H, W):
    return reference.unpatchify(patches[:1], p, H, W).expand(len(patches), -1, -1, -1)


# -- words -------------------------------------------------------------------------------------------------------------


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


def embedded_without_class(images, W, b, cls, positions):
    return _embed(images, W, b, cls, positions)[:, 1:]


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


def conv_detached(W, C, p):
    return reference.linear_to_conv(W.detach(), C, p)


def conv_of_one_channel(W, C, p):
    return reference.linear_to_conv(W, C, p).mean(1, keepdim=True)


def conv_transposed_for_transposed_convolution(W, C, p):
    return reference.linear_to_conv(W, C, p).transpose(0, 1)


def conv_flipped_up_and_down(W, C, p):
    return reference.linear_to_conv(W, C, p).flip(2)


def conv_always_float32(W, C, p):
    return reference.linear_to_conv(W, C, p).float()


# -- sound -------------------------------------------------------------------------------------------------------------


def _sound(spec, p, stride):
    return reference.spectrogram_patches(spec, p, stride)


def sound_as_pictures(spec, p, stride):
    return _sound(spec, p, stride).unflatten(2, (p, p))


def sound_with_a_channel(spec, p, stride):
    return _sound(spec, p, stride)[:, None]


def sound_upside_down(spec, p, stride):
    return _sound(spec.flip(1), p, stride)


def sound_overlap_in_frequency_only(spec, p, stride):
    _sound(spec, p, stride)
    return spec.unfold(1, p, stride).unfold(2, p, p).flatten(3).flatten(1, 2)


def sound_from_the_end(spec, p, stride):
    """Drops what is left over at the beginning."""
    _sound(spec, p, stride)
    f, t = ((size - p) % stride for size in spec.shape[1:])
    return _sound(spec[:, f:, t:], p, stride)


def sound_as_strips_of_time(spec, p, stride):
    """Whole columns, every frequency at once, as in speech recognition before."""
    _sound(spec, p, stride)
    return spec.unfold(2, p, stride).movedim(2, 1).flatten(2)


def sound_normalised(spec, p, stride):
    patches = _sound(spec, p, stride)
    return (patches - patches.mean(-1, keepdim=True)) / (patches.std(-1, keepdim=True) + 1e-6)


def sound_without_gradient(spec, p, stride):
    return _sound(spec.detach(), p, stride)


def sound_with_another_error(spec, p, stride):
    if min(spec.shape[1:]) < p:
        raise RuntimeError("too small")
    return _sound(spec, p, stride)


# -- other grids -------------------------------------------------------------------------------------------------------


def _stretched(positions, new_grid):
    return reference.interpolate_positions(positions, new_grid)


def positions_cut_off(positions, new_grid):
    """The first rows of the table, repeated where they do not reach."""
    need = new_grid[0] * new_grid[1]
    return torch.cat([positions[:1], positions[1:].repeat(need // (len(positions) - 1) + 1, 1)[:need]])


def positions_repeated_like_tiles(positions, new_grid):
    side = round((len(positions) - 1) ** 0.5)
    rows, columns = (torch.arange(n) % side for n in new_grid)
    return torch.cat([positions[:1], positions[1:].view(side, side, -1)[rows][:, columns].flatten(0, 1)])


def positions_padded_with_zeros(positions, new_grid):
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].reshape(side, side, -1).permute(2, 0, 1)
    grid = F.pad(grid, (0, max(new_grid[1] - side, 0), 0, max(new_grid[0] - side, 0)))[:, : new_grid[0], : new_grid[1]]
    return torch.cat([positions[:1], grid.flatten(1).T])


def positions_drawn_anew(positions, new_grid):
    return torch.cat([positions[:1], torch.randn(new_grid[0] * new_grid[1], positions.shape[1])])


def positions_in_one_direction_only(positions, new_grid):
    side = round((len(positions) - 1) ** 0.5)
    picture = positions[1:].T.reshape(1, -1, side, side)
    wide = F.interpolate(picture, size=(side, new_grid[1]), mode="bilinear")
    rows = (torch.arange(new_grid[0]) * side) // new_grid[0]
    return torch.cat([positions[:1], wide[0, :, rows].flatten(1).T])


def positions_upside_down(positions, new_grid):
    larger = _stretched(positions, new_grid)
    return torch.cat([larger[:1], larger[1:].view(*new_grid, -1).flip(0).flatten(0, 1)])


def positions_left_and_right_exchanged(positions, new_grid):
    larger = _stretched(positions, new_grid)
    return torch.cat([larger[:1], larger[1:].view(*new_grid, -1).flip(1).flatten(0, 1)])


def positions_scaled_to_the_old_sum(positions, new_grid):
    larger = _stretched(positions, new_grid)
    share = (len(positions) - 1) / (len(larger) - 1)
    return torch.cat([larger[:1], larger[1:] * share])


def positions_with_the_class_row_in_the_picture(positions, new_grid):
    """Takes the first N rows for the picture: off by one."""
    side = round((len(positions) - 1) ** 0.5)
    picture = positions[:-1].T.reshape(1, -1, side, side)
    return torch.cat([positions[:1], F.interpolate(picture, size=tuple(new_grid), mode="bilinear")[0].flatten(1).T])


def positions_scaled_by_a_rounded_factor(positions, new_grid):
    """13 times 15/13 is 14.999...: a row and a column are lost."""
    side = round((len(positions) - 1) ** 0.5)
    grid = positions[1:].T.reshape(1, -1, side, side)
    factors = new_grid[0] / side, new_grid[1] / side
    larger = F.interpolate(grid, scale_factor=factors, mode="bilinear")
    return torch.cat([positions[:1], larger[0].flatten(1).T])


# -- the model ---------------------------------------------------------------------------------------------------------


class _ViT(reference.ViT):
    pass


class FrozenPositions(_ViT):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.positions.requires_grad_(False)
        self.positions.data.zero_()


class ClassWordDetached(_ViT):
    def _read(self, images):
        self.cls, cls = nn.Parameter(self.cls.detach()), self.cls
        found = super()._read(images)
        self.cls = cls
        return found


class FirstPatchLost(_ViT):
    """The class word takes the place of the first patch."""

    def _read(self, images):
        dark = images.clone()
        dark[:, :, : images.shape[2] // 3, : images.shape[3] // 3] = 0
        return super()._read(dark)


class OneChannelOnly(_ViT):
    def _read(self, images):
        return super()._read(images[:, :1].expand_as(images))


class OneLogitTooMany(_ViT):
    def __init__(self, image_size, patch, channels, classes, *rest, **options):
        super().__init__(image_size, patch, channels, classes + 1, *rest, **options)


class LogitsOfEveryWord(_ViT):
    def forward(self, images):
        return self.classify(self.norm(self._read(images)[0]))


class MapsOfTheFirstImage(_ViT):
    def attention_maps(self, images):
        return super().attention_maps(images)[:, :1].expand(-1, len(images), -1, -1, -1)


class MapsWithoutTheClassWord(_ViT):
    def attention_maps(self, images):
        return super().attention_maps(images)[..., 1:, 1:]


class MapsAsScores(_ViT):
    def attention_maps(self, images):
        return super().attention_maps(images).log()


class MapsBatchFirst(_ViT):
    def attention_maps(self, images):
        return super().attention_maps(images).transpose(0, 1)


class MapsOfThePast(_ViT):
    def attention_maps(self, images):
        maps = super().attention_maps(images).tril()
        return maps / maps.sum(-1, keepdim=True)


class BatchNormalised(_ViT):
    def forward(self, images):
        return super().forward(images - images.mean(0))


class OneLayerOnly(_ViT):
    def __init__(self, image_size, patch, channels, classes, d_model, n_heads, d_ff, n_layers, dropout=0.0):
        super().__init__(image_size, patch, channels, classes, d_model, n_heads, d_ff, 1, dropout)


class ReadsTheFirstPatch(_ViT):
    def forward(self, images):
        return self.classify(self.norm(self._read(images)[0][:, 1]))


class ReadsTheLargest(_ViT):
    def forward(self, images):
        return self.classify(self.norm(self._read(images)[0].amax(1)))


class AveragesPatches(_ViT):
    def forward(self, images):
        return self.classify(self.norm(self._read(images)[0][:, 1:].mean(1)))


class CutsChannelsApart(_ViT):
    """Two calls of Tensor.unfold and a reshape: the channels of a patch come from different places."""

    def _read(self, images):
        p = round((self.patches.in_features / images.shape[1]) ** 0.5)
        mixed = images.unfold(2, p, p).unfold(3, p, p).reshape(len(images), -1, images.shape[1] * p * p)
        return super()._read(reference.unpatchify(mixed, p, *images.shape[2:]))


class LogitsBent(_ViT):
    def forward(self, images):
        return super().forward(images).relu()


class MapsWithoutPositions(_ViT):
    """Other words for the maps than for the logits."""

    def attention_maps(self, images):
        self.positions, kept = nn.Parameter(0 * self.positions), self.positions
        maps = super().attention_maps(images)
        self.positions = kept
        return maps


class AttentionWithoutResidual(_Open):
    def through(self, layer, z):
        words = layer.norms[0](z)
        seen, weights = layer.attention(words, words, words, average_attn_weights=False)
        return layer.drop(seen) + layer.drop(layer.mlp(layer.norms[1](seen))), weights


class DropsBeforeTheClasses(_ViT):
    """A dropout of its own, whatever was asked for."""

    def forward(self, images):
        return self.classify(F.dropout(self.norm(self._read(images)[0][:, 0]), 0.1, self.training))


class NormsNothing(_Open):
    """Neither in the layers nor at the end."""

    def through(self, layer, z):
        seen, weights = layer.attention(z, z, z, average_attn_weights=False)
        z = z + layer.drop(seen)
        return z + layer.drop(layer.mlp(z)), weights

    def forward(self, images):
        return self.classify(self._read(images)[0][:, 0])


class EachImageStandardised(_ViT):
    def _read(self, images):
        centred = images - images.mean((1, 2, 3), keepdim=True)
        return super()._read(centred / centred.square().mean((1, 2, 3), keepdim=True).sqrt())


class TanhOnTheLogits(_ViT):
    def forward(self, images):
        return super().forward(images).tanh()


class BytesForLogitsOnly(_ViT):
    """Pixels divided by 255 for the logits, and not for the maps."""

    def forward(self, images):
        return super().forward(images / 255)


class AsWideAsItsWords(_ViT):
    """Takes d_model for d_ff."""

    def __init__(self, *sizes, **options):
        super().__init__(*sizes[:6], sizes[4], *sizes[7:], **options)


class SigmoidOnTheLogits(_ViT):
    def forward(self, images):
        return super().forward(images).sigmoid()


# -- the task ----------------------------------------------------------------------------------------------------------


def names_the_least_likely(images):
    return -lays_every_scan_on_it(images)


def confuses_two_digits(images):
    """Says 4 for every 9 and every other 4 for 9."""
    return lays_every_scan_on_it(images)[:, [0, 1, 2, 3, 9, 5, 6, 7, 8, 4]]


def reads_the_upper_half(images):
    return lays_every_scan_on_it(images * (torch.arange(12)[:, None] < 6))


def is_blind_to_one_in_eight(images):
    logits = lays_every_scan_on_it(images)
    return torch.where((torch.arange(len(images)) % 8 == 0)[:, None], 1 - logits, logits)


MUTANTS = {
    "patchify": [
        v_view, v_noperm, v_unfold_reshape, v_colmajor, v_pixT, v_chanlast, v_pouter, v_tensor_unfold, v_overlap,
        v_HWswap, v_gray, v_nhwc, v_rows, v_batchmix, patches_as_pictures, patches_without_gradient,
        patches_always_double, patches_of_shades, patches_padded, last_patch_lost,
    ],
    "unpatchify": [
        mended_as_view, mended_in_square_grids, mended_bottom_up, mended_upside_down, mended_channels_mixed,
        mended_without_gradient, mended_into_float32, mended_first_image_only,
    ],
    "embed_patches": [
        embedded_positions_multiplied, embedded_positions_twice, embedded_class_from_the_image,
        embedded_class_at_both_ends, embedded_without_class, embedded_class_instead_of_patch, embedded_scaled,
        embedded_positions_of_the_batch, embedded_kernel_turned, embedded_channel_last, embedded_columns_first,
        embedded_without_gradient_of_positions, embedded_changes_its_class,
    ],
    "linear_to_conv": [
        conv_detached, conv_of_one_channel, conv_transposed_for_transposed_convolution, conv_flipped_up_and_down,
        conv_always_float32,
    ],
    "spectrogram_patches": [
        sound_as_pictures, sound_with_a_channel, sound_upside_down, sound_overlap_in_frequency_only, sound_from_the_end,
        sound_as_strips_of_time, sound_normalised, sound_without_gradient, sound_with_another_error,
    ],
    "interpolate_positions": [
        positions_scaled_by_a_rounded_factor,
        positions_cut_off, positions_repeated_like_tiles, positions_padded_with_zeros, positions_drawn_anew,
        positions_in_one_direction_only, positions_upside_down, positions_left_and_right_exchanged,
        positions_scaled_to_the_old_sum, positions_with_the_class_row_in_the_picture,
    ],
    "ViT": [
        FrozenPositions, ClassWordDetached, FirstPatchLost, OneChannelOnly, OneLogitTooMany, LogitsOfEveryWord,
        MapsOfTheFirstImage, MapsWithoutTheClassWord, MapsAsScores, MapsBatchFirst, MapsOfThePast, BatchNormalised,
        OneLayerOnly, ReadsTheFirstPatch, ReadsTheLargest, AveragesPatches, CutsChannelsApart,
        LogitsBent, SigmoidOnTheLogits, MapsWithoutPositions, AttentionWithoutResidual,
        DropsBeforeTheClasses, NormsNothing,
        EachImageStandardised, BytesForLogitsOnly, TanhOnTheLogits, AsWideAsItsWords,
    ],
    "vit_patches_task": [
        names_the_least_likely, confuses_two_digits, reads_the_upper_half, is_blind_to_one_in_eight,
    ],
}  # fmt: skip

WITHOUT_COUNTERPART = {
    "† N = (H//p)+(W//p)": "no signature asks for N; a wrong count fails in every case of patchify by its shape",
    "† [0, 255] input": "the digits come in [0, 1]; patches_of_shades divides by 255 where nobody asked",
    "† one CLS for the batch": "in embed_patches it is class_word_for_the_first_image_only",
}
"""Catalogue rows of this topic that our signatures cannot express, and why."""
