"""Convert formulas to MathML, which browsers and screen readers support without a script, a font or a network."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape, unescape
from secrets import token_hex
from xml.etree import ElementTree as ET

from latex2mathml.converter import convert_to_element

LONGEST = 5000
"""The most characters of TeX that are converted; longer formulas are shown as TeX."""

ATTRIBUTES = frozenset(
    {
        *("accent", "accentunder", "columnalign", "columnlines", "columnspacing", "depth", "display", "displaystyle"),
        *("fence", "form", "height", "largeop", "linethickness", "lspace", "mathvariant", "maxsize", "minsize"),
        *("movablelimits", "notation", "rowlines", "rowspacing", "rspace", "scriptlevel", "separator", "stretchy"),
        *("symmetric", "voffset", "width", "xmlns"),
    }
)
"""The attributes that a MathML element may keep: no colours (for contrast), no links, no styles."""

_ACTIVE = re.compile(r"\\\s*(href|url|require|class|cssId|style|data|mmlToken|html[A-Z]\w*)(?![a-z])", re.IGNORECASE)
"""TeX commands that would create links, styles or names in the page."""

_IN_TEX = re.compile(
    r"\$\$(?P<block>.+?)\$\$|\$(?P<inline>.+?)\$|\\\[(?P<bracket>.+?)\\\]|\\\((?P<round>.+?)\\\)"
    r"|(?P<environment>\\begin\{(?P<name>[a-z]+\*?)\}.+?\\end\{(?P=name)\})",
    re.DOTALL,
)
_TAG = re.compile(r'<[^<>"]*(?:"[^"]*"[^<>"]*)*>')


def without_commands(tex: str) -> str:
    """Return TeX without commands that create links, styles or names in the page."""
    return _ACTIVE.sub(r"\\mathrm{\1}", tex)


@lru_cache(maxsize=2048)
def mathml(tex: str, *, display: bool) -> str:
    """Return a formula as a `<math>` element with its TeX as alternative text, or as TeX if conversion fails."""
    tex = without_commands(tex.strip())
    try:
        if len(tex) > LONGEST:
            raise ValueError
        root = convert_to_element(tex, display="block" if display else "inline")
    except Exception:  # noqa: BLE001 - its type depends on the student's TeX
        mark = "$$" if display else "$"
        return f"<code>{escape(f'{mark}{tex}{mark}')}</code>"
    for element in root.iter():
        element.text = unescape(element.text or "").replace(r"\_", "_")
        element.tail = unescape(element.tail or "")
        for name in set(element.attrib) - ATTRIBUTES:
            del element.attrib[name]
    root.set("alttext", tex)
    return ET.tostring(root, encoding="unicode")


def drawn_tex(text: str) -> str:
    """Return an output of type `text/latex` as HTML, with its formulas as MathML and the rest as escaped text."""
    parts, end = [], 0
    for found in _IN_TEX.finditer(text):
        tex = next(filter(None, found.groups()))
        parts += [escape(text[end : found.start()]), mathml(tex, display=found["inline"] is found["round"] is None)]
        end = found.end()
    return "".join([*parts, escape(text[end:])])


class Formulas:
    """The formulas of one text, replaced by unguessable placeholders while the rest of the text is cleaned."""

    def __init__(self) -> None:
        self._mark = f"formula{token_hex(8)}n"
        self._found: list[tuple[str, bool]] = []

    def keep(self, tex: str, *, display: bool) -> str:
        """Keep a formula, and return its placeholder."""
        self._found.append((tex, display))
        return f"{self._mark}{len(self._found) - 1}e"

    def put_back(self, html: str) -> str:
        """Return HTML with its placeholders replaced by MathML; within a tag, such as in a picture's `alt`, by TeX."""
        if not self._found:
            return html
        parts, end = [], 0
        for tag in _TAG.finditer(html):
            parts += [self._drawn(html[end : tag.start()]), self._as_tex(tag[0])]
            end = tag.end()
        return "".join([*parts, self._drawn(html[end:])])

    def _drawn(self, text: str) -> str:
        return self._replaced(text, lambda tex, display: mathml(tex, display=display))

    def _as_tex(self, text: str) -> str:
        return self._replaced(text, lambda tex, _: escape(f"${tex}$"))

    def _replaced(self, text: str, how: Callable[[str, bool], str]) -> str:
        return re.sub(rf"{self._mark}(\d+)e", lambda mark: how(*self._found[int(mark[1])]), text)
