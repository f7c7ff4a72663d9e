"""Changes that alter no result whatever the input, each by a rule of algebra, and beside each a near miss.

No rule comes from trial: a change that merely altered nothing in some calls could be disputed.
"""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator

from .changes import Change, Edit, Text, callee, is_of_module

IDLE, NEAR_MISS = "idle", "near miss"
"""Kinds of the changes that alter nothing, and of those that only look so."""

_JUMPS = {"argmax", "argmin", "topk", "sort", "argsort", "round", "floor", "multinomial"}
_PURE = {
    "arange", "cat", "chunk", "cos", "dim", "double", "einsum", "elu", "exp", "flatten", "float", "full",
    "full_like", "gather", "len", "linear", "log", "logsumexp", "long", "matmul", "max", "mean", "min",
    "new_tensor", "new_zeros", "norm", "numel", "ones", "permute", "range", "reshape", "sigmoid", "silu", "sin",
    "size", "softmax", "split", "sqrt", "squeeze", "stack", "sum", "tanh", "tolist", "transpose", "unbind",
    "unsqueeze", "var", "view", "zeros", "zeros_like",
}  # fmt: skip
"""Functions without a side effect, whose lines may change places."""


def rewrites(text: Text) -> list[Change]:
    """Return the changes that alter nothing, and their near misses."""
    found: list[Edit] = []
    for node in ast.walk(text.tree):
        if node in text.quiet:
            continue
        if isinstance(node, ast.Call) and callee(node):
            found += _of_call(text, node)
        elif isinstance(node, ast.BinOp):
            found += [*_of_mixture(text, node), *_of_scale(text, node)]
    return [text.change(edit) for edit in found]


def _of_call(text: Text, node: ast.Call) -> Iterator[Edit]:
    name, function, jumps = callee(node), node.func, _is_below(text, node, _JUMPS)
    is_method = isinstance(function, ast.Attribute) and not is_of_module(node)
    first = node.args[0] if node.args else None
    whole = function.value if is_method and isinstance(function, ast.Attribute) else first
    if whole is None or isinstance(whole, ast.Starred) or text.of(function).startswith("nn."):
        return
    inner = text.of(whole)
    one = inner if isinstance(whole, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)) else f"({inner})"
    place = text.span(whole)

    def into(new: str) -> str:
        return f"({new})" if is_method else new

    if name in ("softmax", "log_softmax") and not jumps:
        yield IDLE, *place, into(f"{inner if isinstance(whole, ast.BinOp) else one} + 3")
        yield NEAR_MISS, *place, into(f"3 * {one}")
    elif name == "argmax":
        yield IDLE, *place, into(f"2 * {one}")
        yield NEAR_MISS, *place, into(f"-2 * {one}")
    elif is_method:
        return
    elif name == "sigmoid" and not jumps and not _is_below(text, node, {"log"}) and not _is_denominator(text, node):
        yield IDLE, *text.span(node), _fitting(text, f"1 - {text.of(function)}(-{one})", node)
        yield NEAR_MISS, *text.span(node), _fitting(text, f"1 - {text.of(function)}({inner})", node)
    elif name == "tanh":
        yield IDLE, *text.span(node), _fitting(text, f"-{text.of(function)}(-{one})", node)
        yield NEAR_MISS, *text.span(node), _fitting(text, f"1 - {text.of(function)}(-{one})", node)
    elif name == "logsumexp" and not jumps:
        head, tail = text.of(node)[: place[0] - text.span(node)[0]], text.of(node)[place[1] - text.span(node)[0] :]
        yield IDLE, *text.span(node), _fitting(text, f"{head}{one} - 5{tail} + 5", node)
        yield NEAR_MISS, *text.span(node), _fitting(text, f"{head}2 * {one}{tail} / 2", node)
    elif name == "relu" and len(node.args) == 1 and not node.keywords:
        yield IDLE, *text.span(node), f"{one}.clamp(min=0)"
        yield NEAR_MISS, *text.span(node), f"{one}.clamp(max=0)"


def _fitting(text: Text, new: str, node: ast.AST) -> str:
    around = (ast.BinOp, ast.UnaryOp, ast.Attribute, ast.Subscript)
    return f"({new})" if isinstance(text.parents.get(node), around) else new


def _of_mixture(text: Text, node: ast.BinOp) -> Iterator[Edit]:
    """Yield `n + z * (h - n)` for `z * h + (1 - z) * n`, which may also stand the other way round."""
    for one, other in ((node.left, node.right), (node.right, node.left)):
        if not (isinstance(node.op, ast.Add) and isinstance(one, ast.BinOp) and isinstance(other, ast.BinOp)):
            continue
        share, rest = one.left, other.left
        both = isinstance(one.op, ast.Mult) and isinstance(other.op, ast.Mult)
        if (
            both
            and isinstance(rest, ast.BinOp)
            and re.fullmatch(r"1(\.0?)? - " + re.escape(text.of(share)), text.of(rest))
        ):
            h, n, z = text.of(one.right), text.of(other.right), text.of(share)
            yield IDLE, *text.span(node), f"{n} + {z} * ({h} - {n})"
            yield NEAR_MISS, *text.span(node), f"{h} + {z} * ({n} - {h})"


def _of_scale(text: Text, node: ast.BinOp) -> Iterator[Edit]:
    """Yield `(a / s) @ b` for `a @ b / s` with a number s."""
    product, scale = node.left, text.of(node.right)
    is_number = re.search(r"\*\*|sqrt|scale", scale) and "[" not in re.sub(r"\[-?\d\]", "", scale)
    if not (is_number and isinstance(node.op, (ast.Div, ast.Mult)) and isinstance(product, ast.BinOp)):
        return
    if isinstance(product.op, ast.MatMult) and not isinstance(product.left, ast.BinOp):
        symbol, a, b = "/" if isinstance(node.op, ast.Div) else "*", text.of(product.left), text.of(product.right)
        yield IDLE, *text.span(node), f"({a} {symbol} {scale}) @ {b}"
        yield NEAR_MISS, *text.span(node), f"({a} {symbol} {scale}) @ ({b} {symbol} {scale})"


def _is_below(text: Text, node: ast.AST, names: set[str]) -> bool:
    """Return whether a later step of the same statement is one of these functions, or any statement compares."""
    parent = text.parents.get(node)
    while parent is not None and not isinstance(parent, ast.stmt):
        if isinstance(parent, ast.Compare) or (isinstance(parent, ast.Call) and callee(parent) in names):
            return True
        parent = text.parents.get(parent)
    return isinstance(parent, ast.Assign) and bool(text.called & names)


def _is_denominator(text: Text, node: ast.AST) -> bool:
    parent = text.parents.get(node)
    return isinstance(parent, ast.BinOp) and isinstance(parent.op, (ast.Div, ast.Pow)) and parent.right is node


def free_exchanges(text: Text) -> set[tuple[int, int]]:
    """Return the pairs of neighbouring lines of which neither uses or sets what the other one sets."""
    found = set()
    for node in ast.walk(text.tree):
        body = getattr(node, "body", None)
        if isinstance(body, list) and not isinstance(node, (ast.Module, ast.ClassDef)):
            found |= {(a.lineno, b.lineno) for a, b in itertools.pairwise(body) if _is_free(a, b)}
    return found


def _is_free(one: ast.stmt, other: ast.stmt) -> bool:
    for statement in (one, other):
        if not isinstance(statement, ast.Assign) or statement.lineno != statement.end_lineno:
            return False
        if any(isinstance(target, (ast.Attribute, ast.Subscript)) for target in statement.targets):
            return False
        if any(isinstance(node, ast.Call) and callee(node) not in _PURE for node in ast.walk(statement)):
            return False
    trivial = all(isinstance(part.value, (ast.Constant, ast.Name, ast.List)) for part in (one, other))  # type: ignore[attr-defined]
    return one.lineno != other.lineno and not trivial and not (_set_by(one) & _all(other) or _set_by(other) & _all(one))


def _all(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}


def _set_by(statement: ast.stmt) -> set[str]:
    return {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
