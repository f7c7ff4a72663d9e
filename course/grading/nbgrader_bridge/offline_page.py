"""Make the feedback page an accessible file that needs no network and runs no script.

nbgrader's template has no hook for this, so the finished page is changed here.
"""

from __future__ import annotations

import re
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbconvert.filters import Highlight2HTML
from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.nbgrader_bridge.highlighting import SetAside

# nbconvert configures the order of outputs for all steps. nbgrader's steps do not declare the setting, and would warn.
NbGraderPreprocessor.display_data_priority.tag(config=True)

POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"
"""The content security policy: the browser loads nothing from outside the page."""

HEAD = f"""<html lang="{{}}">
<head>
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta http-equiv="Content-Security-Policy" content="{POLICY}" />"""

_SCRIPT = re.compile(r"<script\b.*?</script>", re.DOTALL | re.IGNORECASE)
_FONT = re.compile(r"@font-face\s*\{[^{}]*\}")
_ELSEWHERE = re.compile(r'<img\b(?=[^<>]*\bsrc="https?:)(?:[^<>]*?\balt="([^"]*)")?[^<>]*>')
_TITLE = re.compile(r"<h4>(.*?)</h4>", re.DOTALL)


class FeedbackPage(HTMLExporter):
    """nbconvert's exporter, whose page is changed by `completed`."""

    sets_code_aside = True
    """Whether placeholders stand for highlighted code while nbconvert parses the page."""
    _aside: SetAside | None = None

    def register_filter(self, name: str, jinja_filter: Any) -> Any:
        """Register a filter for the template, with nbconvert's own code filter replaced by `SetAside`."""
        if name == "highlight_code":
            is_usual = type(jinja_filter) is Highlight2HTML and self.sets_code_aside
            self._aside = SetAside(jinja_filter) if is_usual else None
            jinja_filter = self._aside or jinja_filter
        return super().register_filter(name, jinja_filter)

    def from_notebook_node(  # type: ignore[override]
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **options: Any
    ) -> tuple[str, dict[str, Any]]:
        """Export `nb` as the page and return the page with its resources."""
        page, about = super().from_notebook_node(nb, resources, **options)
        if self._aside is not None:
            whole = self._aside.put_back(page)
            if whole is None:  # an instructor's own template changed a placeholder
                self.sets_code_aside = False
                return self.from_notebook_node(nb, resources, **options)
            page = whole
        return completed(page, self.language_code), about


def completed(page: str, language: str = "en") -> str:
    """Return the page with language, landmarks and a heading, and without scripts, fonts and remote pictures.

    nbconvert's own template puts the notebook into `<main>`. Formulas are MathML, so no script is needed to draw them.
    """
    head, closing, body = page.partition("</head>")
    if not closing:  # an instructor's own template
        return page
    head = _FONT.sub("", _SCRIPT.sub("", head)).replace("<!-- Loading mathjax macro -->", "")
    head = re.sub(r"<html\b[^>]*>\s*<head>", lambda _: HEAD.format(language), head, count=1)
    body = _ELSEWHERE.sub(lambda found: found[1] or "", body)
    body = _TITLE.sub(r'<h1 class="h4">\1</h1>', body, count=1)
    body = body.replace('<div id="toc">', '<div id="toc" role="navigation" aria-label="Scores">', 1)
    body = body.replace('<div class="panel-heading">', '<div class="panel-heading" role="banner">', 1)
    return f"{head}{closing}{body}"
