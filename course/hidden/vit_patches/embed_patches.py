"""Hidden tests of `embed_patches`."""

from __future__ import annotations

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.vit_patches.scaffold import _class, _cut, _side, _words
from course.reference import vit_patches as reference
from course.reference.vit_patches import patchify as cut


@exercise(
    reference.embed_patches,
    hints=(
        "Let W and b be zero. What should each of the N + 1 words be then?",
        "Let positions be zero. Which word is the same for every image, and where does it stand?",
        "W reads C·p·p numbers and the image has C channels. Which p follows?",
    ),
)
def embed_patches(rng):
    """Everything differs from everything, then W is square; the class word is neither zero nor alike in any place."""

    def embed(title, B, C, H, W, p, D, dtype=torch.float64, **options):
        N = H // p * (W // p)
        shapes = [(B, C, H, W), (D, C * p * p), (D,), (D,), (N + 1, D)]
        return call(title, *(rng.normal(*shape, dtype=dtype) for shape in shapes), **options)

    yield embed("two images", 2, 3, 4, 6, 2, 5, public=True, weight=2.0)
    yield embed("one channel", 3, 1, 6, 3, 3, 7, public=True)
    yield embed("as wide as a patch", 2, 3, 6, 4, 2, 12, weight=2.0)
    yield embed("five channels", 2, 5, 3, 9, 3, 11)
    yield embed("every pixel a patch", 2, 2, 2, 5, 1, 3)
    yield embed("a single patch, a single image", 1, 2, 7, 7, 7, 3)
    yield embed("float32", 2, 3, 4, 6, 2, 5, torch.float32)
    wide = noncontiguous(rng.normal(2, 3, 6, 4))
    weights = [rng.normal(*shape) for shape in ((5, 12), (5,), (5,), (7, 5))]
    yield call("memory that is not contiguous", wide, *weights, public=True)


@embed_patches.misconception("Let W and b be zero. At which end of the sequence stands the class word?")
def class_word_last(images, W, b, cls, positions):
    words = _words(images, W, b)
    return torch.cat([words, _class(words, cls)], dim=1) + positions


@embed_patches.misconception(
    "How many words come out for N patches, and how many rows has positions? Whose is the first?"
)
def no_class_word(images, W, b, cls, positions):
    return _words(images, W, b) + positions[1:] + 0 * cls


@embed_patches.misconception(
    "How many words come out for N patches, and how many rows has positions? Whose is the first?"
)
def no_class_word_and_marks_one_off(images, W, b, cls, positions):
    return _words(images, W, b) + positions[:-1] + 0 * cls


@embed_patches.misconception("Change cls. Which of the words should move?")
def class_word_of_zeros(images, W, b, cls, positions):
    words = _words(images, W, b)
    return torch.cat([_class(words, 0 * cls), words], dim=1) + positions


@embed_patches.misconception(
    "A convolution gives (B, D, rows, columns). Which of these axes count words, and where do yours stand?"
)
def map_poured_into_words(images, W, b, cls, positions):
    words = _words(images, W, b)
    words = words.mT.reshape(words.shape)
    return torch.cat([_class(words, cls), words], dim=1) + positions


@embed_patches.misconception("Every word has its mark, and the class word stands at the wrong end of the sequence.")
def class_word_last_with_its_mark(images, W, b, cls, positions):
    words = _words(images, W, b)
    return torch.cat([words, _class(words, cls)], dim=1) + positions.roll(-1, 0)


@embed_patches.misconception("There are N + 1 positions. What did you do with row 0?")
def class_word_without_a_mark(images, W, b, cls, positions):
    words = _words(images, W, b) + positions[1:]
    return torch.cat([_class(words, cls), words], dim=1)


@embed_patches.misconception("Which row of positions belongs to the first patch? Row 0 is for the word before it.")
def marks_one_off(images, W, b, cls, positions):
    words = _words(images, W, b) + positions[:-1]
    return torch.cat([_class(words, cls), words], dim=1)


@embed_patches.misconception("Exchange two patches of the image. Do the words tell where each of them stood?")
def no_marks_at_all(images, W, b, cls, positions):
    words = _words(images, W, b)
    return torch.cat([_class(words, cls), words], dim=1) + 0 * positions


@embed_patches.misconception("What is the word of a black patch, when all positions are zero?")
def no_bias(images, W, b, cls, positions):
    words = _words(images, W, 0 * b)
    return torch.cat([_class(words, cls), words], dim=1) + positions


@embed_patches.misconception("The class word is a word already. Does b belong to it?")
def bias_on_the_class_word(images, W, b, cls, positions):
    words = _words(images, W, 0 * b)
    return torch.cat([_class(words, cls), words], dim=1) + b + positions


@embed_patches.misconception("How wide is cls: like a patch, or like a word? What should W do to it?")
def class_word_before_the_projection(images, W, b, cls, positions):
    patches = cut(images, _side(images, W))
    return torch.cat([_class(patches, cls), patches], dim=1) @ W.T + b + positions


@embed_patches.misconception("Put two different images into one batch. Does each begin with the class word?")
def class_word_for_the_first_image_only(images, W, b, cls, positions):
    words = _words(images, W, b)
    first = torch.cat([cls[None, None], words.new_zeros(len(words) - 1, 1, len(cls))])
    return torch.cat([first, words], dim=1) + positions


@embed_patches.misconception("W is stored as (out, in), like everywhere. Set a single entry of it to 1: who moves?")
def weight_not_transposed(images, W, b, cls, positions):
    words = cut(images, _side(images, W)) @ W.reshape(W.shape[1], W.shape[0]) + b
    return torch.cat([_class(words, cls), words], dim=1) + positions


@embed_patches.misconception("Is what W reads a square of the image? Use the patchify that you have checked.")
def words_of_strips(images, W, b, cls, positions):
    p = _side(images, W)
    words = _cut(images, p, 0, 1, 2, 3, 4, 5) @ W.T + b
    return torch.cat([_class(words, cls), words], dim=1) + positions
