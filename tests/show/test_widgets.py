"""What holds of every widget: names for all that can be moved, one picture size, no figure left, another picture."""

from __future__ import annotations

import struct
from typing import Any

import ipywidgets
import matplotlib.pyplot as plt
import pytest

from course.show import live, panel
from tests.few import few
from tests.show.at_home import assert_at_home
from tests.show.widgets import WIDGETS, controls, look, move, parts

every_widget = pytest.mark.parametrize("name", WIDGETS)
some_widgets = pytest.mark.parametrize(
    "name",
    few(list(WIDGETS), "01 writer", "06 playground", "12 explorer", "14 speller", "17 watch_the_state", "21 groups"),
)


@pytest.fixture(autouse=True)
def pictures_are_at_home_on_light_and_dark_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check each picture of a widget."""
    draw = live.drawn

    def drawn(figure: Any) -> bytes:
        assert_at_home(figure)
        return draw(figure)

    monkeypatch.setattr(live, "drawn", drawn)


def _size(png: bytes) -> tuple[int, int]:
    return struct.unpack(">II", png[16:24])


@every_widget
def test_it_is_labelled_keeps_its_size_and_answers_every_control(name: str) -> None:
    widget = WIDGETS[name]()
    pictures = list(parts(widget, ipywidgets.Image))
    assert all(picture.tooltip for picture in pictures), "a picture needs a name"
    sizes = {_size(bytes(picture.value)) for picture in pictures}
    listed = sorted(controls(widget), key=lambda one: isinstance(one, ipywidgets.Button))  # "start again" comes last
    assert listed
    for control in listed:
        assert control.description.strip() or control.tooltip, f"{control} has no label"
        before = look(widget)
        for _ in range(3):  # a placeholder among the options, or a button for what is there already
            move(control)
            sizes |= {_size(bytes(picture.value)) for picture in pictures}
            if look(widget) != before:
                break
        else:
            pytest.fail(f"{control.description} changes nothing")
    assert len(sizes) == (1 if pictures else 0), f"the picture jumps: {sizes}"
    assert not plt.get_fignums()


@every_widget
def test_a_notebook_opened_again_says_how_to_use_its_controls(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []
    monkeypatch.setattr(panel, "display", lambda data, **_: shown.append(data))
    WIDGETS[name]()._ipython_display_()
    kept = [data["text/html"] for data in shown if data.get("text/html")]
    assert kept and all("Run this cell to use its controls." in output for output in kept)


@some_widgets
def test_two_of_a_kind_are_independent(name: str) -> None:
    first, second = WIDGETS[name](), WIDGETS[name]()
    before = look(second)
    for control in controls(first)[:4]:
        move(control)
    assert look(second) == before


@some_widgets
def test_there_and_back_is_the_same_picture(name: str) -> None:
    widget = WIDGETS[name]()
    for control in controls(widget):
        if isinstance(control, ipywidgets.Button):
            continue
        before, value = look(widget), control.value
        move(control)
        control.value = value
        if isinstance(control, ipywidgets.Text):
            assert look(widget)[-1] == before[-1]  # a new text starts other controls anew
        else:
            assert look(widget) == before, control.description
