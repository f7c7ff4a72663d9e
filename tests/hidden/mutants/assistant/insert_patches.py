"""Wrong answers to `insert_patches` that no misconception knows by name."""

from __future__ import annotations

from course.reference import assistant as reference


def patches_added_to_the_image(words, ids, image_id, patches):
    return reference.insert_patches(words, ids, image_id, patches + words[ids == image_id][:, None])


def words_cut(words, ids, image_id, patches):
    return reference.insert_patches(words.detach(), ids, image_id, patches)


def patches_of_the_first_picture(words, ids, image_id, patches):
    return reference.insert_patches(words, ids, image_id, patches[:1].expand_as(patches))


def nothing_behind_the_picture(words, ids, image_id, patches):
    found = reference.insert_patches(words, ids, image_id, patches).clone()
    found[:, -1] = 0
    return found


def nothing_to_do_without_images(words, ids, image_id, patches):
    return reference.insert_patches(words, ids, image_id, patches) if (ids == image_id).any() else words


MUTANTS = [
    patches_added_to_the_image,
    words_cut,
    patches_of_the_first_picture,
    nothing_behind_the_picture,
    nothing_to_do_without_images,
]
