"""The pictures of topic 20 draw what they are given, and say what they show."""

from __future__ import annotations

from typing import Any

import ipywidgets
import pytest
import torch

from course.show import inside, live
from tests.show.widgets import WIDGETS, parts


def test_each_knocked_out_head_has_two_bars():
    figure = inside.knocked_out({"nothing": (0.9, 1.0), "1.1": (0.1, 0.8)})
    (axes,) = figure.axes
    assert [round(bar.get_width(), 2) for bar in axes.patches] == [0.9, 0.1, 1.0, 0.8]
    assert "0.10 and 0.80 with 1.1 zeroed" in figure.get_label()


def test_the_lens_is_drawn_for_each_token():
    figure = inside.layers_say({"Marsh:": torch.tensor([0.1, 0.9])}, ["embedding", "layer 0"])
    (axes,) = figure.axes
    assert axes.lines[0].get_ydata().tolist() == torch.tensor([0.1, 0.9]).tolist()
    assert "Marsh: 0.90" in figure.get_label()


def test_the_likeliest_token_stays_on_top_when_heads_are_zeroed(monkeypatch: pytest.MonkeyPatch):
    upside_down, draw = [], live.drawn

    def drawn(figure: Any) -> bytes:
        upside_down.append(figure.axes[0].yaxis_inverted())
        return draw(figure)

    monkeypatch.setattr(live, "drawn", drawn)
    widget = WIDGETS["20 explorer"]()
    for head in [part for part in parts(widget, ipywidgets.ToggleButton) if part.description in ("1.2", "1.3")]:
        head.value = False
    assert upside_down == [True, True, True]
    (said,) = parts(widget, ipywidgets.HTML)
    assert "Zeroed: 1.2, 1.3." in said.value and "“Wood:”" in said.value
