"""Find code in a submission that deserves a second look.

This covers edited tests, forbidden calls and ways around them, code that tries to reach the grader, and weights that
are read from a file or written as literals.

Verdicts are made outside the student's process, so tampering earns nothing, but working around a forbidden call or
copying weights may. Most findings are innocent, and a person has to judge all of them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from nbformat import NotebookNode

from course.grading.course_files.cells import grade_id
from course.grading.report.detours import as_text, detours, dotted, notebook_names
from course.grading.report.statements import COURSE_OWN, Statement, imported, statements, targets
from course.judge.verdict import Verdict

REACHING = {
    "socket": "opens sockets",
    "subprocess": "starts programs",
    "multiprocessing": "starts processes",
    "ctypes": "calls into C",
    "urllib": "asks for web pages",
    "requests": "asks for web pages",
    "httpx": "asks for web pages",
    "importlib": "imports modules by their names",
    "gc": "looks through the interpreter's objects",
    "inspect": "looks at other code's source",
    "signal": "handles signals",
    "pickle": "reads or writes pickles",
}
"""Modules that no answer needs, with their use."""

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
"""Names that no answer needs, with their use."""

PLACES = ("/proc", "/etc", "/root", "/home", "/autograder", "course/hidden", "course/reference", "gradebook.db")
"""Paths that no answer needs."""

FROM_FILES = frozenset({
    "torch.load", "torch.from_file", "torch.hub.load", "torch.hub.load_state_dict_from_url",
    "safetensors.safe_open", "safetensors.torch.load_file", "safetensors.torch.load_model", "safetensors.torch.load",
    "safetensors.numpy.load_file", "numpy.load", "numpy.loadtxt", "numpy.genfromtxt", "numpy.fromfile", "numpy.memmap",
    "joblib.load",
})  # fmt: skip
"""Functions that read weights from a file; no answer needs them, because `fit` loads its own checkpoints."""

MOST_NUMBERS = 200
"""The most number literals in one statement: the course's solutions, alternatives and mutants have at most 30."""

LONGEST_WORD = 1000
"""The most characters of a string without whitespace: weights in base64 have thousands."""

PATCHED = frozenset({"torch", "course", "builtins", "nn", "F", "math", "np", "numpy"})
"""Modules whose functions no answer needs to replace."""


@dataclass(frozen=True)
class Sign:
    """A finding in a student's submission: its description, its line of code, and the exercise of its cell."""

    student: str
    what: str
    line: str = ""
    exercise: str = ""


def signs(
    student: str,
    notebook: NotebookNode | None,
    locked: Mapping[str, str],
    given: frozenset[str],
    verdicts: Mapping[str, Verdict],
    forbidden: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[Sign]:
    """Yield the findings in the code of one submission that deserve a second look.

    Args:
        notebook: the notebook as submitted, or None if it cannot be read.
        locked: the sources of the released notebook's locked cells, by id.
        given: the sources of its other code cells.
        verdicts: the judge's verdicts by exercise.
        forbidden: the calls that each exercise forbids.
    """
    for verdict in verdicts.values():
        if verdict.kind == "forbidden":
            yield Sign(
                student, f"made a forbidden call, which earned nothing: {verdict.message}", exercise=verdict.exercise
            )
    if notebook is None:
        return
    yield from _edited(student, notebook, locked)
    written = statements(notebook, locked, given)
    told: set[tuple[str, str]] = set()
    for exercise, calls in (forbidden or {}).items():
        if exercise in verdicts and verdicts[exercise].kind != "forbidden":
            for what, line in dict.fromkeys(detours(written, exercise, calls, forbidden or {})):
                told.add((what, line))
                yield Sign(student, what, line, exercise)
    known = notebook_names(written)
    for statement in written:
        for what, line in dict.fromkeys(_reaching(statement, known)) if statement.own else ():
            if (what, line) not in told:
                told.add((what, line))
                yield Sign(student, what, line, statement.of if statement.of in verdicts else "")


def _edited(student: str, notebook: NotebookNode, locked: Mapping[str, str]) -> Iterator[Sign]:
    """Yield findings on locked cells that were changed, deleted or tagged, which grading restored before execution."""
    found = {grade_id(cell): cell for cell in notebook.cells}
    changed = [
        name for name, source in locked.items() if name in found and found[name].source.strip() != source.strip()
    ]
    missing = [name for name in locked if name not in found]
    tagged = [name for name in locked if name in found and found[name].metadata.get("tags")]
    for names, what in ((changed, "edited"), (missing, "deleted"), (tagged, "tagged")):
        if names and len(names) < len(locked) + (what != "deleted"):
            yield Sign(student, f"{what} {_listed(names, 'locked cell')}, which grading restored")
    if missing and len(missing) == len(locked):
        yield Sign(student, "every locked cell had lost nbgrader's metadata, which grading restored")


def _reaching(statement: Statement, known: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield suspicious code in a statement, each with its line."""
    yield from as_text(statement, known)
    for name in sorted(statement.binds & COURSE_OWN - imported(statement.node)):
        yield f"defines {name} anew", statement.line(statement.node)
    for node in ast.walk(statement.node):
        with suppress(RecursionError):  # the code was parsed on a shallower call stack
            for what in _of(node, known):
                yield what, statement.line(node)
    if (count := sum(1 for _ in _numbers(statement.node))) > MOST_NUMBERS:
        yield f"holds {count:,} numbers, written out", statement.line(statement.node)


def _of(node: ast.AST, known: Mapping[str, str]) -> Iterator[str]:
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
    elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        yield from _told_by_text(node.value)
    elif isinstance(node, ast.Call):
        if (name := dotted(node.func, known)) in FROM_FILES:
            yield f"reads numbers from a file: {name}"
    else:
        yield from _replaced(node)


def _told_by_text(value: str | bytes) -> Iterator[str]:
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    place = next((place for place in PLACES if place in text), "")
    if place and "\n" not in text:
        yield f"names the path {place}"
    if len(longest := max(text.split(), key=len, default="")) > LONGEST_WORD:
        yield f"holds a string of {len(longest):,} characters without a space"
    elif len(text) > LONGEST_WORD and sum(map(str.isdigit, text)) > len(text) / 3:
        yield f"holds a string of {len(text):,} characters, most of them digits"


def _numbers(node: ast.AST) -> Iterator[ast.Constant]:
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and type(inner.value) in (int, float, complex):
            yield inner


def _replaced(node: ast.AST) -> Iterator[str]:
    """Yield the functions of a library that an assignment replaces."""
    for target in targets(node):
        if isinstance(target, ast.Attribute) and (name := ast.unparse(target)).partition(".")[0] in PATCHED:
            yield f"replaces {name}"


def _listed(names: Sequence[str], noun: str) -> str:
    shown = ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")
    return f"{len(names)} {noun}{'s' * (len(names) != 1)} ({shown})"
