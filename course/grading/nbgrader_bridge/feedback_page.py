"""Fill the feedback page, and make it an accessible file that needs no network and runs no script."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from nbconvert.filters import Highlight2HTML, strip_ansi
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade

from course.grading.course_files.cells import is_test
from course.grading.course_files.setup_cell import take_away
from course.grading.gradebook.scores import read_scores
from course.grading.intake.check_submission import notes_on_work, read_document
from course.grading.intake.grader_notes import notes_in
from course.grading.nbgrader_bridge.page_writer import SetAside
from course.grading.nbgrader_bridge.regrade_section import SECTION, with_section
from course.problem import Problem

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
        page = with_section(page, about.get(SECTION, ""))
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


DARK = """
@media screen and (prefers-color-scheme: dark) {
  html { background: #fff; filter: invert(.92) hue-rotate(180deg); }
  img { filter: invert(1) hue-rotate(180deg); }
  img.course-picture { filter: brightness(1.3) invert(1) hue-rotate(180deg); }
}
"""
"""The dark style: colours are inverted, because nbgrader's style and students' outputs know only light ones.

Pictures are inverted twice, so they keep their colours. The course's own are made brighter, as on every dark page.
"""

READABLE = """
img { height: auto; max-width: 100%; }
a { text-decoration: underline !important; color: #23527c !important; }
.panel-primary > .panel-heading { background-color: #285e8e !important; }
.panel-primary > .panel-heading, .panel-primary > .panel-heading a { color: #fff !important; }
.highlight .c1, .highlight .c { color: #2f6363 !important; }
.highlight .ow { color: #7a00c2 !important; }
.highlight .ne { color: #b3261e !important; }
.highlight .se, .highlight .si { color: #8f4a12 !important; }
th, td { padding: 2px 10px; }
pre { white-space: pre-wrap !important; overflow-wrap: anywhere !important; }
code { overflow-wrap: anywhere; }
.anchor-link { display: none; }
@media screen and (max-width: 40rem) {
  th, td { overflow-wrap: anywhere; }
  div.nbgrader_cell .panel-heading { display: flow-root; height: auto !important; }
  .container, .panel-body, #notebook-container { padding: 5px !important; }
}
"""
"""The style added to nbgrader's page: underlined links, sufficient contrast, and wrapped lines (WCAG AA).

The anchor links behind headings, which a notebook shows on hover only, stay hidden.
"""


NAMED = """#toc a[href="#{0}"]::after {{ content: ": {0}{1}"; }}"""
"""The style that adds an exercise's name to its link at the page's top, where nbgrader shows only "Test cell"."""

OPEN = ", not graded yet"
"""The note after the name of an ungraded exercise, for which nbgrader shows 0 points or only those of its tests."""


class Readable(NbGraderPreprocessor):
    """A feedback step that adds the styles of this module to nbgrader's page, and leaves out the folded setup cell."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Add the styles to the page's other styles, and take away badges, setup cell and the text above it."""
        take_away(nb)
        about = resources["nbgrader"]
        scores = read_scores(about["db_url"], about["assignment"], about["student"], about["notebook"])
        given = scores.cells if scores else {}
        waiting = scores.waiting if scores else ()
        names = (cell.metadata.nbgrader.grade_id for cell in nb.cells if is_grade(cell))
        named = [
            NAMED.format(name, OPEN if name in waiting or (name in given and given[name] is None) else "")
            for name in names
            if re.fullmatch(r"[\w-]+", name)
        ]
        resources.setdefault("inlining", {}).setdefault("css", []).append("\n".join([READABLE, DARK, *named]))
        return nb, resources


class SubmissionNotes(NbGraderPreprocessor):
    """A feedback step that notes at the top which cells and which file were graded, where several were candidates."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Insert the notes above the first cell of `nb`."""
        about, coursedir = resources["nbgrader"], CourseDirectory(config=self.config)
        folder = coursedir.format_path(coursedir.submitted_directory, about["student"], about["assignment"])
        path = Path(folder, f"{about['notebook']}.ipynb")
        notes = list(notes_in(nb.cells))
        with suppress(Problem, OSError):  # moved away, or replaced by a file that cannot be graded
            notes += notes_on_work(path, read_document(path))
        if notes:
            text = "\n\n".join(f"**Note.** {_as_plain_text(note)}." for note in notes)
            cell = new_markdown_cell(text, id="submission-notes")
            if nb.nbformat_minor < 5:
                del cell["id"]
            nb.cells.insert(0, cell)
        return nb, resources


def _as_plain_text(text: str) -> str:
    """Return `text` escaped, so that Markdown shows it literally."""
    return re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", text)


class TrimHiddenTests(NbGraderPreprocessor):
    """A feedback step that removes hidden tests from the outputs of test cells.

    A traceback quotes the lines around a failing assertion, so it is cut to one line. The message of a hidden
    assertion is removed, too.
    """

    begin, end = "BEGIN HIDDEN TESTS", "END HIDDEN TESTS"

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Trim the error outputs of one cell."""
        if cell.cell_type == "code" and is_test(cell):
            for output in cell.outputs:
                if output.output_type == "error":
                    self._trim(output, cell.source)
        return cell, resources

    def _trim(self, output: NotebookNode, source: str) -> None:
        message = f"{output.ename}: {output.evalue}" if output.evalue else output.ename
        if self.begin in source and not self._failed_in_sight(output, source):
            message = f"{output.ename} in a hidden test"
            output.evalue = ""
        output.traceback = [message]

    def _failed_in_sight(self, output: NotebookNode, source: str) -> bool:
        """Return whether the line that the traceback points at stands outside the hidden tests."""
        text = strip_ansi("\n".join(output.traceback))
        pointed = [int(number) for number in re.findall(r"^-+> (\d+) ", text, re.MULTILINE)]
        lines = source.split("\n")
        hidden = set(_between(lines, self.begin, self.end))
        shown = re.search(r"Cell In\[|ipython-input", text) is not None
        return shown and bool(pointed) and pointed[0] <= len(lines) and pointed[0] - 1 not in hidden


def _between(lines: list[str], begin: str, end: str) -> Iterator[int]:
    inside = False
    for index, line in enumerate(lines):
        inside = inside or begin in line
        if inside:
            yield index
        inside = inside and end not in line
