"""Mechanical mutants: a solution with one operator, constant, argument, slice, condition or statement changed.

`python -m tests.hidden.mechanical 06` prints those of a topic that keep full marks, as `survivors.toml` lists them.
"""

from __future__ import annotations

import ast
import copy
import os
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.grading.authoring.source import build
from course.grading.cells import BEGIN, END, SOLUTION_SUFFIX, grade_id
from course.syllabus import Topic
from tests.hidden.judged import key_at, points_for
from tests.original import ORIGINAL, find_topic, points_of

ROOT = Path(__file__).parents[2]
SEEDS = (3, 42)
SYMMETRIC = {"max", "min", "maximum", "minimum", "transpose", "allclose"}
"""Functions that do not ask for the order of their arguments, so an exchange is no mistake."""
SECONDS, BYTES = 20, 6 << 30
"""What judging one mutant may take: a changed condition can make an endless loop, a changed constant a huge tensor."""

Change = Callable[[Any], object]
"""Changes a node of a syntax tree in place."""

OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
    ast.USub: ast.UAdd,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


@dataclass(frozen=True)
class Mutant:
    """A solution cell with one change: the statement as it was and as it is now, and the whole cell's source."""

    was: str
    now: str
    source: str


# -- making them -------------------------------------------------------------------------------------------------------


def mutants(cell: str) -> Iterator[Mutant]:
    """Yield every mutant of a solution cell, with one change each between BEGIN SOLUTION and END SOLUTION."""
    tree, seen = ast.parse(cell), {ast.unparse(ast.parse(cell))}
    for index in _places_in_solution(tree, cell):
        for change in _changes(_nodes(tree)[index]):
            mutated = copy.deepcopy(tree)
            change(_nodes(mutated)[index])
            source = ast.unparse(ast.fix_missing_locations(mutated))
            if source not in seen:
                seen.add(source)
                yield Mutant(*_statement_that_differs(tree, mutated), source)


def _nodes(tree: ast.AST) -> list[ast.AST]:
    return list(ast.walk(tree))


def _places_in_solution(tree: ast.AST, cell: str) -> Iterator[int]:
    """Yield the indices of the nodes to change. Signatures, docstrings and error messages are left out."""
    lines = [line.strip() for line in cell.splitlines()]
    spans = list(
        zip(
            [n for n, line in enumerate(lines, 1) if line == BEGIN],
            [n for n, line in enumerate(lines, 1) if line == END],
            strict=True,
        )
    )
    words = {id(node) for error in ast.walk(tree) if isinstance(error, ast.Raise) for node in ast.walk(error)}
    for index, node in enumerate(_nodes(tree)):
        line = getattr(node, "lineno", None)
        inside = line is not None and any(begin < line < end for begin, end in spans)
        if id(node) not in words and (inside or isinstance(node, ast.FunctionDef)):
            yield index


def _changes(node: ast.AST) -> Iterator[Change]:
    """Yield the possible changes of one node, without those of its children."""
    match node:
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign():
            yield from _exchanged(node.op, "op")
        case ast.UnaryOp(op=ast.USub()):
            yield from _exchanged(node.op, "op")
        case ast.UnaryOp():  # not x, ~x
            yield lambda n: setattr(n, "operand", ast.UnaryOp(n.op, n.operand))
        case ast.Compare(ops=[op]):
            yield from _exchanged(op, "ops", wrap=True)
        case ast.Constant(value=bool(value)):
            yield lambda n: setattr(n, "value", not value)
        case ast.Constant(value=int(value)):
            yield lambda n: setattr(n, "value", value + 1)
            yield lambda n: setattr(n, "value", value - 1)
        case ast.Constant(value=float(value)):
            yield lambda n: setattr(n, "value", 2 * value or 1.0)
        case ast.Slice():
            for end in ("lower", "upper", "step"):
                if getattr(node, end) is not None:
                    yield lambda n, end=end: setattr(n, end, None)
        case ast.Call():
            yield from _arguments(node)
        case ast.If() | ast.IfExp() | ast.While():
            yield lambda n: setattr(n, "test", ast.UnaryOp(ast.Not(), n.test))
            if not isinstance(node, ast.While):
                yield lambda n: setattr(n, "test", ast.Constant(True))
                yield lambda n: setattr(n, "test", ast.Constant(False))
    if not isinstance(node, ast.ClassDef | ast.Module):
        yield from _statements_left_out(node)


def _exchanged(op: ast.AST, field: str, wrap: bool = False) -> Iterator[Change]:
    if other := OPERATORS.get(type(op)):
        yield lambda n: setattr(n, field, [other()] if wrap else other())


def _arguments(call: ast.Call) -> Iterator[Change]:
    for i in range(len(call.keywords)):
        yield lambda n, i=i: n.keywords.pop(i)
    if ast.unparse(call.func).rpartition(".")[2] not in SYMMETRIC:
        for i in range(len(call.args) - 1):
            yield lambda n, i=i: n.args.insert(i, n.args.pop(i + 1))
    if len(call.args) > 1:
        yield lambda n: n.args.pop()


def _statements_left_out(node: ast.AST) -> Iterator[Change]:
    for field in ("body", "orelse"):
        statements = getattr(node, field, None)
        for i, statement in enumerate(statements if isinstance(statements, list) else ()):
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            if not is_text and not isinstance(statement, ast.Pass | ast.FunctionDef):
                yield lambda n, field=field, i=i: getattr(n, field).__setitem__(i, ast.Pass())


def _statement_that_differs(before: ast.AST, after: ast.AST) -> tuple[str, str]:
    """Return the lines that a change alters, before and after it, as `ast.unparse` writes them."""
    was, now = (ast.unparse(tree).splitlines() for tree in (before, after))
    while was and now and was[0] == now[0]:
        was.pop(0), now.pop(0)
    while was and now and was[-1] == now[-1]:
        was.pop(), now.pop()
    return "\n".join(was).strip(), "\n".join(now).strip()


# -- judging them ------------------------------------------------------------------------------------------------------


def solutions(topic: Topic) -> dict[str, str]:
    """Return a topic's solution cells by exercise. Training tasks are left out, because they take a training."""
    cells = _cells(topic)
    named = {grade_id(cell).removesuffix(SOLUTION_SUFFIX): cell.source for cell in cells if BEGIN in cell.source}
    return {item.name: named[item.name] for item in topic.items if item.kind == "exercise"}


def survivors(topic: Topic, name: str) -> list[Mutant]:
    """Return the mutants of an exercise's solution that get full marks."""
    space = definitions(topic)
    for seed in SEEDS:
        key_at(name, seed)  # made once, and not by each mutant's process
    return [mutant for mutant in mutants(solutions(topic)[name]) if _gets_full_marks(name, mutant, space)]


def _cells(topic: Topic) -> list[Any]:
    notebook = build(ORIGINAL, ROOT / "solutions" / f"{topic.folder}.py", topic)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def definitions(topic: Topic) -> dict[str, Any]:
    """Return what a topic's cells import and define. Their other statements, such as trainings, do not run."""
    space: dict[str, Any] = {}
    for cell in _cells(topic):
        for statement in ast.parse(cell.source).body:
            if isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef):
                with suppress(NameError):  # a default that is drawn or trained above
                    exec(compile(ast.Module([statement], []), "cell", "exec"), space)
    return space


def _gets_full_marks(name: str, mutant: Mutant, space: dict[str, Any]) -> bool:
    """Return whether a mutant gets full marks, judged in a child process with limits on memory and processor time."""
    reading, writing = os.pipe()
    if not (child := os.fork()):
        try:
            resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))
            resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            own = dict(space)
            exec(compile(mutant.source, "cell", "exec"), own)
            full = all(points_for(name, own[name], seed) == points_of(name) for seed in SEEDS)
            os.write(writing, b"1" if full else b"0")
        finally:
            os._exit(0)
    os.close(writing)
    said = os.read(reading, 1)
    os.close(reading)
    os.waitpid(child, 0)
    return said == b"1"


def main() -> None:
    for given in sys.argv[1:]:
        topic = find_topic(given)
        for name in solutions(topic):
            for mutant in survivors(topic, name):
                print(f"[[{name}]]\nwas = '''{mutant.was}'''\nnow = ['''{mutant.now}''']\nwhy = ''\n", flush=True)


if __name__ == "__main__":
    main()
