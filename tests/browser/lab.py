"""JupyterLab in Chromium, as a student has it: one server on a folder, and a notebook page to click in."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.serving import jupyter

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
SECONDS = 1000  # Playwright counts in milliseconds


@contextmanager
def jupyter_lab(folder: Path, state: Path) -> Iterator[str]:
    """Serve `folder`; yields the server's address. `state` receives all that Jupyter would write to the home folder."""
    settings = state / "settings" / "@jupyterlab"
    _settings(settings / "notebook-extension" / "tracker", windowingMode="none", autoStartDefaultKernel=True)
    _settings(settings / "apputils-extension" / "notification", fetchNews="false", checkForUpdates=False)
    environment = {
        "JUPYTER_DATA_DIR": str(state / "data"),
        "JUPYTERLAB_SETTINGS_DIR": str(state / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(state / "workspaces"),
        "IPYTHONDIR": str(state / "ipython"),
    }
    options = ["--expose-app-in-browser", f"--ServerApp.root_dir={folder}", "--IdentityProvider.token="]
    with jupyter("jupyterlab", folder, state, *options, environment=environment) as address:
        yield address


def _settings(path: Path, **values: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.with_suffix(".jupyterlab-settings").write_text(json.dumps(values))


@contextmanager
def chromium() -> Iterator[Browser]:
    """A headless browser."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        try:
            yield browser
        finally:
            browser.close()


class NotebookPage:
    """A notebook open in JupyterLab."""

    def __init__(self, page: Page, server: str, path: str) -> None:
        self.page = page
        page.goto(f"{server}lab/tree/{path}?reset", timeout=60 * SECONDS)
        page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=60 * SECONDS)
        # The kernel answers: until then, running a cell would only queue it.
        expect(page.locator("#jp-main-statusbar")).to_contain_text("| Idle", timeout=60 * SECONDS)

    def cell(self, text: str | re.Pattern[str]) -> Locator:
        """The first code cell whose text holds, or matches, `text`."""
        cells = self.page.locator(".jp-Notebook .jp-CodeCell")
        return cells.filter(has=self.page.locator(".cm-content", has_text=text)).first

    def write(self, cell: Locator, code: str) -> None:
        """Replace the cell's text as by pasting."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(code)

    def run(self, cell: Locator, timeout: float = 90) -> Locator:
        """Run the cell, wait until the kernel is done with it, and return its output area."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        prompt = cell.locator(".jp-InputPrompt")
        expect(prompt).not_to_have_text(re.compile(r"\[\*\]"), timeout=timeout * SECONDS)
        expect(prompt).to_have_text(re.compile(r"\[\d+\]"), timeout=timeout * SECONDS)
        return cell.locator(".jp-OutputArea")

    def theme(self, dark: bool) -> None:
        """Switch between JupyterLab's own light and dark theme."""
        name = "JupyterLab Dark" if dark else "JupyterLab Light"
        self.page.evaluate("name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})", name)
        light = "false" if dark else "true"
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-light", light, timeout=60 * SECONDS)
        self.page.wait_for_timeout(500)
