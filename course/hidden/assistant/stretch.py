"""Hidden tests of `stretch`: ids and learned grow alike, at each row's own place."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.assistant import scaffold
from course.hidden.assistant.scaffold import first_places, places_if_as_many, places_of
from course.reference import assistant as reference

SMALL = "three rows"


@exercise(
    reference.stretch,
    hints=(
        "Take the row [11, 5, 12] with the image token 5 and N = 3. Write the longer row down, and `learned` below it. "
        "Does each True behind the picture still stand below its own word?",
        "Put the image token first in one row and last in the next. Is each row stretched at its own place?",
        "Begin with a table of True and False, (B, T), that says where the image tokens are. How many does each row "
        "have? Then write how often each token of one row is to be repeated.",
    ),
    calls=(
        "stretch(tensor([[1, 99, 2]]), tensor([[False, False, True]]), 99, 3)",
        "stretch(tensor([[1, 99, 2]]), tensor([[True, True, True]]), 99, 2)",
        "stretch(tensor([[1, 2, 3]]), tensor([[False, False, True]]), 99, 2)",
        "stretch(tensor([[99, 1], [1, 99]]), tensor([[False, True], [False, False]]), 99, 2)",
        "stretch(tensor([[99, 99, 1]]), tensor([[False, False, True]]), 99, 2)",
        "stretch(tensor([[99, 1], [1, 99]]), tensor([[False, True], [True, False]]), 99, 4)[0].shape",
    ),
)
def stretch(rng):
    """Places differ from row to row, the first and the last among them; N = 1; no image, and two; a learned image."""

    def asked(places, T, image_id):
        return *scaffold.with_an_image(rng, places, T, image_id), image_id

    yield call(SMALL, *asked([1, 4, 2], 7, 5), 3, public=True, weight=2.0)
    yield call("first and last", *asked([0, 4], 5, 8), 4)
    yield call("many patches", *asked([2, 0, 3, 5, 1], 6, 3), 16)
    yield call("a picture of one patch", *asked([3, 1], 4, 5), 1, weight=0.5).counts_with(SMALL)
    yield call("nothing but pictures", *asked([0, 0, 0], 1, 5), 2, weight=0.5).counts_with(SMALL)
    ids, learned = scaffold.with_an_image(rng, [1, 0, 2], 4, 5)
    yield call("memory that is not contiguous", noncontiguous(ids), noncontiguous(learned), 5, 3, public=True)
    ids, learned = scaffold.with_an_image(rng, [1, 0, 2], 4, 5)
    yield call("a row without an image", ids.where(ids != 5, torch.where(torch.arange(3)[:, None] == 1, 9, 5)), learned,
               5, 3, raises="ValueError", public=True, weight=0.5).counts_with(SMALL)  # fmt: skip
    ids, learned = scaffold.with_an_image(rng, [1, 0], 4, 5)
    ids[1, 2] = 5
    yield call("two images in a row", ids, learned, 5, 3, raises="ValueError", weight=0.5).counts_with(SMALL)
    for title, ids in scaffold.FAULTY.items():
        learned = torch.zeros(2, 2, dtype=torch.bool)
        yield call(title, ids, learned, 5, 3, raises="ValueError", weight=0.5).counts_with(SMALL)
    ids, learned = scaffold.with_an_image(rng, [2, 0], 4, 5)
    yield call("an image marked as learned", ids, learned | (ids == 5), 5, 3)


def _grown(rows, places, N, value, keeps=0):
    """Each row with N values at its place; `keeps` as many of the old ones."""
    longer = [torch.cat([row[: k + keeps], row.new_full((N,), value), row[k + 1 :]]) for row, k in zip(rows, places)]
    return torch.stack(longer)


def _both_grown(ids, learned, places, N, image_id):
    return _grown(ids, places, N, image_id), _grown(learned, places, N, False)


@stretch.misconception(
    "Print the shapes of both results. A loss reads `learned` beside the longer ids. Which id is each entry about?"
)
def learned_not_stretched(ids, learned, image_id, N):
    return _grown(ids, places_of(ids, image_id), N, image_id), learned


@stretch.misconception("Write ids and learned below each other. Does every True still stand below its own word?")
def learned_padded_behind(ids, learned, image_id, N):
    longer = _grown(ids, places_of(ids, image_id), N, image_id)
    return longer, torch.cat([learned, learned.new_zeros(len(ids), N - 1)], 1)


@stretch.misconception("How many tokens has a row of T with a picture of N patches? The image token makes room.")
def image_token_kept(ids, learned, image_id, N):
    places = places_of(ids, image_id)
    return _grown(ids, places, N, image_id, 1), _grown(learned, places, N, False, 1)


@stretch.misconception("Should the model say the patches of a picture? Look at `learned` there.")
def patches_learned(ids, learned, image_id, N):
    places = places_of(ids, image_id)
    return _grown(ids, places, N, image_id), _grown(learned, places, N, True)


@stretch.misconception("Mark the image token as learned. Should the model say the patches that take its place?")
def learned_repeated_with_the_image(ids, learned, image_id, N):
    places = places_of(ids, image_id)
    spoken = [torch.cat([row[:k], row[k].expand(N), row[k + 1 :]]) for row, k in zip(learned, places)]
    return _grown(ids, places, N, image_id), torch.stack(spoken)


@stretch.misconception("Put the image token at another place in the second row. Where does your row grow?")
def place_of_the_first_row(ids, learned, image_id, N):
    return _both_grown(ids, learned, len(ids) * places_of(ids, image_id)[:1], N, image_id)


@stretch.misconception("Count the image tokens of a row before you use their place. What if there is none, or two?")
def counts_no_images(ids, learned, image_id, N):
    return _both_grown(ids, learned, first_places(ids, image_id), N, image_id)


@stretch.misconception(scaffold.COUNTED_TOGETHER)
def images_of_the_batch_counted(ids, learned, image_id, N):
    places_if_as_many(ids, image_id)
    return _both_grown(ids, learned, first_places(ids, image_id), N, image_id)


@stretch.misconception(scaffold.COUNTED_TOGETHER)
def images_of_the_batch_listed(ids, learned, image_id, N):
    return _both_grown(ids, learned, places_if_as_many(ids, image_id), N, image_id)
