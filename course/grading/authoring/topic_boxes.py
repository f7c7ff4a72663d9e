"""Fit the boxes in a notebook's text that depend on the topics of a class.

> <!-- needs: 05_bahdanau_attention -->
> In topic 05, $Q$ and $K$ were widths.

> <!-- without: 05_bahdanau_attention -->
> Other texts use $Q$ and $K$ for widths.

A box is a paragraph of Markdown whose first line is such a mark. `course release` keeps the first box if the class has
all topics that its mark names, and the second box if a topic is missing. Released boxes have no marks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from course.syllabus import near

_MARK = re.compile(r"(?:>[ \t]*)*<!-- (needs|without): (\S+(?:, \S+)*) -->[ \t]*")
_LIKE_A_MARK = re.compile(r"<!--\s*(?:needs|without)\b")
_BETWEEN = r"\n(?:[ \t]*\n)+"
_FORM = "a mark is the first line of a paragraph, such as <!-- needs: 06_self_attention -->, with text below it"


def fitted(markdown: str, topics: Collection[str]) -> str:
    """Return a text with the boxes for a class with these `topics`, such as `06_self_attention`, without marks."""
    if not _LIKE_A_MARK.search(markdown):
        return markdown
    kept = []
    for paragraph in re.split(_BETWEEN, markdown):
        first, _, rest = paragraph.partition("\n")
        if (mark := _MARK.fullmatch(first)) is None:
            kept.append(paragraph)
        elif (mark[1] == "needs") == all(name in topics for name in mark[2].split(", ")):
            kept.append(rest)
    return "\n\n".join(kept)


def faults(markdown: str, known: Collection[str]) -> Iterator[str]:
    """Yield a sentence for each fault in the marks of a text; `known` are all topics."""
    for paragraph in re.split(_BETWEEN, markdown):
        first, _, rest = paragraph.partition("\n")
        mark = _MARK.fullmatch(first)
        if _LIKE_A_MARK.search(rest if mark else paragraph) or (mark and not rest.strip(" >\n")):
            yield _FORM
        for name in mark[2].split(", ") if mark else ():
            if name not in known:
                yield f"a box depends on {name!r}, which is no topic{near(name, sorted(known))}"
