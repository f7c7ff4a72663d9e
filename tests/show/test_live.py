"""A widget's figure, drawn again: quickly, and as if it had been drawn for the first time."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from PIL import Image

from course.show import live
from course.show.described import few_colours
from course.show.style import styled
from tests.few import few
from tests.show.widgets import WIDGETS, controls, move


def _pixels(png: bytes) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGBA"))


def _drawn_whole(figure: Any) -> np.ndarray:
    with styled(), io.BytesIO() as file:
        figure.canvas.print_png(file)
        return _pixels(few_colours(Image.open(file)))


@pytest.mark.parametrize("name", few(list(WIDGETS), *list(WIDGETS)[:3]))
def test_a_kept_frame_changes_no_pixel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly = live.drawn

    def compared(figure: Any) -> bytes:
        png = quickly(figure)
        assert np.array_equal(_pixels(png), _drawn_whole(figure))
        return png

    monkeypatch.setattr(live, "drawn", compared)
    for control in controls(WIDGETS[name]()):
        move(control, 2)


def test_whatever_changes_about_a_frame_is_painted() -> None:
    figure = live.stage((8.0, 3.0), columns=2)
    left, right = figure.axes
    changes = [
        lambda: left.set_xlim(0, 5),
        lambda: left.set_xticks([1, 2], ["one", "two"]),
        lambda: left.set_xticks([1, 2], ["one", "three"]),
        lambda: left.set_xticks([1, 2], ["one", "three"], color="red"),
        lambda: left.set_xticks([1, 2], ["one", "three"], fontsize=7),
        lambda: left.set_xticks([1, 2], ["one", "three"], rotation=90),
        lambda: left.set_xticks([1.5], minor=True),
        lambda: right.set_ylabel("how much"),
        lambda: right.yaxis.label.set_color("red"),
        lambda: right.grid(False),
        lambda: right.tick_params(length=0),
        lambda: right.set_yscale("log"),
        lambda: right.set_facecolor("yellow"),
        lambda: right.set_position((0.6, 0.3, 0.3, 0.3)),
        lambda: right.legend(right.plot([1, 2]), ["a line"]),
        lambda: right.legend(right.lines, ["the line"]),
        lambda: right.xaxis.tick_top(),
        lambda: right.yaxis.set_visible(False),
        lambda: right.set_axis_off(),
    ]
    before = live.drawn(figure)
    for number, change in enumerate(changes):
        with styled():
            change()
        after = live.drawn(figure)
        assert np.array_equal(_pixels(after), _drawn_whole(figure)), number
        assert after != before, number
        before = after
