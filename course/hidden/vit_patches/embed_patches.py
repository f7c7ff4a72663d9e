"""Hidden tests of `embed_patches`, which makes a sequence of an image."""

import torch

from course.exercise import call, exercise, noncontiguous
from course.hidden.vit_patches.scaffold import class_words, cut_in_order, patch_side, patch_words
from course.reference import vit_patches as reference


@exercise(
    reference.embed_patches,
    hints=(
        "Let W and b be zero. What should each of the N + 1 vectors be then? Let positions be zero. Which vector is "
        "the same for every image, and where is it?",
        "W reads C·p·p numbers and the image has C channels. Which p follows?",
        "Begin with the patches alone, and write the shapes (B, N, C·p·p) and (B, N, D) beside your lines. Print the "
        "shape of cls. What must it become so that it can stand before the patches of every image?",
    ),
    calls=(
        "embed_patches(tensor([[[[1., 2.], [3., 4.]]]]), tensor([[1.]]), zeros(1), tensor([9.]), zeros(5, 1))",
        (
            "embed_patches(tensor([[[[1., 2.], [3., 4.]]]]), tensor([[1., 1., 1., 1.]]), tensor([5.]), "
            "tensor([9.]), zeros(2, 1))"
        ),
        (
            "embed_patches(tensor([[[[1., 2.], [3., 4.]]]]), tensor([[1., 1., 1., 1.]]), zeros(1), "
            "tensor([9.]), tensor([[100.], [200.]]))"
        ),
        "embed_patches(zeros(1, 1, 2, 2), tensor([[1., 1., 1., 1.]]), zeros(1), zeros(1), zeros(2, 1))",
        (
            "embed_patches(tensor([[[[1., 2.], [3., 4.]]]]), tensor([[1., 0., 0., 0.]]), zeros(1), "
            "tensor([0.]), zeros(2, 1))"
        ),
        "embed_patches(numbers(2, 3, 4, 6), numbers(5, 12), numbers(5), numbers(5), numbers(7, 5)).shape",
    ),
)
def embed_patches(rng):
    """All sizes differ, then W is square. The numbers of the [CLS] token all differ, and none is zero."""

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


def _joined(join):
    """An answer that joins [CLS] tokens (B, 1, D), patch embeddings (B, N, D) and positions in its own way."""

    def answer(images, W, b, cls, positions):
        words = patch_words(images, W, b)
        return join(class_words(words, cls), words, positions)

    return answer


def _in_a_row(*parts):
    return torch.cat(parts, dim=1)


embed_patches.mistakes(
    "Let W and b be zero. At which end of the sequence is the [CLS] token?",
    class_word_last=_joined(lambda first, words, marks: _in_a_row(words, first) + marks),
)
embed_patches.mistakes(
    "How many vectors come out for N patches, and how many rows does positions have? What is the first one for?",
    no_class_word=_joined(lambda first, words, marks: words + marks[1:] + 0 * first),
)
embed_patches.mistakes(
    "A convolution gives (B, D, rows, columns). Which of these axes count patches, and where are yours?",
    map_poured_into_words=_joined(lambda first, words, marks: _in_a_row(first, words.mT.reshape(words.shape)) + marks),
)
embed_patches.mistakes(
    "There are N + 1 positions. Set all but row 0 to zero. Which vector changes?",
    class_word_without_a_mark=_joined(lambda first, words, marks: _in_a_row(first, words + marks[1:])),
)
embed_patches.mistakes(
    "Which row of positions belongs to the first patch? Row 0 is for the token before it.",
    marks_one_off=_joined(lambda first, words, marks: _in_a_row(first, words + marks[:-1])),
)
embed_patches.mistakes(
    "Exchange two patches of the image. Do the vectors show where each of them stood?",
    no_marks_at_all=_joined(lambda first, words, marks: _in_a_row(first, words) + 0 * marks),
)


embed_patches.mistakes(
    "Put two different images into one batch. Does each begin with the [CLS] token?",
    class_word_for_the_first_image_only=_joined(
        lambda first, words, marks: _in_a_row(torch.cat([first[:1], 0 * first[1:]]), words) + marks
    ),
)


@embed_patches.misconception("Draw what W reads for the first patch. Is it a square of the image?")
def words_of_strips(images, W, b, cls, positions):
    words = cut_in_order(images, patch_side(images, W), 0, 1, 2, 3, 4, 5) @ W.T + b
    return _in_a_row(class_words(words, cls), words) + positions
