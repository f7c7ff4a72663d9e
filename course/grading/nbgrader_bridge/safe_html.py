"""Clean the HTML of students' notebooks, because formgrader and feedback are pages in an instructor's own browser.

nbgrader puts a notebook's texts and outputs into such a page unchanged. A script in them would run with the
instructor's rights: it could give points or open a terminal. So only static HTML of a student is kept.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from functools import lru_cache, partial
from html import escape, unescape
from typing import Any

import nh3
from jinja2 import pass_context
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode

from course.grading.course_files.cells import METADATA, grade_id, is_test
from course.grading.nbgrader_bridge.formulas import Formulas, drawn_tex, without_commands
from course.grading.nbgrader_bridge.pictures import NotShown, Pictures, quoted

IMAGES = ("image/png", "image/jpeg")
SHOWN = frozenset({"text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml", *IMAGES})
"""The types of output that a page shows; widgets and scripts come with a picture or a text of one of these types."""

PLOT = "a plot made by the code above"
"""The alternative text of a picture whose code gives no description, for screen readers."""

MOST_TAGS = 10_000
"""The most tags that are cleaned (a pandas table has 1,000). More are shown as text, as deep nesting takes minutes."""

ATTRIBUTES = {
    "align", "alt", "aria-label", "class", "colspan", "height", "href", "lang", "max", "open", "role", "rowspan", "src",
    "start", "style", "title", "value", "width",
}  # fmt: skip
WITHOUT_CONTENT = {"noscript", "script", "style", "template", "title"}

STYLES = {
    "background-color", "border", "border-collapse", "border-color", "border-left", "border-radius", "color",
    "font-family", "font-size", "font-style", "font-weight", "max-width", "opacity", "padding", "padding-left",
    "padding-right", "text-align", "text-decoration", "white-space", "width",
}  # fmt: skip
"""The properties that a style may set: none that moves an element over another or loads an address."""

CLASSES = re.compile(r"highlight|hl-\w+|dataframe|anchor-link|course-picture|[a-z]{1,2}\d?", re.ASCII)
"""The classes that stay: those of highlighted code, tables and the course's pictures. A page's scripts use others."""

LINK = re.compile(r"(?:https?://|mailto:|#)\S*", re.ASCII)
PICTURE = re.compile(
    r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]+"
    r"|https://(?:mybinder\.org/badge_logo|colab\.research\.google\.com/assets/colab-badge)\.svg",
    re.ASCII,
)
"""Pictures within the notebook, and the badges at its top. Any other address tells its server who looks, and when."""

KEPT, LONGEST_KEPT = 1000, 20_000
"""The number of texts whose HTML is cached for other pages, and the most characters that a cached text has."""

BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*", re.ASCII)

_IMG = re.compile(r'<img((?: [\w:-]+="[^"]*")*)>')
"""A picture as nh3 writes it, with its attributes."""

_DRAWN = re.compile(r"<svg\b(?:(?!<svg\b).)*?</svg>", re.DOTALL | re.IGNORECASE)


class SafeHtml(Preprocessor):
    """Removes from a notebook's cells what a browser would run. The judge's reports stay as they are.

    Texts are rendered by the page's template, which uses `markdown2html`.
    """

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Clean `nb`, which is the page's own copy."""
        nb.metadata.pop("widgets", None)
        pictures = partial(Pictures.of(resources).uri, attachments={})
        judged = nb.metadata.get(METADATA, {}).get("verdicts", {})
        for cell in nb.cells:
            cell.metadata.pop("magics_language", None)
            if cell.cell_type == "code" and not (is_test(cell) and grade_id(cell) in judged):
                cell.outputs = [_harmless(output, pictures) for output in cell.outputs]
        return nb, resources


@pass_context
def markdown2html(context: Any, source: str) -> str:
    """Return a Markdown text as HTML, rendered as by nbconvert's own filter, cleaned, and with its pictures."""
    attachments = context.get("cell", {}).get("attachments", {})
    if not attachments and len(source) <= LONGEST_KEPT and (html := _without_pictures(source)) is not None:
        return html
    pictures = partial(Pictures.of(context.get("resources", {})).uri, attachments=attachments)
    html = _rendered(quoted(source, attachments), pictures)
    return _as_text(source) if html is None else html


@lru_cache(maxsize=KEPT)
def _without_pictures(source: str) -> str | None:
    """Return a Markdown text as cached HTML, or None if it has pictures, which each page counts."""
    asked: list[str] = []

    def ask(address: str) -> str:
        asked.append(address)
        return ""

    html = _rendered(source, ask)
    if asked:
        return None
    return _as_text(source) if html is None else html


def _rendered(source: str, pictures: Callable[[str], str]) -> str | None:
    """Return a Markdown text as HTML, or None if it is nested too deeply."""
    formulas = Formulas()
    try:
        return formulas.put_back(clean(MarkdownWithMath(renderer=_Renderer(formulas)).render(source), pictures))
    except (RecursionError, ValueError):
        return None


class _Renderer(IPythonRenderer):
    """nbconvert's renderer, except that pictures' addresses and formulas are resolved after `clean`."""

    def __init__(self, formulas: Formulas) -> None:
        super().__init__(escape=False)
        self._formulas = formulas

    def block_math(self, body: str) -> str:
        """Return the placeholder of a formula on its own line."""
        return self._formulas.keep(body, display=True)

    def inline_math(self, body: str) -> str:
        """Return the placeholder of a formula within a line."""
        return self._formulas.keep(body, display=False)

    def latex_environment(self, name: str, body: str) -> str:
        r"""Return the placeholder of a formula between `\begin` and `\end`."""
        return self._formulas.keep(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)

    def image(self, *about: Any, **more: Any) -> str:
        """Return an `<img>`; nbconvert's own method raises when an attachment is missing."""
        return super(IPythonRenderer, self).image(*about, **more)


def clean(html: str, pictures: Callable[[str], str] | None = None) -> str:
    """Return HTML from an untrusted source without scripts, remote addresses, frames, forms, and fixed positions.

    Drawings become pictures, in which nothing runs. `pictures` maps the address of an `<img>` to a data URI, or raises
    `NotShown`, and then a text says why.
    """
    html = _DRAWN.sub(_as_picture, html)
    if html.count("<") > MOST_TAGS:
        return _as_text(html)
    missing: list[str] = []
    cleaned = nh3.clean(
        html,
        tags=(nh3.ALLOWED_TAGS | {"progress", "tfoot"}) - {"area", "map"},
        clean_content_tags=WITHOUT_CONTENT,
        attributes={"*": ATTRIBUTES},
        attribute_filter=_kept if pictures is None else _with(pictures, missing),
        filter_style_properties=STYLES,
        url_schemes={"http", "https", "mailto", "data", "attachment"},
    )
    if pictures is not None:
        cleaned = _IMG.sub(lambda img: _in_words(img, missing), cleaned)
    return without_commands(cleaned)


def _kept(_tag: str, name: str, value: str) -> str | None:
    """Return what stays of an attribute's value, or None."""
    if name == "class":
        return " ".join(word for word in value.split() if CLASSES.fullmatch(word)) or None
    whole = {"href": LINK, "src": PICTURE}.get(name)
    return value if whole is None or whole.fullmatch(value) else None


def _with(pictures: Callable[[str], str], missing: list[str]) -> Callable[[str, str, str], str | None]:
    """Return a filter like `_kept` that embeds pictures; a missing picture's `src` becomes the number of its reason."""

    def kept(tag: str, name: str, value: str) -> str | None:
        if (tag, name) != ("img", "src") or PICTURE.fullmatch(value):
            return _kept(tag, name, value)
        try:
            return pictures(value)
        except NotShown as error:
            missing.append(str(error))
            return f"#{len(missing) - 1}"

    return kept


def _in_words(img: re.Match[str], missing: list[str]) -> str:
    """Return an `<img>` no wider than the page, or a text with the picture's name and why it is not shown."""
    about = dict(re.findall(r'([\w:-]+)="([^"]*)"', img[1]))
    source = about.get("src", "")
    if source and not source.startswith("#"):
        return img[0] if "style" in about else f'<img style="max-width:100%"{img[1]}>'
    why = missing[int(source[1:])] if source else "it is not a file in the notebook's folder"
    called = unescape(about.get("alt") or about.get("title") or "")
    named = f" “{called:.200}”" if called else ""
    return f"<em>[Picture{escape(named)} not shown: {escape(why)}]</em>"


def _harmless(output: NotebookNode, pictures: Callable[[str], str]) -> NotebookNode:
    """Return an output without its active content."""
    if "data" not in output:
        return output
    data = {kind: value for kind, value in output.data.items() if kind in SHOWN and isinstance(value, str)}
    for kind in IMAGES:
        if not BASE64.fullmatch(data.get(kind, "")):
            del data[kind]
    if "image/svg+xml" in data:
        drawing = _DRAWN.search(data.pop("image/svg+xml"))
        data |= {"text/html": _as_picture(drawing)} if drawing else {}
    if "text/html" in data:
        data["text/html"] = clean(data["text/html"], pictures)
    if "text/latex" in data:
        tex = data.pop("text/latex")
        data.setdefault("text/html", drawn_tex(tex))
    if not data:
        data["text/plain"] = "(This output is not shown here. Open the notebook itself to see it.)"
    abouts = {kind: _about(output.get("metadata", {}).get(kind)) for kind in IMAGES}
    return NotebookNode(output, data=NotebookNode(data), metadata=NotebookNode(abouts))


def _about(written: Any) -> NotebookNode:
    """Return a picture's metadata: width and height if they are numbers, and its description, by default `PLOT`."""
    known = written if isinstance(written, dict) else {}
    kinds = {"width": (int, float), "height": (int, float), "alt": (str,)}
    about = {name: known[name] for name, kind in kinds.items() if type(known.get(name)) in kind}
    return NotebookNode({"alt": PLOT, **about})


def _as_text(source: str) -> str:
    return f"<pre>{escape(source)}</pre>"


def _as_picture(drawing: re.Match[str]) -> str:
    text = drawing[0]
    if "xmlns=" not in text.partition(">")[0]:
        text = f'{text[:4]} xmlns="http://www.w3.org/2000/svg"{text[4:]}'
    label = re.search(r'\baria-label="([^"<>]{1,500})"', text)
    packed = base64.b64encode(text.encode("utf-8", "replace")).decode()
    return f'<img alt="{label[1] if label else "a drawing"}" src="data:image/svg+xml;base64,{packed}">'
