"""Read what a page of feedback says about the work, so that a page which says the same need not be sent again."""

from __future__ import annotations

import re

from course.grading.intake.html_text import text_of_html

QUESTION = "<!-- question about the code -->{}<!-- end of the question -->"
"""What surrounds a question on a page. No student can write it, because comments in their HTML are removed."""

_QUESTION = re.compile(QUESTION.format(".*?"), re.DOTALL)
_STYLE = re.compile(r"<style\b.*?</style>", re.DOTALL)
_NAMED = re.compile(r'content: "(: [^"]*)"')
"""The name of an exercise, and whether it is graded, which `Readable` writes as a style."""


def said_by(page: str) -> str:
    """Return what a page says about the work, in one line, without its layout and its questions about the code.

    A question says nothing about the grade. Its key comes from executing the code, which may fail on one day and
    succeed on the next. Keeping each page's question instead would take one more file for each page, and would still
    ask anew once that file is lost or the course is upgraded.
    """
    names = " ".join(_NAMED.findall(page))
    return " ".join(f"{names} {text_of_html(_STYLE.sub('', _QUESTION.sub('', page)))}".split())
