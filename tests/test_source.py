"""Whatever stands in a student's cell is read, or is no Python."""

from __future__ import annotations

import ast
import gc

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from course.source import parsed, tree


@pytest.mark.parametrize(
    ("cell", "line"),
    [
        ("f(1)", 1),
        ("%matplotlib inline\nf(1)", 2),
        ("!pip list\n\n%time\nf(1)", 4),
        ("files = !ls\nf(1)", 2),
        ("!pip install \\\n  einops\nf(1)", 3),
        ("files = !ls \\\n -l \\\n /\nf(1)", 4),
        ("torch.softmax??\n?f\nf(1)", 3),
        ("%%time\nf(1)", 2),
        ("def g():\n    %time\n    f(1)", 3),
        ("x = (7\n% 4)\nf(1)", 3),
        ('"""\n% a table\n! of signs"""\nf(1)', 4),
    ],
)
def test_every_line_keeps_its_number_and_its_meaning(cell: str, line: int) -> None:
    found = parsed(cell)
    assert found is not None
    (call,) = [node for node in ast.walk(found) if isinstance(node, ast.Call)]
    assert (call.lineno, ast.unparse(call)) == (line, "f(1)")


def test_what_stands_beside_a_magic_is_read_as_it_is() -> None:
    assert ast.dump(parsed("y = 7 % 4") or ast.Module([], [])) == ast.dump(ast.parse("y = 7 % 4"))


@pytest.mark.parametrize("cell", ["", "# nothing", "%time", "\n\n!ls"])
def test_an_empty_cell_holds_no_statement_of_its_own(cell: str) -> None:
    found = parsed(cell)
    assert found is not None and all(isinstance(node, ast.Pass) for node in found.body)


@pytest.mark.parametrize("cell", ["what is this?", "def f(:", "x = '\0'", "(" * 5_000])
def test_no_python_is_nothing(cell: str) -> None:
    assert parsed(cell) is None


@given(st.text(max_size=60))
@example("x" + " + x" * 50_000)
@settings(max_examples=200, derandomize=True)
def test_any_text_is_read_or_is_nothing(cell: str) -> None:
    found = parsed(cell)
    assert found is None or isinstance(found, ast.Module)


class Dying:
    """Garbage in a circle, at whose end Python has something else parsed, as when a traceback is written."""

    def __init__(self) -> None:
        self.itself = self

    def __del__(self) -> None:
        compile("1 + 1", "<end>", "eval", ast.PyCF_ONLY_AST)


def test_a_module_is_read_though_garbage_is_collected_amid_it():
    """Python before 3.11.8 loses count of its depth there, and raises a SystemError."""
    gc.disable()
    try:
        for _ in range(5):
            Dying()
    finally:
        gc.enable()
    assert len(tree(b"x = [f(a, b) for a in c]\n" * 2000).body) == 2000
