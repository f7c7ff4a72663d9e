"""Read the text of HTML, of what a person typed on a platform or of a page of feedback."""

from __future__ import annotations

import re
from html import unescape

_BREAK = re.compile(r"<br\s*/?>|</(?:p|div|li|pre|h\d)>", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")


def text_of_html(html: str) -> str:
    """Return the text of HTML with its line breaks, and a line for each of its blocks."""
    return unescape(_TAG.sub("", _BREAK.sub("\n", html)))
