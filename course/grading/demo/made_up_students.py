"""Make a class's submissions from a topic's solution, each with the verdict that it must get.

One student has everything right, and one left the notebook blank. There is one student for each kind of failure, and
one for a misconception of each exercise, with the wrong code from its hidden tests.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import json
import sys
import textwrap
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType, ModuleType
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from course.exercise.declaration import Exercise
from course.exercise.watch import forbidden_in_source
from course.grading.classroom.graded import Graded
from course.grading.course_files.cells import SOLUTION_SUFFIX
from course.syllabus import Topic


@dataclass(frozen=True)
class Expected:
    """The expected verdict on an exercise: full marks or not, its kind, and the name of its misconception."""

    full: bool
    kind: str = ""
    misconception: str = ""

    def differs(self, graded: Graded, name: str) -> str:
        """Return how the verdict on `name` differs from the expected one, or an empty string."""
        verdict = graded.verdicts.get(name)
        if verdict is None or graded.scores is None:
            return f"{name} has no verdict"
        score, points = graded.scores.cells.get(name), graded.scores.maxima.get(name)
        if (score == points) != self.full:
            return f"{name} got {score} of {points}"
        if self.kind and verdict.kind != self.kind:
            return f"{name} was judged {verdict.kind}, not {self.kind}"
        if self.misconception and verdict.misconception != self.misconception:
            return f"{name} shows {verdict.misconception or 'no misconception'}, not {self.misconception}"
        return ""


RIGHT = Expected(True)
ZERO = Expected(False)


@dataclass(frozen=True)
class MadeUpStudent:
    """A student of the class with a submission and its expected verdicts.

    `file` is the notebook's file name if it is not the topic's; `refused` is part of the reason for not grading it.
    """

    name: str
    notebook: NotebookNode | str
    expected: dict[str, Expected] = field(default_factory=dict)
    file: str = ""
    trained: bool = True
    refused: str = ""

    def surprises(self, graded: Graded) -> list[str]:
        """Return a line for each difference between the grading and the expected one."""
        if self.refused:
            told = self.refused in graded.reason
            return [] if told else [f"{self.name} should have been refused: {graded.reason or 'it was graded'}"]
        if graded.reason:
            return [f"{self.name} was not graded: {graded.reason}"]
        differences = (expected.differs(graded, name) for name, expected in self.expected.items())
        return [f"{self.name}: {difference}" for difference in differences if difference]


def made_up_students(
    topic: Topic, solution: NotebookNode, release: NotebookNode, find: Callable[[str], Exercise]
) -> list[MadeUpStudent]:
    """Return the class for `topic`, given its notebook with and without solutions."""
    names = [item.name for item in topic.judged]
    exercises = [item.name for item in topic.items if item.kind == "exercise"]
    everything = dict.fromkeys(names, RIGHT)
    return [
        MadeUpStudent("perfect", deepcopy(solution), everything),
        MadeUpStudent("blank", deepcopy(release), dict.fromkeys(names, ZERO), trained=False),
        _half_done(solution, release, names),
        *_misunderstand(solution, [find(name) for name in exercises]),
        *_stumble(topic, solution, exercises, everything),
        *_cheat(solution, exercises, names),
    ]


def _half_done(solution: NotebookNode, release: NotebookNode, names: list[str]) -> MadeUpStudent:
    done = names[: len(names) // 2]
    notebook = deepcopy(release)
    for name in done:
        _cell(notebook, name + SOLUTION_SUFFIX).source = _cell(solution, name + SOLUTION_SUFFIX).source
    expected = {name: RIGHT if name in done else ZERO for name in names}
    return MadeUpStudent("half_done", notebook, expected, trained=False)


def _misunderstand(solution: NotebookNode, exercises: list[Exercise]) -> Iterator[MadeUpStudent]:
    """Yield a student for each exercise, with its first misconception whose code can run in a notebook."""
    for exercise in exercises:
        for misconception in exercise.misconceptions:
            source = standalone_source(misconception.wrong, exercise.name)
            if source and not forbidden_in_source(source, exercise.forbidden):
                wrong = Expected(False, misconception=misconception.name)
                yield MadeUpStudent(
                    misconception.name, _answering(solution, exercise.name, source), {exercise.name: wrong}
                )
                break


def _stumble(
    topic: Topic, solution: NotebookNode, exercises: list[str], everything: dict[str, Expected]
) -> Iterator[MadeUpStudent]:
    """Yield students whose notebook fails: an error, an endless loop, a copied cell, an exit, or a wrong file."""
    first, last = exercises[0], exercises[-1]
    raises = f'def {last}(*args, **kwargs):\n    raise ZeroDivisionError("division by zero")'
    yield MadeUpStudent("raises", _answering(solution, last, raises), {first: RIGHT, last: Expected(False, "error")})
    loops = f"def {last}(*args, **kwargs):\n    while True:\n        pass"
    yield MadeUpStudent(
        "endless_loop", _answering(solution, last, loops), {first: RIGHT, last: Expected(False, "time")}
    )
    yield MadeUpStudent("copied_cell", _copied(solution, first), everything)
    middle = exercises[len(exercises) // 2]
    yield MadeUpStudent(
        "exits", _before(solution, middle, "import os\nos._exit(0)"), _until(solution, middle, everything)
    )
    name = f"{topic.folder}.ipynb"
    yield MadeUpStudent("no_notebook", "%PDF-1.7 my homework as a scan", refused="is a PDF")
    yield MadeUpStudent("renamed", deepcopy(solution), file="final version (2).ipynb", refused=f"{name} is missing")


def _cheat(solution: NotebookNode, exercises: list[str], names: list[str]) -> Iterator[MadeUpStudent]:
    """Yield students who try to earn points without an answer."""
    name, others = exercises[0], {other: ZERO for other in names if other == exercises[0]}
    edited = _answering(solution, name, f"{name} = None")
    for cell in edited.cells:
        if cell.metadata.get("nbgrader", {}).get("grade") and cell.cell_type == "code":
            cell.source = "100"
            cell.metadata["tags"] = ["skip-execution"]
    yield MadeUpStudent("edits_the_tests", edited, others)
    report = f'def check(name, answer):\n    print("✓ {name}: full marks")\n    return 100.0'
    faked = _before(_answering(solution, name, f"{name} = None"), name, report)
    yield MadeUpStudent("fake_report", faked, others)


def standalone_source(wrong: Callable[..., Any], name: str) -> str:
    """Return source that defines `wrong` as `name`, with all it needs from its module and from the references.

    The result is empty if the source cannot be found.
    """
    parts: dict[str, str] = {}
    imports: set[str] = set()
    if not _gather(wrong, name, parts, imports):
        return ""
    return "\n\n\n".join(["\n".join(sorted(imports)), *parts.values()]).strip()


def _gather(thing: Any, name: str, parts: dict[str, str], imports: set[str]) -> bool:
    """Collect the definition of `thing` and before it those of the names it uses; returns whether all were found."""
    if not isinstance(thing, FunctionType | type):
        return False
    definition = _definition(thing)
    if definition is None or not _is_own(definition, thing):
        return False
    own, definition.decorator_list, definition.name = definition.name, [], name
    space = vars(sys.modules[thing.__module__])
    definition = _Inlined(space).visit(definition)
    parts[name] = ""  # marks the name as visited, for definitions that use each other
    for used in _globals_of(definition):
        value = space.get(used, _reference(used, space))
        if used in parts or used == own or (value is None and hasattr(builtins, used)):
            continue
        if isinstance(value, ModuleType) and not value.__name__.startswith("course"):
            imports.add(f"import {value.__name__} as {used}" if value.__name__ != used else f"import {used}")
        elif isinstance(value, int | float | str):
            parts[used] = f"{used} = {value!r}"
        elif getattr(value, "__module__", "").startswith("course.data."):  # students have this module, too
            imports.add(f"from {value.__module__} import {used}")
        elif getattr(value, "__module__", "").startswith("course."):
            if not _gather(value, used, parts, imports):
                return False
        elif getattr(value, "__module__", ""):
            imports.add(f"from {value.__module__} import {used}")
        else:
            return False
    del parts[name]
    parts[name] = ast.unparse(definition)
    return True


def _definition(thing: Any) -> ast.FunctionDef | ast.ClassDef | None:
    """Return the statement that defines a function or a class, or None; a lambda becomes an equivalent function."""
    if isinstance(thing, FunctionType) and thing.__name__ == "<lambda>":
        return _spelt_out(thing)
    try:
        made = ast.parse(textwrap.dedent(inspect.getsource(thing))).body[0]
    except OSError:  # a class made without a class statement, on Python 3.13
        return None
    return made if isinstance(made, ast.FunctionDef | ast.ClassDef) else None


def _spelt_out(function: FunctionType) -> ast.FunctionDef | None:
    """Return a lambda of a module as a function with a `return`; None if the lambda has a closure."""
    module = ast.parse(inspect.getsource(sys.modules[function.__module__]))
    nodes = [node for node in ast.walk(module) if isinstance(node, ast.Lambda) and _is_within(function.__code__, node)]
    if function.__closure__ or not nodes:
        return None
    node = nodes[-1]  # the innermost of nested lambdas
    (made,) = ast.parse("def spelt_out(): ...").body
    assert isinstance(made, ast.FunctionDef)
    made.args, made.body = node.args, [ast.copy_location(ast.Return(node.body), node.body)]
    return made


def _is_within(code: CodeType, node: ast.Lambda) -> bool:
    """Whether all positions of the code lie in the body of a lambda."""
    body = node.body
    begins, ends = (body.lineno, body.col_offset), (body.end_lineno or 0, body.end_col_offset or 0)
    told = [place for place in code.co_positions() if all(place)]
    return bool(told) and all(begins <= (line, column) and (last, end) <= ends for line, last, column, end in told)


def _is_own(definition: ast.FunctionDef | ast.ClassDef, thing: Any) -> bool:
    """Whether `definition` defines `thing`: `inspect` returns wrong source for a class made without a statement."""
    if isinstance(definition, ast.FunctionDef):
        return True
    return len(definition.bases) == len(set(thing.__bases__) - {object})


RIGHT_ONE = "right_"


class _Inlined(ast.NodeTransformer):
    """A transformer that turns `reference.rnn_cell` into the local name `right_rnn_cell` and drops annotations."""

    def __init__(self, space: dict[str, Any]) -> None:
        self.space = space

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        module = self.space.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if isinstance(module, ModuleType) and module.__name__.startswith("course.reference."):
            return ast.Name(RIGHT_ONE + node.attr, ast.Load())
        return node

    def visit_arg(self, node: ast.arg) -> ast.AST:
        node.annotation = None
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        node.returns = None
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        self.generic_visit(node)
        return ast.Assign([node.target], node.value, lineno=node.lineno) if node.value else ast.Pass()


def _reference(used: str, space: dict[str, Any]) -> Any:
    """Return the reference that a name such as `right_rnn_cell` stands for, or None."""
    if not used.startswith(RIGHT_ONE):
        return None
    modules = (value for value in space.values() if isinstance(value, ModuleType))
    references = (module for module in modules if module.__name__.startswith("course.reference."))
    return next((getattr(module, used.removeprefix(RIGHT_ONE), None) for module in references), None)


def _globals_of(definition: ast.AST) -> list[str]:
    """Return the names that a definition uses and does not bind itself."""
    nodes = list(ast.walk(definition))
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    bound |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    used = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    return [name for name in dict.fromkeys(used) if name not in bound]


def _cell(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def _answering(solution: NotebookNode, name: str, source: str) -> NotebookNode:
    notebook = deepcopy(solution)
    _cell(notebook, name + SOLUTION_SUFFIX).source = source
    return notebook


def _before(solution: NotebookNode, name: str, source: str) -> NotebookNode:
    notebook = deepcopy(solution)
    index = notebook.cells.index(_cell(notebook, name))
    notebook.cells.insert(index, new_code_cell(source))
    return notebook


def _copied(solution: NotebookNode, name: str) -> NotebookNode:
    """Return the notebook with a graded cell copied below itself as Jupyter does it, with all its metadata."""
    notebook = deepcopy(solution)
    cell = _cell(notebook, name)
    again = deepcopy(cell)
    again.id = new_code_cell().id
    notebook.cells.insert(notebook.cells.index(cell) + 1, again)
    return notebook


def _until(solution: NotebookNode, name: str, everything: dict[str, Expected]) -> dict[str, Expected]:
    """Return the expected verdicts if the kernel ends at the check of `name`: missing from there on."""
    marks = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in solution.cells]
    end = marks.index(name)
    return {
        other: expected if marks.index(other) < end else replace(ZERO, kind="missing")
        for other, expected in everything.items()
    }


def text_of(notebook: NotebookNode | str) -> str:
    """Return a notebook as the text of its file."""
    return notebook if isinstance(notebook, str) else json.dumps(notebook)
