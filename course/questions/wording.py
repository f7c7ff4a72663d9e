"""How a question says things: a change, a call with many arguments, and what several calls share."""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from functools import cache

from .changes import Change
from .executing import NOTES
from .outcomes import Value, said
from .subject import Subject

WIDE, MOST_CALL = 62, 230
"""Length from which a call is written with the names of its arguments, and the most that a question shows."""

_TIMES = ("once", "twice", "three times", "four times")


def code(text: str) -> str:
    """Return lines as a block of code."""
    return textwrap.indent(text, "    ")


def tokens(text: str) -> set[str]:
    """Return the numbers with their signs, and the names in a text. `2.` is the same as `2`."""
    plain = re.sub(r"\b(np|math|torch)\.inf", "inf", text)
    found = re.findall(r"(?<![\w)\]])-?(?:\d+\.?\d*|inf\b)|[^\W\d]\w*", plain)
    return {re.sub(r"\.0*$", "", part) for part in found}


def helpers(text: str, subject: Subject) -> str:
    """Return a line for each helper that calls in a text use, which says what it does."""
    used = [name for name in NOTES if re.search(rf"\b{name}\(", text)]
    own = {name for name in used if re.search(rf"\b(def|class) {name}\b", subject.source)}
    return "".join(f"\n`{name}`: {NOTES[name]}" for name in used if name not in own)


def times(number: int) -> str:
    """Return how often something happens, up to four times."""
    return _TIMES[number - 1]


def returns(outcome: Value) -> str:
    """Return what a call does, as a verb: `returns 3`, or that it stops."""
    return "stops with an error" if outcome.kind == "error" else f"returns `{said(outcome)}`"


def as_choice(change: Change) -> str:
    """Return a change as a choice, which says what a line becomes."""
    lines, now = _lines(change), textwrap.dedent(change.now).strip()
    if change.kind == "statement removed":
        return f"{lines} {_are(change)} removed."
    if change.kind == "lines exchanged":
        return f"Lines {change.line} and {change.last} change places."
    verb = "becomes" if change.last == change.line else "become"
    return f"{lines} {verb} `{now}`" if "\n" not in now else f"{lines} {verb}\n{code(now)}"


def as_reason(change: Change) -> str:
    """Return a change inside a sentence, on one line."""
    said_ = " ".join(as_choice(change).split()).rstrip(".")
    return said_[0].lower() + said_[1:]


def as_premise(change: Change) -> str:
    """Return a change as the beginning of a question, with the text before and after it."""
    if change.kind in ("statement removed", "lines exchanged"):
        return as_choice(change)
    was, now = (code(textwrap.dedent(text)) for text in (change.was, change.now))
    return f"{_lines(change)} {_are(change)} changed from\n{was}\nto\n{now}"


def _lines(change: Change) -> str:
    return f"Line {change.line}" if change.last == change.line else f"Lines {change.line} to {change.last}"


def _are(change: Change) -> str:
    return "is" if change.last == change.line else "are"


@dataclass(frozen=True)
class CallParts:
    """A call of an answer in parts: setup lines, what stands before and behind the call, and its arguments by name."""

    setup: str
    before: str
    arguments: tuple[tuple[str, str], ...]
    behind: str

    @property
    def names(self) -> list[str]:
        """Return the names of the arguments."""
        return [name for name, _ in self.arguments]

    def is_like(self, other: CallParts) -> bool:
        """Return whether two calls differ at most in the values of their arguments."""
        around = (self.setup, self.before, self.behind) == (other.setup, other.before, other.behind)
        return around and self.names == other.names


@cache
def parts_of(call: str, subject: Subject) -> CallParts | None:
    """Return the parts of a call, or None if it calls the answer more than once or hands over `*arguments`."""
    *setup, last = call.splitlines()
    nodes = [node for node in ast.walk(ast.parse(last, mode="eval")) if isinstance(node, ast.Call)]
    made = [node for node in nodes if isinstance(node.func, ast.Name) and node.func.id == subject.name]
    if len(made) != 1 or any(isinstance(argument, ast.Starred) for argument in made[0].args):
        return None
    node, names = made[0], subject.parameters
    if len(node.args) > len(names) or not last.isascii():
        return None
    given = [*zip(names, node.args, strict=False), *((key.arg or "", key.value) for key in node.keywords)]
    arguments = tuple((name, ast.get_source_segment(last, value) or "") for name, value in given)
    return CallParts("\n".join(setup), last[: node.col_offset], arguments, last[node.end_col_offset :])


def shown_call(call: str, subject: Subject) -> str:
    """Return a call as a question shows it. A long one has the names of its arguments, on several lines if needed."""
    parts = parts_of(call, subject) if len(call.splitlines()[-1]) > WIDE else None
    if parts is None or len(parts.arguments) < 2:
        return call
    given = [f"{name}={value}" for name, value in parts.arguments]
    start = f"{parts.before}{subject.name}("
    if len(start) > 24:
        start, indent = f"{start}\n    ", " " * 4
    else:
        indent = " " * len(start)
    rows = [given[0]]
    for piece in given[1:]:
        if len(rows[-1]) + len(piece) > 66:
            rows.append(piece)
        else:
            rows[-1] += f", {piece}"
    made = start + f",\n{indent}".join(rows) + f"){parts.behind}"
    return f"{parts.setup}\n{made}" if parts.setup else made


def shared_call(calls: list[str], subject: Subject) -> tuple[str, list[str]] | None:
    """Return a call with `…` where calls differ, and for each call what stands there. None if that is no shorter."""
    parts = [made for made in (parts_of(call, subject) for call in calls) if made]
    if len(parts) < len(calls) or not all(parts[0].is_like(other) for other in parts):
        return None
    differ = [k for k, (_, value) in enumerate(parts[0].arguments) if any(p.arguments[k][1] != value for p in parts)]
    if (
        not differ
        or len(differ) == len(parts[0].arguments)
        or (max(map(len, calls)) <= WIDE and len(parts[0].names) < 3)
    ):
        return None
    each = [", ".join(f"{p.arguments[k][0]} = {p.arguments[k][1]}" for k in differ) for p in parts]
    shown = [f"{name}={'…' if k in differ else value}" for k, (name, value) in enumerate(parts[0].arguments)]
    call = f"{parts[0].before}{subject.name}({', '.join(shown)}){parts[0].behind}"
    return (f"{parts[0].setup}\n{call}" if parts[0].setup else call), each
