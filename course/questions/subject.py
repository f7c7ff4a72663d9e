"""The text that questions are about: an answer as its author typed it, without comments and docstrings."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

MOST_LINES, MOST_SIGNS = 45, 120
"""Lines and signs a line that a question shows at most."""

MOST_TEXT, MOST_CODE, MOST_WIDTH = 20_000, 8_000, 500
"""Signs that are read at all, those that are asked about, without comments, and those of a line."""

_ACTS, _METHODS = {"open", "exec", "eval", "input", "__import__"}, {"save", "write_text", "write_bytes", "savefig"}
"""Names of functions and methods that reach out of a computation. No changed copy of such code is executed."""

_ARITHMETIC = {"float", "int", "bool", "dict", "sum", "max", "min", "len", "map"}


class Unaskable(Exception):
    """Nothing can be asked about an answer. The message says why, as the end of "… so there is nothing to ask."."""


@dataclass(frozen=True)
class Subject:
    """An answer with its name, its source, the setup that the source needs, and the calls that it is asked about."""

    name: str
    source: str
    setup: str
    calls: tuple[str, ...]

    @cached_property
    def lines(self) -> list[str]:
        """Return the lines of the source."""
        return self.source.splitlines()

    @cached_property
    def tree(self) -> ast.Module:
        """Return the parsed source."""
        return ast.parse(self.source)

    @cached_property
    def parameters(self) -> list[str]:
        """Return the names of the positional parameters of the answer, without `self`."""
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef) and node.name == self.name:
                return [argument.arg for argument in [*node.args.posonlyargs, *node.args.args]]
            if isinstance(node, ast.ClassDef) and node.name == self.name:
                made = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
                return [argument.arg for argument in made[0].args.args[1:]] if made else []
        return []


def subject(name: str, source: str, setup: str, calls: Iterable[str], called: str = "") -> Subject:
    """Return the subject for an answer that `source` defines as `name`. In `calls` it is named `called`.

    Raises:
        Unaskable: the source is too long or too short, or it does more than compute.
    """
    if len(source) > MOST_TEXT:
        raise Unaskable("it is too long")
    try:
        bare = _bare(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise Unaskable("it is no plain Python") from None
    if len(bare) > MOST_CODE:
        raise Unaskable("it is too long")
    if max(map(len, bare.splitlines()), default=0) > MOST_WIDTH:
        raise Unaskable(f"one of its lines has more than {MOST_WIDTH} characters")
    named = (re.sub(rf"\b{re.escape(called or name)}\b(?=\()", name, call) for call in calls)
    made = Subject(name, bare, setup, tuple(map(_in_lines, named)))
    _demand_a_computation(made.tree)
    return made


def _in_lines(call: str) -> str:
    """Return a call with each of its statements on a line of its own."""
    statements = (ast.get_source_segment(call, statement) for statement in ast.parse(call).body)
    return "\n".join(filter(None, statements))


def _demand_a_computation(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        function = node.func if isinstance(node, ast.Call) else None
        acts = getattr(function, "id", "") in _ACTS or getattr(function, "attr", "") in _METHODS
        if isinstance(node, (ast.Import, ast.ImportFrom)) or acts:
            raise Unaskable("it does more than compute, such as opening a file or importing a module")
    body = [statement for f in tree.body if isinstance(f, ast.FunctionDef) for statement in f.body]
    calls = (node for node in ast.walk(tree) if isinstance(node, (ast.Call, ast.MatMult)))
    plain = all(isinstance(c, ast.Call) and getattr(c.func, "id", "") in _ARITHMETIC for c in calls)
    if len(body) == 1 and isinstance(body[0], ast.Return) and plain and not isinstance(tree.body[0], ast.ClassDef):
        raise Unaskable("it is too short")


def _bare(source: str) -> str:
    """Return the source without comments, docstrings and empty lines. Everything else stays as it was typed."""
    lines, dropped = source.splitlines(), set[int]()
    for node in ast.walk(ast.parse(source)):
        body = node.body if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)) else []
        if len(body) > 1 and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant):
            dropped |= set(range(body[0].lineno, (body[0].end_lineno or 0) + 1))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]]
    kept = (line.rstrip() for number, line in enumerate(lines, 1) if number not in dropped and line.strip())
    text = "\n".join(kept) + "\n"
    ast.parse(text)
    return text


def excerpt(subject: Subject, touched: Iterable[int]) -> str | None:
    """Return the numbered lines of a source for a question about some of them, or None if they are too many.

    A long source shows only the functions with those lines in full, and of all others the first line.
    """
    numbered = escaped("\n".join(f"{number:3} {line}" for number, line in enumerate(subject.lines, 1))).split("\n")
    if len(numbered) > MOST_LINES:
        about = set(touched)
        for node in ast.walk(subject.tree):
            if isinstance(node, ast.FunctionDef):
                first, last = node.body[0].lineno, node.end_lineno or 0
                if first > node.lineno and not about & set(range(node.lineno, last + 1)):
                    numbered[first - 1 : last] = ["    " + " " * node.body[0].col_offset + "…"] + [""] * (last - first)
    kept = [line for line in numbered if line]
    fits = len(kept) <= MOST_LINES and max(map(len, kept)) <= MOST_SIGNS + 4
    return "\n".join(kept) if fits else None


def escaped(text: str) -> str:
    r"""Return the text with signs that nobody sees, such as those that turn the direction of writing, as `\\u202e`."""
    if text.isascii():
        return text
    hidden = (unicodedata.category(sign) in ("Cc", "Cf") and sign not in "\n\t" for sign in text)
    return "".join(f"\\u{ord(sign):04x}" if hides else sign for sign, hides in zip(text, hidden, strict=True))
