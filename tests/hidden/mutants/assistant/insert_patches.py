"""Wrong answers to `insert_patches` that no misconception knows by name."""

from __future__ import annotations

from course.reference import assistant as reference


def words_cut(words, ids, image_id, patches):
    return reference.insert_patches(words.detach(), ids, image_id, patches)


def nothing_to_do_without_images(words, ids, image_id, patches):
    return reference.insert_patches(words, ids, image_id, patches) if (ids == image_id).any() else words


MUTANTS = [words_cut, nothing_to_do_without_images]
