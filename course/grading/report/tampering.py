"""What in a submission is worth a second look: edited tests, forbidden calls, code that reaches for the grader.

None of it earns points, as verdicts are made outside the student's process. Most of it is innocent; all of it is for
a person to judge.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from course.grading.notebooks import grade_id
from course.judge.verdict import Verdict

REACHING = {
    "socket": "opens sockets",
    "subprocess": "starts programs",
    "multiprocessing": "starts processes",
    "ctypes": "calls into C",
    "urllib": "asks for web pages",
    "requests": "asks for web pages",
    "httpx": "asks for web pages",
    "gc": "looks through the interpreter's objects",
    "inspect": "looks at other code's source",
    "signal": "handles signals",
    "pickle": "reads or writes pickles",
}
"""Modules that no answer needs, and what they are for."""

CALLS = {
    "os._exit": "ends the process",
    "os.kill": "sends signals",
    "os.fork": "starts processes",
    "os.system": "starts programs",
    "os.popen": "starts programs",
    "os.environ": "reads the environment",
    "os.getenv": "reads the environment",
    "sys.settrace": "traces other code",
    "sys.modules": "looks at loaded modules",
    "sys._getframe": "looks at its callers",
}
"""Names that no answer needs, and what they are for."""

PLACES = ("/proc", "/etc", "/root", "/home", "/autograder", "course/hidden", "course/reference", "gradebook.db")
"""Paths no answer needs."""

COURSE_OWN = frozenset({"check", "fit", "hint", "progress", "load"})
"""What notebooks import from the course, and nobody needs to define anew."""

PATCHED = frozenset({"torch", "course", "builtins", "nn", "F", "math", "np", "numpy"})
"""Modules whose functions nobody needs to replace."""


@dataclass(frozen=True)
class Sign:
    """Something noticed in a student's submission: what, and the line it stands in, if it is one."""

    student: str
    what: str
    line: str = ""


def signs(
    student: str,
    notebook: NotebookNode | None,
    locked: Mapping[str, str],
    given: frozenset[str],
    verdicts: Mapping[str, Verdict],
) -> Iterator[Sign]:
    """What is worth a second look in one submission.

    Args:
        notebook: as it was handed in, or None where it cannot be read.
        locked: the sources of the released notebook's locked cells, by id.
        given: the sources of its other code cells.
        verdicts: what the judge said, by exercise.
    """
    for verdict in verdicts.values():
        if verdict.kind == "forbidden":
            yield Sign(student, f"{verdict.exercise}: a forbidden call. {verdict.message}".strip())
    if notebook is None:
        return
    yield from _edited(student, notebook, locked)
    for cell in notebook.cells:
        if cell.get("cell_type") == "code" and grade_id(cell) not in locked and cell.source not in given:
            for what, line in dict.fromkeys(_reaching(cell.source)):
                yield Sign(student, what, line)


def _edited(student: str, notebook: NotebookNode, locked: Mapping[str, str]) -> Iterator[Sign]:
    """Locked cells that were changed, deleted or tagged; grading had put them right before it ran anything."""
    found = {grade_id(cell): cell for cell in notebook.cells}
    changed = [
        name for name, source in locked.items() if name in found and found[name].source.strip() != source.strip()
    ]
    missing = [name for name in locked if name not in found]
    tagged = [name for name in locked if name in found and found[name].metadata.get("tags")]
    for names, what in ((changed, "edited"), (missing, "deleted"), (tagged, "tagged")):
        if names and len(names) < len(locked) + (what != "deleted"):
            yield Sign(student, f"{what} {_listed(names, 'locked cell')}; put right before grading")
    if missing and len(missing) == len(locked):
        yield Sign(student, "every locked cell had lost its marks; put back before grading")


def _reaching(source: str) -> Iterator[tuple[str, str]]:
    """What code of a cell reaches for, with the line; of code that does not parse, nothing is known."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = source.splitlines()
    for node in ast.walk(tree):
        for what in _of(node):
            line = getattr(node, "lineno", 1)
            yield what, lines[line - 1].strip()[:160] if line <= len(lines) else ""


def _of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        for name in names:
            if name.partition(".")[0] in REACHING:
                yield f"imports {name}, which {REACHING[name.partition('.')[0]]}"
    elif isinstance(node, ast.Attribute):
        if (name := ast.unparse(node)) in CALLS:
            yield f"uses {name}, which {CALLS[name]}"
        elif node.attr in ("ast_transformers", "events") and "get_ipython" in name:
            yield f"changes how cells run: {name}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        place = next((place for place in PLACES if place in node.value), "")
        if place and "\n" not in node.value:
            yield f"names the path {place}"
    else:
        yield from _replaced(node)


def _replaced(node: ast.AST) -> Iterator[str]:
    """Functions of the course or of a library that are defined anew."""
    targets: Sequence[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = (node.target,)
    elif isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name in COURSE_OWN:
        yield f"defines {node.name} anew"
    for target in targets:
        if isinstance(target, ast.Name) and target.id in COURSE_OWN:
            yield f"defines {target.id} anew"
        elif isinstance(target, ast.Attribute) and (name := ast.unparse(target)).partition(".")[0] in PATCHED:
            yield f"replaces {name}"


def _listed(names: Sequence[str], noun: str) -> str:
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"{len(names)} {noun}{'s' * (len(names) != 1)} ({shown})"
