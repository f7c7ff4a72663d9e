"""axe-core, which finds what keeps people from reading a page."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Page

AXE = "axe-core@4.14.1"


def script(folder: Path) -> str:
    """The text of axe-core's script, from the npm registry; without that the test is skipped."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("axe-core comes from npm, which is not on this machine")
    packed = subprocess.run([npm, "pack", "--silent", AXE], cwd=folder, capture_output=True, text=True, timeout=120)
    if packed.returncode:
        pytest.skip(f"axe-core could not be fetched: {packed.stderr.strip()[-200:]}")
    (archive,) = folder.glob("*.tgz")
    with tarfile.open(archive) as package:
        found = package.extractfile("package/axe.min.js")
        assert found is not None
        return found.read().decode()


def serious(page: Page, axe: str, within: str = "html") -> list[str]:
    """What axe-core finds that is serious or critical in a part of the page: the rule, how often, and where first."""
    page.evaluate(axe)
    look = "async (within) => (await axe.run({include: [within]}, {resultTypes: ['violations']})).violations"
    found = page.evaluate(look, within)
    return [
        f"{fault['id']} ({len(fault['nodes'])}): {fault['nodes'][0]['html'][:160]} {fault['nodes'][0]['any'][:1]}"
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
