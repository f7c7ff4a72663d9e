"""What the site's pages weigh: the home page and the three heaviest notebooks, opened by a browser with an empty cache.

`make docs` builds the site before. The server compresses nothing, and the network is this machine's own, so that the
seconds are the browser's. The last column has the kilobytes that a server which compresses text would send.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser

from tests.browser.lab import CHROMIUM, chromium
from tests.serving import files

SITE = Path(__file__).parents[1] / "build" / "site"
IS_TEXT = {".html", ".js", ".css", ".svg", ".txt", ".json"}
LOADED = """() => {
    const [page] = performance.getEntriesByType('navigation');
    const [first] = performance.getEntriesByName('first-contentful-paint');
    const others = performance.getEntriesByType('resource').map(one => one.name);
    return JSON.stringify([page.loadEventEnd / 1000, first.startTime / 1000, [page.name, ...others]]);
}"""


def rows() -> list[list[str]]:
    """One row a page: files, kilobytes, seconds to the first words and to the end of loading (best of three)."""
    if CHROMIUM is None or not (SITE / "index.html").is_file():
        sys.exit("This needs Chromium, and the site that `make docs` builds.")
    table = [["page", "files", "kB", "first words, s", "loaded, s", "compressed, kB"]]
    with files(SITE) as address, chromium() as browser:
        notebooks = [f"notebooks/{path.name}" for path in (SITE / "notebooks").glob("[0-9]*.html")]
        weighed = {name: _opened(browser, f"{address}/{name}") for name in ["index.html", *notebooks]}
        heaviest = sorted(notebooks, key=lambda name: -_size(weighed[name][2]))[:3]
        for name in ["index.html", *heaviest]:
            again = [weighed[name], *(_opened(browser, f"{address}/{name}") for _ in range(2))]
            loaded, first, sent = (min(one[0] for one in again), min(one[1] for one in again), again[0][2])
            size, compressed = _size(sent) / 1000, sum(map(_compressed, sent)) / 1000
            table.append([name, str(len(sent)), f"{size:.0f}", f"{first:.1f}", f"{loaded:.1f}", f"{compressed:.0f}"])
    return table


def _opened(browser: Browser, address: str) -> tuple[float, float, list[Path]]:
    """Open a page for the first time: seconds to the end of loading and to the first words, and the files it took."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.goto(address, wait_until="load")
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length")
    page.wait_for_load_state("networkidle")
    loaded, first, names = json.loads(page.evaluate(LOADED))
    context.close()
    return loaded, first, sorted({SITE / urlsplit(name).path.lstrip("/") for name in names if name.startswith("http")})


def _size(sent: list[Path]) -> int:
    return sum(path.stat().st_size for path in sent)


def _compressed(path: Path) -> int:
    return len(gzip.compress(path.read_bytes())) if path.suffix in IS_TEXT else path.stat().st_size
