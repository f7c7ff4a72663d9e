"""Wrong answers to `ViT` that no misconception knows by name."""

from __future__ import annotations

from course.hidden.vit_patches.ViT import Open


class FrozenPositions(Open):
    def __init__(self, *sizes, **options):
        super().__init__(*sizes, **options)
        self.positions.requires_grad_(False)


MUTANTS = [FrozenPositions]
