"""Wrong answers to `ViT` that no misconception knows by name."""

from __future__ import annotations

from torch import nn
from torch.nn import functional as F

from course.hidden.vit_patches.ViT import Open
from course.reference import vit_patches as reference


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


class DropsBeforeTheClasses(_ViT):
    """A dropout of its own, whatever was asked for."""

    def forward(self, images):
        return self.classify(F.dropout(self.norm(self._read(images)[0][:, 0]), 0.1, self.training))


class NormsNothing(Open):
    """Neither in the layers nor at the end."""

    def through(self, layer, z):
        seen, weights = layer.attention(z, z, z, average_attn_weights=False)
        z = z + layer.drop(seen)
        return z + layer.drop(layer.mlp(z)), weights

    def forward(self, images):
        return self.classify(self._read(images)[0][:, 0])


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


class GivesProbabilities(_ViT):
    def forward(self, images):
        return super().forward(images).softmax(-1)


class MapOfTheLastLayerOnly(_ViT):
    def attention_maps(self, images):
        return super().attention_maps(images)[-1:].expand(len(self.layers), -1, -1, -1, -1)


class MarksWithABatchAxis(Open):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.positions = nn.Parameter(self.positions.detach()[None])

    def words(self, images):
        return reference.embed_patches(images, self.patches.weight, self.patches.bias, self.cls, self.positions[0])


class NeverDrops(_ViT):
    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes, dropout=0.0)


class DropsInEvaluation(Open):
    def words(self, images):
        return F.dropout(super().words(images), self.drop.p)


MUTANTS = [
    GivesProbabilities,
    MapOfTheLastLayerOnly,
    MarksWithABatchAxis,
    NeverDrops,
    DropsInEvaluation,
    FrozenPositions,
    ClassWordDetached,
    FirstPatchLost,
    OneChannelOnly,
    OneLogitTooMany,
    LogitsOfEveryWord,
    MapsOfTheFirstImage,
    MapsWithoutTheClassWord,
    MapsAsScores,
    MapsBatchFirst,
    MapsOfThePast,
    BatchNormalised,
    OneLayerOnly,
    CutsChannelsApart,
    LogitsBent,
    SigmoidOnTheLogits,
    MapsWithoutPositions,
    DropsBeforeTheClasses,
    NormsNothing,
    BytesForLogitsOnly,
    TanhOnTheLogits,
    AsWideAsItsWords,
]
