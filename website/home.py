"""The home page's parts: the button that begins, the model that writes, and the map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import nbformat

from course.notebook.course_map import rows_beside_rail
from course.notebook.standing import Standing
from course.syllabus import OURS

WRITERS_TEXT = "assets/prose.txt"
"""What the model on the home page has read: the notebooks' own prose."""
LONGEST = 120_000
"""Characters of it, so that the page stays light."""

_BEGIN = """\
<p class="begin" markdown="1">[Open the first notebook]({address}){{ .md-button .md-button--primary }}
<small>It opens in Colab, with nothing to install.</small></p>"""

_WRITER = f"""\
<div class="writer" data-text="{WRITERS_TEXT}">
<label for="letters">A model that counts letters. How far back may it look?</label>
<input id="letters" type="range" min="1" max="8" value="5" aria-describedby="said">
<p class="page"></p>
<p class="said" id="said" aria-live="polite">It has read the prose of these notebooks.</p>
</div>
<p>That is the first notebook. By the tenth, a Transformer that you wrote says what comes next.</p>"""


def with_home(markdown: str, address: str) -> str:
    """Return the home page's Markdown with its parts in it; the button leads to `address`."""
    links = {topic.name: f"notebooks/{topic.folder}.html" for topic in OURS}
    course_map = rows_beside_rail(OURS, {topic.name: Standing(0, 0) for topic in OURS}, links)
    parts = {"begin": _BEGIN.format(address=address), "writer": _WRITER}
    parts["map"] = f'<div class="course-map">{course_map}</div>'
    for name, part in parts.items():
        markdown = markdown.replace(f"<!-- {name} -->", part)
    return markdown


def prose(notebooks: Sequence[Path]) -> str:
    """Return the plain sentences of the notebooks' Markdown, without code, formulas, lists, tables and headings."""
    sentences: list[str] = []
    for path in notebooks:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                sentences += [_plain(part) for part in re.split(r"\n\s*\n", cell.source) if _is_prose(part)]
    text = " ".join(filter(None, sentences))
    return text[:LONGEST]


def _is_prose(paragraph: str) -> bool:
    return bool(re.match(r"[A-Z]", paragraph)) and not re.search(r"[`$|<\[_=]", paragraph)


def _plain(paragraph: str) -> str:
    return re.sub(r"\s+", " ", paragraph.replace("*", "")).strip()
