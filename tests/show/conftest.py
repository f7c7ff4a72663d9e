"""Pictures are drawn without a screen, none is left open, and all are at home on light and on dark pages."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest
from matplotlib.figure import Figure

from tests.show.at_home import assert_at_home


@pytest.fixture(autouse=True)
def nothing_stays_open():
    yield
    assert not plt.get_fignums()


@pytest.fixture(autouse=True)
def figures_are_at_home_on_light_and_dark_pages(monkeypatch: pytest.MonkeyPatch):
    """Check each figure that a test draws, when it is closed."""
    close = plt.close

    def closed(figure=None):
        close(figure)
        if isinstance(figure, Figure):
            assert_at_home(figure)

    monkeypatch.setattr(plt, "close", closed)
