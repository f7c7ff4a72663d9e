"""The pictures of topic 11 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import pytest
import torch

from course import show
from course.reference.vit_patches import ViT, patchify, spectrogram_patches

pictures = show.vit_patches


@pytest.fixture
def model():
    torch.manual_seed(0)
    return ViT(12, 3, 1, 10, 8, 2, 16, 3).eval()


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def test_every_figure_has_a_description_and_says_what_it_shows(model):
    images = torch.rand(5, 1, 12, 12)
    figures = [
        pictures.scans(images, torch.arange(5), columns=3),
        pictures.in_a_row({"whole": images[0], "colour": torch.rand(3, 6, 6)}),
        pictures.cut(images[0], patchify, 3),
        pictures.similarity(torch.randn(17, 8)),
        pictures.disorder({"with": [0.9, 0.3], "without": [0.8, 0.8]}, [0, 16]),
        pictures.by_examples({"linear": [0.7, 0.96], "ViT": [0.5, 0.98]}, [20, 1400], "few and many"),
        pictures.spectrogram(torch.rand(32, 50), 16, 10),
        pictures.looks(model.attention_maps(images), images, torch.arange(5), torch.arange(5)),
    ]
    assert all(len(figure.get_label()) > 20 and len(labels(figure)) > 10 for figure in figures)
    assert "with 90% and 30%, without 80% and 80%" in figures[4].get_label()
    assert "from 20 scans and from 1,400: linear 70% and 96%" in figures[5].get_label()
    bands_times = spectrogram_patches(torch.rand(1, 32, 50), 16, 10).shape[1]
    assert "2 × 4 patches" in labels(figures[6]) and bands_times == 8
    assert "layer 3" in labels(figures[7])


def test_similarity_is_the_cosine_of_the_marks():
    rows = torch.arange(3.0).repeat_interleave(3)  # marks that know their row only
    marks = torch.stack([rows.eq(k) for k in range(3)], 1).float()
    figure = pictures.similarity(torch.cat([torch.ones(1, 3), marks]))
    first = figure.axes[0].images[0].get_array()
    assert first[0].tolist() == [1.0, 1.0, 1.0] and first[1].tolist() == [0.0, 0.0, 0.0]
    assert "at distance 1" in figure.get_label()


def test_the_cut_follows_the_function_that_is_given():
    calls = []

    def counting(images, p):
        calls.append(p)
        return patchify(images, p)

    assert "36 patches of 2 × 2" in pictures.cut(torch.rand(1, 12, 12), counting, 2).get_label() and calls == [2]


def test_the_explorer_follows_its_controls(model):
    explorer = pictures.explorer(model.attention_maps, torch.rand(4, 1, 12, 12), patchify)
    controls, picture, sentence = explorer.children
    image, patch, layer, head = controls.children
    assert [c.description for c in (image, patch, layer, head)] == ["image", "patch size", "layer", "heads"]
    assert bytes(picture.value).startswith(b"\x89PNG") and "17 tokens" in sentence.value and "layer 3" in sentence.value
    for control, value, words in ((patch, 1, "145 tokens"), (layer, 1, "layer 1"), (head, 2, "With head 2")):
        before = bytes(picture.value)
        control.value = value
        assert bytes(picture.value) != before and words in sentence.value
    before = bytes(picture.value)
    image.value = 4
    assert bytes(picture.value) != before
    assert list(patch.options) == [1, 2, 3, 4, 6, 12]


def test_attention_is_drawn_as_the_model_gives_it():
    """All of the `[CLS]` token's attention on one patch: the sentence names its row and column."""

    def maps(images):
        weights = torch.zeros(2, len(images), 1, 17, 17)
        weights[0, ..., 0, 0], weights[1, ..., 0, 1 + 4 * 2 + 3] = 1.0, 1.0
        return weights

    *_, sentence = pictures.explorer(maps, torch.rand(2, 1, 12, 12), patchify).children
    assert "row 3, column 4 (100%), and to itself with 0%" in sentence.value
