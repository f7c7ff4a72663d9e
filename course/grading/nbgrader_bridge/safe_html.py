"""What a student's notebook shows, made harmless: formgrader and feedback are pages in an instructor's own browser.

nbgrader puts a notebook's texts and outputs into such a page as they are. A script among them would run with all that
the instructor may do there: give points, open a terminal. So of a student's HTML only what is to be looked at is left.
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

from course.grading.cells import METADATA, grade_id, is_test
from course.grading.nbgrader_bridge.formulas import Formulas, drawn_tex, without_commands
from course.grading.nbgrader_bridge.pictures import NotShown, Pictures, quoted

IMAGES = ("image/png", "image/jpeg")
SHOWN = frozenset({"text/plain", "text/html", "text/markdown", "text/latex", "image/svg+xml", *IMAGES})
"""Kinds of output that a page shows; widgets and scripts have a picture or words of their own beside them."""

PLOT = "a plot made by the code above"
"""What a picture is called, for people who do not see it, where its code gives it no description."""

MOST_TAGS = 10_000
"""A table of pandas' has a thousand tags; HTML with more is shown as text: what is nested without end takes minutes."""

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
"""What a style may set: nothing that moves a thing over another or asks for an address."""

CLASSES = re.compile(r"highlight|hl-\w+|dataframe|anchor-link|course-picture|[a-z]{1,2}\d?", re.ASCII)
"""Classes that stay: of coloured code, tables and the course's pictures. The scripts of a page know it by others."""

LINK = re.compile(r"(?:https?://|mailto:|#)\S*", re.ASCII)
PICTURE = re.compile(
    r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=]+"
    r"|https://(?:mybinder\.org/badge_logo|colab\.research\.google\.com/assets/colab-badge)\.svg",
    re.ASCII,
)
"""Pictures written into the notebook, and the badges at its top. Any other tells its server who looks, and when."""

KEPT, LONGEST_KEPT = 1000, 20_000
"""Texts that are kept as HTML, for the next page that shows them, and the characters of the longest of them."""

BASE64 = re.compile(r"[A-Za-z0-9+/=\s]*", re.ASCII)

_IMG = re.compile(r'<img((?: [\w:-]+="[^"]*")*)>')
"""A picture as nh3 writes it, with its attributes."""

_DRAWN = re.compile(r"<svg\b(?:(?!<svg\b).)*?</svg>", re.DOTALL | re.IGNORECASE)


class SafeHtml(Preprocessor):
    """For pages: what a notebook's cells show, without what a browser would run. The judge's reports stay as they are.

    Texts are rendered by the page's template, which has `markdown2html` for it.
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
    """A text as a page shows it: as nbconvert's own filter renders it, cleaned, with its pictures."""
    attachments = context.get("cell", {}).get("attachments", {})
    if not attachments and len(source) <= LONGEST_KEPT and (html := _without_pictures(source)) is not None:
        return html
    pictures = partial(Pictures.of(context.get("resources", {})).uri, attachments=attachments)
    html = _rendered(quoted(source, attachments), pictures)
    return _as_text(source) if html is None else html


@lru_cache(maxsize=KEPT)
def _without_pictures(source: str) -> str | None:
    """A text as HTML, kept for the next page that shows it, or None if it shows pictures, which each page counts."""
    asked: list[str] = []

    def ask(address: str) -> str:
        asked.append(address)
        return ""

    html = _rendered(source, ask)
    if asked:
        return None
    return _as_text(source) if html is None else html


def _rendered(source: str, pictures: Callable[[str], str]) -> str | None:
    """A text as HTML, or None if it is nested without end."""
    formulas = Formulas()
    try:
        return formulas.put_back(clean(MarkdownWithMath(renderer=_Renderer(formulas)).render(source), pictures))
    except (RecursionError, ValueError):
        return None


class _Renderer(IPythonRenderer):
    """nbconvert's, which leaves a picture's address and a formula to what comes after `clean`."""

    def __init__(self, formulas: Formulas) -> None:
        super().__init__(escape=False)
        self._formulas = formulas

    def block_math(self, body: str) -> str:
        """A formula in a line of its own."""
        return self._formulas.keep(body, display=True)

    def inline_math(self, body: str) -> str:
        """A formula among words."""
        return self._formulas.keep(body, display=False)

    def latex_environment(self, name: str, body: str) -> str:
        r"""A formula between `\begin` and `\end`."""
        return self._formulas.keep(f"\\begin{{{name}}}{body}\\end{{{name}}}", display=True)

    def image(self, *about: Any, **more: Any) -> str:
        """An `<img>`; nbconvert's stops at an attachment that it does not find."""
        return super(IPythonRenderer, self).image(*about, **more)


def clean(html: str, pictures: Callable[[str], str] | None = None) -> str:
    """HTML from anywhere as HTML that can only be looked at: no scripts, addresses, frames, forms, places on the page.

    Drawings become pictures, in which nothing runs. What an `<img>` names, `pictures` gives as an address that holds
    it, or raises `NotShown`: then words say why.
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
    """What stays of an attribute, if anything."""
    if name == "class":
        return " ".join(word for word in value.split() if CLASSES.fullmatch(word)) or None
    whole = {"href": LINK, "src": PICTURE}.get(name)
    return value if whole is None or whole.fullmatch(value) else None


def _with(pictures: Callable[[str], str], missing: list[str]) -> Callable[[str, str, str], str | None]:
    """The same, with the pictures of a page; of one that is missing, `src` becomes the number of the reason."""

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
    """A picture, no wider than the page; where there is none, what it is called and why it is not shown."""
    about = dict(re.findall(r'([\w:-]+)="([^"]*)"', img[1]))
    source = about.get("src", "")
    if source and not source.startswith("#"):
        return img[0] if "style" in about else f'<img style="max-width:100%"{img[1]}>'
    why = missing[int(source[1:])] if source else "it is not a file in the notebook's folder"
    called = unescape(about.get("alt") or about.get("title") or "")
    named = f" “{called:.200}”" if called else ""
    return f"<em>[Picture{escape(named)} not shown: {escape(why)}]</em>"


def _harmless(output: NotebookNode, pictures: Callable[[str], str]) -> NotebookNode:
    """An output that shows what it did, and does nothing."""
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
    """A picture's width and height, where they are numbers, and its description, by default `PLOT`."""
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
