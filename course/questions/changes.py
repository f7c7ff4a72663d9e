"""Changes of one place in an answer's text, such as a term left out. Everything else stays as its author typed it."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

_OPERATORS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
              ast.FloorDiv: ("//", "%"), ast.Mod: ("%", "//"), ast.BitAnd: ("&", "|"),
              ast.BitOr: ("|", "&")}  # fmt: skip
_COMPARISONS = {ast.Lt: ("<", "<=", ">"), ast.LtE: ("<=", "<", ">="), ast.Gt: (">", ">=", "<"),
                ast.GtE: (">=", ">", "<="), ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.In: ("in", "not in"),
                ast.NotIn: ("not in", "in")}  # fmt: skip
_PAIRS = ("sum mean", "amax amin", "argmax argmin", "max min", "sigmoid tanh", "tril triu", "zeros ones", "sin cos",
          "zeros_like ones_like", "any all", "maximum minimum", "softmax log_softmax", "cumsum cumprod",
          "startswith endswith")  # fmt: skip
_SIBLINGS = {a: b for pair in _PAIRS for a, b in (pair.split(), pair.split()[::-1])}
_SIBLINGS |= {"relu": "tanh", "logsumexp": "amax", "silu": "relu", "logsigmoid": "sigmoid", "new_zeros": "new_ones",
              "repeat_interleave": "repeat"}  # fmt: skip
_BUILT_IN = {"sum": "max", "max": "min", "min": "max", "any": "all", "all": "any", "sorted": "list"}
_STEPS = {
    "T", "abs", "add", "amax", "any", "argsort", "bincount", "clamp", "clamp_min", "clip", "cumprod", "cumsum",
    "div", "dropout", "elu", "exp", "flip", "floor", "log", "log_softmax", "logsigmoid", "logsumexp", "lower",
    "mT", "masked_fill", "max", "maximum", "mean", "min", "minimum", "movedim", "mul", "neg", "norm",
    "normalize", "pad", "permute", "pow", "reciprocal", "relu", "repeat_interleave", "reversed", "roll",
    "rot90", "round", "rsqrt", "set", "sigmoid", "silu", "softmax", "softplus", "sorted", "sqrt", "square",
    "squeeze", "sub", "sum", "swapaxes", "t", "tanh", "transpose", "tril", "triu", "unique",
    "unique_consecutive", "unsqueeze",
}  # fmt: skip
"""Steps of a chain that may be left out."""
_QUIET = {
    "align_corners", "append", "as_tuple", "atol", "batch_first", "bias", "copy", "default", "device", "driver",
    "dtype", "errors", "flags", "full_matrices", "generator", "key", "maxsplit", "memory_format", "mode",
    "name", "non_blocking", "out", "padding_value", "persistent", "prepend", "requires_grad", "rtol", "size",
    "strict",
}  # fmt: skip
"""Keywords that are never changed, because they ask for a library's details."""
_CONVERSIONS = {
    "Tensor", "array", "as_tensor", "asarray", "bool", "clone", "contiguous", "copy", "cpu", "deepcopy",
    "detach", "dict", "double", "float", "from_numpy", "half", "int", "item", "list", "long", "numpy", "str",
    "tensor", "to", "tolist", "tuple", "type", "type_as",
}  # fmt: skip
_SYMMETRIC = {
    "Embedding", "Linear", "allclose", "array_equal", "einsum", "equal", "gcd", "getattr", "hasattr", "isclose",
    "isinstance", "logaddexp", "max", "maximum", "min", "minimum", "ones", "print", "randn", "rearrange",
    "reduce", "register_buffer", "setattr", "super", "swapaxes", "transpose", "zeros", "zip",
}  # fmt: skip
MODULES = {"torch", "F", "math", "np", "functional", "nn", "einops", "re", "itertools", "special", "operator"}
_RANKS = {ast.Add: 1, ast.Sub: 1, ast.Mult: 2, ast.Div: 2, ast.MatMult: 2, ast.FloorDiv: 2, ast.Mod: 2, ast.Pow: 4}
_OPEN = (ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp, ast.BoolOp, ast.Lambda)
"""Expressions that need parentheses beside an operator."""


@dataclass(frozen=True)
class Change:
    """A change of the text between `start` and `end` into `new`, which turns the lines `was` into `now`.

    `line` and `last` are the first and the last line that change. `source` is the whole changed text.
    """

    kind: str
    start: int
    end: int
    new: str
    line: int
    last: int
    was: str
    now: str
    source: str

    @property
    def place(self) -> tuple[int, int]:
        """Return where the text changes."""
        return self.start, self.end


Edit = tuple[str, int, int, str]
"""A kind of change, the start and the end of the text that is replaced, and the new text."""


class Text:
    """A source with its tree, and the text of each node."""

    def __init__(self, source: str) -> None:
        self.source, self.tree, self.lines = source, ast.parse(source), source.splitlines()
        self.parents = {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}
        self._first_lines: dict[ast.FunctionDef, dict[str, int]] = {}
        self._data = [line.encode() for line in source.splitlines(keepends=True)]
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._data[line - 1][:column].decode())

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends in the source."""
        first, last = self._at(node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
        return first, self._at(*last)

    def of(self, node: ast.AST) -> str:
        """Return the text of a node."""
        start, end = self.span(node)
        return self.source[start:end]

    def between(self, left: ast.AST, right: ast.AST, symbol: str) -> tuple[int, int] | None:
        """Return where a symbol stands between two nodes."""
        start, end = self.span(left)[1], self.span(right)[0]
        found = self.source.find(symbol, start, end)
        return (found, found + len(symbol)) if found >= 0 else None

    def in_parentheses(self, node: ast.AST) -> bool:
        """Return whether parentheses stand right around a node."""
        start, end = self.span(node)
        return self.source[start - 1 : start] == "(" and self.source[end : end + 1] == ")"

    def alone(self, part: ast.AST, node: ast.AST) -> str:
        """Return the text of a part of `node` for the node's place, with parentheses only where they are needed."""
        text, parent = self.of(part), self.parents.get(node)
        if self.in_parentheses(node) and not isinstance(parent, ast.Call):
            return text
        if isinstance(parent, ast.BinOp) and isinstance(part, ast.BinOp):
            outer, inner = _RANKS.get(type(parent.op), 9), _RANKS.get(type(part.op), 0)
            needed = inner < outer or (inner == outer and parent.right is node)
        elif isinstance(parent, ast.BoolOp):
            needed = isinstance(part, (ast.BoolOp, ast.IfExp, ast.Lambda))
        else:
            is_owner = isinstance(parent, (ast.Attribute, ast.Subscript)) and parent.value is node
            needed = isinstance(part, _OPEN) and (is_owner or isinstance(parent, (ast.BinOp, ast.UnaryOp, ast.Compare)))
        return f"({text})" if needed else text

    @cached_property
    def called(self) -> set[str]:
        """Return the names of all functions and methods that the source calls."""
        return {callee(node) for node in ast.walk(self.tree) if isinstance(node, ast.Call)}

    def first_lines(self, function: ast.FunctionDef) -> dict[str, int]:
        """Return the first line that sets each name of a function, and 0 for its arguments."""
        if function not in self._first_lines:
            self._first_lines[function] = self._find_first_lines(function)
        return self._first_lines[function]

    @staticmethod
    def _find_first_lines(function: ast.FunctionDef) -> dict[str, int]:
        first: dict[str, int] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                first[node.id] = min(node.lineno, first.get(node.id, node.lineno))
        return first | {node.arg: 0 for node in ast.walk(function) if isinstance(node, ast.arg)}

    @cached_property
    def quiet(self) -> set[ast.AST]:
        """Return the nodes whose change would ask for details of Python: annotations, defaults, errors, f-strings."""
        roots: list[ast.AST | None] = []
        for node in ast.walk(self.tree):
            if isinstance(node, (ast.FunctionDef, ast.Lambda)):
                arguments = [*node.args.args, *node.args.posonlyargs, *node.args.kwonlyargs]
                roots += [*node.args.defaults, *node.args.kw_defaults, *(a.annotation for a in arguments)]
            if isinstance(node, ast.FunctionDef):
                roots += [node.returns, *node.decorator_list]
            elif isinstance(node, ast.ClassDef):
                roots += [*node.bases, *node.decorator_list]
            elif isinstance(node, ast.AnnAssign):
                roots.append(node.annotation)
            elif isinstance(node, ast.keyword) and node.arg in _QUIET:
                roots.append(node.value)
            elif isinstance(node, (ast.Raise, ast.JoinedStr, ast.Assert)) or (
                isinstance(node, ast.Call) and callee(node) in ("super", "print", "isinstance", "register_buffer")
            ):
                roots.append(node)
        return {node for root in roots if root is not None for node in ast.walk(root)}

    def change(self, edit: Edit) -> Change:
        """Return the change that an edit makes."""
        kind, start, end, new = edit
        source = self.source[:start] + new + self.source[end:]
        old, fresh, first, behind = self.lines, source.splitlines(), 0, 0
        most = min(len(old), len(fresh))
        while first < most and old[first] == fresh[first]:
            first += 1
        while behind < most - first and old[-1 - behind] == fresh[-1 - behind]:
            behind += 1
        was, now = old[first : len(old) - behind], fresh[first : len(fresh) - behind]
        last = max(first + 1, len(old) - behind)
        return Change(kind, start, end, new, first + 1, last, "\n".join(was), "\n".join(now), source)


def callee(node: ast.Call) -> str:
    """Return the last name of what is called."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def is_of_module(node: ast.Call) -> bool:
    """Return whether a call is of a function of a module, such as `torch.exp(x)`, and of no method."""
    return isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") in MODULES


def all_changes(text: Text) -> list[Change]:
    """Return every change of a source, each text once."""
    found, known = [], {_squeezed(text.source)}
    for edit in _edits(text):
        change = text.change(edit)
        if (squeezed := _squeezed(change.source)) not in known and change.was:
            known.add(squeezed)
            found.append(change)
    return found


def _squeezed(source: str) -> str:
    return source.replace(" ", "").replace("\t", "")


def _edits(text: Text) -> Iterator[Edit]:
    for node in ast.walk(text.tree):
        if node not in text.quiet and type(node) in _RULES:
            yield from _RULES[type(node)](text, node)
    for node in ast.walk(text.tree):
        for part in ("body", "orelse"):
            body = getattr(node, part, None)
            if isinstance(body, list) and not isinstance(node, (ast.Module, ast.ClassDef)):
                yield from _statements(text, body)
    yield from _names(text)


def _operation(text: Text, node: ast.BinOp) -> Iterator[Edit]:
    kind, left, right = type(node.op), node.left, node.right
    if any(isinstance(side, ast.Constant) and isinstance(side.value, (str, bytes)) for side in (left, right)):
        return
    if kind in _OPERATORS and (place := text.between(left, right, _OPERATORS[kind][0])):
        yield "operator", *place, _OPERATORS[kind][1]
    if kind not in (ast.MatMult, ast.Mod):
        yield _part(text, "term left out", node, left)
    if kind in (ast.Add, ast.Mult, ast.BitAnd, ast.BitOr, ast.Sub):
        yield _part(text, "term left out", node, right)
    plain = all(isinstance(side, (ast.Name, ast.Attribute)) for side in (left, right))
    if kind in (ast.Sub, ast.MatMult) or (kind is ast.Div and plain):
        symbol = {ast.Sub: "-", ast.Div: "/", ast.MatMult: "@"}[kind]
        written = [f"({text.of(side)})" if isinstance(side, _OPEN) else text.of(side) for side in (right, left)]
        yield "exchanged operands", *text.span(node), f"{written[0]} {symbol} {written[1]}"


def _part(text: Text, kind: str, node: ast.AST, part: ast.AST) -> Edit:
    """Return the edit that makes a node one of its parts, without parentheses that have become idle."""
    start, end = text.span(node)
    simple = isinstance(part, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant))
    before = text.source[start - 2 : start - 1]
    if simple and text.in_parentheses(node) and not re.match(r"[\w\])]", before):
        return kind, start - 1, end + 1, text.of(part)
    return kind, start, end, text.alone(part, node)


def _sign(text: Text, node: ast.UnaryOp) -> Iterator[Edit]:
    if not (isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)):
        yield "sign or not left out", *text.span(node), text.alone(node.operand, node)


def _comparison(text: Text, node: ast.Compare) -> Iterator[Edit]:
    if len(node.ops) == 1 and type(node.ops[0]) in _COMPARISONS:
        symbol, *others = _COMPARISONS[type(node.ops[0])]
        if place := text.between(node.left, node.comparators[0], symbol):
            yield from (("comparison", *place, other) for other in others)


def _condition(text: Text, node: ast.BoolOp) -> Iterator[Edit]:
    symbol, other = (" and ", " or ") if isinstance(node.op, ast.And) else (" or ", " and ")
    if place := text.between(node.values[0], node.values[1], symbol):
        yield "and / or", *place, other
    if len(node.values) == 2:
        yield from (("condition left out", *text.span(node), text.of(value)) for value in node.values)


def _constant(text: Text, node: ast.Constant) -> Iterator[Edit]:
    parent, value, (start, end) = text.parents.get(node), node.value, text.span(node)
    if isinstance(value, bool):
        if not (isinstance(parent, ast.keyword) and parent.arg in ("keepdim", "keepdims")):  # may be left out
            yield "constant", start, end, str(not value)
    elif isinstance(value, int) and isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.USub):
        if value <= 3:
            yield from (("axis or index", *text.span(parent), str(-value + step)) for step in (-1, 1))
    elif isinstance(value, int) and abs(value) <= 16:
        is_axis = isinstance(parent, (ast.Call, ast.keyword, ast.Subscript, ast.Tuple, ast.Slice))
        kind = "axis or index" if is_axis else "constant"
        yield kind, start, end, str(value + 1)
        if value > 0 or is_axis:
            yield kind, start, end, str(value - 1)
    elif isinstance(value, float) and (0.01 <= abs(value) <= 100 or value == 0):
        yield "constant", start, end, repr(2 * value) if value else "1.0"
    elif isinstance(value, str) and isinstance(parent, ast.Call) and "->" in value:
        yield from (("einsum", start, end, repr(value)[0] + new + repr(value)[0]) for new in _patterns(value))


def _patterns(pattern: str) -> Iterator[str]:
    """Yield an einsum's pattern with another output, and with its inputs exchanged."""
    inputs, output = pattern.split("->")
    glue = " " if " " in output.strip() else ""
    letters = output.split() if glue else list(output.strip())
    if "(" in output or "." in output or len(letters) < 2:
        return
    for new in ([*letters[:-2], letters[-1], letters[-2]], letters[:-1], letters[1:]):
        yield f"{inputs}->{' ' if glue else ''}{glue.join(new)}"
    one = [part.strip() for part in inputs.split(",")]
    if len(one) == 2 and len(one[0]) == len(one[1]):
        yield f"{one[1]},{one[0]}->{output}"


def _slice(text: Text, node: ast.Slice) -> Iterator[Edit]:
    lower, upper, step = (text.of(part) if part else "" for part in (node.lower, node.upper, node.step))
    tail, place = f":{step}" if step else "", text.span(node)
    new = [f":{upper}{tail}"] * bool(lower) + [f"{lower}:{tail}"] * bool(upper) + [f"{lower}:{upper}"] * bool(step)
    new += {"1::": [":-1"], ":-1:": ["1:"]}.get(f"{lower}:{upper}:{step}", [])
    yield from (("slice", *place, one) for one in new)


def _choice(text: Text, node: ast.IfExp) -> Iterator[Edit]:
    body, other, test = text.of(node.body), text.of(node.orelse), text.of(node.test)
    yield from (("condition", *text.span(node), new) for new in (body, other, f"{other} if {test} else {body}"))


def _branch(text: Text, node: ast.If) -> Iterator[Edit]:
    raises = any(isinstance(part, ast.Raise) for statement in node.body for part in ast.walk(statement))
    if not raises and not isinstance(node.test, ast.UnaryOp):
        test = text.of(node.test)
        yield "condition", *text.span(node.test), f"not ({test})" if isinstance(node.test, _OPEN) else f"not {test}"


def _filter(text: Text, node: ast.comprehension) -> Iterator[Edit]:
    for test in node.ifs:
        start, end = text.span(test)
        yield "condition left out", text.source.rfind(" if ", 0, start), end, ""


def _call(text: Text, node: ast.Call) -> Iterator[Edit]:
    name, function, (start, end) = callee(node), node.func, text.span(node)
    if name in _CONVERSIONS:
        return
    behind = text.span(function)[1]
    if isinstance(function, ast.Name) and name in _BUILT_IN:
        yield "function", behind - len(name), behind, _BUILT_IN[name]
    elif name in _SIBLINGS:
        yield "function", behind - len(name), behind, _SIBLINGS[name]
    whole = getattr(function, "value", None)
    if name in _STEPS and whole is not None and not is_of_module(node):
        if not isinstance(whole, ast.Constant) and not (isinstance(whole, ast.Call) and callee(whole) == "super"):
            yield "step left out", start, end, text.alone(whole, node)
    elif name in _STEPS and node.args and not isinstance(node.args[0], (ast.Starred, ast.GeneratorExp)):
        yield "step left out", start, end, text.alone(node.args[0], node)
    for keyword in node.keywords:
        if name in ("clamp", "clip") and len(node.keywords) == 1:
            break  # without any bound it stops with an error, which looks like no clamp
        first, last = text.span(keyword)
        comma = text.source.rfind(",", start, first)
        if keyword.arg and keyword.arg not in _QUIET:
            if comma >= 0 and not text.source[comma + 1 : first].strip():
                yield "argument left out", comma, last, ""
            elif len(node.args) + len(node.keywords) == 1:
                yield "argument left out", first, last, ""
    if name not in _SYMMETRIC and 2 <= len(node.args) <= 4:
        yield from _exchanges(text, name, node.args)


def _exchanges(text: Text, name: str, arguments: list[ast.expr]) -> Iterator[Edit]:
    for number, (one, other) in enumerate(itertools.pairwise(arguments)):
        constant = (
            isinstance(one, ast.Constant) and isinstance(other, ast.Constant) and name not in ("movedim", "permute")
        )
        if (
            constant
            or (name == "where" and not number)
            or isinstance(one, ast.Starred)
            or isinstance(other, ast.Starred)
        ):
            continue
        (start, middle), (right, end) = text.span(one), text.span(other)
        yield "exchanged arguments", start, end, text.of(other) + text.source[middle:right] + text.of(one)


def _function_name(text: Text, node: ast.Name) -> Iterator[Edit]:
    parent = text.parents.get(node)
    if node.id in _BUILT_IN and isinstance(parent, ast.Call) and parent.func is not node:
        yield "function", *text.span(node), _BUILT_IN[node.id]


def _index(text: Text, node: ast.Subscript) -> Iterator[Edit]:
    if not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2:
        one, other = node.slice.elts
        whole = isinstance(one, ast.Slice) and not (one.lower or one.upper or one.step)
        yield "axis or index", *text.span(node.slice), text.of(other) if whole else f"{text.of(other)}, {text.of(one)}"
        if whole and not isinstance(other, (ast.Constant, ast.UnaryOp, ast.Slice)):
            yield "step left out", *text.span(node), text.alone(node.value, node)
    elif not isinstance(node.slice, (ast.Constant, ast.UnaryOp, ast.Slice)):
        yield "step left out", *text.span(node), text.alone(node.value, node)


def _list(text: Text, node: ast.List | ast.Tuple) -> Iterator[Edit]:
    """Yield a list that is handed over with its two parts exchanged, as in `torch.stack([a, b])`."""
    if len(node.elts) == 2 and isinstance(text.parents.get(node), ast.Call):
        yield from _exchanges(text, "", node.elts)


def _loop(text: Text, node: ast.For) -> Iterator[Edit]:
    what = node.iter
    if isinstance(what, ast.Call) and callee(what) == "range":
        yield "order", *text.span(what), f"reversed({text.of(what)})"
    elif isinstance(what, ast.Call) and callee(what) == "reversed" and what.args:
        yield "order", *text.span(what), text.of(what.args[0])


def _transposed(text: Text, node: ast.Attribute) -> Iterator[Edit]:
    if node.attr in ("T", "mT"):
        yield "step left out", *text.span(node), text.alone(node.value, node)


def _augmented(text: Text, node: ast.AugAssign) -> Iterator[Edit]:
    symbol, other = _OPERATORS.get(type(node.op), ("", ""))
    place = text.between(node.target, node.value, f"{symbol}=") if symbol in ("+", "-", "*", "/") and symbol else None
    if place:
        yield "operator", *place, "="
        if not isinstance(node.value, (ast.List, ast.Tuple, ast.ListComp)):
            yield "operator", *place, f"{other}="


_RULES: dict[type[ast.AST], Callable[[Text, Any], Iterable[Edit]]] = {
    ast.BinOp: _operation, ast.UnaryOp: _sign, ast.Compare: _comparison, ast.BoolOp: _condition,
    ast.Constant: _constant, ast.Slice: _slice, ast.IfExp: _choice, ast.If: _branch, ast.comprehension: _filter,
    ast.Call: _call, ast.Name: _function_name, ast.Subscript: _index, ast.For: _loop, ast.Attribute: _transposed,
    ast.AugAssign: _augmented, ast.List: _list, ast.Tuple: _list,
}  # fmt: skip


def _statements(text: Text, body: list[ast.stmt]) -> Iterator[Edit]:
    """Yield a statement removed, and two neighbouring statements of one line exchanged."""
    simple = (ast.Assign, ast.AugAssign, ast.Expr)
    for statement in body:
        raises = isinstance(statement, ast.If) and any(isinstance(part, ast.Raise) for part in ast.walk(statement))
        short = (statement.end_lineno or 0) - statement.lineno <= 2
        may_go = (
            isinstance(statement, simple) or raises or (short and isinstance(statement, (ast.If, ast.For, ast.While)))
        )
        if may_go and len(body) > 1 and _is_removable(text, statement):
            yield "statement removed", *text.span(statement), "pass"
    for one, other in itertools.pairwise(body):
        movable = all(isinstance(part, simple) and "super()" not in text.of(part) for part in (one, other))
        (start, middle), (right, end) = text.span(one), text.span(other)
        if movable and text.source[start:end].count("\n") == text.source[middle:right].count("\n") == 1:
            yield "lines exchanged", start, end, text.of(other) + text.source[middle:right] + text.of(one)


def _is_removable(text: Text, statement: ast.stmt) -> bool:
    """Return whether the code behind a statement still has all its names without it."""
    if isinstance(statement, ast.Expr):
        return statement.value not in text.quiet and not text.of(statement).startswith("super(")
    if not isinstance(statement, ast.Assign):
        return True
    names = {node.id for t in statement.targets for node in ast.walk(t) if isinstance(node, ast.Name)}
    if any(isinstance(target, ast.Attribute) for target in statement.targets):
        return False
    function: ast.AST | None = statement
    while function is not None and not isinstance(function, ast.FunctionDef):
        function = text.parents.get(function)
    if function is None:
        return False
    first = text.first_lines(function)
    return all(first.get(name, statement.lineno) < statement.lineno for name in names)


def _names(text: Text) -> Iterator[Edit]:
    """Yield a name exchanged for a sibling: one that is set beside it, or a parameter with a like name."""
    for function in ast.walk(text.tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        groups = [*_set_together(function), *_like(function)]
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node not in text.quiet:
                group = next((group for group in groups if node.id in group and len(group) > 1), None)
                if group:
                    yield "name", *text.span(node), group[(group.index(node.id) + 1) % len(group)]


def _set_together(function: ast.FunctionDef) -> Iterator[list[str]]:
    for node in ast.walk(function):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if isinstance(target, ast.Tuple) and all(isinstance(part, ast.Name) for part in target.elts):
                yield [part.id for part in target.elts if isinstance(part, ast.Name) and part.id != "_"]


def _like(function: ast.FunctionDef) -> list[list[str]]:
    names = [a.arg for a in function.args.args if a.arg not in ("self", "generator", "eps", "dim")]
    stems: dict[str, list[str]] = {}
    for name in names:
        stems.setdefault(name.split("_")[0] if "_" in name else name[0], []).append(name)
    known = [["q", "k", "v"], ["x", "h"]]
    return [*stems.values(), *(group for group in known if set(group) <= set(names))]
