"""Wrong answers to `ViT` that no misconception knows by name."""

from __future__ import annotations

from torch import nn
from torch.nn import functional as F

from course.hidden.vit_patches.ViT import Open
from course.reference.vit_patches import embed_patches


class FrozenPositions(Open):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.positions.requires_grad_(False)


class PositionsWithABatchAxis(Open):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.positions = nn.Parameter(self.positions.detach()[None])

    def tokens(self, images):
        return embed_patches(images, self.project.weight, self.project.bias, self.cls, self.positions[0])


class OneLayerManyTimes(Open):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.layers = nn.ModuleList([self.layers[0]] * len(self.layers))


class LayersInAPlainList(Open):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        layers = list(self.layers)
        del self.layers
        self.layers = layers


class DropoutNotHandedOn(Open):
    """Takes the layers' own dropout of a tenth."""

    def __init__(self, *sizes, dropout=0.0):
        super().__init__(*sizes, dropout=0.1)


class DropsForever(Open):
    def tokens(self, images):
        return F.dropout(super().tokens(images), 0.1)


class MapsOfAllHeadsTogether(Open):
    def attention_maps(self, images):
        return super().attention_maps(images).mean(2)


class ImagesBeforeLayers(Open):
    def attention_maps(self, images):
        return super().attention_maps(images).transpose(0, 1)


class AsWideAsItsTokens(Open):
    """Takes d_model for d_ff."""

    def __init__(self, *sizes, **options):
        super().__init__(*sizes[:6], sizes[4], *sizes[7:], **options)


MUTANTS = [
    FrozenPositions,
    PositionsWithABatchAxis,
    OneLayerManyTimes,
    LayersInAPlainList,
    DropoutNotHandedOn,
    DropsForever,
    MapsOfAllHeadsTogether,
    ImagesBeforeLayers,
    AsWideAsItsTokens,
]
