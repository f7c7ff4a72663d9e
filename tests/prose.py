"""Measures of the prose of a notebook: how often sentences have a colon, a semicolon, a dash, a parenthesis, or run on.

    python -m tests.prose            a table of all notebooks
    python -m tests.prose 06         that notebook's sentences with a colon or a semicolon, and those that are long

A colon that introduces a list, a formula or code, at the end of a paragraph, does not count.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import jupytext

from course.grading.course_folder import source_path
from course.syllabus import OURS, Topic
from tests.original import find_topic

ROOT = Path(__file__).parents[1]
LONG = 30
"""Words of a sentence that runs on."""

_NOT_PROSE = (
    r"^```.*?^```",  # code
    r"\$\$.*?\$\$",  # formulas
    r"^\s*\|.*$",  # tables
    r"^#+ .*$",  # headings
    r"<!--.*?-->",  # marks of boxes
    r"^\s*<.*$",  # HTML
)
_INLINE = ((r"`[^`]*`", "code"), (r"\$[^$]*\$", "x"), (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"), (r"https?:\S+", "link"))


@dataclass(frozen=True)
class Measures:
    """Shares of sentences, from 0 to 1; `words` and `sentences` are counts."""

    words: int
    sentences: int
    colon: float
    semicolon: float
    dash: float
    parenthesis: float
    long: float


def sentences(topic: Topic) -> Iterator[str]:
    """The sentences of a notebook's Markdown cells, without code, formulas, tables and headings."""
    for cell in jupytext.read(source_path(ROOT, topic)).cells:
        if cell.cell_type == "markdown":
            yield from sentences_of(cell.source)


def sentences_of(markdown: str) -> Iterator[str]:
    """The sentences of a text in Markdown; items of a list are paragraphs of their own."""
    for pattern in _NOT_PROSE:
        markdown = re.sub(pattern, "\n\n", markdown, flags=re.M | re.S if ".*?" in pattern else re.M)
    for pattern, plain in _INLINE:
        markdown = re.sub(pattern, plain, markdown)
    for paragraph in re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", markdown):
        text = re.sub(r"[*_]{1,3}|^\s*(?:[-*>]|\d+\.) ", "", " ".join(paragraph.split()))
        text = re.sub(r":$", ".", text)  # what follows is a list, a formula or code
        for sentence in re.split(r"(?<=[.!?])[)\"”]?\s+(?=[\"“(A-Z0-9x])", text):
            if re.search(r"[A-Za-z]{2}", sentence):
                yield sentence


def measures(topic: Topic) -> Measures:
    """The measures of a notebook's prose."""
    found = list(sentences(topic))

    def share(pattern: str) -> float:
        return sum(bool(re.search(pattern, sentence)) for sentence in found) / len(found)

    lengths = [len(sentence.split()) for sentence in found]
    return Measures(
        sum(lengths),
        len(found),
        share(r":(?=\s|$)"),
        share(r";"),
        share(r"\s[–—]\s|—"),
        share(r"\("),
        sum(length > LONG for length in lengths) / len(found),
    )


def _print_table() -> None:
    print("| notebook | words | sentences | colon | semicolon | dash | parenthesis | over 30 words |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for topic in OURS:
        found = measures(topic)
        shares = (found.colon, found.semicolon, found.dash, found.parenthesis, found.long)
        print(f"| {topic.folder} | {found.words} | {found.sentences} | {' | '.join(f'{s:.1%}' for s in shares)} |")


def _print_sentences(topic: Topic) -> None:
    for sentence in sentences(topic):
        if re.search(r":(?=\s|$)|;", sentence) or len(sentence.split()) > LONG:
            print("-", sentence)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _print_sentences(find_topic(sys.argv[1]))
    else:
        _print_table()
