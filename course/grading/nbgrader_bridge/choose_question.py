"""Define the release step that puts in the written question chosen in `course.toml`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import NbGraderPreprocessor

from course.grading.cells import grade_id
from course.grading.nbgrader_bridge.course_of import course_of
from course.syllabus import Topic

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
