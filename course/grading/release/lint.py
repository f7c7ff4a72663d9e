"""Find faults in a topic's notebook that a program can notice before a student does."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

from course.course import Course
from course.grading.course_files.cells import BEGIN, END, SOLUTION_SUFFIX, STUBS
from course.grading.course_files.course_folder import notebook_path, release_path, source_path
from course.grading.course_files.setup_cell import is_setup
from course.grading.release.class_text import faults, fitted
from course.grading.release.pictures import is_still
from course.grading.release.source import build
from course.grading.release.steps import choose_question, tell_dates, tell_points
from course.outline import QUESTIONS
from course.problem import Problem
from course.source import parsed
from course.syllabus import Topic

if TYPE_CHECKING:
    from nbformat import NotebookNode


NEAR = 20
"""The most minutes by which a notebook may differ from the syllabus, because texts say "about two hours"."""

SHORTEST = 45
"""The least minutes of a whole notebook; shorter durations are those of an exercise or a training."""

_WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5}
_NUMBER = rf"({'|'.join(_WORDS)}|\d+(?:\.\d+)?)"
_HALF = r"(\s+and\s+a\s+half)?"
_HOURS = re.compile(
    rf"(?<!half )\b{_NUMBER}(?:\s+to\s+{_NUMBER})?{_HALF}\s+(?:hours?|h)\b{_HALF}"
    r"(?:\s+(?:and\s+)?(\d+)(?:\s+minutes)?)?",
    re.I,
)
_MINUTES = re.compile(r"\b(\d+)(?:\s+to\s+(\d+))?\s+minutes\b")


def stated_minutes(text: str) -> tuple[int, int] | None:
    """Return the first range of minutes that a text states for a whole notebook, or None."""
    if found := _HOURS.search(text):
        low, high, half_before, half_after, minutes = found.groups()
        more = (30 if half_before or half_after else 0) + int(minutes or 0)
        return _in_minutes(low, more), _in_minutes(high or low, more)
    for found in _MINUTES.finditer(text):
        low, high = int(found[1]), int(found[2] or found[1])
        if low >= SHORTEST:
            return low, high
    return None


def _in_minutes(hours: str, more: int) -> int:
    return round(60 * float(_WORDS.get(hours.lower(), hours))) + more


LONGEST_CELL = 30
"""The most lines of code in a cell, which fit a screen; blank lines and docstrings do not count."""
WIDEST_LINE = 100
"""The most characters of a line, which JupyterLab shows beside its file browser on a screen of 1,280 pixels."""
OF_A_QUESTION = {"hints": (2, 3), "criteria": (3, 4)}
"""The allowed numbers of hints and criteria of a written question."""

# What notebooks may import: the course's public side, and libraries it installs.
PUBLIC = frozenset({"blocks", "data", "show"})
PRIVATE = frozenset({"exercise", "judge", "grading", "hidden", "reference", "notebook", "cli"})


@dataclass(frozen=True)
class Complaint:
    """One fault to fix: `where` names file and cell, `what` describes it in a sentence."""

    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


def lint_topic(course: Course, topic: Topic) -> list[Complaint]:
    """Return all complaints about the topic's source and, if it exists, its release."""
    root = course.root
    source = source_path(root, topic)
    if not source.is_file():
        return [
            Complaint(str(source.relative_to(root)), f"there is no source for this topic, which {topic.named_in} names")
        ]
    try:
        notebook = build(course, source, topic)
    except Problem as problem:
        return [Complaint(str(source.relative_to(root)), str(problem))]
    released = release_path(root, topic)
    places = (released.parent, notebook_path(root, topic).parent)  # a release copies the files of the second
    complaints = lint_source(course, notebook, topic, places, source.name)
    if released.is_file():
        choose_question(notebook.cells, topic)
        tell_points(notebook.cells, topic, course.outline)
        tell_dates(notebook.cells, topic)
        complaints += lint_release(_read(released), notebook, str(released.relative_to(root)))
    complaints += [Complaint(topic.folder, fault) for fault in _streams(topic)]
    if topic.own:  # the course's own tests prove those of our topics
        from course.grading.release.prove_tests import proved

        complaints += [Complaint(f"exercises/{topic.folder}/hidden.py", fault) for fault in proved(topic)]
    elif topic in course.topics:
        complaints += [Complaint(topic.folder, fault) for fault in dict.fromkeys(_declarations(course, topic))]
        complaints += [Complaint(topic.folder, fault) for fault in _predictions(topic, notebook)]
        complaints += [Complaint(topic.folder, fault) for fault in _questions(topic)]
    return complaints


def _streams(topic: Topic) -> Iterator[str]:
    """Yield the tasks with a training budget but without batches."""
    from course.data.streams import STREAMS

    for item in topic.items:
        if item.budget is not None and item.name not in STREAMS:
            what = f"has no batches for {item.name}, which {topic.named_in} gives a training budget"
            yield f"STREAMS in course/data/streams.py {what}"


def _declarations(course: Course, topic: Topic) -> Iterator[str]:
    """Yield the faults that keep the hidden tests of one of our topics from being used."""
    from course.hidden import Undeclared, find

    for item in topic.items:
        try:
            if item.kind != "question":
                find(course, item.name)
        except Undeclared as fault:
            yield str(fault)


def _predictions(topic: Topic, notebook: NotebookNode) -> Iterator[str]:
    """Yield the faults in a topic's predictions; each must be asked once."""
    from course.hidden import predictions

    declared = predictions(topic)
    if (names := tuple(asked.name for asked in declared)) != topic.predictions:
        yield f"its predictions.py declares {names}, and {topic.named_in} names {topic.predictions}"
    for asked in declared:
        yield from asked.faults()
    calls = Counter(cell.source for cell in notebook.cells if cell.source.startswith("predict("))
    for name in topic.predictions:
        if calls[f'predict("{name}")'] != 1:
            yield f'the prediction {name!r} needs one cell in the notebook, predict("{name}")'
    for call in calls.keys() - {f'predict("{name}")' for name in topic.predictions}:
        yield f"a cell asks for a prediction that {topic.named_in} does not name: {call}"


def _questions(topic: Topic) -> Iterator[str]:
    """Yield the faults in a topic's written questions: missing or empty hints and criteria."""
    from course.hidden import question_criteria, question_hints

    where = f"course/hidden/{topic.name}/question.py"
    for number in QUESTIONS:
        asked = replace(topic, question=number)
        try:
            told = {"hints": question_hints(asked), "criteria": question_criteria(asked)}
        except ModuleNotFoundError:
            yield f"there is no {where}. Write it, with HINTS and CRITERIA for the written question"
            return
        except AttributeError as error:
            yield f"{where} has no {error.name}. Write it"
            return
        except IndexError:
            yield f"OTHERS in {where} must be a tuple of two more questions"
            return
        for what, declared in told.items():
            for name, texts in declared.items():
                if not isinstance(texts, tuple) or len(texts) not in OF_A_QUESTION[what]:
                    many = " or ".join(("two", "three", "four")[n - 2] for n in OF_A_QUESTION[what])
                    yield f"question {number} in {where} must have a tuple of {many} {what} for {name}"
                elif not all(text.strip() for text in texts):
                    yield f"one of the {what} in {where} is empty"


def lint_source(
    course: Course, notebook: NotebookNode, topic: Topic, folders: Sequence[Path], name: str
) -> list[Complaint]:
    """Return complaints about a built notebook with its solutions; relative links are followed from `folders`."""
    cells = notebook.cells
    found = [
        *_titles(cells, topic),
        *_imports(cells),
        *_items(cells, topic),
        *_check_cells(cells, topic),
        *_solution_markers(cells),
        *_lengths(cells),
        *pictures_without_text(cells),
        *dangling_links(cells, folders),
        *_boxes(cells, course.known_folders),
        *_stated_time(cells, topic),
    ]
    return [Complaint(f"{name}, cell {index + 1}" if index is not None else name, what) for index, what in found]


def lint_release(released: NotebookNode, solved: NotebookNode, name: str) -> list[Complaint]:
    """Return complaints about a released notebook: a solution's line left in it, a marker, an output."""
    allowed = set(STUBS) | {line.strip() for cell in solved.cells for line in given_lines(cell)}
    found: list[Complaint] = []
    for index, cell in enumerate(released.cells):
        where = f"{name}, cell {index + 1}"
        if BEGIN in cell.source or END in cell.source:
            found.append(Complaint(where, "a solution's marker was not removed"))
        strange = [line.strip() for line in cell.source.splitlines() if line.strip() not in allowed]
        if strange:
            what = f"the source does not give students this line, or the release is old: {strange[0]!r}"
            found.append(Complaint(where, what))
        if not all(map(is_still, cell.get("outputs", ()))):
            found.append(Complaint(where, "it has outputs"))
    return found


def given_lines(cell: NotebookNode) -> Iterator[str]:
    """Yield the lines of a source cell that students receive: those outside its solution."""
    marks = cell.metadata.get("nbgrader", {})
    if cell.cell_type == "markdown" and marks.get("solution") and BEGIN not in cell.source:
        return
    hidden = False
    for line in cell.source.splitlines():
        if line.strip() == BEGIN:
            hidden = True
        elif line.strip() == END:
            hidden = False
        elif not hidden:
            yield line


def solution_lines(notebook: NotebookNode) -> list[str]:
    """Return the stripped lines that only the solutions hold, none of which may reach a student."""
    given = {line.strip() for cell in notebook.cells for line in given_lines(cell)}
    every = (line.strip() for cell in notebook.cells for line in cell.source.splitlines())
    return sorted({line for line in every if line and line not in given and line not in (BEGIN, END)})


Found = Iterator[tuple[int | None, str]]


def _titles(cells: Sequence[NotebookNode], topic: Topic) -> Found:
    titles = [(index, line[2:]) for index, line in _markdown_lines(cells) if line.startswith("# ")]
    if not cells or not titles or titles[0][0] != 0:
        yield 0, "the notebook does not open with a title"
        return
    if titles[0][1] != (wanted := topic.heading):
        yield 0, f"the title is {titles[0][1]!r}, but {topic.named_in} says {wanted!r}"
    for index, title in titles[1:]:
        yield index, f"{title!r} is a second title. Begin sections with ##"
    last = 1
    for index, line in _markdown_lines(cells):
        level = len(line) - len(line.lstrip("#"))
        if line.startswith("#") and line[level:].startswith(" "):
            if level > last + 1:
                yield index, f"the heading {line!r} skips a level"
            last = level


def _stated_time(cells: Sequence[NotebookNode], topic: Topic) -> Found:
    """Find a stated duration, above the first graded cell, that differs from the syllabus."""
    graded = (index for index, cell in enumerate(cells) if "nbgrader" in cell.metadata)
    opening = cells[: next(graded, len(cells))]
    lines = (line for _, line in _markdown_lines(opening) if not line.startswith("#"))
    stated, planned = stated_minutes("\n".join(lines)), sum(item.minutes for item in topic.in_source)
    if stated and not stated[0] - NEAR <= planned <= stated[1] + NEAR:
        said = " to ".join(dict.fromkeys(map(str, stated)))
        yield 0, f"the notebook says that it takes {said} minutes, but {topic.named_in} says {planned}"


def _imports(cells: Sequence[NotebookNode]) -> Found:
    code = [(index, cell) for index, cell in enumerate(cells) if cell.cell_type == "code" and not is_setup(cell)]
    for position, (index, cell) in enumerate(code):
        tree = parsed(cell.source)
        if tree is None:
            yield index, "this is not Python"
            continue
        kinds = [isinstance(node, (ast.Import, ast.ImportFrom)) for node in tree.body]
        if position == 0 and not all(kinds):
            yield index, "the first code cell holds something besides imports"
        if position and any(kinds):
            yield index, "imports belong in the first code cell"
        for module in imported_modules(tree):
            if _is_private(module):
                yield index, f"a notebook must not import {module}, which students do not have"


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """Yield the dotted names of all imports, with `from course import data` as `course.data`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_private(module: str) -> bool:
    parts = module.split(".")
    return parts[0] == "course" and len(parts) > 1 and parts[1] in PRIVATE


def _items(cells: Sequence[NotebookNode], topic: Topic) -> Found:
    ids = Counter(cell.metadata.nbgrader.grade_id for cell in cells if "nbgrader" in cell.metadata)
    for item in topic.in_source:
        wanted = [item.name] if item.kind == "question" else [item.name, item.name + SOLUTION_SUFFIX]
        for grade_id in wanted:
            if ids[grade_id] != 1:
                kind = "solution" if grade_id != item.name else "question" if item.kind == "question" else "check"
                yield None, f"{item.name!r} has {ids[grade_id] or 'no'} {kind} cell{'s' * (ids[grade_id] > 1)}"


def _check_cells(cells: Sequence[NotebookNode], topic: Topic) -> Found:
    items = {item.name for item in topic.in_source}
    for index, cell in enumerate(cells):
        marks = cell.metadata.get("nbgrader", {})
        name = marks.get("grade_id", "")
        if name not in items:  # an instructor's own cell, which nbgrader grades
            continue
        if marks.get("grade") and marks.get("solution"):
            if index == 0 or cells[index - 1].cell_type != "markdown":
                yield index, f"the question {name!r} has no prompt in the cell above"
        elif marks.get("grade"):
            if not re.fullmatch(rf'check\("{re.escape(name)}", [\w.]+\)', cell.source):
                yield index, f'a check cell must be one line, check("{name}", ...)'
            above = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in cells[max(0, index - 2) : index]]
            near = above if name.endswith("_task") else above[-1:]
            if name + SOLUTION_SUFFIX not in near:
                yield index, f"the check of {name!r} does not stand right below its solution"


def _solution_markers(cells: Sequence[NotebookNode]) -> Found:
    for index, cell in enumerate(cells):
        marks = [line.strip() for line in cell.source.splitlines() if line.strip() in (BEGIN, END)]
        balanced = marks == [BEGIN, END] * (len(marks) // 2)
        is_answer = cell.metadata.get("nbgrader", {}).get("solution", False)
        if is_answer and (not balanced or (not marks and cell.cell_type == "code")):
            yield index, f"a solution cell needs lines {BEGIN!r} and {END!r}, in pairs"
        elif marks and not is_answer:
            yield index, "solution markers stand outside a solution cell"
        elif not marks and ("BEGIN SOLUTION" in cell.source or "END SOLUTION" in cell.source):
            yield index, f"nbgrader would read this as a marker. Write {BEGIN!r} on a line of its own"


def _lengths(cells: Sequence[NotebookNode]) -> Found:
    for index, cell in enumerate(cells):
        if cell.cell_type != "code" or is_setup(cell):
            continue
        if (count := _code_lines(cell)) > LONGEST_CELL:
            yield index, f"the cell has {count} lines of code, but only {LONGEST_CELL} fit a screen"
        if (widest := max((len(line) for line in cell.source.splitlines()), default=0)) > WIDEST_LINE:
            yield index, f"a line has {widest} characters, but only {WIDEST_LINE} fit a screen"


def _code_lines(cell: NotebookNode) -> int:
    """Return the number of lines with code, without blank lines and docstrings."""
    lines = {number for number, line in enumerate(cell.source.splitlines(), 1) if line.strip()}
    for node in ast.walk(parsed(cell.source) or ast.Module([], [])):
        is_definition = isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.AsyncFunctionDef))
        if is_definition and ast.get_docstring(node) is not None:  # type: ignore[arg-type]
            docstring = node.body[0]  # type: ignore[attr-defined]
            lines -= set(range(docstring.lineno, docstring.end_lineno + 1))
    return len(lines)


def pictures_without_text(cells: Sequence[NotebookNode]) -> Found:
    """Find pictures without alternative text for screen readers."""
    for index, line in _markdown_lines(cells):
        for image in re.findall(r"!\[([^\]]*)\]\(", line):
            if not image.strip():
                yield index, "a picture has no alt text"
        for image in re.findall(r"<img\b[^>]*>", line):
            if not re.search(r"""\balt=["'][^"']""", image):
                yield index, "an <img> has no alt text"


def dangling_links(cells: Sequence[NotebookNode], folders: Sequence[Path]) -> Found:
    """Find links to headings and files that do not exist."""
    anchors = {_anchor(line.lstrip("#").strip()) for _, line in _markdown_lines(cells) if line.startswith("#")}
    for index, line in _markdown_lines(cells):
        for target in re.findall(r"\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", line):
            path, _, anchor = unquote(target).partition("#")
            if re.match(r"[a-z][a-z0-9+.-]*:", target) or target.startswith("//"):
                continue
            if path and not any((folder / path).exists() for folder in folders):
                yield index, f"the link {target} leads nowhere from {folders[0].name}/"
            elif not path and _anchor(anchor) not in anchors:
                yield index, f"no heading is called {anchor!r}"


def _boxes(cells: Sequence[NotebookNode], known: Collection[str]) -> Found:
    for index, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            found = list(faults(cell.source, known))
            yield from ((index, fault) for fault in found)
            if not found and "nbgrader" in cell.metadata and fitted(cell.source, known) != cell.source:
                yield index, "a graded cell holds a box that depends on topics. Put it into a cell of its own"


def _anchor(heading: str) -> str:
    """Return Jupyter's anchor of a heading, without markup and in lower case (as GitHub's is)."""
    return re.sub(r"[`*_$]", "", heading).replace(" ", "-").lower()


def _markdown_lines(cells: Sequence[NotebookNode]) -> Iterator[tuple[int, str]]:
    """Yield the lines of all Markdown cells outside code blocks, each with its cell's index."""
    for index, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        fenced = False
        for line in cell.source.splitlines():
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield index, line


def _read(path: Path) -> NotebookNode:
    import nbformat

    return nbformat.read(path, as_version=4)
