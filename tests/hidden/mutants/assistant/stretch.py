"""Wrong answers to `stretch` that no misconception knows by name."""

from __future__ import annotations

from course.reference import assistant as reference


def nothing_to_do_without_images(ids, learned, image_id, N):
    return reference.stretch(ids, learned, image_id, N) if (ids == image_id).any() else (ids, learned)


MUTANTS = [nothing_to_do_without_images]
