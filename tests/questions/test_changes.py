"""Changes of one place of a text, and those that alter nothing."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
import torch

from course.questions.changes import Text, all_changes
from course.questions.rewrites import IDLE, NEAR_MISS, free_exchanges, rewrites


def lines(body: str) -> set[str]:
    """What the last line of a function becomes, by all changes."""
    source = f"def f(x, y, mask, w_x, w_h):\n    {body}\n"
    return {change.now.strip() for change in all_changes(Text(source)) if change.line == 2}


@pytest.mark.parametrize(
    ("body", "becomes"),
    [
        ("return x + 1", {"return x - 1", "return x", "return 1", "return x + 2", "return x + 0"}),
        ("return (x - y).exp()", {"return x - y", "return (y - x).exp()", "return x.exp()"}),
        ("return 2 * (x + y)", {"return 2 * (x - y)", "return 2 * x", "return x + y"}),
        ("return 2 * (x - y).exp()", {"return 2 * (x - y)"}),
        ("return (x < y)[mask].sum()", {"return (x < y).sum()"}),
        ("return x - (y - mask).T", {"return x - (y - mask)"}),
        ("return 2 * -(x + y)", {"return 2 * (x + y)"}),
        ("return x and not (y or mask)", {"return x and (y or mask)"}),
        ("return x[y * mask + 1]", {"return x[y * mask]"}),
        ("return x.sum(1, keepdim=True)", {"return x.sum(1)", "return x.mean(1, keepdim=True)", "return x"}),
        ("return x[1:]", {"return x[:]", "return x[:-1]"}),
        ("return x if mask else y", {"return x", "return y", "return y if mask else x"}),
        ("return x < y", {"return x <= y", "return x > y"}),
        ("return x @ w_x + y @ w_h", {"return w_x @ x + y @ w_h", "return x @ w_h + y @ w_h"}),
        ("return torch.einsum('bd,kd->bk', x, y)", {"return torch.einsum('bd,kd->kb', x, y)"}),
        ("return [a for a in x if a]", {"return [a for a in x]"}),
    ],
)
def test_a_change_touches_one_place(body: str, becomes: set[str]) -> None:
    assert becomes <= lines(body)


@pytest.mark.parametrize(
    ("body", "never"),
    [
        ("return x.float()", "return x"),
        ("return x.detach()", "return x"),
        ("return torch.where(mask, x, y)", "return torch.where(x, mask, y)"),
        ("return x.sum(dtype=torch.long)", "return x.sum()"),
        ("return x.clamp(min=0)", "return x.clamp()"),
        ("return torch.clamp(x, max=1)", "return torch.clamp(x)"),
        ("return f'{x + 1}'", "return f'{x - 1}'"),
    ],
)
def test_what_asks_for_details_of_python_is_not_changed(body: str, never: str) -> None:
    assert never not in lines(body)


SOURCE = """
def f(x, mask=1 + 1):
    é = x.exp()
    total = é.sum(-1, keepdim=True)
    if total is None:
        raise ValueError(f"{x + 1}")
    total = total + 1
    return é / total
"""


def test_everything_else_stays_as_it_was_typed() -> None:
    source = dedent(SOURCE).lstrip()
    found = all_changes(Text(source))
    assert len(found) > 8 and len({change.source for change in found}) == len(found)
    for change in found:
        ast.parse(change.source)
        assert change.source == source[: change.start] + change.new + source[change.end :]
        assert not any("raise" in text or "mask=" in text for text in (change.now, change.was)) or "pass" in change.now


@pytest.mark.parametrize(
    ("body", "idle", "miss"),
    [
        ("return torch.softmax(x, -1)", "return torch.softmax(x + 3, -1)", "return torch.softmax(3 * x, -1)"),
        ("return x.softmax(-1)", "return (x + 3).softmax(-1)", "return (3 * x).softmax(-1)"),
        ("return torch.sigmoid(x)", "return 1 - torch.sigmoid(-x)", "return 1 - torch.sigmoid(x)"),
        ("return torch.tanh(x + y)", "return -torch.tanh(-(x + y))", "return 1 - torch.tanh(-(x + y))"),
        ("return x.argmax(-1)", "return (2 * x).argmax(-1)", "return (-2 * x).argmax(-1)"),
        (
            "return torch.logsumexp(x, 0)",
            "return torch.logsumexp(x - 5, 0) + 5",
            "return torch.logsumexp(2 * x, 0) / 2",
        ),
        ("return z * x + (1 - z) * y", "return y + z * (x - y)", "return x + z * (y - x)"),
        ("return x @ y / 4 ** 0.5", "return (x / 4 ** 0.5) @ y", "return (x / 4 ** 0.5) @ (y / 4 ** 0.5)"),
        ("return F.relu(x)", "return x.clamp(min=0)", "return x.clamp(max=0)"),
    ],
)
def test_a_rewrite_alters_nothing_and_its_near_miss_does(body: str, idle: str, miss: str) -> None:
    found = rewrites(Text(f"def f(x, y, z):\n    {body}\n"))
    assert [(change.kind, change.now.strip()) for change in found] == [(IDLE, idle), (NEAR_MISS, miss)]
    x, y, z = torch.randn(3, 4, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    names = {"torch": torch, "F": torch.nn.functional}
    results = []
    for text in (body, idle, miss):
        exec(f"def f(x, y, z):\n    {text}", names)
        results.append(names["f"](x, y, z))  # type: ignore[operator]
    assert torch.allclose(results[0], results[1]) and not torch.allclose(results[0], results[2])


@pytest.mark.parametrize(
    "body",
    [
        "return torch.sigmoid(x).log()",
        "return x / torch.sigmoid(x)",
        "return x.softmax(-1).argmax(-1) if False else torch.softmax(x, -1).topk(2)",
        "return torch.sigmoid(x) > 0.5",
    ],
)
def test_no_rewrite_rounds_where_rounding_shows(body: str) -> None:
    idle = {change.now.strip() for change in rewrites(Text(f"def f(x):\n    {body}\n")) if change.kind == IDLE}
    assert not any("+ 3" in text or "1 - " in text for text in idle)


@pytest.mark.parametrize(
    ("one", "other", "free"),
    [
        ("a = x.sum()", "b = x.mean()", True),
        ("a = x.sum()", "b = a.mean()", False),
        ("a = x.sum()", "x = x.mean()", False),
        ("a = x.sum()", "b = shuffle(x)", False),
        ("a[0] = x.sum()", "b = x.mean()", False),
    ],
)
def test_lines_that_may_change_places(one: str, other: str, free: bool) -> None:
    text = Text(f"def f(x, a):\n    {one}\n    {other}\n    return a\n")
    assert free_exchanges(text) == ({(2, 3)} if free else set())


def test_only_statements_of_one_line_change_places() -> None:
    body = ("a = (\n        x + 1\n    )", "b = a * 2", "c = b + a", "return c")
    found = all_changes(Text("def f(x):\n    " + "\n    ".join(body) + "\n"))
    assert [(c.line, c.last) for c in found if c.kind == "lines exchanged"] == [(5, 6)]
