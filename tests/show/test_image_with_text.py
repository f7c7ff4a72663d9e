"""A widget's picture keeps its text under ipywidgets 7, whose own image has none."""

from __future__ import annotations

import base64
import struct

import ipywidgets
import pytest

from course.show import live


def test_under_ipywidgets_7_the_picture_has_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipywidgets, "__version__", "7.7.1")
    image = live.picture('gates & states, "open" or not')
    for wide in (800, 600):
        png = struct.pack(">16sII", b"the first bytes", wide, 400)
        image.value = png
        shown = image.get_state()["value"]
        assert 'alt="gates &amp; states, &quot;open&quot; or not"' in shown
        assert f'width="{wide // 2}" height="200"' in shown
        assert f'src="data:image/png;base64,{base64.b64encode(png).decode()}"' in shown
    assert image.get_state()["_view_name"] == "HTMLView"
