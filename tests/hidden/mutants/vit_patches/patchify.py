"""Wrong answers to `patchify` that no misconception knows by name."""

from __future__ import annotations

from course.reference import vit_patches as reference


def patches_always_double(images, p):
    return reference.patchify(images.double(), p)


MUTANTS = [patches_always_double]
