"""The pictures of topic 13 are figures with words that fit, and the widget shows the pieces of what you type."""

from __future__ import annotations

import io

import matplotlib.pyplot as plt
import torch

from course.data.bpe_merges import trained_merges
from course.reference.tokens import bpe_encode
from course.show import tokens as show


def pictures():
    yield show.compression([0, 44, 300, 1000], {"English": [1.0, 1.4, 2.3, 3.0], "French": [1.0, 1.2, 1.6, 1.9]})
    yield show.units([0, 44, 256, 1000], [12.0, 21.0, 34.0, 75.0], [3.6, 3.1, 2.4, 2.1])
    made = torch.Generator().manual_seed(0)
    truth, share = torch.randn(500, generator=made), torch.rand(500, generator=made)
    found = {"sum over the noise": truth + 0.1, "mean over the noise": truth + 1.6}
    yield show.against_truth(found, truth, share)


def test_figures_are_whole_and_closed():
    for figure in pictures():
        assert len(figure.get_label()) > 20
        figure.savefig(io.BytesIO(), format="png")
        figure.canvas.draw()
        room = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert room.x0 > -0.05 and room.y0 > -0.05 and room.x1 < width + 0.05 and room.y1 < height + 0.05
    assert plt.get_fignums() == []


def test_bytes_that_are_no_character_are_shown_by_their_numbers():
    assert show.visible(b" n\xc3\xa9\n") == "␣né↵"
    assert show.visible(b"\xf0\x9f") == "‹F0›‹9F›"
    assert show.visible(b"\xa9e\xc3") == "‹A9›e‹C3›"


def test_the_widget_shows_all_pieces_and_counts_them():
    widget = show.explorer(bpe_encode, trained_merges())
    _, typed, count, page = widget.children
    typed.value = "It's <b>né</b> 🙂"
    for merges in (0, 100, 1000):
        count.value = merges
        expected = bpe_encode(typed.value, trained_merges()[:merges])
        assert f"<b>{len(expected)} pieces</b> for 16 characters and 20 bytes" in page.value
        assert page.value.count("<span") == len(expected)
        assert "<b>né" not in page.value
    typed.value = ""
    assert "0 pieces" in page.value and "nothing to cut" in page.value


def test_a_long_text_is_cut_off():
    widget = show.explorer(bpe_encode, trained_merges())
    widget.children[1].value = "ab " * 1000
    assert f"for {show.LONGEST} characters" in widget.children[3].value


def test_a_button_begins_another_sentence():
    widget = show.explorer(bpe_encode, trained_merges())
    names, typed, *_ = widget.children
    for name in show.SENTENCES:
        names.value = name
        assert typed.value == show.SENTENCES[name]
