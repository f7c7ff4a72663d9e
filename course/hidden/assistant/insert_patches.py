"""Hidden tests of `insert_patches`: the picture stands where its token was, and gradients reach words and patches."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.assistant import scaffold
from course.hidden.assistant.scaffold import first_places, places_if_as_many, places_of
from course.reference import assistant as reference

SMALL = "three rows"


@exercise(
    reference.insert_patches,
    hints=(
        "Take three words as vectors of one number, [[1], [9], [2]], with the image token in the middle, and patches "
        "[[7], [8]]. Write the result down. Which vector of `words` is not in it?",
        "Put the image token first in one row and last in the next. Does each picture stand at its own place?",
        "Begin with the place of the image token in each row, and with one row alone. How many vectors stand before "
        "the picture, how many in it, and how many behind it? Do they make T - 1 + N?",
    ),
    calls=(
        "insert_patches(tensor([[[1.], [0.], [2.]]]), tensor([[5, 99, 6]]), 99, tensor([[[7.], [8.]]]))",
        "insert_patches(tensor([[[0.], [1.]]]), tensor([[99, 6]]), 99, tensor([[[7.], [8.]]]))",
        "insert_patches(tensor([[[1.], [2.]]]), tensor([[5, 6]]), 99, tensor([[[7.], [8.]]]))",
        (
            "insert_patches(tensor([[[1.], [0.]], [[0.], [2.]]]), tensor([[5, 99], [99, 5]]), 99, "
            "tensor([[[7.]], [[8.]]]))"
        ),
        "insert_patches(tensor([[[1.], [2.]]]), tensor([[99, 99]]), 99, tensor([[[7.], [8.]]]))",
        ("insert_patches(numbers(2, 5, 3), tensor([[99, 1, 1, 1, 1], [1, 1, 1, 1, 99]]), 99, numbers(2, 4, 3)).shape"),
    ),
)
def insert_patches(rng):
    """Places differ from row to row, the first and the last among them; N = 1; no image, and two; gradients of both."""

    def asked(places, T, D, N, image_id, dtype=torch.float64):
        ids, _ = scaffold.with_an_image(rng, places, T, image_id)
        return rng.normal(len(places), T, D, dtype=dtype), ids, image_id, rng.normal(len(places), N, D, dtype=dtype)

    yield call(SMALL, *asked([1, 4, 2], 7, 2, 3, 5), public=True, weight=2.0)
    yield call("first and last", *asked([0, 4], 5, 3, 4, 8), weight=2.0)
    yield call("many patches", *asked([2, 0, 3, 5, 1], 6, 4, 16, 3))
    yield call("a picture of one patch", *asked([3, 1], 4, 5, 1, 5))
    yield call("nothing but pictures", *asked([0, 0, 0], 1, 4, 2, 5), weight=0.5).counts_with(SMALL)
    yield call("float32", *asked([2, 0], 3, 5, 4, 5, torch.float32), public=True)
    words, ids, image_id, patches = asked([1, 0, 2], 4, 5, 2, 5)
    yield call(
        "memory that is not contiguous",
        *map(noncontiguous, (words, ids)),
        image_id,
        noncontiguous(patches),
        public=True,
    )
    words, ids, image_id, patches = asked([1, 0, 2], 4, 5, 2, 5)
    ids[1, 0] = 9
    failing = {"raises": "ValueError", "weight": 0.5}
    yield call("a row without an image", words, ids, image_id, patches, public=True, **failing).counts_with(SMALL)
    words, ids, image_id, patches = asked([1, 0], 4, 5, 2, 5)
    ids[1, 2] = 5
    yield call("two images in a row", words, ids, image_id, patches, **failing).counts_with(SMALL)
    for title, ids in scaffold.FAULTY.items():
        yield call(title, rng.normal(2, 2, 5), ids, 5, rng.normal(2, 3, 5), **failing).counts_with(SMALL)


def _put(words, places, patches, keeps=0, skips=1):
    rows = zip(words, places, patches)
    return torch.stack([torch.cat([row[: k + keeps], own, row[k + skips :]]) for row, k, own in rows])


@insert_patches.misconception("Which vector of `words` belongs to the image token itself? Is it in your result?")
def image_vector_kept(words, ids, image_id, patches):
    return _put(words, places_of(ids, image_id), patches, keeps=1)


@insert_patches.misconception("Put the image token at another place in the second row. Where is its picture?")
def place_of_the_first_row(words, ids, image_id, patches):
    return _put(words, len(ids) * places_of(ids, image_id)[:1], patches)


@insert_patches.misconception("Ask a question before the picture. Does the picture stand behind it in your result?")
def pictures_in_front(words, ids, image_id, patches):
    places_of(ids, image_id)  # raises as it should
    rest = words[ids != image_id].view(len(ids), -1, words.shape[-1])
    return torch.cat([patches, rest], 1)


@insert_patches.misconception(
    "A picture should move when its map learns. Does a gradient reach the patches, and the words?"
)
def gradient_cut(words, ids, image_id, patches):
    return _put(words, places_of(ids, image_id), patches).detach()


@insert_patches.misconception("The linear map learns by the gradient of the patches. Does one reach them?")
def patches_cut(words, ids, image_id, patches):
    return _put(words, places_of(ids, image_id), patches.detach())


@insert_patches.misconception(
    "Count the image tokens of a row before you use their place. What if there is none, or two?"
)
def counts_no_images(words, ids, image_id, patches):
    return _put(words, first_places(ids, image_id), patches)


@insert_patches.misconception(scaffold.COUNTED_TOGETHER)
def images_of_the_batch_counted(words, ids, image_id, patches):
    places_if_as_many(ids, image_id)
    return _put(words, first_places(ids, image_id), patches)


@insert_patches.misconception(scaffold.COUNTED_TOGETHER)
def images_of_the_batch_listed(words, ids, image_id, patches):
    return _put(words, places_if_as_many(ids, image_id), patches)


@insert_patches.misconception("Read your row as a picture, from its first patch to its last. Is their order kept?")
def patches_turned_round(words, ids, image_id, patches):
    return _put(words, places_of(ids, image_id), patches.flip(1))
