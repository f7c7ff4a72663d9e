"""The pictures of topic 20 draw what they are given, and say what they show."""

from __future__ import annotations

import torch

from course.show import inside


def test_each_knocked_out_head_has_two_bars():
    figure = inside.knocked_out({"nothing": (0.9, 1.0), "1.1": (0.1, 0.8)})
    (axes,) = figure.axes
    assert [round(bar.get_width(), 2) for bar in axes.patches] == [0.9, 0.1, 1.0, 0.8]
    assert "0.10 and 0.80 without 1.1" in figure.get_label()


def test_the_lens_is_drawn_for_each_token():
    figure = inside.layers_say({"Marsh:": torch.tensor([0.1, 0.9])}, ["embedding", "layer 0"])
    (axes,) = figure.axes
    assert axes.lines[0].get_ydata().tolist() == torch.tensor([0.1, 0.9]).tolist()
    assert "Marsh: 0.90" in figure.get_label()
