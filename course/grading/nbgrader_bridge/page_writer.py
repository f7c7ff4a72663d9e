"""Write nbgrader's feedback pages with one converter for all students, and highlight code once for all pages."""

from __future__ import annotations

import re
from contextlib import chdir
from copy import deepcopy
from functools import lru_cache
from glob import escape, glob
from pathlib import Path
from secrets import token_hex
from typing import Any

from nbconvert.filters import Highlight2HTML
from nbgrader.converters import GenerateFeedback
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.exc import SQLAlchemyError

from course.grading.machine.faults import Fault, advice_for, stops_all
from course.grading.nbgrader_bridge.log_capture import quiet, reason_of

KEPT, LONGEST = 1000, 20_000
"""The number of cells whose highlighted code is cached, and the most characters that a cached cell has."""


class SetAside:
    """A filter for nbconvert that replaces each code cell of one page with an unguessable placeholder element.

    `put_back` replaces the placeholders with code once nbconvert has parsed and written the page.
    """

    def __init__(self, highlight: Highlight2HTML) -> None:
        self._highlight, self._mark = highlight, f"code{token_hex(8)}n"
        self._found: list[str] = []

    def __call__(self, source: str, language: str | None = None, metadata: Any = None) -> str:
        """Highlight the code, keep it, and return its placeholder."""
        language = language or self._highlight.pygments_lexer
        is_usual = "magics_language" not in (metadata or {}) and not self._highlight.extra_formatter_options
        if not is_usual or not re.fullmatch(r"[\w-]+", language, re.ASCII):
            return str(self._highlight(source, language, metadata))
        colour = _coloured if len(source) <= LONGEST else _coloured.__wrapped__
        self._found.append(colour(source, language))
        return f"{self._element(len(self._found) - 1)}\n"

    def put_back(self, page: str) -> str | None:
        """Return the page with its code, or None if a template changed a placeholder."""
        parts = []
        for number, code in enumerate(self._found):
            before, element, page = page.partition(self._element(number))
            if not element:
                return None
            parts += [before, code]
        return None if self._mark in page else "".join([*parts, page])

    def _element(self, number: int) -> str:
        return f'<div id="{self._mark}{number}"></div>'


@lru_cache(maxsize=KEPT)
def _coloured(source: str, language: str) -> str:
    """Return highlighted code as nbconvert writes it after parsing the page, without the final line break."""
    html = Highlight2HTML(pygments_lexer=language)(source).removesuffix("\n")
    return html.replace('class=" highlight ', 'class="highlight ', 1).replace("&quot;", '"').replace("&#39;", "'")


PENALTIES = "course.grading.nbgrader_bridge.late_penalty.KeepLatePenalties"
"""The step that computes a student's late penalty again and saves it."""


class PageWriter(GenerateFeedback):
    """nbgrader's converter with a course's configuration, which writes one student's page per call.

    A page is first written under a hidden name, and renamed when complete.
    """

    def __init__(self, config: Any) -> None:
        super().__init__(coursedir=CourseDirectory(config=config), config=config)
        self.force = True
        with quiet():
            self.start()  # without a notebook, this only makes the exporter and the writer

    def write(self, student: str) -> str:
        """Write one student's page, and return why it could not be written, or "".

        Raises:
            Fault: the machine failed (its disk is full, for example), so every other page would fail, too.
        """
        with quiet() as said, chdir(self.coursedir.root):
            try:
                self.assignments = self._notebooks_of(student)
                self.convert_notebooks()
            except (NbGraderException, SystemExit, OSError, SQLAlchemyError) as error:
                cause = said.cause or error.__context__ or error
                if stops_all(cause):
                    raise Fault(f"the feedback page of {student} could not be written: {advice_for(cause)}") from error
                return advice_for(cause) or reason_of(said, error)
        return ""

    def init_notebooks(self) -> None:
        """Find no notebooks at the start, because `write` finds those of its student."""
        self.assignments = {}

    def write_single_notebook(self, output: str, resources: Any) -> None:
        """Write a page under a hidden name, then rename it in one step."""
        about, name = resources["nbgrader"], resources["unique_key"]
        folder = Path(self._format_dest(about["assignment"], about["student"]))
        super().write_single_notebook(output, {**resources, "unique_key": f".{name}"})
        extension = resources.get("output_extension") or ""
        (folder / f".{name}{extension}").replace(folder / f"{name}{extension}")

    def _notebooks_of(self, student: str) -> dict[str, list[str]]:
        folder = self._format_source(self.coursedir.assignment_id, student)
        return {folder: glob(f"{escape(folder)}/{self.coursedir.notebook_id}.ipynb")}  # noqa: PTH207


def for_feedback(config: Any, assignment: str) -> tuple[Any, bool]:
    """Return a copy of `config` for writing an assignment's pages, and whether to compute late penalties beforehand.

    If true, the copy lacks the step for late penalties, because several processes would write to the gradebook at once.
    The step stays behind an instructor's own step or hook, which may give points.
    """
    config = deepcopy(config)
    config.CourseDirectory.assignment_id = assignment
    config.Exporter.optimistic_validation = True  # validate once a page, not after each step
    settings = config.GenerateFeedback
    steps = list(settings.get("preprocessors", ()))
    if settings.get("pre_convert_hook") is not None or steps[:1] != [PENALTIES]:
        return config, False
    settings.preprocessors = steps[1:]
    return config, True
