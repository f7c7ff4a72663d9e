"""What the tests in a browser share: the browser itself, axe-core, and a folder for pictures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser.axe import script
from tests.serving import files
from tests.shared import once

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A headless Chromium."""
    from tests.browser.lab import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The documentation site, served: its address."""
    from tests.test_site import build_site

    with files(once(tmp_path_factory, "site", build_site)) as address:
        yield address


@pytest.fixture(scope="module")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where pictures go: the folder `COURSE_SCREENSHOTS`, or a temporary one."""
    given = os.environ.get("COURSE_SCREENSHOTS")
    folder = Path(given) if given else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The text of axe-core's script."""
    return script(tmp_path_factory.mktemp("axe"))
