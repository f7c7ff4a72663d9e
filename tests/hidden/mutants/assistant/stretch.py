"""Wrong answers to `stretch` that no misconception knows by name."""

from __future__ import annotations

from course.reference import assistant as reference


def only_one_grows(ids, learned, image_id, N):
    return ids, reference.stretch(ids, learned, image_id, N)[1]


def zeros_for_the_image(ids, learned, image_id, N):
    longer, spoken = reference.stretch(ids, learned, image_id, N)
    return longer.where(longer != image_id, 0), spoken


def one_patch_less(ids, learned, image_id, N):
    return reference.stretch(ids, learned, image_id, max(1, N - 1))


def learned_as_numbers(ids, learned, image_id, N):
    longer, spoken = reference.stretch(ids, learned, image_id, N)
    return longer, spoken.long()


def nothing_to_do_without_images(ids, learned, image_id, N):
    return reference.stretch(ids, learned, image_id, N) if (ids == image_id).any() else (ids, learned)


MUTANTS = [only_one_grows, zeros_for_the_image, one_patch_less, learned_as_numbers, nothing_to_do_without_images]
