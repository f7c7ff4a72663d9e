"""Pictures are drawn without a screen, and none is left open."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import pytest


@pytest.fixture(autouse=True)
def nothing_stays_open():
    yield
    assert not plt.get_fignums()
