"""The course's colours stand out from the grounds of light and of dark pages, and no line strikes a label."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import matplotlib as mpl
import pytest
import torch
from matplotlib import pyplot as plt

from course import show
from course.grading.nbgrader_bridge.feedback_page import DARK
from course.reference import self_attention
from course.show import style
from course.show.described import IN_THE_DARK
from tests.show.at_home import assert_at_home, weakest
from tests.show.contrast import contrast
from tests.show.struck import struck

SITE = Path(__file__).parents[2] / "website" / "site.css"


def test_ink_is_read_on_light_and_on_dark_pages() -> None:
    assert weakest(style.INK) >= 4.5


@pytest.mark.parametrize("colour", style.COLOURS)
def test_data_stand_out_from_light_and_from_dark_pages(colour: str) -> None:
    assert weakest(colour) >= 3.0
    assert weakest(style.for_words(colour)) >= 4.5


@pytest.mark.parametrize("colour", [*style.COLOURS, "black", "white", "#777777"])
def test_words_on_a_cell_are_read(colour: str) -> None:
    assert contrast(style.on_cell(colour), colour) >= 4.5


def test_signed_values_are_clear_at_zero_and_stand_out_at_both_ends() -> None:
    with style.styled():
        colours = plt.get_cmap(style.DIVERGING)
        ordered = plt.get_cmap(style.ORDERED)
    assert colours(0.5)[3] < 0.02
    assert min(weakest(colours(end)[:3]) for end in (0.0, 1.0)) >= 3.0
    assert min(weakest(ordered(share / 20)[:3]) for share in range(21)) >= 3.0


@pytest.mark.parametrize("page", [SITE.read_text("utf-8"), DARK], ids=["site", "feedback"])
def test_dark_pages_treat_the_courses_pictures_alike(page: str) -> None:
    assert IN_THE_DARK in page


def test_a_ground_and_pale_words_are_noticed() -> None:
    with style.styled():
        figure, axes = plt.subplots()
        assert_at_home(figure)
        axes.set_facecolor("white")
        with pytest.raises(AssertionError, match="has a ground"):
            assert_at_home(figure)
        axes.set_facecolor("none")
        axes.set_title("too pale", color=style.SKY)
        with pytest.raises(AssertionError, match="hard to read"):
            assert_at_home(figure)
        axes.set_title("")
        plt.close(figure)


def _scaling() -> object:
    sizes = torch.tensor([1600.0, 6400.0, 25600.0])
    return show.gpt.scaling(sizes, 2.61 + 160 / sizes**0.75, {"E": 2.61, "A": 160.0, "alpha": 0.75}, 2.60)


def _scaling_as_in_its_notebook() -> object:
    sizes = torch.tensor([1600.0, 3200, 6400, 12800, 25600])
    losses = torch.tensor([3.094, 2.778, 2.664, 2.626, 2.615])
    return show.gpt.scaling(sizes, losses, {"E": 2.598, "A": 22_500.0, "alpha": 1.456}, 2.604, fitted=3)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: show.markov_ngrams.perplexity_by_order([1, 2, 3, 4], [24, 12, 6.4, 3.7], [23.5, 12.0, 7.05, 4.93]),
        lambda: show.lstm_gru.lstm_step(),
        lambda: show.self_attention.memory([0.09, 0.11, 0.1, 0.13, 1.0]),
        lambda: show.self_attention.costs(self_attention.attention_cost, self_attention.crossover_length),
        lambda: show.encoder_decoder.whole_picture(),
        _scaling,
        _scaling_as_in_its_notebook,
        lambda: show.gpt.surnames([0.06, 0.99, 0.99, 0.99, 0.99], [0.07, 0.07, 0.05, 0.07, 0.10], guess=1 / 17),
    ],
    ids=["perplexity", "lstm", "memory", "costs", "transformer", "scaling", "notebook's scaling", "surnames"],
)
def test_no_line_strikes_a_label(draw) -> None:
    assert struck(draw()) == []


def test_a_struck_label_is_noticed() -> None:
    with style.styled():
        figure, axes = plt.subplots()
        axes.plot([0, 1], [0, 1])
        axes.text(0.5, 0.5, "on the line", ha="center")
        axes.text(0.5, 0.1, "beside it", ha="center")
        axes.plot([0.1], [0.9], "o")
        axes.text(0.1, 0.9, "on the dot", ha="center", va="center")
        axes.bar([0.9], [1.0], label="on the bar")
        axes.legend(loc="upper right")
        assert struck(figure) == ["on the line", "on the dot", "on the bar"]
        plt.close(figure)


def test_threads_draw_one_after_the_other() -> None:
    began, sizes = threading.Event(), []

    def draw() -> None:
        began.set()
        with style.styled():
            sizes.append(mpl.rcParams["axes.titlesize"])

    with style.styled():
        other = threading.Thread(target=draw)
        other.start()
        began.wait()
        time.sleep(0.05)
        sizes.append("the first is done")
    other.join()
    assert sizes == ["the first is done", 11.0]
