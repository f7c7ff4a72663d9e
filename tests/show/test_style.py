"""The course's colours for words are read on its cards."""

from __future__ import annotations

import threading
import time

import matplotlib as mpl
import pytest

from course import show
from course.show import style
from tests.show.contrast import contrast


@pytest.mark.parametrize("name", ["INK", "QUIET"])
def test_words_are_read_on_a_card(name: str) -> None:
    assert contrast(getattr(style, name), "white") >= 4.5


def test_words_that_stand_back_are_read_all_the_same() -> None:
    figures = [
        show.multi_head_attention.by_heads([1, 2], {"friends": [1.0, 1.0]}, [16_640, 16_640]),
        show.lora.by_parameters({1: (1_120, 0.85)}, {"everything": (27_890, 0.97)}, 0.09),
    ]
    for figure, words in zip(figures, ("guessing", "untouched")):
        (text,) = [text for text in figure.axes[0].texts if text.get_text() == words]
        assert contrast(text.get_color(), "white") >= 4.5, words


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
