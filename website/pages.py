"""Released notebooks as pages in Markdown, with the figures of an executed copy and nothing of a solution.

What a page shows is the release, as students get it. Outputs come from a copy that was executed with the solutions in
it, and only those of cells that the release gives out as they stand: never of an answer, never of a check.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from course.exercise.prediction import Prediction
from course.grading.course_files.setup_cell import ABOVE, is_setup
from website.frames import MARK, MIME, player
from website.quiz import quiz

SOURCE = "course_source"
"""Where an executed copy's metadata keeps the digest of the source it was made from."""

WIDGET = "application/vnd.jupyter.widget-view+json"
PICTURES = {"image/png": "png", "image/jpeg": "jpg", "image/svg+xml": "svg"}
ABOUT_ONESELF = ("progress(", "hint(", "rubric(")
"""How cells begin that tell whoever runs them how far they are: nobody, on a page."""


@dataclass
class Page:
    """A notebook's page: Markdown, and its pictures by file name."""

    text: str = ""
    pictures: dict[str, bytes] = field(default_factory=dict)


def digest(source: str) -> str:
    """What tells whether an executed copy was made from this source."""
    return hashlib.sha256(source.encode()).hexdigest()


def page(
    name: str,
    release: NotebookNode,
    executed: NotebookNode | None = None,
    predictions: Sequence[Prediction] = (),
) -> Page:
    """The page of the notebook called `name`; without an `executed` copy it has no outputs."""
    asked = {f'predict("{prediction.name}")': prediction for prediction in predictions}
    made = Page()
    outputs = given_outputs(release, executed) if executed is not None else {}
    moving = recorded_frames(executed) if executed is not None else {}
    parts: list[str] = []
    section = name
    for index, cell in enumerate(release.cells):
        if cell.cell_type == "markdown":
            section = _heading(cell.source) or section
            parts.append(_prose(cell.source))
        elif cell.source in asked:
            parts.append(quiz(asked[cell.source]))
        elif cell.cell_type == "code" and not is_setup(cell):
            parts.append(_fenced(cell.source, "python"))
            if recorded := moving.get(cell.get("id", "")):
                figure, files = player(recorded, f"{name}-{index}")
                made.pictures |= files
                parts.append(_one_block(figure))
                continue
            for number, output in enumerate(outputs.get(index) or cell.get("outputs", ())):
                parts.append(_output(output, f"{name}-{index}-{number}", section, made.pictures))
    made.text = "\n\n".join(part for part in parts if part) + "\n"
    return made


def given_outputs(release: NotebookNode, executed: NotebookNode) -> dict[int, list[NotebookNode]]:
    """The outputs of the release's given code cells, by index: what an executed cell of the same id and text has."""
    done = {cell.id: cell for cell in executed.cells if cell.cell_type == "code" and "nbgrader" not in cell.metadata}
    found: dict[int, list[NotebookNode]] = {}
    for index, cell in enumerate(release.cells):
        same = done.get(cell.get("id", ""))
        if cell.cell_type != "code" or "nbgrader" in cell.metadata or cell.source.startswith(ABOUT_ONESELF):
            continue
        if same and same.source == cell.source:
            found[index] = list(_joined(same.outputs))
    return found


def recorded_frames(executed: NotebookNode) -> dict[str, Any]:
    """Return the frames of each widget that an executed copy recorded, by the id of the widget's cell."""
    outputs = [(cell.id, output) for cell in executed.cells for output in cell.get("outputs", ())]
    return {name.removeprefix(MARK): output.data[MIME] for name, output in outputs if MIME in output.get("data", {})}


def _joined(outputs: list[NotebookNode]) -> Iterator[NotebookNode]:
    """What a cell printed piece by piece, as one."""
    for kind, group in groupby(outputs, key=lambda output: output.get("name", "") if "text" in output else ""):
        if kind:
            yield new_output("stream", name=kind, text="".join(output.text for output in group))
        else:
            yield from group


def _heading(source: str) -> str:
    headings = re.findall(r"^#+ (.+)$", source, re.M)
    return headings[-1] if headings else ""


def _prose(source: str) -> str:
    """A Markdown cell: links to other notebooks lead to their pages, lists stand apart from what is before them.

    The Markdown in a fold is read as such, which Jupyter does without being told, and there is no cell to run first.
    """
    source = source.replace(ABOVE, "")
    source = re.sub(r"<details><summary>([^?]*\?).*</summary>", r'<details markdown="1"><summary>\1</summary>', source)
    source = re.sub(r"\]\((?:\.\./)?(?:\w+/)?(\d\d_\w+)\.ipynb(#[^)]*)?\)", r"](\1.md)", source)
    source = re.sub(r"^\[!\[[^\n]*\]\([^\n]*\)\n?", "", source, flags=re.M)  # badges that open the notebook elsewhere
    return re.sub(r"(?m)^(?![-*|>#] |\d+\. |\s|\|)(.+)\n(?=[-*] |\d+\. |\|)", r"\1\n\n", source)


def _fenced(text: str, language: str) -> str:
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", text))])
    return f"{fence}{language}\n{text.rstrip()}\n{fence}" if text.strip() else ""


def _output(output: NotebookNode, name: str, section: str, pictures: dict[str, bytes]) -> str:
    if output.output_type == "stream":
        return _printed(output.text)
    data: dict[str, Any] = output.get("data", {})
    if output.output_type == "error" or WIDGET in data:
        return ""
    for kind, ending in PICTURES.items():
        if kind in data:
            picture = data[kind]
            file = f"{name}.{ending}"
            pictures[file] = picture.encode() if ending == "svg" else base64.b64decode(picture)
            about = output.get("metadata", {}).get(kind, {})
            alt = html.escape(_plain(about.get("alt") or f"Figure of the section {section}"))
            width = f' width="{about["width"]}"' if "width" in about else ""
            return f'<p class="figure"><img src="{file}" alt="{alt}"{width}></p>'
    if "text/html" in data:
        return f'<div class="output" tabindex="0">\n{_one_block(data["text/html"])}\n</div>'
    if "text/markdown" in data:
        return str(data["text/markdown"])
    return _printed(data.get("text/plain", ""))


def _printed(text: str) -> str:
    text = re.sub(r"\x1b\[[0-9;]*m", "", "".join(_last_of_each_line(text)))
    return f'<pre class="output" tabindex="0">{html.escape(text.rstrip())}</pre>' if text.strip() else ""


def _last_of_each_line(text: str) -> Iterator[str]:
    """Without what carriage returns have written over, as progress bars do."""
    for line in text.splitlines(keepends=True):
        yield line.rstrip("\r\n").rpartition("\r")[2] + "\n" if line.endswith("\n") else line.rpartition("\r")[2]


def _one_block(text: str) -> str:
    return re.sub(r"\n\s*\n", "\n", str(text))


def _plain(text: str) -> str:
    return re.sub(r"[`*$\\]", "", text)
