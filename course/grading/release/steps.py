"""Define our steps of nbgrader's release: stills of widgets, the chosen question, boxes, exercises without points."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.course_files.cells import grade_id
from course.grading.nbgrader_bridge.course_of import course_of
from course.grading.release.class_text import EXTRA, OPTIONAL, fitted, mark, window, without
from course.grading.release.pictures import output_of, still_of
from course.outline import Outline
from course.syllabus import Topic


class AddStills(NbGraderPreprocessor):
    """A step of making a release: it gives each cell that shows a widget its picture, where one exists."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Put the widget's picture into the cell's outputs."""
        found = still_of(resources["nbgrader"]["assignment"], cell)
        if found is not None and found.is_file():
            cell.outputs = [output_of(found)]
        return cell, resources


_HEADING = re.compile(r"^(## In your own words.*)$(?s:.*)", re.M)
"""The heading above a written question, and all text below the heading."""


class ChooseQuestion(NbGraderPreprocessor):
    """A step of making a release: it puts the chosen question under the heading above its answer cell."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Replace the question's text, unless the class gets the first question or the assignment is no topic."""
        topic = course_of(self).topic_in(resources["nbgrader"]["assignment"])
        if topic is not None:
            choose_question(nb.cells, topic)
        return nb, resources


def choose_question(cells: Iterable[NotebookNode], topic: Topic) -> None:
    """Replace the text of a topic's written question in `cells`, unless the class gets the first one."""
    if topic.question == 1:
        return
    from course.hidden import other_question  # imported late because it loads torch, which is slow

    question = other_question(topic)
    assert question is not None
    names = {item.name for item in topic.items if item.kind == "question"}
    for asked, answer in pairwise(cells):
        if grade_id(answer) in names:
            asked.source = _HEADING.sub(lambda found: f"{found[1]}\n\n{question.prompt}", asked.source)


class FitBoxes(NbGraderPreprocessor):
    """A step of making a release: it keeps only the text boxes for this class's topics, and drops cells left empty."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Fit every Markdown cell that is not graded."""
        topics = {topic.folder for topic in course_of(self).topics}
        kept = []
        for cell in nb.cells:
            if cell.cell_type == "markdown" and "nbgrader" not in cell.metadata:
                text = fitted(cell.source, topics)
                if cell.source.strip() and not text.strip():
                    continue
                cell.source = text
            kept.append(cell)
        nb.cells = kept
        return nb, resources


class FitWithoutPoints(NbGraderPreprocessor):
    """A step of making a release: it removes what the course drops, and marks optional exercises and extra credit."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Change the notebook of a topic."""
        course = course_of(self)
        topic = course.topic_in(resources["nbgrader"]["assignment"])
        if topic is not None:
            nb.cells = without(nb.cells, {item.name for item in topic.dropped})
            tell_points(nb.cells, topic, course.outline)
        return nb, resources


def tell_points(cells: Sequence[NotebookNode], topic: Topic, outline: Outline) -> None:
    """Mark exercises in `cells` that are optional or extra credit."""
    mark(cells, {item.name for item in topic.items if not item.points}, OPTIONAL)
    mark(cells, outline.final.extra_credit if outline.final else (), EXTRA)


class TellDates(NbGraderPreprocessor):
    """A step of making a release: it writes below the title when the notebook opens and is due."""

    def preprocess(self, nb: NotebookNode, resources: dict[str, Any]) -> tuple[NotebookNode, dict[str, Any]]:
        """Add a line to the first text of a topic with such dates, in the class's time zone."""
        topic = course_of(self).topic_in(resources["nbgrader"]["assignment"])
        if topic is not None:
            tell_dates(nb.cells, topic)
        return nb, resources


def tell_dates(cells: Iterable[NotebookNode], topic: Topic) -> None:
    """Write below the title, the first line of the first text, when the topic's notebook opens and is due."""
    text = next((cell for cell in cells if cell.cell_type == "markdown"), None)
    if text is not None and (told := window(topic.opens, topic.due)):
        title, _, below = text.source.partition("\n")
        text.source = "\n\n".join(filter(None, [title, told, below.strip("\n")]))
