"""Highlight code once for all pages that show it, and skip it when nbconvert parses a whole page.

nbconvert parses each finished page into a tree and writes it again. Most tags of a page belong to highlighted code, and
most cells of a class's notebooks are the same.
"""

from __future__ import annotations

import re
from functools import lru_cache
from secrets import token_hex
from typing import Any

from nbconvert.filters import Highlight2HTML

KEPT, LONGEST = 1000, 20_000
"""The number of cells whose highlighted code is cached, and the most characters that a cached cell has."""


class SetAside:
    """A filter for nbconvert that replaces each code cell of one page with an unguessable placeholder element.

    `put_back` replaces the placeholders with code once nbconvert has parsed and written the page.
    """

    def __init__(self, highlight: Highlight2HTML) -> None:
        self._highlight, self._mark = highlight, f"code{token_hex(8)}n"
        self._found: list[str] = []

    def __call__(self, source: str, language: str | None = None, metadata: Any = None) -> str:
        """Highlight the code, keep it, and return its placeholder."""
        language = language or self._highlight.pygments_lexer
        is_usual = "magics_language" not in (metadata or {}) and not self._highlight.extra_formatter_options
        if not is_usual or not re.fullmatch(r"[\w-]+", language, re.ASCII):
            return str(self._highlight(source, language, metadata))
        colour = _coloured if len(source) <= LONGEST else _coloured.__wrapped__
        self._found.append(colour(source, language))
        return f"{self._element(len(self._found) - 1)}\n"

    def put_back(self, page: str) -> str | None:
        """Return the page with its code, or None if a template changed a placeholder."""
        parts = []
        for number, code in enumerate(self._found):
            before, element, page = page.partition(self._element(number))
            if not element:
                return None
            parts += [before, code]
        return None if self._mark in page else "".join([*parts, page])

    def _element(self, number: int) -> str:
        return f'<div id="{self._mark}{number}"></div>'


@lru_cache(maxsize=KEPT)
def _coloured(source: str, language: str) -> str:
    """Return highlighted code as nbconvert writes it after parsing the page, without the final line break."""
    html = Highlight2HTML(pygments_lexer=language)(source).removesuffix("\n")
    return html.replace('class=" highlight ', 'class="highlight ', 1).replace("&quot;", '"').replace("&#39;", "'")
