"""The pictures of topic 02 draw what they are given, say what they show, and leave nothing open."""

from __future__ import annotations

import itertools

import matplotlib
import pytest
import torch
from matplotlib.text import Text

from course import show
from course.data import grammar
from course.reference.cbow import nearest
from tests.show.at_home import weakest
from tests.show.contrast import contrast

pictures = show.cbow
V = len(grammar.language().words)


@pytest.fixture(scope="module")
def by_class() -> torch.Tensor:
    """Vectors as a perfect model would have them: the classes, a little blurred."""
    table = grammar.class_table().float()
    return table + 0.1 * torch.randn(table.shape, generator=torch.Generator().manual_seed(0))


def labels(figure) -> list[str]:
    return [text.get_text() for text in figure.findobj(matplotlib.text.Text)]


def test_the_table_of_counts_has_words_as_rows():
    figure = pictures.counts(torch.tensor([[1, 0, 2], [0, 3, 0]]), ["yes", "no", "we"])
    assert {"yes", "no", "we", "$x_{1}$", "$x_{2}$"} <= set(labels(figure))
    numbers = [text for text in labels(figure) if text.isdigit()]
    assert numbers[:6] == ["1", "0", "0", "3", "2", "0"]
    assert len(figure.get_label()) > 20


def test_every_number_of_a_table_is_read_on_its_cell():
    (axes,) = pictures.counts(torch.arange(4).view(1, 4), ["none", "one", "two", "three"]).axes
    (image,) = axes.images
    cells = image.get_array()[:, 0]
    for text, cell in zip(axes.texts, cells, strict=True):  # a clear cell shows the page
        assert (contrast(text.get_color(), cell[:3]) if cell[3] else weakest(text.get_color())) >= 4.5


def test_similarities_are_cosines_of_the_rows():
    figure = pictures.similarities(torch.tensor([[1.0, 1.0], [2.0, 2.0], [1.0, 0.0]]), ["a b", "a a b b", "a"])
    assert labels(figure).count("1.00") == 5 and labels(figure).count("0.71") == 4


def test_nothing_has_no_sign():
    figure = pictures.similarities(torch.tensor([[1.0, 0.0], [-0.001, 1.0]]), ["a", "b"])
    assert labels(figure).count("0.00") == 2 and not any("−" in label for label in labels(figure))


def test_the_ladder_is_sorted_and_marks_yours():
    figure = pictures.ladder({"nothing": 5.5, "everything": 1.9}, {"your model": 2.4})
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["nothing", "your model", "everything"]
    colours = [bar.get_facecolor() for bar in axes.patches]
    assert colours[0] == colours[2] != colours[1]
    assert "2.40" in labels(figure) and "your model 2.40" in figure.get_label()


def test_the_map_keeps_neighbours_together(by_class):
    places = pictures.neighbour_map(by_class)
    assert places.shape == (V, 2) and bool(torch.isfinite(places).all())
    torch.testing.assert_close(places, pictures.neighbour_map(by_class))
    table = grammar.class_table()
    alone = (table.sum(1) == 1).nonzero().squeeze(1)
    gaps = torch.cdist(places, places).fill_diagonal_(torch.inf)
    closest = gaps[alone].argmin(1)
    assert float((table[closest] & table[alone]).any(1).double().mean()) > 0.9


def test_the_figures_of_words_name_what_they_show(by_class):
    figure = pictures.word_map(by_class)
    assert {"food", "person sg", "of motion pl", "determiners", "animals"} <= set(labels(figure))
    assert "fox" in labels(pictures.word_map(by_class, "fox", ["dog"]))
    between = pictures.between_two(by_class, ["lamb", "goat"], ["animal sg", "food"])
    assert {"lamb", "goat", "animal sg", "food"} <= set(labels(between))


def test_names_of_neighbours_do_not_cover_each_other(by_class):
    names = [grammar.language().words[index] for index in nearest(by_class, grammar.language().ids["lamb"], 15)]
    figure = pictures.word_map(by_class, "lamb", names)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    boxes = [Text.get_window_extent(text) for text in axes.texts if text.get_text() in {"lamb", *names}]
    assert len(boxes) == 16
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))
    assert all(axes.bbox.x0 <= box.x0 and box.x1 <= axes.bbox.x1 for box in boxes)


def test_the_maps_names_do_not_cover_each_other_and_name_the_words_of_two_kinds(by_class):
    figure = pictures.word_map(by_class)
    figure.draw_without_rendering()
    names = {text.get_text(): Text.get_window_extent(text) for text in figure.axes[0].texts}
    covered = [pair for pair in itertools.combinations(names, 2) if names[pair[0]].overlaps(names[pair[1]])]
    assert covered == []
    assert {"cook", "cooks", "guide", "guides", "chicken, duck, lamb"} <= set(names)


def test_the_maps_names_make_room_for_marks_alone(by_class, monkeypatch):
    """Words that no class holds (who, that, the comma) have a place and no mark: a name may stand there."""
    held = set().union(*grammar.classes().values())
    unseen = [i for i, word in enumerate(grammar.language().words) if word not in held]
    places = pictures.neighbour_map(by_class)

    def drawn(there: torch.Tensor) -> tuple[matplotlib.axes.Axes, dict[str, Text]]:
        monkeypatch.setattr(pictures, "neighbour_map", lambda E: places.index_copy(0, torch.tensor(unseen), there))
        axes = pictures.word_map(by_class).axes[0]
        return axes, {text.get_text(): text for text in axes.texts}

    axes, before = drawn(places[unseen])
    name = before["food"]
    under = axes.transData.transform(name.xy) + [way * axes.figure.dpi / 72 + 4 for way in name.xyann]
    there = torch.from_numpy(axes.transData.inverted().transform(under)).expand(len(unseen), 2)
    after = drawn(there)[1]
    assert unseen and {name: text.xyann for name, text in after.items()} == {n: t.xyann for n, t in before.items()}


def test_the_explorer_uses_the_students_function_and_follows_its_controls(by_class):
    asked = []

    def counted(E, index, k):
        asked.append((index, k))
        return nearest(E, index, k)

    explorer = pictures.explorer(by_class, counted)
    (word, number), said, picture = explorer.children[0].children, *explorer.children[1:]
    assert (word.description, number.description) == ("Word", "Neighbours")
    assert "<b>lamb</b> (food and animal sg)" in said.value and bytes(picture.value).startswith(b"\x89PNG")
    before = bytes(picture.value)
    word.value = "fox"
    assert "<b>fox</b> (animal sg)" in said.value and bytes(picture.value) != before
    number.value = 2
    assert asked[-1] == (grammar.language().ids["fox"], 2)
    assert len(word.options) == V - 1
