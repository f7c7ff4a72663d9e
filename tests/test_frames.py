"""Each widget can be recorded as frames for a page where no kernel runs."""

from __future__ import annotations

import io
from typing import Any

import pytest
from nbformat.v4 import new_code_cell, new_notebook
from PIL import Image

from tests.few import few
from tests.show.widgets import WIDGETS
from website.frames import CONTROLS, MIME, player, record_frames, with_frames

LIGHT = 300_000
"""Bytes that a figure's frames may take."""


def _called(name: str) -> str:
    number, widget = name.split()
    return next(called for called in CONTROLS if called.endswith(f".{widget}") and MODULES[number] in called)


MODULES = dict(
    zip((f"{n:02}" for n in range(1, 22)), (
        *("markov", "cbow", "rnn", "lstm", "bahdanau", "self_attention", "multi_head", "positional", "masking"),
        *("encoder_decoder", "vit", "lora", "tokens", "hidden_states", "gpt", "bert", "linear_time", "assistant"),
        "cost",
        "inside",
        "reasoning",
    ), strict=True)
)  # fmt: skip
RECORDED = [name for name in WIDGETS if not name.endswith("speller")]


@pytest.mark.parametrize(
    "name", few(RECORDED, "02 explorer", "06 playground", "11 explorer", "17 watch_the_state", "21 groups")
)
def test_each_widget_moves_without_a_kernel(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: shown.append(bundle))
    control, values = CONTROLS[_called(name)]
    record_frames(WIDGETS[name](), control, values, MIME)
    recorded = shown[0][MIME]
    looks = {(frame["text"], *frame["pictures"]) for frame in recorded["frames"]}
    assert len(looks) >= 3, "a page would hardly move"
    page, files = player(recorded, "a")
    for strip in files.values():
        assert Image.open(io.BytesIO(strip)).getpixel((0, 0))[3] == 0, "it has a ground"
    assert sum(map(len, files.values())) + len(page) < LIGHT
    assert f'max="{len(recorded["frames"]) - 1}"' in page and recorded["frames"][0]["label"]


def test_a_cell_that_records_stands_below_each_widget_and_stands_by_itself() -> None:
    nb = with_frames(
        new_notebook(cells=[new_code_cell("x = 1\nshow.lora.explorer(matrices, best)"), new_code_cell("2")])
    )
    widget, recording, other = nb.cells
    assert recording.id == f"frames-{widget.id}" and other.source == "2"
    compile(recording.source, "cell", "exec")
    assert recording.source.endswith(f"record_frames(show.lora.explorer(matrices, best), 'rank r', None, {MIME!r})")
