"""The pictures of topic 07 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import matplotlib
import torch

from course import show
from course.reference.multi_head_attention import split_heads

pictures = show.multi_head_attention
WORDS, ASKING = ["a2", "b0", "c3"], ["a: friend b", "b: friend c", "c: friend a"]


def labels(figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(matplotlib.text.Text))


def weights(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)).softmax(-1)


def test_every_figure_has_a_description_and_says_what_its_axes_are():
    marks = {"friend": [1, 2, 0], "rival": [2, 0, 1]}
    figures = [
        pictures.shares(split_heads),
        pictures.head_maps(weights(2, 3, 3), WORDS, ASKING, marks),
        pictures.by_relation({"head 1": [0.9, 0.1]}, ["friend", "rival"], "Where?", "%", dashed=0.1),
        pictures.by_heads([1, 2], {"friends": [1.0, 1.0], "rivals": [0.1, 1.0]}, [16_640, 16_640]),
    ]
    for figure in figures:
        assert len(figure.get_label()) > 20
        assert all(axes.get_title(loc="left") or axes.get_xlabel() for axes in figure.axes)
        figure.canvas.draw()
        width, height = figure.get_size_inches()
        box = figure.get_tightbbox()
        assert box.width < width + 2 and box.height < height + 1, "nothing is written far outside"
    assert "16,640" in labels(figures[3]) and "guessing" in labels(figures[2])


def test_the_buttons_of_two_choices_stand_apart():
    layers_and_heads, *_ = pictures.explorer([weights(2, 3, 3)] * 2, WORDS, ASKING).children
    assert layers_and_heads.layout.grid_gap == "0 24px"


def test_shares_are_those_of_the_function_it_is_given():
    figure = pictures.shares(lambda x, h: split_heads(x.flip(-1), h), n_words=2, width=4)
    own, reshaped = ([text.get_text() for text in axes.texts] for axes in figure.axes)
    assert own == ["2", "2", "1", "1"] * 2
    assert reshaped == ["1"] * 4 + ["2"] * 4


def test_the_maps_say_which_head_does_what():
    looks = torch.zeros(2, 3, 3)
    friend, rival = [1, 2, 0], [2, 0, 1]
    for place in range(3):
        looks[1, place, friend[place]] = looks[0, place, rival[place]] = 1.0
    figure = pictures.head_maps(looks, WORDS, ASKING, {"friend": friend, "rival": rival})
    assert "head 2 puts 100% on the friend" in figure.get_label()
    assert "head 1 puts 100% on the rival" in figure.get_label()
    assert labels(figure).count("100") == 6


def test_the_explorer_follows_its_buttons():
    layers = [weights(2, 3, 3), weights(4, 3, 3, seed=1)]
    explorer = pictures.explorer(layers, WORDS, ASKING)
    (layer, head), token, picture, spoken = explorer.children[0].children, *explorer.children[1:]
    assert [buttons.description for buttons in (layer, head, token)] == ["layer", "head", "token"]
    assert bytes(picture.value).startswith(b"\x89PNG") and "Layer 1, head 1: “a2” looks at" in spoken.value

    before = bytes(picture.value)
    token.value = 2
    assert bytes(picture.value) != before and "“c3” looks at" in spoken.value
    head.value = 2
    assert "Layer 1, head 2" in spoken.value
    layer.value = 2
    assert "Layer 2, head 2: “c3”" in spoken.value and list(head.options) == [1, 2, 3, 4]
    head.value = 4
    layer.value = 1
    assert "Layer 1, head 2" in spoken.value, "this layer has no fourth head"


def test_the_sentence_names_the_largest_weights():
    row = torch.tensor([[[0.1, 0.7, 0.2]] * 3])
    _, token, _, spoken = pictures.explorer([row], WORDS, ASKING).children
    token.value = 1
    assert "“b0” looks at b0 70%, c3 20%, a2 10%" in spoken.value


def test_the_sentence_is_silent_about_nothing():
    row = torch.tensor([[[0.004, 0.994, 0.002]] * 3])
    *_, spoken = pictures.explorer([row], WORDS, ASKING).children
    assert spoken.value.endswith("looks at b0 99%.")
